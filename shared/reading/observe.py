"""A turn read from end to end: every message, tool result, reference and structured item."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from shared.reading import (
    corrections,
    entities,
    events,
    feedback,
    forget,
    keeping,
    learned,
    limits,
    manipulation,
    plans,
    preferences,
    profile,
    remember,
    scheduled,
    signals,
    slash,
    structured,
)
from shared.reading import dates as days
from shared.reading.clauses import Clause, language_of, split
from shared.reading.corrections_build import may_promote, promoted
from shared.reading.gates import gate
from shared.reading.guards import Stance, stances
from shared.reading.keys import slug
from shared.reading.model import (
    Explain,
    Found,
    Mention,
    MessageText,
    Observation,
    ObserveContext,
    Observed,
    ObservePolicy,
    Refusal,
    TurnText,
)
from shared.text.secrets import find_secrets

_PLANS_ZH = re.compile(r"打算|计划|立志|备考")
_PLANS = gate(_PLANS_ZH)


def observe(turn: TurnText, context: ObserveContext, policy: ObservePolicy) -> Observed:
    """Everything the turn says that is worth keeping, what was refused, and why the rest was dropped.

    Only the user's own messages state anything about the user; where a message carries a `name`, that person is the
    subject: keys carry the name's slug after their prefix and texts begin with the name.
    """
    observations: list[Observation] = []
    mentions: list[Mention] = []
    refused: list[Refusal] = []
    explain: list[Explain] = []
    signal, answer = None, context.answer_before
    for message in turn.messages:
        if len(message.text) > policy.max_message_chars:
            message = replace(message, text=message.text[: policy.max_message_chars])
        if message.role in ("user", "assistant"):
            mentions.extend(entities.mentions(message))
        if message.role != "user":
            answer = message.text if message.role == "assistant" else answer
            continue
        command = slash.parse(message.text)
        if command is not None and command.cmd != "remember":
            explain.append(Explain((0, len(message.text)), "dropped", "command", message.ordinal))
            continue
        said, bad, why = _read(message, context)
        observations.extend(said)
        refused.extend(bad)
        explain.extend(why)
        signal = signal or feedback.find(message, answer)
    last = turn.messages[-1].ordinal if turn.messages else 0
    told = [one for tool in turn.tool_calls if (one := structured.from_tool(tool))]
    observations = structured.without_twins(observations, told, turn.messages)
    observations.extend(structured.from_item(item, last) for item in turn.items)
    observations.extend(told)
    observations.extend(structured.from_ref(ref, last) for ref in turn.refs)
    suspect = {message.ordinal for message in turn.messages if find_secrets(message.text)}
    kept, secret = keeping.clean(observations, suspect)
    refused.extend(secret)
    kept.extend(keeping.mentioned(kept, mentions, context, policy, explain, turn.messages, suspect))
    found = tuple(keeping.distinct(kept)[: policy.max_observations])
    return Observed(found, tuple(mentions), tuple(refused), tuple(explain), signal)


def _read(message: MessageText, context: ObserveContext) -> tuple[list[Observation], list[Refusal], list[Explain]]:
    today = (message.created_at or context.occurred_at).date()
    refused: list[Refusal] = []
    explain: list[Explain] = []
    found: list[Observation] = []
    remembered = remember.find(message.text)
    for told in remembered:
        rule = manipulation.manipulates(told.text)
        if rule:
            refused.append(Refusal("manipulation", rule, (told.start, told.end), message.ordinal))
            continue
        found.extend(_remembered(message, told, today))
        explain.append(Explain((told.start, told.end), "kept", "remember", message.ordinal))
    text = _without(message.text, [(told.lead, told.end) for told in remembered])
    for asked in forget.find(text):
        if gone := _forgotten(message, asked, today):
            found.extend(gone)
            explain.append(Explain((asked.start, asked.end), "kept", "forget", message.ordinal))
            text = _without(text, [(asked.start, asked.end)])
    clauses = split(text)
    barred = _barred(clauses, text, message, refused, explain)
    clauses = tuple(clause for clause in clauses if clause.sentence not in barred)
    found.extend(_stated(message, clauses, today, explain, directed=False, trusted=not barred))
    return found, refused, explain


def _without(text: str, told: Sequence[tuple[int, int]]) -> str:
    for start, end in told:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _barred(
    clauses: tuple[Clause, ...], text: str, message: MessageText, refused: list[Refusal], explain: list[Explain]
) -> set[int]:
    """Sentences that try to steer the agent; each is refused."""
    barred: set[int] = set()
    for number, start, end, signs in manipulation.sentences(clauses, text):
        rule = manipulation.manipulates(text[start:end], signs)
        if rule:
            barred.add(number)
            refused.append(Refusal("manipulation", rule, (start, end), message.ordinal))
            explain.append(Explain((start, end), "dropped", "manipulation", message.ordinal))
    return barred


def _remembered(message: MessageText, told: remember.Remembered, today: date) -> list[Observation]:
    """The note, and what its content states by the other rules."""
    inner = replace(message, text=told.text)
    benefits = manipulation.serves_itself(told.text, directed=True)
    flags = ("self_benefit",) if benefits else ()
    note = Found(
        "note",
        None,
        {"value": told.text},
        told.text,
        "remember",
        told.pattern,
        "opinion" if benefits else "fact",
        0,
        "declared" if benefits else "directive",
        flags=flags,
    )
    clauses = split(told.text)
    typed = _stated(inner, clauses, today, [], directed=True)
    shift = told.start
    moved = [
        replace(
            one,
            span=(one.span[0] + shift, one.span[1] + shift),
            assertion="declared" if benefits else one.assertion if one.assertion == "correction" else "directive",
            epistemic="opinion" if benefits else one.epistemic,
            flags=tuple(dict.fromkeys((*one.flags, *flags))),
        )
        for one in typed
    ]
    return [_observation(note, message, (told.start, told.end)), *moved]


def _forgotten(message: MessageText, asked: forget.Forgotten, today: date) -> list[Observation]:
    """Denials of what the request states; without a statement, of what was said about the thing that it names."""
    if manipulation.manipulates(message.text[asked.start : asked.end]):
        return []
    span = (asked.start, asked.end)
    if asked.about:
        said = message.text[asked.start : asked.end]
        note = Found("note", None, {"value": asked.about}, said, "correction", "forget", "fact", 0, "correction", True)
        return [_observation(replace(note, old_value=asked.about), message, span)]
    inner = replace(message, text=asked.text)
    return [
        replace(
            one,
            text=f"{asked.label}{one.text}",
            assertion="correction",
            priority="urgent",
            retracts=True,
            old_value=str(one.value.get("value") or "") or None if one.kind == "profile" else None,
            detector="correction",
            pattern="forget",
            span=span,
        )
        for one in _stated(inner, split(asked.text), today, [], directed=False)
        if one.key is not None
    ]


def _stated(
    message: MessageText,
    clauses: tuple[Clause, ...],
    today: date,
    explain: list[Explain],
    *,
    directed: bool,
    trusted: bool = True,
) -> list[Observation]:
    """What the clauses state; what only the learned weights find is kept of messages that steer nobody."""
    verdicts = learned.read(clauses)
    if not directed and not any(learned.worth_reading(verdict) for verdict in verdicts):
        explain.extend(
            Explain((clause.start, clause.end), "dropped", "nothing lasting", message.ordinal) for clause in clauses
        )
        return []
    stand = stances(clauses)
    plain = [
        _plain(clause, stance, clauses, index, today, directed) if directed or learned.worth_reading(verdict) else []
        for index, (clause, stance, verdict) in enumerate(zip(clauses, stand, verdicts, strict=True))
    ]
    corrected = {
        index: found
        for index, found in corrections.find(clauses, stand, plain, today).items()
        if directed or verdicts[index].changed >= learned.LEAST_CHANGED
    }
    for index, verdict in enumerate(verdicts):
        if index in corrected or directed:
            continue
        if verdict.changed >= learned.CHANGES and stand[index].stands:
            if promotable := [promoted(one, "learned") for one in plain[index] if may_promote(one)]:
                corrected[index] = promotable
        elif max(verdict.kept, verdict.changed) < learned.LEAST_KEPT:
            plain[index] = []
        elif trusted and plain[index] and not any(learned.agrees(verdict, one.kind) for one in plain[index]):
            plain[index] = []
    swallowed = {index + 1 for index, found in corrected.items() if found and "joined" in found[0].flags}
    taken = [
        bool(plain[index])
        or index in corrected
        or index in swallowed
        or not learned.may_state(clauses[index], stand[index], verdicts[index])
        for index in range(len(clauses))
    ]
    unforeseen = {} if directed or not trusted else learned.found(clauses, verdicts, taken, corrected.keys(), today)
    observations: list[Observation] = []
    for index, (clause, stance) in enumerate(zip(clauses, stand, strict=True)):
        found = [] if index in swallowed else corrected.get(index, plain[index])
        if index in unforeseen:
            found = [unforeseen[index]]
        if index in corrected and found:
            found = [
                *found,
                *(
                    one
                    for one in plain[index]
                    if one.kind in ("task", "event", "decision")
                    and found
                    and found[0].kind != one.kind
                    and one.detector != "correction"
                    and found[0].kind not in ("event", "note")
                ),
            ]
        span = (clause.start, clause.end)
        if not found and index not in swallowed:
            explain.append(Explain(span, "dropped", _why(stance), message.ordinal))
            continue
        explain.append(Explain(span, "kept", ",".join(one.detector for one in found) or "correction", message.ordinal))
        for one in found:
            if manipulation.may_serve(clause.mask) and manipulation.serves_itself(clause.text, directed):
                one = replace(one, flags=(*one.flags, "self_benefit"), assertion="declared", epistemic="opinion")
            observations.append(_observation(one, message, span))
    return observations


def _plain(
    clause: Clause, stance: Stance, clauses: tuple[Clause, ...], index: int, today: date, directed: bool
) -> list[Found]:
    """What one clause states; the first detector with an answer speaks for tastes, facts and plans alike."""
    text = clause.text
    after = clauses[index + 1] if not clause.last else None
    if (directed or signals.task(clause)) and (tasks := plans.find_tasks(clause, stance, today, directed, after)):
        return tasks
    if limited := limits.find(clause, stance):
        return limited
    if signals.decision(clause) and (decided := plans.find_decisions(clause, stance)):
        return decided
    if clause.mask & _PLANS and _PLANS_ZH.search(text) and (aims := plans.find_goals(clause, stance)):
        return aims
    if appointed := scheduled.find(clause, stance, today):
        return appointed
    about = stance.subject == "self" or signals.speaker(clause)
    facts = profile.find(clause, stance) if about else []
    happened: list[Found] = []
    if signals.event(clause):
        happened = events.find(clause, stance, today, lambda: _date_before(clauses, index, today))
    if facts:
        happened = [one for one in happened if one.event_date]
    if facts or happened:
        return [*facts, *happened]
    if signals.taste(clause) and (tastes := preferences.find(clause, stance)):
        return tastes
    return plans.find_goals(clause, stance) if signals.goal(clause) else []


def _date_before(clauses: tuple[Clause, ...], index: int, today: date) -> days.Said | None:
    """The date that the clause before names, where it names nothing else: `last Saturday, I ...`."""
    if index == 0 or clauses[index - 1].sentence != clauses[index].sentence or len(clauses[index - 1].text) > 28:
        return None
    said = days.find(clauses[index - 1].text, today)
    return said if said and len(clauses[index - 1].text) - len(said.text) <= 6 else None


def _why(stance: Stance) -> str:
    for name in ("asked", "supposed", "reported", "ironic", "trial", "momentary"):
        if getattr(stance, name):
            return name
    return f"about {stance.subject}" if stance.subject in ("other", "agent") else "no signal"


def _observation(found: Found, message: MessageText, span: tuple[int, int]) -> Observation:
    correction = found.assertion == "correction"
    key, value, text = found.key, found.value, found.text
    if message.name:
        key = _named_key(key, message.name)
        value = {**value, "speaker": message.name}
        if isinstance(value.get("old_key"), str):
            value["old_key"] = _named_key(value["old_key"], message.name)
        text = f"{message.name}: {text}"
    return Observation(
        found.kind,
        key,
        value,
        text,
        found.assertion,
        found.epistemic,
        found.polarity,
        "urgent" if correction else "normal",
        found.retracts,
        found.old_value,
        found.detector,
        found.pattern,
        language_of(message.text[span[0] : span[1]] or text),
        message.role,
        message.ordinal,
        span,
        tuple(flag for flag in found.flags if flag != "joined"),
        found.event_date,
        found.valid_until,
    )


def _named_key(key: str | None, name: str) -> str | None:
    """The key of a named speaker: the name's slug is the segment behind the prefix, in place of `user`."""
    if key is None:
        return None
    prefix, _, rest = key.partition(":")
    return f"{prefix}:{slug(name, 32)}:{rest.removeprefix('user:')}"
