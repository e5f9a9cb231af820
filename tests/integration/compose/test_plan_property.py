"""Any valid plan gives a valid pack: within its limits and filters, ordered and deterministic."""

from collections import Counter
from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.base import has_words
from schemas.evidence_pack import EvidencePack, PackEvidence
from schemas.retrieval_plan import RetrievalPlan
from tests.integration.compose.memory_of_lin import SAID, Lin, living
from tests.long import often
from tests.system.running import System

MODES = ("exact", "semantic", "hybrid", "relational", "associative")
TEXTS = st.one_of(
    st.sampled_from([text for _, _, text in SAID]),
    st.sampled_from(
        [
            "Marta",
            "smart_rag",
            "龙井茶",
            "我以前喜欢喝什么？",
            "What did I say last spring?",
            "?",
            "的",
            "the",
            "继续",
            "'; DROP TABLE turns; --",
            "%s %(x)s",
            "a\x7fb",
            "\u202e",
            "🐱",
            "((((",
            "知识" * 1500,
        ]
    ),
    st.text(st.characters(exclude_characters="\x00"), min_size=1, max_size=40).filter(has_words),
)
MOMENTS = st.sampled_from([at for at, _, _ in SAID] + ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
WEIGHTS = st.floats(0, 10, allow_nan=False)
COUNTS = st.integers(1, 200)


def _maybe(**fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


FILTERS = _maybe(
    document_ids=st.lists(st.just("d1"), max_size=1),
    tag_ids=st.lists(st.just("t"), max_size=1),
    source_type=st.lists(st.sampled_from(["url", "file", "manual", "memory_snapshot"]), max_size=2),
    source_uri_prefix=st.lists(
        st.sampled_from(["smartbrain://", "smartbrain://turn/", "smartbrain://memory/0", "https://x", "\x7f", "%"]),
        max_size=2,
    ),
    language=st.lists(st.sampled_from(["zh", "en"]), max_size=2),
    time_range=st.lists(MOMENTS, min_size=2, max_size=2).map(
        lambda two: dict(zip(("from", "to"), sorted(two), strict=True))
    ),
)
PLANS = st.fixed_dictionaries(
    {
        "queries": st.lists(
            st.fixed_dictionaries(
                {"text": TEXTS},
                optional={
                    "mode": st.sampled_from(MODES),
                    "weight": WEIGHTS,
                    "filters": FILTERS,
                    "hints": _maybe(past=st.booleans(), aliases=st.one_of(st.lists(TEXTS, max_size=3), st.integers())),
                },
            ),
            min_size=1,
            max_size=5,
        )
    },
    optional={
        "purpose": st.sampled_from(["qa", "continue_task", "other"]),
        "global_filters": FILTERS,
        "budget": _maybe(
            top_k=COUNTS,
            candidate_k=st.integers(1, 1000),
            per_mode_k=_maybe(**{mode: st.integers(0, 4) for mode in MODES}),
            diversity=_maybe(by_document=COUNTS, by_source=COUNTS, by_section=COUNTS),
        ),
        "ranking": _maybe(
            fusion=_maybe(
                method=st.sampled_from(["probability", "rrf", "weighted_sum", "none"]),
                rrf_k=st.integers(1, 1000),
                weights=st.dictionaries(st.sampled_from([*MODES, "magic"]), WEIGHTS, max_size=3),
            ),
            rerank=_maybe(enabled=st.booleans()),
            tie_breaker=st.sampled_from(["recency", "source_priority", "none"]),
        ),
        "output": _maybe(
            include_snippets=st.booleans(),
            snippet_policy=st.sampled_from(["l2", "l1", "l0", "auto"]),
            include_signals=st.booleans(),
            include_provenance=st.booleans(),
            include_raw=st.booleans(),
            max_snippet_chars=st.integers(1, 2000),
        ),
        "debug": _maybe(trace=st.booleans(), caller=_maybe(session_id=st.sampled_from(["s1", "s6", "nowhere"]))),
    },
)


@pytest.fixture(scope="module")
async def lin(system: System) -> AsyncGenerator[Lin]:
    """A year of conversations."""
    async with living(system) as made:
        yield made


SETTLED = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), print_blob=True)


@given(raw=PLANS, model=st.booleans())
@settings(SETTLED, max_examples=often(150, short=20))
async def test_any_plan_gives_a_valid_pack(lin: Lin, raw: dict[str, Any], model: bool) -> None:
    pack = await lin.ask(raw, model=model)
    plan = RetrievalPlan.model_validate({"version": "0.1", **raw})
    wire = pack.model_dump_json(by_alias=True)
    assert EvidencePack.model_validate_json(wire).model_dump_json(by_alias=True) == wire
    assert pack.stats.returned == len(pack.evidences) <= min(plan.budget.top_k, plan.budget.candidate_k)
    assert len({e.id for e in pack.evidences}) == len(pack.evidences)
    counted = Counter(e.provenance.mode for e in pack.evidences)
    quotas = plan.budget.per_mode_k.model_dump(exclude_none=True)
    assert all(counted[mode] <= most for mode, most in quotas.items())
    assert {mode: each.returned for mode, each in pack.stats.by_mode.items() if each.returned} == counted
    for each in pack.evidences:
        _as_asked(each, plan)
    assert pack.explain.degraded_reason == []
    assert _strip_pack(await lin.ask(raw, model=model)) == _strip_pack(pack)


def _as_asked(each: PackEvidence, plan: RetrievalPlan) -> None:
    output = plan.output
    assert len(each.snippet) <= (output.max_snippet_chars if output.include_snippets else 0)
    assert (each.raw is not None) is output.include_raw
    assert each.source_uri.startswith("smartbrain://")
    if not output.include_provenance:
        return
    assert each.provenance.query_index is not None
    query = plan.queries[each.provenance.query_index]
    filters = plan.filters_of(query)
    assert query.weight > 0
    assert not filters.language or each.language in filters.language
    assert not filters.source_type or each.source_type in filters.source_type
    prefixes = tuple(filters.source_uri_prefix)
    assert not prefixes or each.source_uri.startswith(prefixes)
    said = each.metadata.created_at
    assert said
    if span := filters.time_range:
        assert _within(said, span.from_, span.to)


def _within(said: datetime, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or said >= since) and (until is None or said < until)


def _strip_pack(pack: EvidencePack) -> dict[str, Any]:
    """The pack without values that differ in each response."""
    timed = {"evidences": {"__all__": {"provenance": {"retrieved_at"}}}, "stats": {"took_ms"}, "explain": {"arms"}}
    return pack.model_dump(exclude={"plan_id": True, "request_id": True, "generated_at": True, **timed})


@given(raw=PLANS)
@settings(SETTLED, max_examples=often(40, short=10))
async def test_a_smaller_result_is_a_prefix_of_a_larger_one(lin: Lin, raw: dict[str, Any]) -> None:
    budget = raw.get("budget", {})
    asked = [{**raw, "budget": {**budget, "top_k": k}} for k in (50, 3)]
    many, few = [[e.id for e in (await lin.ask(each)).evidences] for each in asked]
    assert few == many[:3]
