"""The capacity of one compose process for a key, a user, and all of them together."""

from pydantic import Field

from shared.policy.base import Slice


class LimitsPolicy(Slice):
    """Limits of HTTP requests; 0 is no limit, and every process counts separately.

    While no key is required, only `requests_at_once` and `request_s` apply. The limits of bodies and headers are fixed
    (`ConnectionLimits`, `MAX_BODY_BYTES`).
    """

    key_per_s: float = Field(default=200.0, ge=0, description="Sustained requests per second with one key")
    key_burst: int = Field(default=1000, ge=1, description="Burst of requests with one key")
    key_at_once: int = Field(default=64, ge=0, description="Concurrent requests with one key")
    user_per_s: float = Field(
        default=50.0, ge=0, description="Sustained requests per second about one user, with any key"
    )
    user_burst: int = Field(default=500, ge=1, description="Burst of requests about one user")
    requests_at_once: int = Field(default=512, ge=0, description="Concurrent requests in total")
    request_s: float = Field(
        default=60.0, ge=0, description="Maximum time of a request before it fails with 503 `timeout`"
    )
