"""Caching of user text, and its expiry."""

import weakref

from shared.cache import UserCache
from shared.domain.subjects import Subject

LIN, ANNA = Subject("t", "lin"), Subject("t", "anna")


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def make(clock: Clock | None = None) -> UserCache[str, str]:
    """Four values, three of one user, for ten seconds."""
    return UserCache(clock or Clock(), keep_s=10.0, most=4, most_each=3)


def test_a_value_is_computed_once() -> None:
    kept = make()
    assert kept.get(LIN, 0, "turn", lambda: "first") == "first"
    assert kept.get(LIN, 0, "turn", lambda: "second") == "first"


def test_an_erasure_clears_cached_values_and_running_computations() -> None:
    kept = make()
    kept.get(LIN, 0, "turn", lambda: "before")
    kept.get(ANNA, 0, "turn", lambda: "hers")
    kept.forget(LIN, 1)
    assert len(kept) == 1
    assert kept.get(LIN, 0, "turn", lambda: "begun before") == "begun before"
    assert len(kept) == 1
    assert kept.get(LIN, 1, "turn", lambda: "after") == "after"
    assert kept.get(LIN, 1, "turn", lambda: "again") == "after"
    kept.forget(LIN, 1)
    assert kept.get(LIN, 1, "turn", lambda: "once more") == "after"


def test_a_missed_erasure_is_detected_by_its_epoch() -> None:
    kept = make()
    kept.get(LIN, 0, "turn", lambda: "before")
    assert kept.get(LIN, 1, "turn", lambda: "after") == "after"
    assert len(kept) == 1


def test_the_cache_is_bounded_in_time_and_number() -> None:
    clock = Clock()
    kept = make(clock)
    for n in range(9):
        kept.get(LIN, 0, str(n), lambda: "said")
    assert len(kept) == 3
    kept.get(ANNA, 0, "turn", lambda: "said")
    kept.get(Subject("t", "zoe"), 0, "turn", lambda: "said")
    assert len(kept) == 2
    clock.now = 10.0
    kept.drop_old()
    assert len(kept) == 0


def test_a_newer_value_replaces_the_cached_one_unless_an_erasure_came_between() -> None:
    kept = make()
    assert kept.find(LIN, "pages") is None
    kept.put(LIN, 1, "pages", "first")
    kept.put(LIN, 1, "pages", "second")
    assert (kept.find(LIN, "pages"), kept.find(ANNA, "pages")) == ("second", None)
    kept.forget(LIN, 2)
    kept.put(LIN, 1, "pages", "of before")
    assert kept.find(LIN, "pages") is None
    kept.put(LIN, 2, "pages", "third")
    assert kept.find(LIN, "pages") == "third"


def test_an_expired_value_is_gone() -> None:
    clock = Clock()
    kept = make(clock)
    kept.put(LIN, 1, "pages", "first")
    clock.now = 10.0
    assert kept.find(LIN, "pages") is None


class Text:
    """A text of a user that supports weak references."""


def test_dropping_a_user_frees_expired_values_too() -> None:
    clock, said = Clock(), Text()
    kept = UserCache[str, Text](clock, keep_s=10.0)
    kept.put(LIN, 0, "turn", said)
    watched = weakref.ref(said)
    del said
    clock.now = 10.0
    kept.drop(LIN)
    assert watched() is None


def test_nothing_is_cached_without_capacity_or_time() -> None:
    for kept in (UserCache[str, str](Clock(), most=0), UserCache[str, str](Clock(), keep_s=0.0)):
        kept.put(LIN, 0, "turn", "said")
        kept.forget(LIN, 1)
        assert (len(kept), kept.find(LIN, "turn")) == (0, None)
