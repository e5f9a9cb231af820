"""Retrieval without a model on the golden set: evidence that shares words with the question is
found, others omitted.
"""

from collections import defaultdict
from collections.abc import AsyncGenerator, Callable

import pytest

from schemas.compose import ComposeRequest
from shared.runtime import Runtime, open_runtime
from tests.eval import golden, golden_set
from tests.eval.golden_set import Question
from tests.system.composing import compose_package
from tests.system.databases import Databases
from tests.system.running import settings_for

Found = dict[Question, list[str]]


@pytest.fixture(scope="module")
async def rt(databases: Databases) -> AsyncGenerator[Runtime]:
    """The runtime of compose, on a database with the golden conversations."""
    async with open_runtime(settings_for(databases.fresh(), "127.0.0.1:1"), "compose") as made:
        yield made


@pytest.fixture(scope="module")
async def named(rt: Runtime) -> dict[tuple[str, int], str]:
    """The message id of each turn id and ordinal."""
    return await golden.ingest(rt)


@pytest.fixture(scope="module")
async def found(rt: Runtime, named: dict[tuple[str, int], str]) -> Found:
    """The results of every question."""
    return {question: await golden.ask(rt, question, named) for question in golden_set.read()[1]}


def _mean(found: Found, k: int, **wanted: object) -> float:
    values = [
        golden.recall(ids, question.evidence, k)
        for question, ids in found.items()
        if question.evidence and all(getattr(question, name) == value for name, value in wanted.items())
    ]
    return sum(values) / len(values)


async def test_evidence_with_shared_words_is_found(
    found: Found, record_property: Callable[[str, object], None]
) -> None:
    kinds = sorted({question.kind for question in found if question.evidence})
    by_kind = {kind: round(_mean(found, 5, kind=kind), 3) for kind in kinds}
    apart = _mean(found, 5, shares=False)
    talks = {talk: round(_mean(found, 5, shares=True, talk=talk), 3) for talk in sorted({q.talk for q in found})}
    for name, value in {**by_kind, **talks, "sharing no word": round(apart, 3)}.items():
        record_property(name, value)
        print(f"R@5 {name}: {value}")
    missed = [q.ask for q, ids in found.items() if q.shares and golden.recall(ids, q.evidence, 5) < 1]
    print("missed:", *missed, sep="\n  ")
    assert _mean(found, 5, shares=True) >= 0.90


async def test_every_language_reaches_its_floor(found: Found) -> None:
    by_talk: dict[str, list[float]] = defaultdict(list)
    for question, ids in found.items():
        if question.shares:
            by_talk[question.talk].append(golden.recall(ids, question.evidence, 5))
    assert min(sum(values) / len(values) for values in by_talk.values()) >= 0.80


async def test_a_question_without_evidence_injects_nothing(rt: Runtime, named: object) -> None:
    injected: dict[str, list[str]] = {}
    for question in golden_set.read()[1]:
        if question.kind == "none":
            asked = ComposeRequest.model_validate(
                {
                    "tenant_id": golden.TENANT,
                    "user_id": question.talk,
                    "session_id": "fresh",
                    "user_message": {"content": question.ask},
                }
            )
            package = await compose_package(asked, rt)
            if package.evidence:
                injected[question.ask] = [each.snippet for each in package.evidence]
    assert injected == {}
