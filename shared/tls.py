"""The certificates that this process trusts."""

import ssl
from functools import cache

import httpx


@cache
def trust_store() -> ssl.SSLContext:
    """For clients of HTTP: read once a process, for that takes 20 ms and a client reads them several times."""
    return httpx.create_ssl_context()
