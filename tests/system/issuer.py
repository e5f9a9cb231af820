"""An issuer of tokens, as an identity provider is one: keys of its own, a key set, tokens that it signs."""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

URL = "https://id.example.com"
AUDIENCE = "smartbrain"
SignKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@dataclass
class Issuer:
    """Signs with the key that it made last, and shows all that it has not taken back."""

    shown_in: Path
    url: str = URL
    keys: dict[str, SignKey] = field(default_factory=dict[str, SignKey])

    def add_key(self, name: str, *, curve: bool = False) -> None:
        """It signs with a new key from now on, and shows it."""
        made = ec.generate_private_key(ec.SECP256R1()) if curve else rsa.generate_private_key(65537, 2048)
        self.keys[name] = made
        self.show()

    def take_back(self, name: str) -> None:
        """The key is shown no more."""
        del self.keys[name]
        self.show()

    def show(self) -> None:
        """The key set stands in its file."""
        self.shown_in.write_text(json.dumps({"keys": [self.to_jwk(name) for name in self.keys]}))

    def to_jwk(self, name: str) -> dict[str, Any]:
        """The public half of a key, as a key set has it."""
        key = self.keys[name]
        algorithm = jwt.algorithms.ECAlgorithm if isinstance(key, ec.EllipticCurvePrivateKey) else _RSA
        return {**json.loads(algorithm.to_jwk(key.public_key())), "kid": name, "use": "sig"}  # pyright: ignore[reportArgumentType, reportCallIssue, reportAttributeAccessIssue] # either kind

    def sign(self, *, key: str | None = None, named: bool = True, **claims: Any) -> str:
        """A token with these claims; a claim of None is left out."""
        chosen = key or next(reversed(self.keys))
        now = int(time.time())
        told = {"iss": self.url, "aud": AUDIENCE, "sub": "lin", "iat": now, "exp": now + 300, **claims}
        algorithm = "ES256" if isinstance(self.keys[chosen], ec.EllipticCurvePrivateKey) else "RS256"
        told = {name: value for name, value in told.items() if value is not None}
        return jwt.encode(told, self.keys[chosen], algorithm, {"kid": chosen} if named else None)


_RSA = jwt.algorithms.RSAAlgorithm
