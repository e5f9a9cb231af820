"""A correction takes effect while the workers are stopped, and the answer is the same after they return."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

import pytest

from schemas.context_package import ContextPackage
from shared.extraction import retractions
from tests.system.databases import Databases
from tests.system.person import Person, shown
from tests.system.running import WORKERS, System, running, settings_for
from tests.system.wait import wait_for


@dataclass(frozen=True)
class Story:
    """A statement, its retraction, and what a question must then not show and must show."""

    learnt: str
    taken_back: str
    asked: str
    gone: tuple[str, ...]
    stays: str = ""


STORIES = (
    Story("I live in Paris. My dog is called Rex.", "No, I live in Berlin now.", "Where do I live?", ("Paris",), "Rex"),
    Story("我住在上海。我的狗叫旺财。", "不对，我现在住在北京。", "我住在哪里？", ("上海",), "旺财"),
    Story("我喜欢运动风。", "不是运动风, 我现在喜欢简约的", "我喜欢什么风格？", ("运动",)),
    Story("I like coffee.", "I no longer drink coffee.", "What do I like to drink?", ("like coffee", "likes coffee")),
    Story("我喜欢喝咖啡。", "我不再喝咖啡了", "我喜欢喝什么？", ("喜欢喝咖啡",)),
    Story("我对花生过敏。", "不对，我对花生不过敏", "我对什么过敏？", ("对花生过敏",)),
    Story(
        "I'm allergic to peanuts.", "Actually, I'm not allergic to peanuts.", "What am I allergic to?", ("allergic",)
    ),
    Story("我喜欢猫。", "忘掉我喜欢猫这件事。", "我喜欢什么动物？", ("喜欢猫",)),
    Story("My name is Jon.", "Forget that my name is Jon.", "What is my name?", ("Jon",)),
    Story("I live in Lyon. I play chess.", "I don't live in Lyon anymore.", "Where do I live?", ("in Lyon",), "chess"),
)


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str) -> AsyncGenerator[System]:
    """Every service, on its own database; every test leaves all services running."""
    async with running(settings_for(databases.fresh(), kafka)) as all_services:
        yield all_services


def besides(package: ContextPackage, *texts: str) -> str:
    """The package's text without its window and these messages."""
    left = shown(package.model_copy(update={"recent_turns": []}))
    for text in texts:
        left = left.replace(text, "")
    return left


async def retrieve_texts(person: Person, question: str) -> list[str]:
    """The result of a plan for this question."""
    plan = {"version": "0.1", "queries": [{"text": question, "mode": "exact"}]}
    answer = await person.post("/v1/retrieve", {**person.whose, **plan})
    assert answer.status_code == 200, answer.text
    return [each["snippet"] for each in answer.json()["evidences"]]


async def assert_holds(people: Sequence[Person]) -> None:
    """Nothing shows the old value, in the session of the correction, in another and in a search; the rest is shown."""
    for person, story in zip(people, STORIES, strict=True):
        here, elsewhere = await person.compose(story.asked, session="s2"), await person.compose(story.asked)
        found = await retrieve_texts(person, story.learnt)
        for gone in story.gone:
            assert gone not in besides(here, story.taken_back), story
            assert gone not in besides(elsewhere, story.taken_back), story
            assert gone not in "\n".join(found).replace(story.taken_back, ""), story
        assert story.stays in "\n".join(found), story


async def test_a_retracted_value_is_gone_at_once_and_stays_gone(system: System) -> None:
    people = [Person(system) for _ in STORIES]
    await asyncio.gather(*(p.say(s.learnt, session="s1") for p, s in zip(people, STORIES, strict=True)))
    for person, story in zip(people, STORIES, strict=True):
        before = besides(await person.compose(story.asked, session="s3"))
        assert any(gone in before for gone in story.gone), story
    await system.stop(*WORKERS)
    await asyncio.gather(*(p.commit(s.taken_back, session="s2") for p, s in zip(people, STORIES, strict=True)))
    await assert_holds(people)
    for person, story in zip(people, STORIES, strict=True):
        package = await person.compose(story.asked, session="s3")
        asks = bool(
            retractions.find_requests_to_forget(story.taken_back)
        )  # a request to forget is not shown: it names what is to be gone
        assert any(story.taken_back in each.snippet for each in package.evidence) is not asks, story
        assert package.debug
        assert package.debug.explain
        rules = {each.rule or "" for each in package.debug.explain.dropped if each.reason == "superseded"}
        assert any(rule.startswith("overlay:turn:") for rule in rules), story
    await system.start(*WORKERS)
    await system.settled()
    await assert_holds(people)


