"""Checks Host and Origin, because DNS rebinding lets another site send requests to this machine."""

from collections.abc import Collection
from urllib.parse import urlsplit

LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))


def name_of_host(host: str) -> str:
    """The name in a Host header, without its port; empty if there is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def is_own_host(host: str, names: Collection[str]) -> bool:
    """Whether the Host header names this server."""
    return name_of_host(host) in names


def is_own_origin(origin: str, names: Collection[str]) -> bool:
    """Whether the Origin has one of these names; `null` and other schemes never do."""
    try:
        address = urlsplit(origin)
        return address.scheme in ("http", "https") and (address.hostname or "") in names
    except ValueError:
        return False
