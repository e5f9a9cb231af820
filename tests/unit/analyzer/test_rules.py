"""The analyzer's proposals, their evidence, and when it asks a model; in both languages."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from services.analyzer.rules import Advice, is_undecided, judge_vector, list_doubtful, propose
from shared.domain.statements import SUSPECTED, ActiveMemory, Statement
from shared.policy import AnalysisPolicy, ConfidencePolicy
from shared.resolution.operations import Comparison, Comparisons, Confirm, Reject, Retract, Verdict, Write
from shared.resolution.related import SentenceRelation, may_be_same
from shared.resolution.resolve import resolve, weigh

POLICY, ANALYSIS = ConfidencePolicy(), AnalysisPolicy()
NOW = datetime(2026, 7, 15, 9, 0, tzinfo=UTC)
NEW = Statement(
    type="pattern",
    key=None,
    sense="new",
    assertion="declared",
    flags=(),
    confidence=0.5,
    retracts=False,
    said_at=NOW,
    session_id="s2",
    quote="The bicycle takes me everywhere these days",
)
OLD = ActiveMemory(
    memory_id=UUID(int=1),
    root_id=UUID(int=1),
    version=1,
    type="pattern",
    key=None,
    sense="old",
    provenance="observation",
    assertion="declared",
    flags=(),
    confidence=0.5,
    valid_at=NOW - timedelta(days=9),
    source_sessions=("s1",),
    text="rides to work",
    told="rides to work",
)
KEYED = replace(OLD, memory_id=UUID(int=2), key="pref:drink", type="preference", told="coffee", words=("coffee",))
SAYS: Mapping[str, tuple[Statement, ActiveMemory]] = {
    "en": (NEW, OLD),
    "zh": (
        replace(NEW, quote="膝盖动了手术，运动全停了"),
        replace(OLD, text="每周三晚上打羽毛球", told="每周三晚上打羽毛球"),
    ),
}
LANGUAGES = pytest.mark.parametrize("language", SAYS)
CORRECTS = replace(NEW, type="preference", key="pref:drink", assertion="correction", old_value="coffee")


def stood(new: Statement, known: list[ActiveMemory], advice: Mapping[UUID, Verdict] | None = None) -> Any:
    return propose(new, weigh(new, known, POLICY, advice or {}), POLICY)


@pytest.mark.parametrize(
    ("new", "known", "action", "target", "sign"),
    [
        (NEW, [], "create", None, "none"),
        (replace(NEW, key="k"), [replace(OLD, key="k")], "supersede", 1, "key"),
        (replace(NEW, key="k", sense="old"), [replace(OLD, key="k")], "confirm", 1, "key"),
        (replace(NEW, sense="old"), [OLD], "confirm", 1, "words"),
        (replace(NEW, key="k"), [replace(OLD, key="k", provenance="confirmed_by_user")], "ask", 1, "key"),
        (replace(NEW, key="k"), [replace(OLD, key="k", valid_at=NOW + timedelta(1))], "skip", 1, "key"),
        (replace(NEW, related=UUID(int=1)), [OLD], "supersede", 1, "related"),
        (replace(CORRECTS, key="pref:other"), [KEYED], "supersede", 2, "value"),
        (replace(CORRECTS, retracts=True, key=None), [KEYED], "retract", 2, "value"),
        (replace(CORRECTS, key=None, old_key="pref:drink"), [KEYED], "supersede", 2, "key"),
        (replace(NEW, retracts=True, quote=""), [OLD], "skip", None, "none"),
        (replace(NEW, flags=(SUSPECTED,), quote=""), [OLD], "skip", None, "none"),
    ],
)
def test_a_proposal_matches_the_evolvers_decision_and_names_its_reason(
    new: Statement, known: list[ActiveMemory], action: str, target: int | None, sign: str
) -> None:
    found = stood(new, known)
    assert (found.action, found.target and found.target.memory_id.int, found.evidence["sign"]) == (action, target, sign)


def test_several_ending_memories_are_a_merge() -> None:
    other = replace(OLD, memory_id=UUID(int=3))
    relation = stood(NEW, [])
    assert relation.action == "create"
    write = resolve(NEW, [], POLICY)
    assert isinstance(write, Write)
    found = propose(NEW, Comparisons(replace(write, ends=(OLD, other)), "value"), POLICY)
    assert (found.action, found.target, len(found.evidence["memory_ids"])) == ("merge", OLD, 2)


@LANGUAGES
@pytest.mark.parametrize(
    ("verdict", "action"), [("ends", "supersede"), ("same", "confirm"), ("both", "create"), ("apart", "create")]
)
def test_a_verdict_is_followed(language: str, verdict: Verdict, action: str) -> None:
    new, old = SAYS[language]
    found = stood(new, [old], {old.memory_id: verdict})
    assert found.action == action
    if action != "create":
        assert (found.target, found.evidence["sign"]) == (old, "meaning")


@LANGUAGES
def test_a_verdict_applies_to_words_that_state_nothing_themselves(language: str) -> None:
    new, old = SAYS[language]
    new = replace(new, flags=(SUSPECTED,), assertion="inferred")
    assert stood(new, [old]).action == "skip"
    assert stood(new, [old], {old.memory_id: "ends"}).action in ("supersede", "retract")
    assert stood(new, [old], {old.memory_id: "both"}).action == "create"


@LANGUAGES
def test_a_verdict_never_ends_a_confirmed_memory_nor_supports_a_self_serving_claim(language: str) -> None:
    new, old = SAYS[language]
    sure, tool = replace(old, provenance="confirmed_by_user"), replace(old, provenance="tool")
    advice: Mapping[UUID, Verdict] = {old.memory_id: "ends"}
    held = resolve(new, [sure], POLICY, advice)
    assert held == Reject("ask", "weaker_than_known", sure)
    assert resolve(new, [tool], POLICY, advice) == Reject("ask", "weaker_than_known", tool)
    told = replace(new, assertion="directive", confidence=0.9)
    written = resolve(told, [sure], POLICY, advice)
    assert isinstance(written, Write)
    assert written.ends == ()
    for verdict in ("ends", "same", "both", "apart"):
        claims = replace(new, flags=("self_benefit",))
        assert resolve(claims, [old], POLICY, {old.memory_id: verdict}) == resolve(claims, [old], POLICY)


@LANGUAGES
def test_a_verdict_applies_only_to_comparable_memories(language: str) -> None:
    new, old = SAYS[language]
    advice: Mapping[UUID, Verdict] = {old.memory_id: "ends"}
    for known in (
        replace(old, type="entity", key="entity:person:anna"),
        replace(old, type="case"),
        replace(old, valid_at=NOW + timedelta(1)),
    ):
        assert resolve(new, [known], POLICY, advice) == resolve(new, [known], POLICY)
    assert isinstance(resolve(new, [], POLICY, advice), Write)
    keyed = replace(new, key="k")
    assert isinstance(resolve(keyed, [replace(old, key="k", sense="new")], POLICY, advice), Confirm)
    denied = resolve(replace(new, retracts=True), [old], POLICY, advice)
    assert not isinstance(denied, Retract), "a denial that shares no word with a memory is of something else"


@pytest.mark.parametrize(
    ("known", "said", "same"),
    [
        ("waters the plants three times a week", "I water the plants three times each week", True),
        ("runs 5 km", "I run 10 km", False),
        ("runs 5 km", "I run every day", False),
        ("likes oysters", "I don't like oysters", False),
        ("plays tennis on Tuesdays", "I play tennis on Thursdays", False),
        ("每周跑步三次", "我一周跑三次步", True),
        ("每天跑 5 公里", "我每天跑 10 公里", False),
        ("喜欢吃生蚝", "我不喜欢吃生蚝", False),
        ("周二晚上打网球", "我周四晚上打网球", False),
    ],
)
def test_another_number_denial_or_subject_is_not_the_same(known: str, said: str, same: bool) -> None:
    assert may_be_same(known, said) is same
    new, old = replace(NEW, quote=said), replace(OLD, told=known)
    found = judge_vector(new, old, 0.9, ANALYSIS)
    assert found == Advice(old.memory_id, "same" if same else "near", "vector")
    if not same:
        assert resolve(new, [old], POLICY, {old.memory_id: "same"}) == resolve(new, [old], POLICY)


@pytest.mark.parametrize(
    ("cosine", "polarity", "verdict"),
    [(0.85, 0, "same"), (0.85, 1, "same"), (0.85, -1, "near"), (0.849, 0, "near"), (0.6, 0, "near"), (0.59, 0, None)],
)
def test_a_cosine_is_classified_as_same_near_or_unrelated(cosine: float, polarity: int, verdict: str | None) -> None:
    found = judge_vector(replace(NEW, polarity=1), replace(OLD, polarity=polarity), cosine, ANALYSIS)
    assert (found.verdict if found else None) == verdict


@pytest.mark.parametrize(
    ("ends", "same", "more", "asked"),
    [
        (0.2, 0.0, {}, True),
        (0.19, 0.19, {}, False),
        (0.0, 0.2, {}, True),
        (0.0, 0.2, {"retracts": True}, False),
        (0.3, 0.0, {"retracts": True}, True),
        (0.3, 0.0, {"flags": ("self_benefit",)}, False),
        (0.3, 0.0, {"quote": ""}, False),
        (0.3, 0.0, {"chosen": True}, False),
        (0.3, 0.0, {"type": "case"}, False),
    ],
)
def test_a_model_is_asked_if_the_overlap_is_partial(
    ends: float, same: float, more: dict[str, Any], asked: bool
) -> None:
    weighed = Comparisons(resolve(NEW, [], POLICY), "none", (Comparison(OLD, SentenceRelation(ends, same, 0.0)),))
    assert list_doubtful(replace(NEW, **more), weighed, (), ANALYSIS) == ([OLD] if asked else [])


def test_decided_memories_are_not_asked_about_and_vector_matches_are_shown() -> None:
    other, far = replace(OLD, memory_id=UUID(int=3)), replace(OLD, memory_id=UUID(int=4))
    nothing, some = SentenceRelation(0.0, 0.0, 0.9), SentenceRelation(0.3, 0.1, 0.0)
    beside = (Comparison(far, nothing), Comparison(other, nothing), Comparison(OLD, some))
    open_ = Comparisons(resolve(NEW, [], POLICY), "none", beside)
    assert list_doubtful(NEW, open_, (Advice(other.memory_id, "near", "vector"),), ANALYSIS) == [OLD, other]
    assert is_undecided(NEW, open_)
    assert list_doubtful(NEW, replace(open_, sign="meaning"), (), ANALYSIS) == []
    judged = replace(open_, beside=(Comparison(OLD, some, told=True),))
    assert list_doubtful(NEW, judged, (), ANALYSIS) == []


def test_evidence_contains_figures_and_ids_and_no_text() -> None:
    told = (Advice(OLD.memory_id, "ends", "model"),)
    found = propose(NEW, weigh(NEW, [OLD], POLICY, {OLD.memory_id: "ends"}), POLICY, told)
    assert found.evidence == {
        "sign": "meaning",
        "compared": 1,
        "memory_ids": [str(OLD.memory_id)],
        "closest": {"memory_id": str(OLD.memory_id), "ends": 1.0, "same": 0.0, "both": 0.0},
        "advice": [{"memory_id": str(OLD.memory_id), "verdict": "ends", "by": "model"}],
    }
