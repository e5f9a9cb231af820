"""Which memories are merged, and the statistics of the merged memory."""

from itertools import permutations
from typing import Any
from uuid import UUID

import pytest

from schemas.vocabulary import Provenance
from services.evolver.rules.merge import MergeCandidate, Pair, groups, merge_memories, merged_id
from shared.policy import ConfidencePolicy, EvolutionPolicy

POLICY = EvolutionPolicy()
CAPS = ConfidencePolicy()
ZH = ("我周末喜欢去西湖边散步", "周末我喜欢去西湖边散步", "我很喜欢周末去西湖边散步")
EN = (
    "I like walking along the river at dawn",
    "At dawn I like walking along the river",
    "I really love walking along the river at dawn",
)


def make_candidate(number: int, text: str, **given: Any) -> MergeCandidate:
    usual: dict[str, Any] = {
        "type": "note",
        "key": None,
        "polarity": 1,
        "epistemic": "preference",
        "speaker": None,
        "provenance": "observation",
        "assertion": "declared",
        "confidence": 0.5,
    }
    return MergeCandidate(UUID(int=number), text=text, **{**usual, **given})


def pairs(*numbers: int) -> set[Pair]:
    return {frozenset((UUID(int=a), UUID(int=b))) for a in numbers for b in numbers if a != b}


def find_groups(*each: MergeCandidate, near: set[Pair] | None = None) -> list[tuple[int, ...]]:
    return [tuple(id.int for id in group) for group in groups(each, near or set(), POLICY)]


@pytest.mark.parametrize("texts", [ZH, EN])
def test_three_equal_memories_are_a_group_and_two_are_none(texts: tuple[str, ...]) -> None:
    three = [make_candidate(n, text) for n, text in enumerate(texts, 1)]
    assert find_groups(*three) == [(1, 2, 3)]
    assert find_groups(*three[:2]) == []
    assert find_groups(*three, make_candidate(4, "I collect stamps"), make_candidate(5, "我会弹钢琴")) == [(1, 2, 3)]


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "preference"},
        {"polarity": -1},
        {"epistemic": "fact"},
        {"speaker": "Marta"},
        {"key": "pref:other:walk"},
        {"text": "我周末不喜欢去西湖边散步"},
    ],
)
def test_a_memory_of_another_kind_does_not_join(odd: dict[str, Any]) -> None:
    third = {"text": ZH[2], **odd}
    assert find_groups(make_candidate(1, ZH[0]), make_candidate(2, ZH[1]), make_candidate(3, **third)) == []


def test_every_pair_in_a_group_must_be_alike() -> None:
    vectors = [make_candidate(n, text, model="m") for n, text in enumerate(EN, 1)]
    chain = pairs(1, 2) | pairs(2, 3)
    assert find_groups(*vectors, near=chain) == []
    assert find_groups(*vectors, near=pairs(1, 2, 3)) == [(1, 2, 3)]


def test_vectors_of_different_models_are_not_compared_and_words_decide() -> None:
    mixed = [make_candidate(1, ZH[0], model="m"), make_candidate(2, ZH[1], model="n"), make_candidate(3, ZH[2])]
    assert find_groups(*mixed) == [(1, 2, 3)]
    assert find_groups(*(make_candidate(n, text, model="m") for n, text in enumerate(ZH, 1))) == []


def test_similar_vectors_do_not_join_what_words_separate() -> None:
    texts = ("Allergic to peanuts", "My daughter is allergic to peanuts", "My son is allergic to peanuts")
    assert (
        find_groups(*(make_candidate(n, text, model="m") for n, text in enumerate(texts, 1)), near=pairs(1, 2, 3)) == []
    )


def test_one_memory_of_a_group_may_have_a_key_if_none_is_stronger() -> None:
    plain = [make_candidate(n, text, type="preference", model="m") for n, text in enumerate(EN[:2], 1)]
    keyed = make_candidate(3, EN[2], type="preference", key="pref:other:walk", model="m")
    near = pairs(1, 2, 3, 4)
    assert find_groups(*plain, keyed, near=near) == [(1, 2, 3)]
    other = make_candidate(4, EN[2], type="preference", key="pref:other:river", model="m")
    assert find_groups(*plain[:1], keyed, other, near=near) == []
    strong = make_candidate(
        1, EN[0], type="preference", model="m", provenance="confirmed_by_user", assertion="directive"
    )
    assert find_groups(strong, plain[1], keyed, near=near) == []


@pytest.mark.parametrize(
    ("provenances", "confidences", "provenance", "confidence"),
    [
        (("observation", "observation", "observation"), (0.5, 0.5, 0.5), "analysis", 0.8),
        (("observation", "observation", "observation"), (0.2, 0.2, 0.2), "analysis", 0.488),
        (("observation", "analysis", "observation"), (0.5, 0.7, 0.5), "analysis", 0.8),
        (("observation", "confirmed_by_user", "observation"), (0.5, 0.9, 0.5), "confirmed_by_user", 0.975),
        (("observation", "tool", "observation"), (0.5, 0.9, 0.5), "tool", 0.95),
    ],
)
def test_the_merged_memory_has_the_best_provenance_and_a_higher_confidence(
    provenances: tuple[Provenance, ...], confidences: tuple[float, ...], provenance: Provenance, confidence: float
) -> None:
    three = [
        make_candidate(n, EN[n], provenance=p, confidence=c)
        for n, (p, c) in enumerate(zip(provenances, confidences, strict=True))
    ]
    one = merge_memories(three, CAPS)
    assert (one.provenance, one.confidence) == (provenance, pytest.approx(confidence))


def test_the_merged_text_is_that_of_the_strongest_memory() -> None:
    more = "I like walking along the river at dawn with music"
    one = merge_memories([make_candidate(1, EN[0]), make_candidate(2, more), make_candidate(3, EN[2])], CAPS)
    assert one.speaks == UUID(int=2)
    strong = make_candidate(1, EN[0], provenance="confirmed_by_user", assertion="directive")
    one = merge_memories([strong, make_candidate(2, more), make_candidate(3, EN[2])], CAPS)
    assert (one.speaks, one.assertion) == (UUID(int=1), "directive")


def test_the_result_does_not_depend_on_the_order() -> None:
    three = [make_candidate(n, text) for n, text in enumerate(ZH, 1)]
    assert len({merge_memories(list(order), CAPS) for order in permutations(three)}) == 1
    assert merged_id([UUID(int=1), UUID(int=2)]) != merged_id([UUID(int=1), UUID(int=3)])
    assert merged_id([UUID(int=1), UUID(int=2)]).version == 7
