"""A small HTTP client of the commands: standard library only, errors as one line that names the field."""

import os
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

import orjson
from rich.progress import track

from services.cli.output import err
from shared.errors import RefusedError, TransientError
from shared.settings import API_KEY

PIECE_BYTES = 65_536


class Web:
    """One keep-alive connection to compose, with the key of the environment."""

    def __init__(self, base: str, timeout_s: float = 30.0) -> None:
        address = urlsplit(base)
        self._base = base
        connect = HTTPSConnection if address.scheme == "https" else HTTPConnection
        self._connection = connect(address.hostname or "127.0.0.1", address.port, timeout=timeout_s)
        key = os.environ.get(API_KEY)
        self._headers = {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()

    def get(self, path: str, query: dict[str, Any]) -> dict[str, Any]:
        """The answer's JSON; RefusedError or TransientError as compose says."""
        return self._call("GET", f"{path}?{urlencode(query)}", None)

    def post(self, path: str, body: dict[str, Any], query: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer's JSON; RefusedError or TransientError as compose says."""
        return self._call("POST", f"{path}?{urlencode(query)}" if query else path, orjson.dumps(body))

    def put(self, path: str, body: dict[str, Any], query: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer's JSON; RefusedError or TransientError as compose says."""
        return self._call("PUT", f"{path}?{urlencode(query)}" if query else path, orjson.dumps(body))

    def patch(self, path: str, body: dict[str, Any], query: dict[str, Any]) -> dict[str, Any]:
        """The answer's JSON; RefusedError or TransientError as compose says."""
        return self._call("PATCH", f"{path}?{urlencode(query)}", orjson.dumps(body))

    def delete(self, path: str, query: dict[str, Any]) -> dict[str, Any]:
        """The answer's JSON; RefusedError or TransientError as compose says."""
        return self._call("DELETE", f"{path}?{urlencode(query)}", None)

    def send(self, path: str, query: dict[str, Any], body: bytes) -> dict[str, Any]:
        """The answer's JSON to a body that is JSON already; RefusedError or TransientError as compose says."""
        return self._call("POST", f"{path}?{urlencode(query)}", body)

    def stream(self, path: str, query: dict[str, Any]) -> Iterator[bytes]:
        """The answer in pieces as it comes; RefusedError or TransientError as compose says, or where it breaks off."""
        try:
            self._connection.request("GET", f"{path}?{urlencode(query)}", None, self._headers)
            response = self._connection.getresponse()
            if response.status >= 400:
                self._raise(response.status, orjson.loads(response.read() or b"{}"))
            while piece := response.read(PIECE_BYTES):
                yield piece
        except (OSError, HTTPException, orjson.JSONDecodeError) as error:
            self._connection.close()
            raise TransientError(f"{self._base} broke off: {error}") from error

    def _call(self, method: str, path: str, body: bytes | None) -> dict[str, Any]:
        try:
            self._connection.request(method, path, body, self._headers)
            response = self._connection.getresponse()
            answer = orjson.loads(response.read() or b"{}")
        except (OSError, HTTPException, orjson.JSONDecodeError) as error:
            self._connection.close()
            raise TransientError(f"{self._base} does not answer: {error}") from error
        self._raise(response.status, answer)
        return answer

    def _raise(self, status: int, answer: dict[str, Any]) -> None:
        """RefusedError or TransientError where the answer is one."""
        if status == 503:
            raise TransientError(answer.get("message", "unavailable"))
        if status == 401 and "authorization" not in self._headers:
            raise RefusedError("unauthenticated", f"{self._base} asks for a key: set {API_KEY}", status=401)
        if status >= 400:
            raise RefusedError(answer.get("code", "refused"), answer.get("message", ""), status=status)

    def commit_all(self, bodies: list[dict[str, Any]], *, show: bool) -> list[dict[str, Any]]:
        """The result of each commit, in order; a progress bar where there are many."""
        bar = track(bodies, "committing", console=err, disable=not show or len(bodies) < 10, transient=True)
        return [self.post("/v1/turns", body) for body in bar]

    def outcomes(
        self, bodies: list[dict[str, Any]], results: list[dict[str, Any]], *, show: bool
    ) -> list[dict[str, Any]]:
        """The outcome of each turn, as far as it came within 30 s."""
        pairs = list(zip(bodies, results, strict=True))
        bar = track(pairs, "learning", console=err, disable=not show or len(bodies) < 10, transient=True)
        return [self.outcome(body, result["turn_id"]) for body, result in bar]

    def outcome(self, whose: dict[str, Any], turn_id: str, timeout_s: float = 30.0) -> dict[str, Any]:
        """The turn's outcome once it is complete, or as it stands after `timeout_s`."""
        query = {"user_id": whose["user_id"], "tenant_id": whose.get("tenant_id", "default")}
        until = time.monotonic() + timeout_s
        pause = 0.01
        while True:
            found = self.get(f"/v1/turns/{turn_id}/outcome", query)
            if found["state"] == "complete" or time.monotonic() > until:
                return found
            time.sleep(pause)
            pause = min(pause * 1.5, 0.2)
