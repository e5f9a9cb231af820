"""The verdict on a package by its answer and by the next message, which may continue the topic. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from schemas.events import FeedbackRecorded
from schemas.vocabulary import FeedbackSignal, UtilizationSignal
from services.observer.feedback import utilisation
from services.observer.feedback.utilisation import list_core_words, to_words
from services.observer.feedback.utilisation_words import GOES_ON, TURNS_AWAY
from shared.language.normalise import fold, normalise
from shared.language.segment import list_synonyms, stem

ENOUGH = 2
"""The number of words with which a message has a topic of its own."""
DISAPPROVES: frozenset[FeedbackSignal] = frozenset({"correction", "negative"})


@dataclass(frozen=True, slots=True)
class Package:
    """The injected memories with their texts; evidence was chosen for the message, best first."""

    context_id: UUID
    core: Mapping[UUID, str]
    evidence: Mapping[UUID, str]
    degraded: bool


@dataclass(frozen=True, slots=True)
class Utilisation:
    """The memories of a package that an answer used, and by which signal."""

    memory_ids: tuple[UUID, ...]
    signal: UtilizationSignal


@dataclass(frozen=True, slots=True)
class UserReaction:
    """The reaction of the next message to an answer: its signal, and whether it continues the topic."""

    signal: FeedbackSignal
    continues: bool | None


def judge_by_reply(package: Package, reply: str, question: str) -> tuple[Utilisation, list[FeedbackRecorded]]:
    """The memories that the answer used, and the events that report it.

    An unused memory that was chosen counts as a miss; one that is in every package does not, because it was not chosen.
    """
    ways = utilisation.find_uses({**package.evidence, **package.core}, reply, question)
    groups: dict[UtilizationSignal, list[UUID]] = {}
    for memory_id, way in ways.items():
        if way != "none" or memory_id in package.evidence:
            groups.setdefault(way, []).append(memory_id)
    used = tuple(memory_id for memory_id, way in ways.items() if way != "none")
    events = [
        _event(package, memory_ids, judged_by="reply", utilized=way != "none", utilization_signal=way)
        for way, memory_ids in groups.items()
    ]
    return Utilisation(used, utilisation.choose_strongest(ways.values())), events


def read_reaction(signal: FeedbackSignal, message: str, answer: str, asked: str) -> UserReaction:
    """The reaction of the message to the answer to `asked`."""
    return UserReaction(signal, continues_topic(message, answer, asked) if signal == "neutral" else True)


def continues_topic(message: str, answer: str, question: str) -> bool | None:
    """True for a follow-up, False for another topic, None if the message has too few words to decide.

    `question` is the question of the answer.
    """
    text = fold(normalise(message))
    before = to_words(f"{question}\n{answer}")
    own = list_core_words(message)
    alike = list_synonyms([stem(word) for word in own])
    shared = [word for word in own if before.contains(word)]
    if TURNS_AWAY.search(text):
        return len(shared) >= ENOUGH
    if shared or any(map(before.contains, alike)) or GOES_ON.search(text):
        return True
    return False if len(own) >= ENOUGH else None


def judge_by_message(
    package: Package, used: Utilisation, reaction: UserReaction, message: str, corrections: Sequence[str]
) -> tuple[bool | None, list[FeedbackRecorded]]:
    """Whether the message shows that the package was useful, and the event that reports it; else None and no event.

    Praise and blame apply to the memories that the answer used. If one of the `corrections` in the message (texts)
    corrects such a memory, the correction is an urgent event of its own, and no memory is named here.
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
    if reaction.continues is None:
        return None, []
    return reaction.continues, [_event(package, list_judged(package, used), utilized=reaction.continues)]


def is_corrected(package: Package, used: Utilisation, corrections: Sequence[str]) -> bool:
    """Whether a correction contains words of a memory that the answer used."""
    wordings, texts = [to_words(each) for each in corrections], {**package.core, **package.evidence}
    return any(
        words.contains(word)
        for memory_id in used.memory_ids
        for word in list_core_words(texts.get(memory_id, ""))
        for words in wordings
    )


def list_judged(package: Package, used: Utilisation) -> tuple[UUID, ...]:
    """The memories that a verdict on the package applies to."""
    return tuple(dict.fromkeys([*used.memory_ids, *package.evidence]))


def _taken_up(package: Package, message: str) -> list[UUID]:
    """The chosen memories whose words the message contains."""
    spoken, nothing = to_words(message), to_words("")
    return [
        memory_id
        for memory_id, text in package.evidence.items()
        if utilisation.has_keywords(list_core_words(text), spoken, nothing)
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
