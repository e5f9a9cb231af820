"""The order in which a rebuild processes the log, and its comparison of rows."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from services.cli.rebuild import replay
from services.cli.rebuild.differ import differences
from services.cli.rebuild.kept import KeptModels, readdress_answers
from services.cli.rebuild.replay import batches, changes, in_order
from shared.model_calls.calls import AnswerKey, digest
from shared.policy import ObserverPolicy
from shared.store.model_answers import CachedAnswer
from shared.store.rebuild import Derived, MemoryPlace, SettledObservation
from shared.store.upkeep import Upkeep


def at(second: float) -> datetime:
    """A time."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second)


def id_of(n: int) -> UUID:
    """An id."""
    return UUID(int=n)


@pytest.mark.parametrize(
    ("turns", "size", "expected"),
    [
        ([], 3, []),
        ([1, 2, 3], 3, [[1, 2, 3]]),
        ([1, 2, 3, 4], 3, [[1, 2, 3], [4]]),
        ([1, 4, 2, 3, 5], 3, [[1, 4], [2, 3, 5]]),
        ([3, 2, 1], 3, [[3], [2], [1]]),
    ],
)
def test_a_batch_ends_when_full_or_before_a_late_turn(
    monkeypatch: pytest.MonkeyPatch, turns: list[int], size: int, expected: list[list[int]]
) -> None:
    monkeypatch.setattr(replay, "BATCH", size)
    assert [[each.int for each in batch] for batch in batches(map(id_of, turns))] == expected


@pytest.mark.parametrize(
    ("said", "kept", "expected"),
    [
        ([], [], [([], [])]),
        ([1, 2], [], [([1, 2], [])]),
        ([], [1, 2], [([], [1, 2]), ([], [])]),
        ([1, 3], [2, 4], [([1], [2]), ([3], [4]), ([], [])]),
        ([1, 2, 5], [3, 4], [([1, 2], [3, 4]), ([5], [])]),
        ([2], [1], [([], [1]), ([2], [])]),
    ],
)
def test_statements_and_upkeep_alternate_in_their_original_order(
    said: list[int], kept: list[int], expected: list[tuple[list[int], list[int]]]
) -> None:
    journal = [Upkeep(id_of(second), "feedback", (), {}, at(second)) for second in kept]
    found = changes([(id_of(second), at(second)) for second in said], journal)
    assert [([i.int for i in ids], [r.upkeep_id.int for r in rows]) for ids, rows in found] == expected


def test_turns_are_ordered_by_settlement_and_unsettled_ones_are_omitted() -> None:
    found = [Derived(id_of(n), id_of(100), n % 2, 0) for n in range(1, 8)]
    settled = [
        SettledObservation(id_of(1), "evolved", at(9)),
        SettledObservation(id_of(2), "rejected", at(3)),
        SettledObservation(id_of(3), "new", None),
        SettledObservation(id_of(4), "analyzed", None),
        SettledObservation(id_of(5), "quarantined", at(1)),
        SettledObservation(id_of(6), "evolved", None),
        SettledObservation(id_of(50), "evolved", at(2)),
    ]
    order = in_order(found, settled, [MemoryPlace(id_of(100), "v", at(5), lost=False)])
    assert [(each.int, when) for each, when in order] == [(2, at(3)), (6, at(5)), (7, at(5)), (1, at(9))]
    assert in_order(found[6:], settled, [MemoryPlace(id_of(100), "v", None, lost=False)]) == []


def row(**more: Any) -> dict[str, Any]:
    """A memory version with all columns."""
    return {"status": "active", "type": "preference", "content_text": "喜欢喝茶", "confidence": 0.5, **more}


@pytest.mark.parametrize(
    ("live", "rebuilt", "expected"),
    [
        (row(), row(), []),
        (row(created_at="a", updated_at="b"), row(created_at="c", updated_at="d"), []),
        (row(confidence=0.5), row(confidence=0.50004), []),
        (row(confidence=0.5), row(confidence=0.5002), [("confidence", 0.5, 0.5002)]),
        (row(confidence=1), row(confidence=0.99995), []),
        (row(miss_count=1), row(miss_count=2), [("miss_count", 1, 2)]),
        (row(pinned=True), row(pinned=False), [("pinned", True, False)]),
        (row(value={"a": 1}), row(value={"a": 2}), [("value", {"a": 1}, {"a": 2})]),
        (
            row(source_sessions=["a", "b"]),
            row(source_sessions=["b", "a"]),
            [("source_sessions", ["a", "b"], ["b", "a"])],
        ),
        (row(fresh=None), row(), []),
        (row(), None, [("memory_id", "active preference: 喜欢喝茶", None)]),
        (None, row(content_text="likes tea"), [("memory_id", None, "active preference: likes tea")]),
    ],
)
def test_every_significant_field_is_compared(
    live: dict[str, Any] | None, rebuilt: dict[str, Any] | None, expected: list[tuple[str, object, object]]
) -> None:
    sides = [{id_of(1): each} if each else {} for each in (live, rebuilt)]
    assert [(each.field, each.live, each.rebuilt) for each in differences(*sides)] == expected


def test_answers_are_found_under_the_current_model_and_prompt() -> None:
    def kept(model: str, version: str, said: str) -> CachedAnswer:
        asked = AnswerKey("extract", version, model, digest(said))
        return CachedAnswer(asked.hash, "extract", version, model, asked.said, None, {"said": said, "by": model})

    answers = [kept("qwen2", "extract-1", "茶"), kept("qwen3", "extract-2", "tea"), kept("qwen3", "extract-2", "茶")]
    assert KeptModels(answers).chat_model_id == "qwen3"
    assert KeptModels([]).chat_model_id is None
    found = {each.input_hash: each for each in readdress_answers(answers, "qwen3", ObserverPolicy())}
    for each in answers:
        assert found[each.input_hash] == each
    moved = found[AnswerKey("extract", "extract-1", "qwen3", digest("茶")).hash]
    assert (moved.model, moved.prompt_version) == ("qwen2", "extract-1"), "who answered stays"
