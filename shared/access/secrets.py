"""The text of a key, `sb_<key id>_<secret>`: made once, kept as a hash, compared in constant time."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.domain.signatures import SentRecord, sign

SIGN = "sb_"
"""The prefix of every key, so that one in a log is recognised."""
_KEY = re.compile(r"sb_([a-z0-9]{12})_([A-Za-z0-9_-]{43})")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True)
class KeyText:
    """A key as its holder has it: the public id and the secret."""

    key_id: str
    secret: str

    def __str__(self) -> str:
        """The text of the key, shown once and sent as `Authorization: Bearer`."""
        return f"{SIGN}{self.key_id}_{self.secret}"


def make_key_id() -> str:
    """An id that no other key has: 62 bits at random."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))


def make_secret() -> str:
    """A random secret of 256 bits, so that a plain hash of it is safe."""
    return secrets.token_urlsafe(32)


def parse_key(text: str) -> KeyText | None:
    """The key, if the text has its form."""
    found = _KEY.fullmatch(text)
    return KeyText(found[1], found[2]) if found else None


def hash_secret(secret: str) -> str:
    """The stored hash of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def make_signer(key: KeyText, now: Callable[[], datetime]) -> Callable[[SentRecord], Mapping[str, bytes]]:
    """A function that signs records with the key: it adds the headers of the signature."""
    kept_hash = hash_secret(key.secret)
    return lambda sent: sign(sent, key.key_id, kept_hash, int(now().timestamp() * 1000))


def fits(secret: str, kept_hash: str) -> bool:
    """Whether the hash is that of the secret; it takes as long for any other."""
    return hmac.compare_digest(hash_secret(secret), kept_hash)
