"""Who was not let in over HTTP."""

from shared.metrics.catalogue import make_counter

REQUESTS_DENIED = make_counter(
    "smartbrain_requests_denied",
    "Requests refused at the door: `unauthenticated` (401), `forbidden` (403).",
    remedy="Many at once: a key has ended or was rotated too early, or somebody tries keys.",
    labels=("code",),
)
