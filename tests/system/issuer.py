"""An issuer of tokens like an identity provider: keys, a key set, tokens and a sign-in."""

import base64
import hashlib
import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

URL = "https://id.example.com"
AUDIENCE = "smartbrain"
SignKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@dataclass
class Issuer:
    """Signs with the latest key and publishes all keys that are not revoked."""

    shown_in: Path
    url: str = URL
    keys: dict[str, SignKey] = field(default_factory=dict[str, SignKey])

    def add_key(self, name: str, *, curve: bool = False) -> None:
        """Adds a key, publishes it and signs with it."""
        made = ec.generate_private_key(ec.SECP256R1()) if curve else rsa.generate_private_key(65537, 2048)
        self.keys[name] = made
        self.show()

    def take_back(self, name: str) -> None:
        """Removes the key from the key set."""
        del self.keys[name]
        self.show()

    def show(self) -> None:
        """Writes the key set to its file."""
        self.shown_in.write_text(json.dumps({"keys": [self.to_jwk(name) for name in self.keys]}))

    def to_jwk(self, name: str) -> dict[str, Any]:
        """The public half of a key for a key set."""
        key = self.keys[name]
        algorithm = jwt.algorithms.ECAlgorithm if isinstance(key, ec.EllipticCurvePrivateKey) else _RSA
        return {**json.loads(algorithm.to_jwk(key.public_key())), "kid": name, "use": "sig"}  # pyright: ignore[reportArgumentType, reportCallIssue, reportAttributeAccessIssue] # either kind

    def sign(self, *, key: str | None = None, named: bool = True, **claims: Any) -> str:
        """A token with these claims; a claim of None is omitted."""
        chosen = key or next(reversed(self.keys))
        now = int(time.time())
        told = {"iss": self.url, "aud": AUDIENCE, "sub": "lin", "iat": now, "exp": now + 300, **claims}
        algorithm = "ES256" if isinstance(self.keys[chosen], ec.EllipticCurvePrivateKey) else "RS256"
        told = {name: value for name, value in told.items() if value is not None}
        return jwt.encode(told, self.keys[chosen], algorithm, {"kid": chosen} if named else None)


_RSA = jwt.algorithms.RSAAlgorithm


@dataclass
class SignInServer:
    """Its endpoints: every visitor is `lin` of `acme`; a code is valid once, with proof of the challenge."""

    issuer: Issuer
    client_id: str = "console"
    secret: str | None = None
    access: dict[str, Any] = field(default_factory=lambda: {"org": "acme", "scope": "read write"})
    identity: dict[str, Any] = field(default_factory=dict[str, Any])
    """Claims that differ in the next identities."""
    codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    redeemed: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    @property
    def app(self) -> Starlette:
        """The HTTP application."""
        token = Route("/token", self._redeem, methods=["POST"])
        return Starlette(routes=[Route("/authorize", self._authorize), token, Route("/jwks", self._show_keys)])

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        assert asked["response_type"] == "code"
        assert asked["client_id"] == self.client_id
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        answer = {"code": code, "state": asked["state"], "iss": self.issuer.url}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answer)}")

    async def _redeem(self, request: Request) -> Response:
        sent = dict(parse_qsl((await request.body()).decode()))
        self.redeemed.append(sent)
        asked = self.codes.pop(sent["code"], None)
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        proved = asked is not None and asked["code_challenge"] == base64.urlsafe_b64encode(digest).decode().rstrip("=")
        basic = base64.b64encode(f"{self.client_id}:{self.secret}".encode()).decode()
        known = self.secret is None or request.headers.get("authorization") == f"Basic {basic}"
        if not asked or not proved or not known or sent["redirect_uri"] != asked["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        identity = {"aud": self.client_id, "nonce": asked["nonce"], **self.identity}
        tokens = {"access_token": self.issuer.sign(**self.access), "id_token": self.issuer.sign(**identity)}
        return JSONResponse({"token_type": "Bearer", **tokens})

    async def _show_keys(self, request: Request) -> Response:
        del request
        return Response(self.issuer.shown_in.read_bytes(), media_type="application/json")
