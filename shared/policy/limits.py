"""How much of one process of compose a key, a user, and all of them together may take."""

from pydantic import Field

from shared.policy.base import Slice


class LimitsPolicy(Slice):
    """How often and how long may be asked over HTTP; 0 is no limit, and every process counts for itself.

    Whoever sits at this machine while it needs no key is held to `requests_at_once` and `request_s` alone. What the
    body and the headers may take is the same everywhere (`ConnectionLimits`, `MAX_BODY_BYTES`).
    """

    key_per_s: float = Field(default=200.0, ge=0, description="Requests a second with one key, for long")
    key_burst: int = Field(default=1000, ge=1, description="Requests with one key after a rest, all at once")
    key_at_once: int = Field(default=64, ge=0, description="Requests with one key that are under way at a time")
    user_per_s: float = Field(
        default=50.0, ge=0, description="Requests a second about one user, with whichever key, for long"
    )
    user_burst: int = Field(default=500, ge=1, description="Requests about one user after a rest, all at once")
    requests_at_once: int = Field(default=512, ge=0, description="Requests of everybody that are under way at a time")
    request_s: float = Field(
        default=60.0, ge=0, description="How long a request may take before it is broken off with 503 `timeout`"
    )
