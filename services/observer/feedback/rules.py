"""The verdict on a package, by its answer and by the next message. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from schemas.events import FeedbackRecorded
from schemas.vocabulary import FeedbackSignal, UtilizationSignal
from services.observer.feedback import topic, utilisation

DISAPPROVES: frozenset[FeedbackSignal] = frozenset({"correction", "negative"})


@dataclass(frozen=True, slots=True)
class Package:
    """What was injected, with the words of each memory; evidence was chosen for the message, the best first."""

    context_id: UUID
    core: Mapping[UUID, str]
    evidence: Mapping[UUID, str]
    degraded: bool


@dataclass(frozen=True, slots=True)
class Utilisation:
    """What an answer took up of its package."""

    memory_ids: tuple[UUID, ...]
    signal: UtilizationSignal


@dataclass(frozen=True, slots=True)
class UserReaction:
    """What the next message says of an answer: its signal, and where it is neutral whether it goes on with it."""

    signal: FeedbackSignal
    goes_on: bool | None


def by_reply(package: Package, reply: str, question: str) -> tuple[Utilisation, list[FeedbackRecorded]]:
    """What the answer used, and the events that tell of it.

    A memory that was chosen and not used has missed; one that stands in every package has not, for it was not chosen.
    """
    ways = utilisation.uses({**package.evidence, **package.core}, reply, question)
    groups: dict[UtilizationSignal, list[UUID]] = {}
    for memory_id, way in ways.items():
        if way != "none" or memory_id in package.evidence:
            groups.setdefault(way, []).append(memory_id)
    used = tuple(memory_id for memory_id, way in ways.items() if way != "none")
    events = [
        _event(package, memory_ids, judged_by="reply", utilized=way != "none", utilization_signal=way)
        for way, memory_ids in groups.items()
    ]
    return Utilisation(used, utilisation.strongest(ways.values())), events


def read_reaction(signal: FeedbackSignal, message: str, answer: str, asked: str) -> UserReaction:
    """What the message says of the answer to `asked`."""
    return UserReaction(signal, topic.goes_on(message, answer, asked) if signal == "neutral" else True)


def by_message(
    package: Package, used: Utilisation, reaction: UserReaction, message: str, corrections: Sequence[str]
) -> tuple[bool | None, list[FeedbackRecorded]]:
    """Whether the package was of use, as far as the message tells, and the event that says so; silence says nothing.

    Praise and blame fall on what the answer used. Where one of the message's `corrections` (their words) is of such a
    memory itself, that goes its own, urgent way, and no memory is named here.
    """
    if reaction.signal != "neutral":
        blameless = reaction.signal in DISAPPROVES and is_corrected(package, used, corrections)
        named = () if blameless else used.memory_ids or tuple(package.evidence)
        utilized = bool(used.memory_ids)
        return None, [
            _event(package, named, signal=reaction.signal, utilized=utilized, utilization_signal=used.signal),
        ]
    late = [m for m in _taken_up(package, message) if m not in used.memory_ids]
    if late:
        return True, [_event(package, late, utilized=True, utilization_signal="keyword_match")]
    if reaction.goes_on is None:
        return None, []
    return reaction.goes_on, [_event(package, list_judged(package, used), utilized=reaction.goes_on)]


def is_corrected(package: Package, used: Utilisation, corrections: Sequence[str]) -> bool:
    """Whether a correction says words of a memory that the answer used."""
    wordings, texts = [utilisation.words_of(each) for each in corrections], {**package.core, **package.evidence}
    return any(
        words.say(word)
        for memory_id in used.memory_ids
        for word in utilisation.core_words(texts.get(memory_id, ""))
        for words in wordings
    )


def list_judged(package: Package, used: Utilisation) -> tuple[UUID, ...]:
    return tuple(dict.fromkeys([*used.memory_ids, *package.evidence]))


def _taken_up(package: Package, message: str) -> list[UUID]:
    """The chosen memories whose words the message says."""
    spoken, nothing = utilisation.words_of(message), utilisation.words_of("")
    return [
        memory_id
        for memory_id, text in package.evidence.items()
        if utilisation.keyword(utilisation.core_words(text), spoken, nothing)
    ]


def _event(package: Package, memory_ids: Sequence[UUID], **fields: object) -> FeedbackRecorded:
    return FeedbackRecorded.model_validate(
        {
            "receipt_ids": (package.context_id,),
            "memory_ids": tuple(memory_ids),
            "degraded": package.degraded,
            **fields,
        }
    )
