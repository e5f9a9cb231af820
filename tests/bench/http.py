"""A minimal HTTP client on one keep-alive connection, so that the load generator costs little."""

import asyncio
from typing import Self
from urllib.parse import urlsplit


class Http:
    """One connection; one request at a time."""

    def __init__(self, url: str) -> None:
        where = urlsplit(url)
        self._host, self._port = where.hostname or "", where.port or 80

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def post(self, path: str, body: bytes) -> bytes:
        """The response body; raises for any status but 2xx."""
        told = "host: bench\r\ncontent-type: application/json"
        head = f"POST {path} HTTP/1.1\r\n{told}\r\ncontent-length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(line for line in answer.split("\r\n") if line.startswith("content-length:"))
        said = await self._reader.readexactly(int(length.partition(":")[2]))
        if answer.split()[1][0] != "2":
            raise RuntimeError(f"{answer.splitlines()[0]}: {said[:300]!r}")
        return said
