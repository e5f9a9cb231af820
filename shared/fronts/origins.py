"""Whom the HTTP side answers: DNS rebinding makes a browser ask this machine in the name of a foreign page."""

from collections.abc import Collection
from urllib.parse import urlsplit

LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))


def name_of_host(host: str) -> str:
    """The name in a Host header, without its port; empty where there is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def is_own_host(host: str, names: Collection[str]) -> bool:
    """Whether the Host header names this server."""
    return name_of_host(host) in names


def is_own_origin(origin: str, names: Collection[str]) -> bool:
    """Whether the page that asks was served under one of these names; `null` and other schemes never are."""
    try:
        address = urlsplit(origin)
        return address.scheme in ("http", "https") and (address.hostname or "") in names
    except ValueError:
        return False
