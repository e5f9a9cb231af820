"""The candidates that are reranked, the use of their scores, and reranking by words alone."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from services.compose.rules.candidates import Candidate
from services.compose.rules.ranking.fuse import FusePolicy, fuse
from services.compose.rules.ranking.reranking import (
    RerankPassage,
    choose_shortlist,
    rescore_candidates,
    score_order,
    score_words,
)

NOW = datetime(2026, 11, 18, tzinfo=UTC)


def turn(turn: str, rank: int, text: str = "", **given: Any) -> Candidate:
    base: dict[str, Any] = {"kind": "turn", "text": text or f"said in {turn}", "valid_at": NOW, "turn_id": turn}
    return Candidate(**{**base, "arm_ranks": {"all#0": rank}, "probability": 0.9 / rank, **given})


def memory(name: str, rank: int, **given: Any) -> Candidate:
    return turn(name, rank, kind="memory", memory_id=name, confidence=1.0, provenance="confirmed_by_user", **given)


def section(name: str, rank: int, **given: Any) -> Candidate:
    return turn(name, rank, kind="resource", document_id=name, section_id="1", turn_id=None, **given)


def names(found: list[Candidate]) -> list[str]:
    return [each.key for each in found]


def test_memory_messages_and_resources_are_judged_alike() -> None:
    best, passages = choose_shortlist([section("d", 2), memory("m", 1), turn("t", 3)], FusePolicy(), 10)
    assert names(best) == ["memory:m", "resource:d:1", "turn:t:"]
    assert [each.relevance for each in passages] == sorted((each.relevance for each in passages), reverse=True)


def test_only_the_best_relevant_candidates_are_reranked() -> None:
    pool = [turn(str(n), n) for n in range(1, 9)] + [turn("beside", 1, probability=0.05)]
    best, _ = choose_shortlist(pool, FusePolicy(least_score=0.18), 3)
    assert names(best) == ["turn:1:", "turn:2:", "turn:3:"]


def test_what_two_lists_found_is_judged_once() -> None:
    best, _ = choose_shortlist([turn("a", 2), turn("a", 1), turn("b", 3)], FusePolicy(), 10)
    assert names(best) == ["turn:a:", "turn:b:"]


def test_a_passage_says_who_said_it() -> None:
    _, passages = choose_shortlist(
        [turn("a", 1, "I moved.", name="Lin"), section("d", 2, text="Rules", title="Guide")], FusePolicy(), 9
    )
    assert [each.text for each in passages] == ["Lin: I moved.", "Guide: Rules"]


def test_a_score_replaces_relevance_and_other_candidates_follow() -> None:
    pool = [turn(str(n), n) for n in range(1, 6)]
    best, _ = choose_shortlist(pool, FusePolicy(), 3)
    fused = fuse(rescore_candidates(pool, best, [0.2, 0.9, 0.4]), NOW, FusePolicy())
    assert [each.key for each in fused.ranked] == ["turn:2:", "turn:3:", "turn:1:", "turn:4:", "turn:5:"]
    assert [each.candidate.rerank_score for each in fused.ranked] == [0.9, 0.4, 0.2, None, None]
    assert fused.ranked[0].factors.relevance == 0.9


def test_signals_are_applied_afterwards() -> None:
    pool = [memory("weak", 1), memory("sure", 2)]
    doubted = replace(memory("doubted", 3), confidence=0.4, provenance="observation")
    best, _ = choose_shortlist([*pool, doubted], FusePolicy(), 9)
    fused = fuse(rescore_candidates(best, best, [0.5, 0.6, 0.9]), NOW, FusePolicy())
    assert [each.key for each in fused.ranked] == ["memory:sure", "memory:weak", "memory:doubted"]


@pytest.mark.parametrize(("order", "scores"), [([2, 0, 1], [2 / 3, 1 / 3, 1.0]), ([0], [1.0]), ([], [])])
def test_an_order_becomes_scores(order: list[int], scores: list[float]) -> None:
    assert score_order(order) == pytest.approx(scores)


@pytest.mark.parametrize(
    ("query", "passages", "best"),
    [
        ("我喝什么茶？", ["今天天气真好。", "我们聊了咖啡。", "我现在喜欢喝龙井茶。"], 2),
        ("红烧茄子怎么做", ["我喜欢吃茄子。", "红烧茄子要先炸。", "红烧肉很好吃。"], 1),
        ("Which tea do I prefer?", ["The weather is fine.", "I prefer green tea.", "I like coffee."], 1),
        ("harbour office generator", ["The office is open.", "The harbour is open.", "A harbour office generator"], 2),
        ("Kubernetes 部署", ["我们讨论了部署。", "we use kubernetes", "用 Kubernetes 部署服务"], 2),
    ],
)  # fmt: skip
def test_common_words_rank_the_best_first(query: str, passages: list[str], best: int) -> None:
    scores = score_words(query, [RerankPassage(text, 0.9) for text in passages])
    assert max(range(len(passages)), key=scores.__getitem__) == best
    assert all(0 <= score <= 1 for score in scores)


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    passages = [
        RerankPassage(text, 0.5) for text in ("tea and cake", "tea and toast", "tea, marzipan", "marzipan only")
    ]
    scores = score_words("marzipan tea", passages)
    assert scores[3] > scores[0]


def test_adjacent_words_count_more() -> None:
    far = "green walls, a long way from anything else that one could call a cup of tea"
    near, apart = score_words("green tea", [RerankPassage("a cup of green tea", 0.5), RerankPassage(far, 0.5)])
    assert near > apart


@pytest.mark.parametrize("query", ["？！", "的了吗", "菠萝"])
def test_without_common_words_the_order_stays(query: str) -> None:
    passages = [RerankPassage("我喜欢茶。", 0.9), RerankPassage("I like tea.", 0.4)]
    assert score_words(query, passages) == [0.9, 0.4]


def test_a_pinned_position_is_first_whatever_a_reranker_says() -> None:
    corrections = [
        turn("new", 1, arm_ranks={"pending": 1}, probability=1.0),
        turn("older", 2, arm_ranks={"pending": 2}, probability=1.0),
    ]
    pool = [turn("new", 3), memory("m", 1), turn("t", 2), turn("last", 4), *corrections]
    policy = FusePolicy(weights={"all#0": 1.0, "pending": 2.0})
    best, passages = choose_shortlist(pool, policy, 2, frozenset(each.key for each in corrections))
    assert (names(best), passages[0].relevance) == (["memory:m", "turn:t:"], 0.9)
    for scores in ([1.0, 1.0], [0.1, 0.3], [5.0, 0.2]):
        fused = fuse(rescore_candidates(pool, best, scores), NOW, policy)
        order = [each.key for each in fused.ranked]
        assert order[:2] == ["turn:new:", "turn:older:"]
        assert order[-1] == "turn:last:"
        assert all(0 <= each.factors.relevance <= 1 for each in fused.ranked)
