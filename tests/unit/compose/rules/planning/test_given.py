"""The execution of a plan: its queries by mode, its filters, and ignored fields."""

from typing import Any

import pytest

from schemas.retrieval_plan import Query, RetrievalPlan
from services.compose.rules.planning.given import (
    execute_given,
    find_linked_terms,
    list_applied,
    list_expansions,
    list_ignored,
)
from services.compose.rules.planning.plan import execute_composed, to_filter


def _plan(*queries: dict[str, Any], **more: Any) -> RetrievalPlan:
    return RetrievalPlan.model_validate({"version": "0.1", "queries": list(queries), **more})


def test_an_associative_query_runs_with_additions_of_lower_weight() -> None:
    run = execute_given(_plan({"text": "部署 smart_rag", "mode": "associative", "weight": 0.8}), {0: ["Marta"]})
    first, *rest = run.steps
    assert (first.query.text, first.weight, first.embed) == ("部署 smart_rag", 0.8, True)
    assert {step.of for step in run.steps} == {0}
    assert rest
    assert all(step.weight < first.weight and not step.embed for step in rest)
    assert "Marta" in run.added[0]
    assert [step.weight for step in rest] == sorted((step.weight for step in rest), reverse=True)


def test_the_planners_own_associations_are_not_expanded() -> None:
    plan = _plan({"text": "x"}, {"text": "y", "mode": "associative", "weight": 0.5})
    run = execute_composed(plan)
    assert [step.query.text for step in run.steps] == ["x", "y"]
    assert [step.embed for step in run.steps] == [True, False]


def test_a_callers_plan_follows_a_name_and_the_planners_plan_a_word() -> None:
    plan = _plan({"text": "x"}, {"text": "Anna Bauer", "mode": "relational"})
    assert [bool(step.entities) for step in execute_composed(plan).steps] == [False, False]
    assert [bool(step.entities) for step in execute_given(plan, {}).steps] == [False, True]


@pytest.mark.parametrize(
    ("weights", "weight"),
    [({}, 0.5), ({"exact": 2.0}, 1.0), ({"semantic": 2.0}, 0.5), ({"exact": 0.0}, None)],
)
def test_fusion_weights_scale_the_queries_of_their_mode(weights: dict[str, float], weight: float | None) -> None:
    plan = _plan({"text": "x", "mode": "exact", "weight": 0.5}, ranking={"fusion": {"weights": weights}})
    assert [step.weight for step in execute_given(plan, {}).steps] == ([] if weight is None else [weight])


def test_a_hybrid_query_is_empty_only_if_both_parts_are() -> None:
    def ran(**weights: float) -> int:
        return len(execute_given(_plan({"text": "x"}, ranking={"fusion": {"weights": weights}}), {}).steps)

    assert (ran(exact=0), ran(semantic=0), ran(exact=0, semantic=0), ran(hybrid=0)) == (1, 1, 0, 0)


@pytest.mark.parametrize(
    ("text", "named", "terms"),
    [
        ("What about Marta?", ("Marta",), ()),
        ("deploy smart_rag for Marta", ("smart_rag", "Marta"), ("smart_rag",)),
        ("豆包", ("豆包",), ("豆包", "包")),
        ("的", (), ()),
    ],
)
def test_a_relational_query_follows_its_entities(text: str, named: tuple[str, ...], terms: tuple[str, ...]) -> None:
    assert find_linked_terms(text) == (named, terms)


@pytest.mark.parametrize(
    ("hints", "text", "past"),
    [
        ({}, "我以前喝什么", True),
        ({}, "我喝什么", False),
        ({"past": True}, "我喝什么", True),
        ({"past": False}, "我以前喝什么", False),
        ({"past": "yes"}, "What did I use to drink?", True),
    ],
)
def test_outdated_memories_are_included_by_words_or_by_hint(hints: dict[str, Any], text: str, past: bool) -> None:
    plan = _plan({"text": text, "hints": hints})
    assert to_filter(plan, plan.queries[0]).past is past


@pytest.mark.parametrize(
    ("types", "empty"),
    [([], False), (["url"], True), (["memory_snapshot"], False), (["url", "memory_snapshot"], False)],
)
def test_memory_is_a_memory_snapshot(types: list[str], empty: bool) -> None:
    plan = _plan({"text": "x"}, global_filters={"source_type": types})
    assert to_filter(plan, plan.queries[0]).empty is empty
    assert bool(execute_given(plan, {}).notes) is empty


def test_ignored_and_applied_fields_are_named_by_path() -> None:
    filters = {"document_ids": ["d"], "language": ["zh"]}
    own = {"tag_ids": ["t"], "source_uri_prefix": ["smartbrain://"]}
    plan = _plan({"text": "x", "filters": own}, global_filters=filters, ranking={"fusion": {"weights": {"bm25": 1}}})
    assert [each.partition(":")[0] for each in list_ignored(plan)] == [
        "global_filters.document_ids",
        "queries[0].filters.tag_ids",
        "ranking.fusion.weights.bm25",
    ]
    assert list_applied(plan) == ["global_filters.language", "queries[0].filters.source_uri_prefix"]


@pytest.mark.parametrize(
    ("caller", "purpose", "mode", "tail"),
    [
        ({"session_id": "s"}, "continue_task", "hybrid", "s"),
        ({"session_id": "s"}, "qa", "relational", "s"),
        ({"session_id": "s"}, "qa", "hybrid", None),
        ({"app": "x"}, "continue_task", "hybrid", None),
    ],
)
def test_the_sessions_end_is_read_if_it_may_be_meant(
    caller: dict[str, str], purpose: str, mode: str, tail: str | None
) -> None:
    plan = _plan({"text": "x", "mode": mode}, purpose=purpose, debug={"caller": caller})
    assert execute_given(plan, {}).tail == tail


def test_additions_are_the_callers_first_without_duplicates() -> None:
    query = Query(text="what should I wear", mode="associative", hints={"aliases": ["Outfit", "outfit", 3]})
    made = list_expansions(query, ["Marta"])
    assert made[0] == "Outfit"
    assert len({each.lower() for each in made}) == len(made) <= 6
    assert {"Marta", "clothing preferences"} <= set(made)
    assert list_expansions(Query(text="x", hints={"aliases": "no list"}), []) == []


@pytest.mark.parametrize("mode", ["hybrid", "exact", "semantic"])
def test_a_question_of_several_parts_is_also_searched_part_by_part(mode: str) -> None:
    text = "Where do I live? What is my dog called?"
    for run in (
        execute_given(_plan({"text": text, "mode": mode}), {}),
        execute_composed(_plan({"text": text, "mode": mode})),
    ):
        whole, *parts = run.steps
        assert (whole.query.text, whole.is_part) == (text, False)
        assert [part.query.text for part in parts] == ["Where do I live?", "What is my dog called?"]
        assert all(part.is_part and part.of == 0 and part.bounds == whole.bounds for part in parts)
        assert all(part.weight < whole.weight and part.embed == whole.embed for part in parts)


@pytest.mark.parametrize("mode", ["relational", "associative"])
def test_a_text_that_is_no_question_is_searched_as_a_whole(mode: str) -> None:
    run = execute_given(_plan({"text": "Marta harbour 港口 knee", "mode": mode}), {})
    assert not any(step.is_part for step in run.steps)
