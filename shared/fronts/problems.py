"""Errors of calls to compose."""


class CallError(Exception):
    """A failed request: the code, the reason, and when a retry may help."""

    def __init__(self, code: str, message: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s


class UnreachableError(CallError):
    """Compose does not answer at its address."""

    def __init__(self, why: str) -> None:
        super().__init__("unreachable", why)
