"""Tokens of an issuer: only valid ones that are signed for this service are accepted, with claims
as policy maps them.
"""

import base64
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from pydantic import ValidationError

from shared.access.tokens import PAUSE_S, TokenCheck
from shared.domain.subjects import Requester
from shared.errors import RefusedError, TransientError
from shared.policy import TokenIssuer
from tests.system.issuer import AUDIENCE, URL, Issuer

SAID: dict[str, Any] = {"org": "acme", "scope": "read write"}


class Clock:
    """A clock that the test advances."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    made = Issuer(tmp_path / "jwks.json")
    made.add_key("first")
    return made


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def check(issuer: Issuer, clock: Clock) -> Callable[..., TokenCheck]:
    def make(**settings: Any) -> TokenCheck:
        plain = {"issuer": URL, "audience": AUDIENCE, "jwks": str(issuer.shown_in), "tenant_claim": "org"}
        return TokenCheck({"staff": TokenIssuer.model_validate({**plain, **settings})}, clock)

    return make


async def refusal(check: TokenCheck, token: str) -> str:
    with pytest.raises(RefusedError) as caught:
        await check.identify(token)
    assert (caught.value.status, caught.value.code) == (401, "unauthenticated")
    return caught.value.message.removeprefix("authorization: ")


@pytest.mark.parametrize("curve", [False, True])
async def test_a_signed_token_identifies_the_requester(
    issuer: Issuer, check: Callable[..., TokenCheck], curve: bool
) -> None:
    issuer.add_key("second", curve=curve)
    holder = await check().identify(issuer.sign(**SAID))
    assert holder == Requester("lin", frozenset({"read", "write"}), "acme", "lin")


@pytest.mark.parametrize(
    ("settings", "claims", "expected"),
    [
        ({"tenant": "acme", "tenant_claim": ""}, {}, Requester("lin", frozenset(), "acme", "lin")),
        ({"user_claim": "email"}, {"email": "li@x"}, Requester("li@x", frozenset(), "acme", "li@x")),
        ({"user_claim": ""}, {"sub": "robot"}, Requester("token:robot", frozenset(), "acme")),
        (
            {"scopes_claim": "realm.roles", "scopes": {"reader": "read", "boss": "admin"}},
            {"realm": {"roles": ["reader", "boss", "write", 7]}},
            Requester("lin", frozenset({"read", "admin"}), "acme", "lin"),
        ),
        (
            {"scopes_claim": "https://x.com/roles"},
            {"https://x.com/roles": "erase operate unknown"},
            Requester("lin", frozenset({"erase", "operate"}), "acme", "lin"),
        ),
        ({}, {"scope": {"read": True}}, Requester("lin", frozenset(), "acme", "lin")),
    ],
)
async def test_claims_are_mapped_as_policy_says(
    issuer: Issuer,
    check: Callable[..., TokenCheck],
    settings: dict[str, Any],
    claims: dict[str, Any],
    expected: Requester,
) -> None:
    assert await check(**settings).identify(issuer.sign(**{"org": "acme", **claims})) == expected


@pytest.mark.parametrize(
    ("claims", "problem"),
    [
        ({"exp": int(time.time()) - 600}, "the token has ended"),
        ({"exp": None}, "the claim exp of the token is missing or not an id"),
        ({"aud": "others"}, "the token is for another audience"),
        ({"aud": None}, "the claim aud of the token is missing or not an id"),
        ({"iss": "https://evil.example.com"}, "the token is from an issuer that the policy does not name"),
        ({"iss": None}, "the token is from an issuer that the policy does not name"),
        ({"nbf": int(time.time()) + 86_400}, "the token is not valid"),
        ({"org": None}, "the claim org of the token is missing or not an id"),
        ({"org": ""}, "the claim org of the token is missing or not an id"),
        ({"org": ["acme"]}, "the claim org of the token is missing or not an id"),
        ({"sub": None}, "the claim sub of the token is missing or not an id"),
        ({"sub": "x" * 129}, "the claim sub of the token is missing or not an id"),
    ],
)
async def test_a_token_without_a_required_claim_is_refused(
    issuer: Issuer, check: Callable[..., TokenCheck], claims: dict[str, Any], problem: str
) -> None:
    assert await refusal(check(), issuer.sign(**{**SAID, **claims})) == problem


def _part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


async def test_a_forged_token_is_refused(issuer: Issuer, check: Callable[..., TokenCheck], tmp_path: Path) -> None:
    other = Issuer(tmp_path / "other.json")
    other.add_key("first")
    good = issuer.sign(**SAID)
    head, body, signature = good.split(".")
    claims = {"iss": URL, "aud": AUDIENCE, "sub": "eve", "exp": int(time.time()) + 300, **SAID}
    public = issuer.keys["first"].public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    by_public_key = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    hs_head = _part({"alg": "HS256", "kid": "first", "typ": "JWT"})
    forged_mac = base64.urlsafe_b64encode(by_public_key.sign(f"{hs_head}.{_part(claims)}".encode(), pem)).decode()
    forgeries = [
        other.sign(**SAID),
        f"{head}.{_part(claims)}.{signature}",
        f"{head}.{body}.",
        f"{_part({'alg': 'none', 'kid': 'first'})}.{_part(claims)}.",
        f"{hs_head}.{_part(claims)}.{forged_mac.rstrip('=')}",
        f"{_part({'alg': 'ES256', 'kid': 'first'})}.{body}.{signature}",
    ]
    for forged in forgeries:
        assert await refusal(check(), forged) == "the token is not valid", forged
    assert (await check().identify(good)).user_id == "lin"


@pytest.mark.parametrize(
    "token", ["", "abc", "a.b.c", "e30.e30.e30", "x" * 20_000, "密钥", "..", "eyJhbGciOiJSUzI1NiJ9.e30"]
)
async def test_text_that_is_no_token_is_refused(check: Callable[..., TokenCheck], token: str) -> None:
    problem = await refusal(check(), token)
    assert problem in ("is neither a key nor a token", "the token is from an issuer that the policy does not name")


async def test_a_token_that_cannot_be_parsed_is_refused(issuer: Issuer, check: Callable[..., TokenCheck]) -> None:
    deep = base64.urlsafe_b64encode(b"[" * 9_000).decode().rstrip("=")
    for token in (f"{deep}.e30.", f"{_part({'alg': 'RS256'})}.{deep}.", f"{_part({'alg': 'RS256', 'kid': 7})}.e30."):
        assert await refusal(check(), token) == "is neither a key nor a token"
    assert await refusal(check(), issuer.sign(**SAID, exp=float("inf"))) == "the token is not valid"


async def test_no_token_is_accepted_without_an_issuer(issuer: Issuer) -> None:
    assert (await refusal(TokenCheck({}), issuer.sign(**SAID))).startswith(
        "is not a key; tokens are accepted from issuers"
    )


async def test_a_new_key_is_fetched_at_its_first_use_and_not_too_often(
    issuer: Issuer, check: Callable[..., TokenCheck], clock: Clock
) -> None:
    door = check()
    await door.identify(issuer.sign(**SAID))
    issuer.add_key("second")
    fresh = issuer.sign(**SAID)
    assert await refusal(door, fresh) == "the token is signed with a key that its issuer does not publish"
    clock.now += PAUSE_S + 1
    assert (await door.identify(fresh)).user_id == "lin"
    assert (await door.identify(issuer.sign(key="first", **SAID))).user_id == "lin"


async def test_a_revoked_key_is_dropped_when_keys_are_fetched_again(
    issuer: Issuer, check: Callable[..., TokenCheck], clock: Clock
) -> None:
    door, old = check(keys_s=300), issuer.sign(**SAID)
    issuer.add_key("second")
    await door.identify(old)
    issuer.take_back("first")
    assert (await door.identify(old)).user_id == "lin"
    clock.now += 301
    assert await refusal(door, old) == "the token is signed with a key that its issuer does not publish"


async def test_without_the_issuer_known_keys_stay_valid_and_unknown_ones_wait(
    issuer: Issuer, check: Callable[..., TokenCheck], clock: Clock
) -> None:
    door, token = check(keys_s=300), issuer.sign(**SAID)
    document = issuer.shown_in.read_text()
    issuer.shown_in.unlink()
    with pytest.raises(TransientError):
        await door.identify(token)
    issuer.shown_in.write_text(document)
    with pytest.raises(TransientError):
        await door.identify(token)
    clock.now += PAUSE_S + 1
    assert (await door.identify(token)).user_id == "lin"
    for broken in ("", "[]", "{}", '{"keys": 7}', '{"keys": []}'):
        issuer.shown_in.write_text(broken)
        clock.now += 301
        assert (await door.identify(token)).user_id == "lin", broken


async def test_the_only_key_is_used_if_the_token_names_none(issuer: Issuer, check: Callable[..., TokenCheck]) -> None:
    token = issuer.sign(named=False, **SAID)
    assert (await check().identify(token)).user_id == "lin"
    issuer.add_key("second")
    assert await refusal(check(), token) == "the token is signed with a key that its issuer does not publish"


@pytest.mark.parametrize(
    "settings",
    [
        {"tenant": "acme"},
        {"tenant_claim": ""},
        {"jwks": "http://id.example.com/jwks.json"},
        {"algorithms": ["HS256"]},
        {"algorithms": ["none"]},
        {"algorithms": []},
        {"scopes": {"boss": "root"}},
        {"audience": ""},
    ],
)
def test_an_insecure_issuer_is_an_invalid_policy(settings: dict[str, Any]) -> None:
    plain = {"issuer": URL, "audience": AUDIENCE, "jwks": "jwks.json", "tenant_claim": "org"}
    TokenIssuer.model_validate({**plain, "jwks": "http://127.0.0.1:9/jwks.json"})
    with pytest.raises(ValidationError):
        TokenIssuer.model_validate({**plain, **settings})
