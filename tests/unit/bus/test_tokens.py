"""Tokens are requested once, renewed before they expire, and a failure gives its reason."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable

import httpx
import pytest

from shared.bus import tokens
from shared.bus.tokens import TokenError, TokenUrl

URL = "https://login.example/token"


class Issuer:
    """An issuer with scripted responses that records requests."""

    def __init__(self, answer: Callable[[int], httpx.Response]) -> None:
        self.asked: list[httpx.Request] = []
        self._answer = answer

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return self._answer(len(self.asked))


@pytest.fixture
def issue(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], httpx.Response]], Issuer]:
    """Replaces the issuer behind the URL."""

    def put(answer: Callable[[int], httpx.Response]) -> Issuer:
        issuer = Issuer(answer)

        def client(**_: object) -> httpx.AsyncClient:
            return real(transport=httpx.MockTransport(issuer))

        monkeypatch.setattr(tokens.httpx, "AsyncClient", client)
        return issuer

    real = httpx.AsyncClient
    return put


def token(number: int) -> httpx.Response:
    return httpx.Response(200, json={"access_token": f"token-{number}", "expires_in": 100})


async def test_clients_share_a_token_that_is_renewed_before_it_expires(
    issue: Callable[[Callable[[int], httpx.Response]], Issuer],
) -> None:
    issuer, now = issue(token), [0.0]
    provider = TokenUrl(URL, "brain", "plum-4", "kafka", monotonic=lambda: now[0])
    assert await asyncio.gather(*(provider.token() for _ in range(5))) == ["token-1"] * 5
    now[0] = 79.0
    assert await provider.token() == "token-1"
    now[0] = 81.0
    assert await provider.token() == "token-2"
    (first, _) = issuer.asked
    assert first.content == b"grant_type=client_credentials&scope=kafka"
    assert first.headers["authorization"] == f"Basic {b64encode(b'brain:plum-4').decode()}"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (httpx.Response(401, text="no"), "answered 401"),
        (httpx.Response(200, text="<html>"), "gave no token"),
        (httpx.Response(200, content=json.dumps({"token": "x"})), "gave no token"),
        (httpx.Response(200, content=json.dumps(["x"])), "gave no token"),
        (httpx.Response(200, json={"access_token": ""}), "gave no token"),
    ],
)
async def test_an_issuer_without_a_token_is_named_and_asked_again(
    issue: Callable[[Callable[[int], httpx.Response]], Issuer], answer: httpx.Response, said: str
) -> None:
    issuer = issue(lambda number: answer if number == 1 else token(number))
    provider = TokenUrl(URL, "brain", "plum-4")
    with pytest.raises(TokenError, match=said) as refused:
        await provider.token()
    assert refused.value.asked
    assert "plum-4" not in str(refused.value)
    assert await provider.token() == "token-2"
    assert len(issuer.asked) == 2
