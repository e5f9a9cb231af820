"""The effect of each mode, filter, budget and output of a plan on real conversations."""

import hashlib
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.integration.compose.memory_of_lin import SAID, Lin, living
from tests.system.databases import change
from tests.system.running import System

TEXTS = [text for _, _, text in SAID]
BOATS = {TEXTS[1], TEXTS[8]}


@pytest.fixture(scope="module")
async def lin(system: System) -> AsyncGenerator[Lin]:
    """A year of conversations."""
    async with living(system) as made:
        yield made


async def test_exact_finds_words_and_semantic_finds_meaning(lin: Lin) -> None:
    assert any("龙井" in e.snippet for e in await lin.found("龙井", "exact"))
    assert await lin.found("滑雪", "exact") == []
    by_meaning = await lin.found("饮料", "semantic")
    assert by_meaning[0].snippet in (TEXTS[0], "我喜欢喝龙井茶")
    assert all(e.signals.fts_rank is None and e.signals.vector_rank for e in by_meaning[:1])
    assert all(e.signals.vector_rank is None for e in await lin.found("harbour", "exact"))


async def test_a_plan_sets_its_relevance_threshold(lin: Lin) -> None:
    every = await lin.found("Where are the harbour boats?")
    least = sorted(each.score for each in every)[len(every) // 2]
    assert least < max(each.score for each in every)
    for cut in (least, max(each.score for each in every)):
        kept = await lin.found("Where are the harbour boats?", ranking={"min_score": cut - 1e-6})
        assert {each.id for each in kept} >= {each.id for each in every if each.score >= cut}
        assert min(each.score for each in kept) >= cut - 1e-5


async def test_hybrid_uses_words_and_vectors(lin: Lin) -> None:
    first = (await lin.found("harbour boats"))[0]
    assert first.snippet.rstrip(".") == TEXTS[1].rstrip(".")
    assert first.signals.fts_rank
    assert first.signals.vector_rank


async def test_semantic_without_a_model_uses_static_vectors_and_says_so(lin: Lin) -> None:
    pack = await lin.ask({"queries": [{"text": "龙井茶", "mode": "semantic"}]}, model=False)
    assert any("龙井茶" in e.snippet for e in pack.evidences)
    assert pack.explain.degraded_reason == []
    assert "embedding_static" in pack.explain.notes
    assert [q.served_by for q in pack.explain.queries] == [["meaning"]]
    served = await lin.ask({"queries": [{"text": "龙井茶", "mode": "semantic"}]})
    assert [q.served_by for q in served.explain.queries] == [["meaning"]]
    assert served.explain.degraded_reason == []
    assert "embedding_static" not in served.explain.notes


async def test_relational_follows_names_instead_of_words(lin: Lin) -> None:
    found = {e.snippet.rstrip("。.") for e in await lin.found("Marta", "relational")}
    assert found >= {TEXTS[n].rstrip("。.") for n in (1, 3, 8)}
    assert await lin.found("Nobody", "relational") == []
    repo = [e.snippet for e in await lin.found("what about smart_rag?", "relational")]
    assert set(repo) >= {TEXTS[2], TEXTS[3]}


async def test_relational_queries_are_independent(lin: Lin) -> None:
    asked = [{"text": "smart_rag", "mode": "relational"}, {"text": "豆包", "mode": "relational"}]
    pack = await lin.ask({"queries": asked})
    by_query = {
        n: {e.snippet[:40] for e in pack.evidences if e.provenance.query_index == n and e.kind == "turn"}
        for n in (0, 1)
    }
    assert TEXTS[2] in by_query[0]
    assert TEXTS[4] in by_query[1]
    assert not by_query[0] & by_query[1]


async def test_associative_is_wider_than_exact_and_ranks_its_own_words_first(lin: Lin) -> None:
    exact = {e.id for e in await lin.found("smart_rag", "exact", model=False)}
    pack = await lin.ask({"queries": [{"text": "smart_rag", "mode": "associative"}]}, model=False)
    wide = [e.id for e in pack.evidences]
    assert exact <= set(wide)
    assert set(wide[:2]) <= exact
    assert "Marta" in pack.explain.queries[0].widened_with


async def test_alias_hints_widen_the_search(lin: Lin) -> None:
    hints = {"aliases": ["豆包"]}
    plain = await lin.found("the pet", "exact", model=False)
    pack = await lin.ask({"queries": [{"text": "the pet", "mode": "associative", "hints": hints}]}, model=False)
    assert TEXTS[4] not in [e.snippet for e in plain]
    assert TEXTS[4] in [e.snippet for e in pack.evidences]


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_language_filters(lin: Lin, language: str) -> None:
    found = await lin.found("Marta 船 harbour", global_filters={"language": [language]})
    assert found
    assert {e.language for e in found} == {language}


async def test_a_querys_own_filter_overrides_the_global_one(lin: Lin) -> None:
    query = {"text": "Marta 船 harbour", "filters": {"language": ["zh"]}}
    pack = await lin.ask({"queries": [query], "global_filters": {"language": ["en"]}})
    assert {e.language for e in pack.evidences} == {"zh"}
    assert pack.explain.filters_applied == ["global_filters.language", "queries[0].filters.language"]


async def test_memory_results_are_a_snapshot_without_pages(lin: Lin) -> None:
    pack = await lin.ask({"queries": [{"text": "Marta"}], "global_filters": {"source_type": ["url", "file"]}})
    assert pack.evidences == []
    assert pack.explain.filters_applied == ["global_filters.source_type"]
    assert "memory_snapshot" in pack.warnings[0]
    found = await lin.found("Marta", global_filters={"source_type": ["url", "memory_snapshot"]})
    assert {e.source_type for e in found} == {"memory_snapshot"}


async def test_the_prefix_of_an_address_filters(lin: Lin) -> None:
    for prefix, kinds in (("smartbrain://memory/", {"memory"}), ("smartbrain://turn/", {"turn"}), ("https://", set())):
        found = await lin.found("我喜欢喝龙井茶 peanuts", global_filters={"source_uri_prefix": [prefix]})
        assert {e.kind for e in found} == kinds
    assert await lin.found("龙井茶", global_filters={"source_uri_prefix": ["smartbrain://\x7f"]}) == []


async def test_knowledge_filters_are_reported_and_change_nothing(lin: Lin) -> None:
    plain = await lin.found("Marta")
    filters = {"document_ids": ["d1"], "topic_ids": ["t"]}
    own = {"tag_ids": ["x"]}
    asked = {"queries": [{"text": "Marta", "filters": own}], "ranking": {"min_score": 0}}
    pack = await lin.ask({**asked, "global_filters": filters})
    assert [e.id for e in pack.evidences] == [e.id for e in plain]
    assert [each.partition(":")[0] for each in pack.explain.ignored_fields] == [
        "global_filters.document_ids",
        "global_filters.topic_ids",
        "queries[0].filters.tag_ids",
    ]


async def test_a_mode_returns_at_most_its_quota(lin: Lin) -> None:
    queries = [{"text": "膝盖 knee 猫", "mode": "exact"}, {"text": "Marta", "mode": "relational"}]
    free = await lin.ask({"queries": queries})
    assert Counter(e.provenance.mode for e in free.evidences)["relational"] > 1
    pack = await lin.ask({"queries": queries, "budget": {"per_mode_k": {"relational": 1, "exact": 2}}})
    counted = Counter(e.provenance.mode for e in pack.evidences)
    assert counted == {"relational": 1, "exact": 2}
    assert pack.stats.by_mode["relational"].returned == 1
    none = await lin.ask({"queries": queries, "budget": {"per_mode_k": {"exact": 0}}})
    assert {e.provenance.mode for e in none.evidences} == {"relational"}


async def test_fusion_weights_change_the_order(lin: Lin) -> None:
    queries = [{"text": "龙井", "mode": "exact"}, {"text": "boat", "mode": "semantic"}]

    async def first(**weights: float) -> str:
        ranking = {"fusion": {"weights": weights}}
        return (await lin.ask({"queries": queries, "ranking": ranking})).evidences[0].provenance.mode

    assert await first(exact=5.0, semantic=0.1) == "exact"
    assert await first(exact=0.1, semantic=5.0) == "semantic"
    pack = await lin.ask({"queries": queries, "ranking": {"fusion": {"weights": {"semantic": 0, "magic": 2}}}})
    assert {e.provenance.mode for e in pack.evidences} == {"exact"}
    assert pack.warnings == ["queries[1] weighs nothing and was not executed"]
    assert pack.explain.ignored_fields == ["ranking.fusion.weights.magic: no such mode"]
    assert pack.explain.fusion_weights == {"semantic": 0, "magic": 2}


@pytest.mark.parametrize("method", ["probability", "rrf", "weighted_sum", "none"])
async def test_every_fusion_method_works(lin: Lin, method: str) -> None:
    queries = [{"text": "龙井茶"}, {"text": "harbour boats", "weight": 0.5}]
    pack = await lin.ask({"queries": queries, "ranking": {"fusion": {"method": method}}})
    assert pack.explain.fusion == method
    assert {e.provenance.query_index for e in pack.evidences[:6]} == {0, 1}


async def test_raw_content_has_its_hash(lin: Lin) -> None:
    found = await lin.found("豆包 三岁", output={"include_raw": True})
    turn = next(e for e in found if e.snippet == TEXTS[4])
    assert turn.raw
    assert turn.raw.content_ref == f"{turn.source_uri}#0"
    assert turn.raw.content_hash == "sha256:" + hashlib.sha256(TEXTS[4].encode()).hexdigest()
    assert (await lin.found("豆包"))[0].raw is None


async def test_a_snippet_has_the_planned_length_and_contains_the_matching_part(lin: Lin) -> None:
    async def one(**output: Any) -> Any:
        plan = {"queries": [{"text": "豆包打翻茶杯", "mode": "exact"}], "output": output}
        return next(e for e in (await lin.ask(plan)).evidences if e.metadata.session_id == "s6")

    whole, short = await one(max_snippet_chars=20_000), await one(max_snippet_chars=100)
    assert whole.snippet == TEXTS[11]
    assert (whole.snippet_policy, short.snippet_policy) == ("l2", "l1")
    assert len(short.snippet) <= 100
    assert "豆包打翻了茶杯" in short.snippet
    line = await one(snippet_policy="l0")
    assert line.snippet.strip("…") == "豆包打翻了茶杯。"
    assert (await one(include_snippets=False)).snippet == ""
    lean = await one(include_signals=False, include_provenance=False)
    assert lean.signals.rrf_score is None
    assert lean.provenance.model_dump(exclude_none=True) == {"mode": "exact"}


async def test_diversity_limits_similar_results_only_on_request(lin: Lin) -> None:
    free = await lin.found("Marta harbour 港口 膝盖 knee", budget={"top_k": 50})
    per_session = Counter(e.metadata.session_id for e in free if e.kind == "turn")
    assert max(per_session.values()) > 1
    bound = await lin.ask(
        {
            "queries": [{"text": "Marta harbour 港口 膝盖 knee"}],
            "budget": {"top_k": 50, "diversity": {"by_document": 1}},
            "ranking": {"min_score": 0},
        }
    )
    per_session = Counter(e.metadata.session_id for e in bound.evidences if e.kind == "turn")
    assert set(per_session.values()) == {1}
    assert bound.explain.diversity.applied


async def test_the_end_of_the_callers_session_is_included_for_a_continued_task(lin: Lin) -> None:
    plan: dict[str, Any] = {"queries": [{"text": "继续", "mode": "hybrid"}], "purpose": "continue_task"}
    with_session = await lin.ask({**plan, "debug": {"caller": {"session_id": "s2"}}}, model=False)
    said = [e.snippet for e in with_session.evidences if e.metadata.session_id == "s2" and e.kind == "turn"]
    assert set(said[:2]) == {TEXTS[3], TEXTS[2]}  # the order is also theirs by meaning
    assert "session" in with_session.explain.queries[0].served_by
    elsewhere = await lin.ask({**plan, "debug": {"caller": {"session_id": "nowhere"}}}, model=False)
    places = [e.snippet for e in elsewhere.evidences[:2]]
    assert set(places) != {TEXTS[3], TEXTS[2]}


async def test_the_trace_shows_every_candidate_and_why_it_was_dropped(lin: Lin) -> None:
    plan = {"queries": [{"text": "Marta harbour"}], "budget": {"top_k": 1}}
    assert (await lin.ask(plan)).explain.candidates == []
    explain = (await lin.ask({**plan, "debug": {"trace": True}})).explain
    assert [c.place for c in explain.candidates[:2]] == [1, None]
    assert all(c.dropped for c in explain.candidates[1:])
    assert {a.arm for a in explain.candidates[0].arms} >= {"all#0", "text#0"}
    assert {d.id for d in explain.dropped} >= {c.id for c in explain.candidates[1:]}
    assert {a.arm for a in explain.arms} >= {"text", "vector", "rank"}


async def test_unknown_fields_and_later_versions_are_accepted(lin: Lin) -> None:
    body = {**lin.person.whose, "version": "0.7", "mood": 1, "queries": [{"text": "Marta", "boost": 2}]}
    answer = await lin.person.post("/v1/retrieve", body)
    assert answer.status_code == 200
    assert answer.json()["explain"]["ignored_fields"] == ["mood", "queries[0].boost"]


async def test_all_thirty_two_queries_run(lin: Lin) -> None:
    queries = [{"text": f"nothing {n}", "mode": "exact"} for n in range(31)] + [{"text": "龙井", "mode": "exact"}]
    pack = await lin.ask({"queries": queries})
    assert pack.evidences[0].provenance.query_index == 31
    assert len(pack.explain.queries) == 32


async def test_a_time_outside_the_range_of_utc_is_refused(lin: Lin) -> None:
    span = {"from": "0001-01-01T00:00:00+14:00"}
    body = {**lin.person.whose, "version": "0.1", "queries": [{"text": "x"}], "global_filters": {"time_range": span}}
    answer = await lin.person.post("/v1/retrieve", body)
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (422, "global_filters.time_range.from")


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("我过敏什么 peanuts?", False),
        ("What am I allergic to, peanuts?", False),
        ("我以前对 peanuts 过敏吗？", True),
        ("Did I use to be allergic to peanuts?", True),
        ("What was I previously allergic to, peanuts?", True),
    ],
)
async def test_outdated_memories_answer_only_questions_about_the_past(lin: Lin, question: str, shown: bool) -> None:
    peanuts = {m["memory_id"] for m in await lin.person.memories() if "peanuts" in m["content"]}
    assert peanuts
    await _mark_memories(lin, peanuts, "epistemic_type = 'outdated'")
    try:
        for mode in ("exact", "hybrid", "semantic", "relational", "associative"):
            found = {e.ref.memory_item_id for e in await lin.found(question, mode)}
            assert shown or not peanuts & found
        memories = {"source_uri_prefix": ["smartbrain://memory/"]}
        found = {e.ref.memory_item_id for e in await lin.found(question, global_filters=memories)}
        assert bool(peanuts & found) is shown
    finally:
        await _mark_memories(lin, peanuts, "epistemic_type = 'fact'")


@pytest.mark.parametrize(
    "gone",
    ["superseded", "retracted", "expired", "erased", None],
)
async def test_ended_memories_are_never_ranked(lin: Lin, gone: str | None) -> None:
    peanuts = {m["memory_id"] for m in await lin.person.memories() if "peanuts" in m["content"]}
    ended = f"invalid_at = now(), status = '{gone}'" if gone else "valid_until = now() - interval '1 day'"
    await _mark_memories(lin, peanuts, ended)
    try:
        for mode in ("exact", "hybrid", "semantic", "relational", "associative"):
            found = await lin.found("Did I use to be allergic to peanuts before?", mode)
            assert not peanuts & {e.ref.memory_item_id for e in found}
    finally:
        await _mark_memories(lin, peanuts, "status = 'active', valid_until = NULL, invalid_at = NULL")


async def _mark_memories(lin: Lin, memories: set[str], how: str) -> None:
    marked = f"UPDATE memory_items SET {how} WHERE memory_id::text = ANY(%(ids)s)"  # noqa: S608 # constant text
    await change(lin.person.system.dsn, marked, ids=[*memories])
