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

from services.cli import data_folder
from services.cli.output import err
from shared.errors import RefusedError, TransientError
from shared.settings import API_KEY

Json = dict[str, Any]
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

    def get(self, path: str, query: Json) -> Json:
        """The JSON of the answer; RefusedError or TransientError by compose's status."""
        return self._call("GET", path, query, None)

    def post(self, path: str, body: Json, query: Json | None = None) -> Json:
        return self._call("POST", path, query, orjson.dumps(body))

    def put(self, path: str, body: Json, query: Json | None = None) -> Json:
        return self._call("PUT", path, query, orjson.dumps(body))

    def patch(self, path: str, body: Json, query: Json) -> Json:
        return self._call("PATCH", path, query, orjson.dumps(body))

    def delete(self, path: str, query: Json) -> Json:
        return self._call("DELETE", path, query, None)

    def send(self, path: str, query: Json, body: bytes) -> Json:
        """As `post`, of a body that is JSON already."""
        return self._call("POST", path, query, body)

    def stream(self, path: str, query: Json) -> Iterator[bytes]:
        """The answer as a stream; RefusedError or TransientError by compose's status, or if it breaks off."""
        try:
            self._connection.request("GET", _to_target(path, query), None, self._headers)
            response = self._connection.getresponse()
            if response.status >= 400:
                self._raise(response.status, orjson.loads(response.read() or b"{}"))
            while piece := response.read(PIECE_BYTES):
                yield piece
        except (OSError, HTTPException, orjson.JSONDecodeError) as error:
            self._connection.close()
            raise TransientError(f"{self._base} broke off: {error}") from error

    def _call(self, method: str, path: str, query: Json | None, body: bytes | None) -> Json:
        try:
            self._connection.request(method, _to_target(path, query or {}), body, self._headers)
            response = self._connection.getresponse()
            answer = orjson.loads(response.read() or b"{}")
        except (OSError, HTTPException, orjson.JSONDecodeError) as error:
            self._connection.close()
            raise TransientError(f"{self._base} does not answer: {error}") from error
        self._raise(response.status, answer)
        return answer

    def _raise(self, status: int, answer: Json) -> None:
        """RefusedError or TransientError where the answer is one."""
        if status == 503:
            raise TransientError(answer.get("message", "unavailable"))
        if status == 401 and "authorization" not in self._headers:
            raise RefusedError("unauthenticated", f"{self._base} requires a key: set {API_KEY}", status=401)
        if status >= 400:
            raise RefusedError(answer.get("code", "refused"), answer.get("message", ""), status=status)

    def commit_all(self, bodies: list[Json], *, show: bool) -> list[Json]:
        """The result of each commit, in order; a progress bar where there are many."""
        bar = track(bodies, "committing", console=err, disable=not show or len(bodies) < 10, transient=True)
        return [self.post("/v1/turns", body) for body in bar]

    def outcomes(self, bodies: list[Json], results: list[Json], *, show: bool) -> list[Json]:
        """The outcome of each turn, as far as it came within 30 s."""
        pairs = list(zip(bodies, results, strict=True))
        bar = track(pairs, "learning", console=err, disable=not show or len(bodies) < 10, transient=True)
        return [self.outcome(body, result["turn_id"]) for body, result in bar]

    def outcome(self, whose: Json, turn_id: str, timeout_s: float = 30.0) -> Json:
        """The outcome of the turn once it is complete, or its state after `timeout_s`."""
        query = {"user_id": whose["user_id"], "tenant_id": whose.get("tenant_id", "default")}
        until = time.monotonic() + timeout_s
        pause = 0.01
        while True:
            found = self.get(f"/v1/turns/{turn_id}/outcome", query)
            if found["state"] == "complete" or time.monotonic() > until:
                return found
            time.sleep(pause)
            pause = min(pause * 1.5, 0.2)


def _to_target(path: str, query: Json) -> str:
    """Path and query; None values are left out."""
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def reach_compose(timeout_s: float = 30.0) -> Web:
    """A connection to compose, at the address from the environment or the data folder."""
    return Web(data_folder.url(), timeout_s)
