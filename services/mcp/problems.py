"""What stands in the way of a tool, told so that a model can act on it."""

from services.mcp.rules.remedies import DEFAULT, REMEDIES


class CallError(Exception):
    """A call that could not be done: what, why, what to do, and whether the same call may help later."""

    def __init__(self, code: str, message: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s

    def describe(self) -> dict[str, object]:
        """As the model reads it."""
        remedy = REMEDIES.get(self.code, DEFAULT)
        waits = {} if self.retry_after_s is None else {"retry_after_s": self.retry_after_s}
        told = {"code": self.code, "message": self.message, "what_to_do": remedy.text, "retry": remedy.retry}
        return {"error": {**told, **waits}}


class UnreachableError(CallError):
    """Nobody answers at compose's address."""

    def __init__(self, why: str) -> None:
        super().__init__("unreachable", why)
