"""A token bucket for rate limits. Pure; the caller passes the time."""

from dataclasses import dataclass

NEARLY = 1e-9
"""What sums of fractions may lack of a whole token."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`burst` requests at once, and `per_s` per second sustained; 0 means no limit."""

    per_s: float
    burst: int

    @property
    def fills_in_s(self) -> float:
        """After this idle time a bucket is full, like an unused one."""
        return self.burst / self.per_s if self.per_s else 0.0


@dataclass(frozen=True, slots=True)
class Bucket:
    """How many tokens there were at that time."""

    tokens: float
    at: float


def take_token(bucket: Bucket | None, rate: Rate, now: float) -> tuple[Bucket, float]:
    """The bucket without one token, and 0; of an empty one the seconds until there is a token again.

    A bucket that is not known is full. A clock that goes back adds and takes nothing.
    """
    if not rate.per_s:
        return Bucket(rate.burst, now), 0.0
    if bucket is None:
        tokens, at = float(rate.burst), now
    else:
        at = max(now, bucket.at)
        tokens = min(float(rate.burst), bucket.tokens + (at - bucket.at) * rate.per_s)
    if tokens < 1 - NEARLY:
        return Bucket(tokens, at), (1 - tokens) / rate.per_s
    return Bucket(tokens - 1, at), 0.0
