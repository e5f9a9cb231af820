"""Sign-in with an identity provider: authorization code with PKCE (RFC 7636, OpenID Connect Core 3.1)."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

import httpx
from cachetools import TTLCache

from shared.access.tokens import TokenCheck
from shared.errors import RefusedError, TransientError
from shared.fronts.problems import CallError
from shared.policy import AccessPolicy, SignInPolicy, TokenIssuer
from shared.settings import Settings
from shared.tls import trust_store

WAIT_S = 600
"""The time that a user may take at the issuer's pages."""
MOST_WAITING = 10_000
FETCH_S = 10.0
MOST_BYTES = 262_144


@dataclass(frozen=True)
class PendingSignIn:
    """A sign-in in progress at the issuer: its secrets, and the page to open afterwards."""

    browser: str
    nonce: str
    verifier: str
    back: str
    wanted: str


@dataclass(frozen=True)
class ConsoleClient:
    """The console as a client of the issuer."""

    issuer: TokenIssuer
    policy: SignInPolicy
    secret: str | None = None


class SignIns:
    """Sign-ins in progress; each state is valid once, and only for the browser that started it."""

    def __init__(self, client: ConsoleClient) -> None:
        self._client = client
        issuer = client.issuer.model_copy(update={"audience": client.policy.client_id})
        self._identities = TokenCheck({"console": issuer})
        self._pending = TTLCache[str, PendingSignIn](MOST_WAITING, WAIT_S)

    def begin(self, back: str, wanted: str) -> tuple[str, str]:
        """The issuer's address for the browser, and the value of the cookie until it returns."""
        state, browser, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(4))
        self._pending[state] = PendingSignIn(browser, nonce, verifier, back, wanted)
        digest = hashlib.sha256(verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self._client.policy.client_id,
            "redirect_uri": back,
            "scope": " ".join(self._client.policy.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        address = self._client.policy.authorize
        return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}", browser

    async def finish(self, answer: Mapping[str, str], browser: str) -> tuple[str, str]:
        """The token for compose and the page to open; otherwise CallError `sign_in`."""
        pending = self._pending.pop(answer.get("state", ""), None)
        if pending is None or not hmac.compare_digest(pending.browser.encode(), browser.encode()):
            raise CallError("sign_in", "state: is not of this browser, or was used")
        if answer.get("iss", self._client.issuer.issuer) != self._client.issuer.issuer:
            raise CallError("sign_in", "iss: another issuer has answered")
        if "code" not in answer:
            raise CallError("sign_in", f"the issuer says {answer.get('error', 'nothing')[:100]}")
        tokens = await self._redeem(answer["code"], pending)
        await self._check_identity(tokens.get("id_token"), pending.nonce)
        token = tokens.get(self._client.policy.token_used)
        if not isinstance(token, str) or not token:
            raise CallError("sign_in", f"the issuer gave no {self._client.policy.token_used}")
        return token, pending.wanted

    async def _check_identity(self, token: Any, nonce: str) -> None:
        """Checks that the issuer made the identity token for this client and this sign-in."""
        try:
            claims = await self._identities.prove(str(token))
        except RefusedError as error:
            raise CallError("sign_in", f"id_token: {error.message}") from error
        except TransientError as error:
            raise CallError("unavailable", str(error)) from error
        if not hmac.compare_digest(str(claims.get("nonce")).encode(), nonce.encode()):
            raise CallError("sign_in", "nonce: is of another sign-in")
        if claims.get("azp", self._client.policy.client_id) != self._client.policy.client_id:
            raise CallError("sign_in", "azp: is another client")

    async def _redeem(self, code: str, pending: PendingSignIn) -> dict[str, Any]:
        """The tokens for the code."""
        policy = self._client.policy
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": pending.back,
            "client_id": policy.client_id,
            "code_verifier": pending.verifier,
        }
        basic = (policy.client_id, self._client.secret) if self._client.secret else None
        try:
            async with httpx.AsyncClient(timeout=FETCH_S, verify=trust_store(), follow_redirects=False) as http:
                answer = await http.post(policy.token, data=sent, auth=basic or httpx.USE_CLIENT_DEFAULT)
            tokens: Any = answer.json() if len(answer.content) <= MOST_BYTES else None
        except (httpx.HTTPError, ValueError) as error:
            raise CallError("unavailable", f"the issuer does not answer: {type(error).__name__}") from error
        if not answer.is_success or not isinstance(tokens, dict):
            raise CallError("sign_in", f"the issuer did not take the code: {answer.status_code}")
        return cast("dict[str, Any]", tokens)


def find_client(settings: Settings, access: AccessPolicy) -> ConsoleClient | None:
    """The client for the issuer of the policy; None if people sign in only with keys."""
    policy = access.sign_in
    if not policy.issuer:
        return None
    secret = settings.console_client_secret
    return ConsoleClient(access.issuers[policy.issuer], policy, secret.get_secret_value() if secret else None)
