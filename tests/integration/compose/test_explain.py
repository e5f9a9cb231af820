"""The explanation of a package: its debug part for programs, its text for people."""

import pytest

from services.cli import compose, explain
from tests.system.person import Person

SAID = ("我喜欢喝龙井茶。", "I met Marta at the harbour.", "Marta 的船修好了。", "豆包打翻了茶杯。")


async def _commit_conversation(person: Person) -> None:
    for text in SAID:
        await person.say(text)


async def test_every_candidate_is_listed_with_scores_and_position(person: Person) -> None:
    await _commit_conversation(person)
    package = await person.compose("Marta 的船怎么样了？")
    debug = package.debug
    assert debug
    assert debug.planner
    assert debug.planner.plan
    told = debug.explain.candidates
    assert [c.id for c in told if c.place] == [e.id for e in package.evidence]
    assert all(c.arms for c in told)
    kept = {c.id for c in told if c.place}
    assert all(c.dropped for c in told if c.id not in kept)
    for each in told:
        made = each.factors
        product = made.relevance * made.recency * made.confidence * made.provenance * made.frequency
        assert each.score == pytest.approx(product, abs=1e-3)
    assert [q.text for q in debug.planner.plan.queries] == debug.planner.queries
    assert {arm.arm for arm in debug.explain.arms} >= {"text", "rank"}


async def test_without_debug_there_is_no_explanation(person: Person) -> None:
    await _commit_conversation(person)
    assert (await person.compose("Marta 的船怎么样了？", debug=False)).debug is None


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Marta 的船怎么样了，修好了吗？", ("计划", "查询", "候选", "检索路", "意图")),
        ("How is Marta's boat at the harbour?", ("Plan", "Queries", "Candidates", "Arms", "intent")),
    ],
)
async def test_the_explanation_has_the_language_of_the_question(
    person: Person, question: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    await _commit_conversation(person)
    package = (await person.compose(question)).model_dump(mode="json", by_alias=True)
    compose.show_package(package)
    explain.show(package)
    told = capsys.readouterr().out
    assert all(word in told for word in words)
    assert "relational" in told
    assert "Marta" in told
    assert "E1" in told
    assert all(arm["arm"] in told for arm in package["debug"]["explain"]["arms"])
    assert "embedding_static" in told
    explain.show(package, "en")
    assert "Candidates" in capsys.readouterr().out


async def test_only_a_question_about_the_past_considers_outdated_memories(person: Person) -> None:
    await person.say("Remember that I drink oolong tea.")
    statement = "UPDATE memory_items SET epistemic_type = 'outdated' WHERE user_id = %(user)s AND type <> 'entity'"
    await person.system.change(statement, user=person.user_id)

    async def considered(question: str) -> list[str]:
        debug = (await person.compose(question)).debug
        return [c.text for c in debug.explain.candidates if c.id.startswith("memory:")] if debug else []

    assert await considered("Do I drink oolong tea?") == []
    assert await considered("Did I use to drink oolong tea?") == ["I drink oolong tea"]


async def test_a_continued_task_includes_the_session_before_the_window(person: Person) -> None:
    await person.say("我们先把港口的清单写完。", session="long")
    for n in range(10):
        await person.commit(f"第{n}句闲话。", session="long")
    package = await person.compose("继续上次的任务", session="long")
    assert "我们先把港口的清单写完" in "".join(e.snippet for e in package.evidence)
    shown = [message.content for message in package.recent_turns]
    assert not [e for e in package.evidence if any(text in e.snippet for text in shown)]
