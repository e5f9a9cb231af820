"""The feedback events of a package, from its answer and the next message."""

from uuid import UUID

import pytest

from schemas.events import FeedbackRecorded
from schemas.vocabulary import FeedbackSignal
from services.observer.feedback.rules import (
    Package,
    UserReaction,
    Utilisation,
    judge_by_message,
    judge_by_reply,
    read_reaction,
)

CONTEXT, NAME, TEA, CAT = (UUID(int=n) for n in range(1, 5))
PACKAGE = Package(CONTEXT, {NAME: "我叫林晓"}, {TEA: "喜欢喝龙井茶", CAT: "Has a cat called Momo"}, degraded=False)
NOTHING, TEA_USED = Utilisation((), "none"), Utilisation((TEA,), "keyword_match")


def told(events: list[FeedbackRecorded]) -> list[tuple[tuple[UUID, ...], bool | None, str, str]]:
    """The content of each event; every one names the package."""
    assert all(event.receipt_ids == (CONTEXT,) for event in events)
    return [(e.memory_ids, e.utilized, e.utilization_signal, e.signal) for e in events]


def test_unused_retrieved_memories_are_misses_and_pinned_ones_are_not() -> None:
    used, events = judge_by_reply(PACKAGE, "泡一杯龙井吧。", "下午喝点什么？")
    assert used == TEA_USED
    assert told(events) == [((TEA,), True, "keyword_match", "neutral"), ((CAT,), False, "none", "neutral")]
    assert {event.judged_by for event in events} == {"reply"}


def test_a_used_pinned_memory_counts() -> None:
    used, events = judge_by_reply(PACKAGE, "林晓，你好！", "你好")
    assert used == Utilisation((NAME,), "keyword_match")
    assert ((NAME,), True, "keyword_match", "neutral") in told(events)


def test_a_package_without_retrieved_or_used_memories_has_no_events() -> None:
    bare = Package(CONTEXT, PACKAGE.core, {}, degraded=False)
    assert judge_by_reply(bare, "Hello!", "Hi") == (NOTHING, [])


@pytest.mark.parametrize("signal", ["positive_confirm", "correction", "negative"])
def test_praise_and_blame_apply_to_used_memories(signal: FeedbackSignal) -> None:
    utilized, events = judge_by_message(PACKAGE, TEA_USED, UserReaction(signal, True), "…", ())
    assert utilized is None
    assert told(events) == [((TEA,), True, "keyword_match", signal)]
    _, events = judge_by_message(PACKAGE, NOTHING, UserReaction(signal, True), "…", ())
    assert told(events) == [((TEA, CAT), False, "none", signal)]


@pytest.mark.parametrize("signal", ["correction", "negative"])
def test_a_correction_of_a_used_memory_is_not_reported_here(signal: FeedbackSignal) -> None:
    _, events = judge_by_message(PACKAGE, TEA_USED, UserReaction(signal, True), "…", ["龙井 不再喝龙井茶"])
    assert told(events) == [((), True, "keyword_match", signal)]
    _, events = judge_by_message(PACKAGE, TEA_USED, UserReaction(signal, True), "…", ["搬到苏州了"])
    assert told(events) == [((TEA,), True, "keyword_match", signal)]


def test_a_neutral_message_follows_up_changes_topic_or_says_nothing() -> None:
    judged = (TEA, CAT)
    assert told(judge_by_message(PACKAGE, TEA_USED, UserReaction("neutral", True), "那价格呢？", ())[1]) == [
        (judged, True, "none", "neutral")
    ]
    assert told(judge_by_message(PACKAGE, TEA_USED, UserReaction("neutral", False), "写个排序", ())[1]) == [
        (judged, False, "none", "neutral")
    ]
    assert judge_by_message(PACKAGE, TEA_USED, UserReaction("neutral", None), "好的", ()) == (None, [])


def test_a_message_with_words_of_an_unused_memory_refers_to_it() -> None:
    utilized, events = judge_by_message(PACKAGE, TEA_USED, UserReaction("neutral", None), "And Momo?", ())
    assert utilized is True
    assert told(events) == [((CAT,), True, "keyword_match", "neutral")]


def test_the_topic_is_compared_only_for_a_neutral_signal() -> None:
    assert read_reaction("neutral", "帮我写一个冒泡排序的程序", "泡一杯龙井吧。", "喝什么？") == UserReaction(
        "neutral", False
    )
    assert read_reaction("negative", "帮我写一个冒泡排序的程序", "泡一杯龙井吧。", "喝什么？") == UserReaction(
        "negative", True
    )


def test_degraded_packages_are_marked() -> None:
    package = Package(CONTEXT, {}, PACKAGE.evidence, degraded=True)
    assert all(event.degraded for event in judge_by_reply(package, "龙井", "茶？")[1])
