"""Which addresses only this machine can reach."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on the address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
