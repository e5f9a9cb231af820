"""Checks Host and Origin, because DNS rebinding lets another site send requests to this machine."""

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))


@dataclass(frozen=True)
class FrontPolicy:
    """The configured address of a service that calls compose, and whether compose may be asked without a key there.

    It never may where other machines than this one can ask.
    """

    own_address: str | None
    open_without_key: bool

    @property
    def names(self) -> frozenset[str]:
        """The host names of this server."""
        named = urlsplit(self.own_address).hostname if self.own_address else None
        return LOOPBACK | {named} if named else LOOPBACK

    def is_misdirected(self, host: str) -> bool:
        """Whether a request with this Host header was meant for another server."""
        anybody_may_ask = self.open_without_key or self.own_address
        return bool(anybody_may_ask) and not is_own_host(host, self.names)


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