@pytest.mark.parametrize(
    ("learnt", "taken_back", "asked", "gone"),
    [
        ("I live in Paris.", "No, I live in Berlin now.", "Where do I live?", "Paris"),
        ("我住在上海。", "不对，我现在住在北京。", "我住在哪里？", "上海"),
    ],
)
async def test_a_correction_older_than_the_window_is_shown_as_evidence(
    system: System, person: Person, learnt: str, taken_back: str, asked: str, gone: str
) -> None:
    await person.say(learnt, session="s1")
    await system.stop(*WORKERS)
    await person.commit(taken_back, session="s2")
    for n in range(50):
        await person.commit(f"Another message, number {n}. 另外一句话。", session="s2")
    package = await person.compose(asked, session="s2")
    assert taken_back not in [message.content for message in package.recent_turns]
    assert any(taken_back in each.snippet for each in package.evidence)
    assert gone not in shown(package)
    await system.start(*WORKERS)
    await system.settled()


async def test_the_later_of_two_pending_corrections_holds(system: System, person: Person) -> None:
    await person.say("I live in Paris.", session="s1")
    await system.stop(*WORKERS)
    await person.commit("No, I live in Berlin now.", session="s2")
    await person.commit("Actually, I live in Madrid.", session="s3")
    package = await person.compose("Where do I live?", session="s4")
    assert "Madrid" in shown(package)
    assert "Paris" not in shown(package)
    assert "Berlin" not in shown(package)
    await system.start(*WORKERS)
    await system.settled()
    assert [m["value"]["value"] for m in await person.memories(type="profile")] == ["Madrid"]


async def test_an_observed_correction_holds_before_it_is_applied(system: System, person: Person) -> None:
    await person.say("I live in Paris.", session="s1")
    await system.stop("analyzer", "evolver")
    turn = await person.commit("No, I live in Berlin now.", session="s2")

    async def observed() -> bool:
        return (await person.get(f"/v1/turns/{turn['turn_id']}/outcome")).json()["state"] == "observed"

    await wait_for(observed, "the turn is observed")
    package = await person.compose("Where do I live?")
    assert "Berlin" in shown(package)
    assert "Paris" not in shown(package)
    await system.start("analyzer", "evolver")
    await system.settled()


async def test_a_deleted_memory_is_gone_before_the_workers_know(system: System, person: Person) -> None:
    await person.say("我喜欢喝咖啡。", session="s1")
    (known,) = await person.memories(type="preference")
    await system.stop(*WORKERS)
    answer = await system.http.delete(f"/v1/memories/{known['memory_id']}", params=person.whose)
    assert answer.status_code == 202, answer.text
    assert "咖啡" not in shown(await person.compose("我喜欢喝什么？"))
    await system.start(*WORKERS)
    await system.settled()
    assert "咖啡" not in shown(await person.compose("我喜欢喝什么？"))


CORRECTING = [
    "No, I live in Berlin now. Which tram do I take to work?",
    "Actually, I live in Berlin. Which tram do I take to work?",
    "不对，我现在住在柏林。我上班坐哪路电车？",
]
NOT_CORRECTING = [
    "Do I live in Berlin?",
    "If I lived in Berlin, which tram would I take?",
    'Is "I live in Berlin now" a good sentence?',
    "Translate into Chinese: I live in Berlin now",
    "My brother lives in Berlin now. Where do I live?",
    "This week I am in Berlin. Where do I live?",
    "My friend said she lives in Berlin now.",
    "我住在柏林吗？",
    "假如我住在柏林，我该坐哪路电车？",
    "他说“我住在柏林”，我住在哪里？",
    "我哥哥现在住在柏林。我住在哪里？",
    "这周我在柏林出差，我家在哪里？",
]


async def test_only_the_user_message_itself_corrects(person: Person) -> None:
    await person.say("I live in Paris.", session="s1")
    for message in CORRECTING:
        package = await person.compose(message)
        assert "Paris" not in shown(package), message
        assert package.debug
        assert package.debug.explain
        assert "overlay:message" in [each.rule for each in package.debug.explain.dropped], message
    for message in NOT_CORRECTING:
        assert "Paris" in shown(await person.compose(message)), message
    assert [m["value"]["value"] for m in await person.memories(type="profile")] == ["Paris"]
