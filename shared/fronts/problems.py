"""What stands in the way of whoever asks compose."""


class CallError(Exception):
    """A request that could not be answered: what, why, and when the same request may help later."""

    def __init__(self, code: str, message: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s


class UnreachableError(CallError):
    """Nobody answers at compose's address."""

    def __init__(self, why: str) -> None:
        super().__init__("unreachable", why)
