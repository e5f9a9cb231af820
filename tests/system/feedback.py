"""A conversation that retrieves a memory, an answer with or without it, and a reaction; in both languages."""

from dataclasses import dataclass
from typing import Any

from schemas.context_package import ContextPackage
from schemas.topics import FEEDBACK_RECORDED
from tests.system.kafka import caught_up, of_tenant
from tests.system.person import Json, Person, shown, user
from tests.system.wait import wait_for


@dataclass(frozen=True)
class Talk:
    """A memory, a question that retrieves it, answers with and without it, and possible reactions."""

    learnt: str
    word: str
    asked: str
    uses: str
    ignores: str
    praise: str
    blame: str
    rejects: str
    follows: str
    takes_up: str
    turns_away: str


TALKS = (
    Talk(
        learnt="喜欢喝龙井茶",
        word="龙井",
        asked="推荐一种适合下午喝的茶？",
        uses="根据您的偏好，可以泡一杯龙井，清香不涩。",
        ignores="红茶比较温和，可以试试正山小种。",
        praise="对，就是这样，太好了，谢谢！",
        blame="不对，你弄错了，我问的不是这个意思。",
        rejects="这个建议不好，我不满意，没有用。",
        takes_up="龙井怎么样？",
        follows="那大概要多少钱一斤呢？",
        turns_away="帮我写一个冒泡排序的程序。",
    ),
    Talk(
        learnt="Likes jasmine tea",
        word="jasmine",
        asked="Which tea should I have this afternoon?",
        uses="Since you prefer floral notes, have a cup of jasmine.",
        ignores="A light white tea would be a calm choice.",
        praise="Yes, exactly right, that's perfect, thank you!",
        blame="No, that's wrong, that is not what I asked.",
        rejects="I don't like this suggestion, it's useless.",
        takes_up="What about jasmine?",
        follows="How long should it steep?",
        turns_away="Write a bubble sort program in Rust for my homework.",
    ),
)


async def learnt(person: Person, talk: Talk) -> str:
    """The id of the new memory."""
    item = {"type": "note", "text": talk.learnt, "confirmed": True}
    await person.say(session="before", items=[item])
    (known,) = [m for m in await person.memories() if talk.word in m["content"]]
    return known["memory_id"]


def row(person: Person, memory_id: str) -> Json:
    """The memory as it is stored."""
    (found,) = person.system.rows(
        "SELECT injection_count AS injected, positive_count AS positive, correction_count AS corrected,"
        " miss_count AS missed, confidence::float8 AS confidence, last_validated_at, status FROM memory_items"
        " WHERE memory_id = %(id)s",
        id=memory_id,
    )
    return found


def counts(person: Person, memory_id: str) -> tuple[int, int, int, int]:
    """Counts: injected, confirmed, corrected, missed."""
    found = row(person, memory_id)
    return found["injected"], found["positive"], found["corrected"], found["missed"]


async def composed(person: Person, talk: Talk, session: str = "talk") -> ContextPackage:
    """The recorded package for the question, which contains the memory."""
    package = await person.compose(talk.asked, session=session, debug=False)
    assert talk.word in shown(package)

    def recorded() -> bool:
        return bool(
            person.system.number("SELECT count(*) FROM injections WHERE context_id = %(c)s", c=package.context_id)
        )

    await wait_for(recorded, "the package is recorded")
    return package


async def answered(
    person: Person, talk: Talk, answer: str, *, asks: str = "", session: str = "talk", **more: Any
) -> None:
    """Commits the turn with this answer and waits for its outcome."""
    messages = [user(asks or talk.asked), {"role": "assistant", "content": answer}]
    answer_ = await person.post("/v1/turns", {**person.whose, "session_id": session, "messages": messages, **more})
    assert answer_.status_code == 201, answer_.text
    await person.outcome(answer_.json()["turn_id"])


async def events(person: Person) -> list[Json]:
    """The feedback events, in order."""
    await caught_up(person.system.bootstrap)
    await person.system.settled()
    await caught_up(person.system.bootstrap)
    found = await of_tenant(person.system.bootstrap, person.tenant_id, FEEDBACK_RECORDED.name)
    return [each.envelope.payload for each in found]


async def told(person: Person, talk: Talk, answer: str, then: str) -> tuple[str, list[Json]]:
    """The memory and the feedback events after this answer and this next message."""
    memory_id = await learnt(person, talk)
    package = await composed(person, talk)
    await answered(person, talk, answer, context_id=package.context_id)
    await person.say(then, session="talk")
    found = await events(person)
    assert all(each["receipt_ids"] == [package.context_id] for each in found)
    return memory_id, found


def of(memory_id: str, found: list[Json]) -> list[tuple[str, bool, str, str]]:
    """Who judged the memory, whether it was useful, the method, and the signal."""
    return [
        (each["judged_by"], each["utilized"], each["utilization_signal"], each["signal"])
        for each in found
        if memory_id in each["memory_ids"]
    ]
