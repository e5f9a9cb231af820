"""Experience from counted receipts of tools and retrieval, and its confidence."""

import pytest

from services.evolver.learnt import bound_share, interval, of_retrieval, of_tool


def counts(succeeded: int, errors: int, pending: int = 0, users: int = 1) -> dict[str, int]:
    return {"succeeded": succeeded, "errors": errors, "pending": pending, "users": users}


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 0, 0.0, 1.0), (5, 5, 0.566, 1.0), (0, 5, 0.0, 0.434), (50, 100, 0.404, 0.596), (1, 1, 0.207, 1.0)],
)
def test_the_bounds_are_wilson_intervals(hits: int, of: int, low: float, high: float) -> None:
    assert interval(hits, of) == pytest.approx((low, high), abs=0.001)


def test_more_receipts_raise_confidence_up_to_the_cap() -> None:
    surer = [bound_share(*interval(n, n), 0.8) for n in (1, 5, 10, 100, 10_000)]
    assert surer == sorted(surer)
    assert surer[0] < 0.3
    assert surer[-2:] == [0.8, 0.8]


def test_a_tool_is_described_by_its_completed_calls() -> None:
    found = of_tool(counts(6, 4, pending=3, users=2), {}, 5)
    assert found is not None
    assert (found["calls"], found["errors"], found["pending"], found["users"], found["share"]) == (10, 4, 3, 2, 0.6)
    assert found["low"] < 0.6 < found["high"]


def test_a_tool_without_completed_calls_is_omitted() -> None:
    assert of_tool(counts(0, 0, pending=9), {}, 5) is None


def test_an_intent_is_included_from_its_fifth_call_on() -> None:
    found = of_tool(counts(9, 0), {"task": counts(5, 0), "recommend": counts(3, 1)}, 5)
    assert found is not None
    assert list(found["by_intent"]) == ["task"]


def test_retrieval_is_described_by_use_in_answers() -> None:
    found = of_retrieval({"packages": 40, "utilized": 20, "corrected": 10, "confirmed": 2, "users": 4})
    assert found["share"] == 0.5
    assert found["corrected_low"] == pytest.approx(interval(10, 20)[0])
    assert (
        of_retrieval({"packages": 4, "utilized": 0, "corrected": 0, "confirmed": 0, "users": 4})["corrected_low"] == 0
    )
