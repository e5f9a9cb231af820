"""Tokens of issuers in the policy: OpenID Connect JWTs, checked with the issuer's public keys, and whom they name."""

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import httpx
import jwt
import orjson
from pydantic import TypeAdapter, ValidationError

from schemas.base import ExternalId
from schemas.vocabulary import AccessScope
from shared.access.refusals import refuse_stranger
from shared.domain.subjects import SCOPES, Requester
from shared.errors import TransientError
from shared.policy import TokenIssuer
from shared.telemetry import logger
from shared.tls import trust_store

_ID: TypeAdapter[str] = TypeAdapter(ExternalId)
MOST_CHARS = 16_384
"""Maximum length of a token."""
FETCH_S = 5.0
MOST_BYTES = 1_048_576
PAUSE_S = 10.0
"""A token with an unknown key causes the keys to be read again, at most this often."""


class IssuerKeys:
    """The public keys of one issuer: read when they are first needed, when they are old, and when one is missing."""

    def __init__(self, issuer: TokenIssuer, clock: Callable[[], float]) -> None:
        self._issuer = issuer
        self._clock = clock
        self._keys: dict[str | None, jwt.PyJWK] | None = None
        self._tried_at: float | None = None
        self._reading = asyncio.Lock()

    async def find(self, key_id: str | None) -> jwt.PyJWK | None:
        """The key that the token names, or the only one; None if the issuer has no such key. TransientError if its keys
        could never be read.
        """
        await self._renew(PAUSE_S if self._keys is None else self._issuer.keys_s)
        if self._pick(key_id) is None:
            await self._renew(PAUSE_S)
        if self._keys is None:
            raise TransientError(f"the keys of {self._issuer.issuer} cannot be read")
        return self._pick(key_id)

    def _pick(self, key_id: str | None) -> jwt.PyJWK | None:
        keys = self._keys or {}
        return next(iter(keys.values())) if key_id is None and len(keys) == 1 else keys.get(key_id)

    def _is_older_than(self, seconds: float) -> bool:
        return self._tried_at is None or self._clock() - self._tried_at > seconds

    async def _renew(self, older_than_s: float) -> None:
        """Reads old keys again, once for all waiting requests; if that fails, the old keys stay in use."""
        if not self._is_older_than(older_than_s):
            return
        async with self._reading:
            if not self._is_older_than(older_than_s):
                return
            try:
                keys = jwt.PyJWKSet.from_dict(orjson.loads(await self._load())).keys
                self._keys = {each.key_id: each for each in keys if each.public_key_use in (None, "sig")}
            except (OSError, ValueError, AttributeError, TypeError, httpx.HTTPError, jwt.PyJWTError) as error:
                logger().warning("issuer_keys_unread", issuer=self._issuer.issuer, error=type(error).__name__)
            self._tried_at = self._clock()

    async def _load(self) -> bytes:
        if "://" not in self._issuer.jwks:
            return await asyncio.to_thread(Path(self._issuer.jwks).read_bytes)
        async with httpx.AsyncClient(timeout=FETCH_S, verify=trust_store(), follow_redirects=False) as client:
            async with client.stream("GET", self._issuer.jwks) as answer:
                answer.raise_for_status()
                content = bytearray()
                async for part in answer.aiter_bytes():
                    content += part
                    if len(content) > MOST_BYTES:
                        raise ValueError("too long")
            return bytes(content)


class TokenCheck:
    """Identifies the holder of a token."""

    def __init__(self, issuers: Mapping[str, TokenIssuer], clock: Callable[[], float] = time.monotonic) -> None:
        self._issuers = {each.issuer: (each, IssuerKeys(each, clock)) for each in issuers.values()}

    async def identify(self, token: str) -> Requester:
        """The holder; RefusedError if the token is unknown, forged or expired, TransientError without the issuer's
        keys."""
        claims = await self.prove(token)
        return read_claims(claims, self._issuers[claims["iss"]][0])

    async def prove(self, token: str) -> dict[str, Any]:
        """The verified claims of the token; refused as in `identify`."""
        if not self._issuers:
            raise refuse_stranger(
                "is not a key; tokens are accepted from issuers that access.issuers of the policy names"
            )
        said_issuer, key_id = _read_unproved(token)
        if said_issuer not in self._issuers:
            raise refuse_stranger("the token is from an issuer that the policy does not name")
        issuer, keys = self._issuers[said_issuer]
        key = await keys.find(key_id)
        if key is None:
            raise refuse_stranger("the token is signed with a key that its issuer does not publish")
        return _prove(token, key, issuer)


def _read_unproved(token: str) -> tuple[str, str | None]:
    """The unverified issuer and key id of the token."""
    try:
        if len(token) > MOST_CHARS:
            raise jwt.DecodeError("too long")
        key_id = jwt.get_unverified_header(token).get("kid")
        claims = jwt.decode(token, options={"verify_signature": False})
    except (jwt.PyJWTError, RecursionError) as error:
        raise refuse_stranger("is neither a key nor a token") from error
    return str(claims.get("iss")), key_id


def _prove(token: str, key: jwt.PyJWK, issuer: TokenIssuer) -> dict[str, Any]:
    try:
        return jwt.decode(
            token,
            key,
            algorithms=issuer.algorithms,
            audience=issuer.audience,
            issuer=issuer.issuer,
            leeway=issuer.leeway_s,
            options={"require": ["exp", "iss", "aud"]},
        )
    except jwt.ExpiredSignatureError as error:
        raise refuse_stranger("the token has ended") from error
    except jwt.MissingRequiredClaimError as error:
        raise refuse_stranger(f"the claim {error.claim} of the token is missing or not an id") from error
    except jwt.InvalidAudienceError as error:
        raise refuse_stranger("the token is for another audience") from error
    except (jwt.PyJWTError, ArithmeticError, ValueError, TypeError) as error:
        raise refuse_stranger("the token is not valid") from error


def read_claims(claims: Mapping[str, Any], issuer: TokenIssuer) -> Requester:
    """The holder of the token with scopes; RefusedError names a missing or invalid claim."""
    tenant_id = issuer.tenant or _read_id(claims, issuer.tenant_claim)
    user_id = _read_id(claims, issuer.user_claim) if issuer.user_claim else None
    name = user_id if user_id is not None else f"token:{_read_id(claims, 'sub')}"[:128]
    return Requester(name, _read_scopes(claims, issuer), tenant_id, user_id)


def _read_id(claims: Mapping[str, Any], name: str) -> str:
    try:
        return _ID.validate_python(find_claim(claims, name), strict=True)
    except ValidationError as error:
        raise refuse_stranger(f"the claim {name} of the token is missing or not an id") from error


def _read_scopes(claims: Mapping[str, Any], issuer: TokenIssuer) -> frozenset[AccessScope]:
    said = find_claim(claims, issuer.scopes_claim)
    words = said.split() if isinstance(said, str) else cast("list[Any]", said) if isinstance(said, list) else []
    meanings = issuer.scopes or {each: each for each in SCOPES}
    return frozenset(meanings[word] for word in words if isinstance(word, str) and word in meanings)


def find_claim(claims: Mapping[str, Any], name: str) -> Any:
    """The value of a claim, which may be nested; None if it is missing."""
    if name in claims:
        return claims[name]
    first, _, rest = name.partition(".")
    inner = claims.get(first)
    return find_claim(cast("Mapping[str, Any]", inner), rest) if rest and isinstance(inner, dict) else None
