"""What is kept of a user's words, and for how long."""

from shared.domain.subjects import Subject
from shared.user_cache import UserCache

LIN, ANNA = Subject("t", "lin"), Subject("t", "anna")


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def make(clock: Clock | None = None) -> UserCache[str, str]:
    """For two users, three values each, for ten seconds."""
    return UserCache(clock or Clock(), keep_s=10.0, most=2, most_each=3)


def test_a_value_is_worked_out_once() -> None:
    kept = make()
    assert kept.get(LIN, 0, "turn", lambda: "first") == "first"
    assert kept.get(LIN, 0, "turn", lambda: "second") == "first"


def test_an_erasure_ends_what_is_kept_and_what_is_under_way() -> None:
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


def test_an_erasure_that_was_not_heard_of_is_seen_by_its_epoch() -> None:
    kept = make()
    kept.get(LIN, 0, "turn", lambda: "before")
    assert kept.get(LIN, 1, "turn", lambda: "after") == "after"
    assert len(kept) == 1


def test_what_is_kept_is_bounded_in_time_and_number() -> None:
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


def test_a_newer_value_takes_the_place_of_what_was_kept_unless_something_was_erased_since() -> None:
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


def test_what_can_be_found_is_gone_after_its_time() -> None:
    clock = Clock()
    kept = make(clock)
    kept.put(LIN, 1, "pages", "first")
    clock.now = 10.0
    assert kept.find(LIN, "pages") is None
