"""RetrievalPlan, EvidencePack, ContextPackage and the compose request, as the seeds define them."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.base import ignored_fields
from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.evidence_pack import EvidencePack
from schemas.retrieval_plan import RetrievalPlan
from shared.parsing import problems

MINIMAL: dict[str, Any] = {"version": "0.1", "queries": [{"text": "retrieval design"}]}


def test_a_minimal_plan_has_the_seeds_defaults() -> None:
    plan = RetrievalPlan.model_validate(MINIMAL)
    assert (plan.budget.top_k, plan.budget.candidate_k, plan.output.max_snippet_chars) == (30, 200, 800)
    limits = plan.budget.diversity.model_dump(exclude={"repeats"})
    assert limits == {"by_document": 3, "by_source": 10, "by_section": 1}
    assert (plan.ranking.fusion.method, plan.ranking.fusion.rrf_k, plan.queries[0].weight) == ("probability", 60, 1.0)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"queries": []}, "queries"),
        ({"queries": [{"text": "x"}] * 33}, "queries"),
        ({"queries": [{"text": "  "}]}, "queries.0.text"),
        ({"queries": [{"text": "x" * 4001}]}, "queries.0.text"),
        ({"queries": [{"text": "x", "mode": "magic"}]}, "queries.0.mode"),
        ({"queries": [{"text": "x", "weight": 10.5}]}, "queries.0.weight"),
        ({"queries": [{"text": "x", "weight": float("nan")}]}, "queries.0.weight"),
        ({"budget": {"top_k": 0}}, "budget.top_k"),
        ({"budget": {"top_k": 201}}, "budget.top_k"),
        ({"version": "1.0"}, "version"),
        ({"version": None}, "version"),
        ({"global_filters": {"time_range": {"from": "2026-02-01", "to": "2026-01-01"}}}, "global_filters.time_range"),
    ],
)
def test_an_invalid_plan_names_the_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        RetrievalPlan.model_validate({**MINIMAL, **change})
    assert problems(caught.value)[0].field == field


def test_null_means_absent_and_unknown_fields_are_named() -> None:
    raw = {**MINIMAL, "budget": None, "mood": 1, "ranking": {"fusion": {"method": None, "k": 3}}}
    plan = RetrievalPlan.model_validate(raw)
    assert plan.ranking.fusion.method == "probability"
    assert ignored_fields(RetrievalPlan, raw) == ["mood", "ranking.fusion.k"]


def test_a_plan_with_a_time_range_survives_serialisation() -> None:
    plan = RetrievalPlan.model_validate({**MINIMAL, "global_filters": {"time_range": {"from": "2026-01-01T00:00:00Z"}}})
    assert '"from":"2026-01-01T00:00:00Z"' in plan.model_dump_json()
    assert RetrievalPlan.model_validate_json(plan.model_dump_json()) == plan


def test_a_querys_own_filters_override_the_global_ones() -> None:
    plan = RetrievalPlan.model_validate(
        {
            "version": "0.1",
            "queries": [{"text": "x", "filters": {"language": ["zh"]}}],
            "global_filters": {"language": ["en"], "tag_ids": ["t"]},
        }
    )
    filters = plan.filters_of(plan.queries[0])
    assert (filters.language, filters.tag_ids) == (["zh"], ["t"])


def test_an_empty_pack_and_the_seeds_package_are_valid() -> None:
    EvidencePack.model_validate({"plan": MINIMAL, "plan_id": "p", "generated_at": "2026-02-20T12:00:00Z"})
    package = ContextPackage.model_validate(
        {
            "version": "0.1",
            "context_id": "c",
            "session_id": "s",
            "created_at": "2026-02-20T12:00:00Z",
            "user_message": {"role": "user", "content": "..."},
            "constraints": {"token_budget": {"limit": 8000, "used_estimate": 6120}},
        }
    )
    assert package.constraints.truncation.recent_turns_max == 8


REQUEST: dict[str, Any] = {"user_id": "u", "session_id": "s", "user_message": "你好"}


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        ({}, 8192),
        ({"budget_profile": "16k"}, 16384),
        ({"token_limit": 5000}, 5000),
        ({"token_budget": 5000}, 5000),
        ({"budget_profile": 4000}, 4000),
        ({"model_window": 128_000}, 128_000),
        ({"model_window": 4096, "budget_profile": "8k"}, 4096),
        ({"token_limit": 50_000, "model_window": 32_768}, 32_768),
    ],
)
def test_the_smallest_bound_is_the_limit(change: dict[str, Any], limit: int) -> None:
    assert ComposeRequest.model_validate({**REQUEST, **change}).limit() == limit


def test_a_user_message_can_be_text_a_message_or_content_blocks() -> None:
    image = {"type": "image", "media_id": "m", "text_fallback": "一张图"}
    blocks = [{"type": "text", "text": "看"}, image]
    older = {"content": "看", "content_parts": blocks}
    for given, kinds in [
        ("看", ["text"]),
        ({"role": "user", "content": "看"}, ["text"]),
        ({"content": blocks}, ["text", "image"]),
        (blocks, ["text", "image"]),
        (older, ["text", "image"]),
    ]:
        message = ComposeRequest.model_validate({**REQUEST, "user_message": given}).user_message
        assert message.words == "看"
        assert [block.type for block in message.blocks] == kinds


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"user_message": " "}, "user_message.content"),
        ({"user_message": {"role": "assistant", "content": "x"}}, "user_message.role"),
        ({"deadline_ms": 0}, "deadline_ms"),
        ({"deadline_ms": 30_001}, "deadline_ms"),
        ({"user_id": ""}, "user_id"),
    ],
)
def test_an_invalid_request_names_the_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ComposeRequest.model_validate({**REQUEST, **change})
    assert problems(caught.value)[0].field == field
