"""The earlier packages of a batch: the parts of a turn that they showed, and how the user received each of them.

A package is judged by the answer that was written with it and by the next message.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from schemas.events import FeedbackRecorded
from schemas.vocabulary import FeedbackSignal
from services.observer.feedback import rules
from services.observer.feedback.rules import Package, Utilisation
from shared.db import Connection
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.extraction import Observed
from shared.extraction.recalled import ShownSentence, find_recalled, sentences
from shared.extraction.turn_texts import SPOKEN, render_result
from shared.store import contexts, memory, turns
from shared.store.contexts import Injection, Reception

USER, ASSISTANT = "user_message", "assistant_message"


@dataclass(frozen=True)
class FeedbackResult:
    """The events about the reception of packages, and the rows for it."""

    events: list[FeedbackRecorded] = field(default_factory=list[FeedbackRecorded])
    receptions: list[Reception] = field(default_factory=list[Reception])


@dataclass(frozen=True)
class PreviousPackages:
    """For each turn of a batch the answer before it, and for each answer the package that it was written with.

    Only the turns in `first` judge that answer: the user has said nothing between it and them.
    """

    answered: Mapping[UUID, Turn] = field(default_factory=dict[UUID, Turn])
    first: frozenset[UUID] = frozenset()
    questions: Mapping[UUID, str] = field(default_factory=dict[UUID, str])
    packages: Mapping[UUID, Package] = field(default_factory=dict[UUID, Package])
    used: dict[UUID, Utilisation] = field(default_factory=dict[UUID, Utilisation])

    def find_answer(self, turn: Turn) -> str:
        """The last answer of the assistant before this turn; empty if there is none."""
        before = self.answered.get(turn.turn_id)
        return before.list_texts(ASSISTANT)[-1] if before and before.list_texts(ASSISTANT) else ""

    def judge(self, turn: Turn, observed: Observed, rows: Iterable[ObservationRow]) -> FeedbackResult:
        """Judges the previous package by the message of the turn, then its own package by its answer; in turn order."""
        result = FeedbackResult()
        signal = observed.feedback.signal if observed.feedback else "neutral"
        corrections = [f"{row.old_value or ''} {row.text}" for row in rows if row.priority == "urgent"]
        self._judge_by_message(turn, signal, corrections, result)
        self._judge_by_reply(turn, result)
        return result

    def _judge_by_message(
        self, turn: Turn, signal: FeedbackSignal, corrections: Sequence[str], result: FeedbackResult
    ) -> None:
        before, texts = self.answered.get(turn.turn_id), turn.list_texts(USER)
        package = self.packages.get(before.turn_id) if before and turn.turn_id in self.first else None
        if before is None or package is None:
            if signal != "neutral":
                result.events.append(FeedbackRecorded(signal=signal))
            return
        if not texts:
            return
        question, answer = self.questions.get(before.turn_id, ""), "\n".join(before.list_texts(ASSISTANT))
        used = self.used.get(before.turn_id) or rules.judge_by_reply(package, answer, question)[0]
        reaction = rules.read_reaction(signal, texts[0], answer, question)
        utilized, events = rules.judge_by_message(package, used, reaction, texts[0], corrections)
        result.events.extend(events)
        if events:
            result.receptions.append(Reception(package.context_id, utilized=utilized, feedback_signal=signal))

    def _judge_by_reply(self, turn: Turn, result: FeedbackResult) -> None:
        package, replies = self.packages.get(turn.turn_id), turn.list_texts(ASSISTANT)
        if package is None or not replies:
            return
        used, events = rules.judge_by_reply(package, "\n".join(replies), self.questions.get(turn.turn_id, ""))
        self.used[turn.turn_id] = used
        result.events.extend(events)
        result.receptions.append(
            Reception(package.context_id, turn.turn_id, used.memory_ids, bool(used.memory_ids), used.signal)
        )


async def load(conn: Connection, subject: Subject, batch: Sequence[Turn]) -> PreviousPackages:
    """Loads what is needed to judge the turns of a batch: at most three reads, none without packages or answers."""
    ordered = sorted(batch, key=lambda turn: (turn.session_id, turn.seq))
    at = {(turn.session_id, turn.seq): turn for turn in ordered}
    heads = [place for place in at if place[1] > 1 and (place[0], place[1] - 1) not in at]
    stored = await turns.answered_before(conn, subject, heads)
    answered, first, questions = _chain(ordered, at, stored)
    answering = [turn for turn in ordered if turn.list_texts(ASSISTANT)]
    recorded = await contexts.load_injections(
        conn,
        subject,
        contexts={t.context_id for t in (*answering, *stored) if t.context_id},
        turns={turn.turn_id for turn in stored},
        sessions={turn.session_id for turn in answering if turn.context_id is None},
    )
    chosen = {**list_stored(stored, recorded), **choose_packages(answering, answered, recorded)}
    ids = {id for each in chosen.values() for id in (*each.core_ids, *each.evidence_ids)}
    texts = {m.memory_id: m.content_text for m in await memory.by_ids(conn, subject, ids)}
    packages = {turn: _package(each, texts) for turn, each in chosen.items()}
    used = {
        turn: Utilisation(each.used_ids, each.utilization_signal or "none")
        for turn, each in chosen.items()
        if each.used_ids is not None
    }
    return PreviousPackages(answered, frozenset(first), questions, packages, used)


def _chain(
    ordered: Sequence[Turn], at: Mapping[tuple[str, int], Turn], stored: Sequence[Turn]
) -> tuple[dict[UUID, Turn], set[UUID], dict[UUID, str]]:
    """For each turn the answered turn before it, whether it is the first after that, and the question of the user."""
    answered: dict[UUID, Turn] = {}
    first: set[UUID] = set()
    questions = {turn.turn_id: "\n".join(turn.list_texts(USER)) for turn in (*stored, *ordered)}
    for turn in ordered:
        before = at.get((turn.session_id, turn.seq - 1))
        if before is None:
            near = [s for s in stored if s.session_id == turn.session_id and s.seq < turn.seq]
            latest = max(near, key=lambda each: each.seq, default=None)
            direct = latest is not None and latest.seq == turn.seq - 1
        else:
            latest = before if before.list_texts(ASSISTANT) else answered.get(before.turn_id)
            direct = latest is before or (before.turn_id in first and not before.list_texts(USER))
            if not questions[turn.turn_id]:
                questions[turn.turn_id] = questions[before.turn_id]
        if latest is not None and latest.seq >= turn.seq - turns.ANSWERED_WITHIN:
            answered[turn.turn_id] = latest
        if direct:
            first.add(turn.turn_id)
    return answered, first, questions


def list_stored(stored: Sequence[Turn], injections: Sequence[Injection]) -> dict[UUID, Injection]:
    """The packages of turns that were observed before, or that name their package."""
    by_turn = {each.turn_id: each for each in injections if each.turn_id}
    by_id = {each.context_id: each for each in injections}
    known = {t.turn_id: by_turn.get(t.turn_id) or (by_id.get(t.context_id) if t.context_id else None) for t in stored}
    return {turn_id: each for turn_id, each in known.items() if each is not None}


def choose_packages(
    answering: Sequence[Turn], answered: Mapping[UUID, Turn], injections: Sequence[Injection]
) -> dict[UUID, Injection]:
    """For each answer the package that the turn names, else the latest of the session since the previous answer."""
    free = {each.context_id: each for each in injections if each.turn_id is None}
    chosen: dict[UUID, Injection] = {}
    for turn in answering:
        before = answered.get(turn.turn_id)
        if turn.context_id is not None:
            fitting = [each for each in free.values() if each.context_id == turn.context_id]
        else:
            fitting = [
                each
                for each in free.values()
                if each.session_id == turn.session_id
                and each.created_at <= turn.committed_at
                and (before is None or each.created_at > before.committed_at)
            ]
        if fitting:
            latest = max(fitting, key=lambda each: each.created_at)
            chosen[turn.turn_id] = free.pop(latest.context_id)
    return chosen


def _package(injection: Injection, texts: Mapping[UUID, str]) -> Package:
    def to_texts(ids: Iterable[UUID]) -> dict[UUID, str]:
        return {id: texts[id] for id in ids if id in texts}

    return Package(
        injection.context_id, to_texts(injection.core_ids), to_texts(injection.evidence_ids), injection.degraded
    )


async def mark_recalled(conn: Connection, subject: Subject, turns: Sequence[Turn]) -> list[Turn]:
    """Marks the spans of the turns that packages had shown; one read, none if no sentence is long enough."""
    sentences_of = {turn.turn_id: list(list_sentences(turn)) for turn in turns}
    prints_of = {turn_id: await asyncio.to_thread(sentences, each) for turn_id, each in sentences_of.items()}
    hashes = {print.hash for each in prints_of.values() for prints in each.values() for print in prints}
    named = [turn.context_id for turn in turns if turn.context_id]
    shown: dict[int, set[tuple[UUID, int]]] = {}
    for each in await contexts.find_recalled(conn, subject, list(hashes), named):
        shown.setdefault(each.hash, set()).add((each.context_id, each.piece))
    if not shown:
        return list(turns)
    pieces = {hash: frozenset(places) for hash, places in shown.items()}
    return [
        with_spans(turn, find_recalled(sentences_of[turn.turn_id], prints_of[turn.turn_id], pieces)) for turn in turns
    ]


def with_spans(turn: Turn, spans: dict[int, list[tuple[int, int]]]) -> Turn:
    """The turn with these recalled spans."""
    return replace(turn, recalled={str(ordinal): each for ordinal, each in spans.items()}) if spans else turn


def list_sentences(turn: Turn) -> Iterable[ShownSentence]:
    """The sentences of the turn that a package may have shown."""
    last = max((e.ordinal for e in turn.events if e.event_type == "user_message"), default=-1)
    for event in turn.events:
        if event.content is None:
            continue
        if "text" in event.content and event.event_type in (*SPOKEN, "tool_result"):
            yield ShownSentence(event.ordinal, event.content["text"], event.ordinal == last)
        elif event.event_type == "tool_result":
            yield ShownSentence(event.ordinal, render_result(event.content.get("result")), stated=False)
