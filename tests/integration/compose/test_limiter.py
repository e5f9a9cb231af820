"""Rate limits: a refusal names the limit; buckets are independent, and their number is bounded."""

import pytest

from services.compose.routes import access
from services.compose.routes.access import Limiter
from shared.domain.subjects import LOCAL, SCOPES, Requester, Subject
from shared.errors import RefusedError
from shared.policy import LimitsPolicy

ALL = frozenset(SCOPES)
APP, OTHER = Requester("key:app", ALL, "acme"), Requester("key:other", ALL, "acme")
LIN, ANNA = Subject("acme", "lin"), Subject("acme", "anna")


class Clock:
    """A clock that the test advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def ask(limiter: Limiter, requester: Requester) -> None:
    limiter.begin(requester)
    limiter.end(requester)


def test_each_key_has_one_bucket_for_all_its_scopes() -> None:
    clock = Clock()
    limiter = Limiter(LimitsPolicy(key_per_s=0.4, key_burst=2), clock)
    ask(limiter, APP)
    ask(limiter, Requester(APP.name, frozenset(), APP.tenant_id))
    with pytest.raises(RefusedError) as refused:
        limiter.begin(APP)
    error = refused.value
    assert (error.code, error.status, error.retry_after_s, error.details[0].field) == ("rate_limited", 429, 3, "key")
    assert "limits.key_per_s" in error.message
    ask(limiter, OTHER)
    ask(limiter, Requester(APP.name, ALL, "another tenant"))
    clock.now = 2.5
    ask(limiter, APP)


def test_concurrent_requests_count_until_they_end() -> None:
    limiter = Limiter(LimitsPolicy(key_at_once=2), Clock())
    limiter.begin(APP)
    limiter.begin(APP)
    with pytest.raises(RefusedError, match=r"limits\.key_at_once") as refused:
        limiter.begin(APP)
    assert refused.value.retry_after_s == 1
    limiter.begin(OTHER)
    limiter.end(APP)
    limiter.begin(APP)


def test_a_user_has_one_bucket_for_all_requesters_except_those_without_a_key() -> None:
    limiter = Limiter(LimitsPolicy(user_per_s=1, user_burst=1), Clock())
    limiter.count_user(APP, LIN)
    with pytest.raises(RefusedError, match=r"limits\.user_per_s") as refused:
        limiter.count_user(OTHER, LIN)
    assert refused.value.details[0].field == "user_id"
    limiter.count_user(APP, ANNA)
    limiter.count_user(LOCAL, LIN)


def test_an_unset_number_is_no_limit() -> None:
    limiter = Limiter(LimitsPolicy(key_per_s=0, key_burst=1, key_at_once=0, user_per_s=0, user_burst=1), Clock())
    for _ in range(100):
        limiter.begin(APP)
        limiter.count_user(APP, LIN)


def test_the_least_recently_used_bucket_is_evicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MOST_BUCKETS", 3)
    limiter = Limiter(LimitsPolicy(user_per_s=0.1, user_burst=1), Clock())
    for name in ("lin", "a", "b", "c"):
        limiter.count_user(APP, Subject("acme", name))
    limiter.count_user(APP, LIN)
    with pytest.raises(RefusedError):
        limiter.count_user(APP, Subject("acme", "c"))
