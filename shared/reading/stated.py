"""What the clauses of a message state: by patterns, with learned weights that stop them and find what they miss."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from shared.reading import (
    corrections,
    events,
    learned,
    limits,
    manipulation,
    persons,
    plans,
    preferences,
    profile,
    scheduled,
    signals,
)
from shared.reading import dates as days
from shared.reading.clauses import Clause, language_of, split
from shared.reading.corrections_build import may_promote, promoted
from shared.reading.gates import gate
from shared.reading.guards import Stance, stances
from shared.reading.keys import slug
from shared.reading.learned import Verdict
from shared.reading.model import Explain, Found, MessageText, Observation
from shared.text.patterns import to_pattern

_PLANS_ZH = to_pattern(r"打算|计划|立志|备考")
_PLANS = gate(_PLANS_ZH)
FEW_EN, FEW_ZH = 30, 12
"""Characters of a sentence that says little without the next one."""
MOST_QUOTED = 300
"""Characters of a sentence that are kept with what it states."""
_OF_WORDS = to_pattern(
    r"\b(?:spell\w*|pronounc\w*|grammar\w*|sentences?|phrases?|(?:say|write|put|express) (?:that|it|this)"
    r"|in (?:English|French|German|Spanish|Italian|Chinese|Japanese|Korean|Russian|Portuguese|Arabic)"
    r"|novel|story|poem|lyrics|characters?|you(?: are|'re) an?)\b"
    r"|怎么[说念读写]|这句|这段|这篇|什么意思|语法|造句|小说|故事|角色|扮演|台词|剧本|歌词|作文",
    re.I,
)
"""A text is spoken of, or a role: a statement beside it may be that text, or be said in that role.

What asks for a text (`translate`, `pretend`, 改写) is known to `guards`.
"""
_BESIDE = frozenset({"task", "event", "decision"})
"""What a clause may state beside what it corrects."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Findings by the clause that they begin at, and the last clause of those that go on."""

    found: dict[int, list[Found]]
    swallowed: dict[int, int]


def stated(
    message: MessageText,
    clauses: tuple[Clause, ...],
    today: date,
    explain: list[Explain],
    *,
    directed: bool,
    trusted: bool = True,
) -> list[Observation]:
    """What the clauses state, and why the others are dropped.

    `directed` clauses are told to be remembered: patterns alone read them. Of messages that are not `trusted`, as they
    try to steer the agent, nothing is kept that only the learned weights find.
    """
    verdicts = [] if directed else _verdicts(clauses)
    if not directed and not any(learned.worth_a_look(verdict) for verdict in verdicts):
        explain.extend(
            Explain((clause.start, clause.end), "dropped", "nothing lasting", message.ordinal) for clause in clauses
        )
        return []
    stand = stances(clauses)
    reading = _read(clauses, stand, verdicts, today, directed=directed, trusted=trusted)
    observations: list[Observation] = []
    sentences = _by_sentence(clauses)
    until = 0
    for index, (clause, stance) in enumerate(zip(clauses, stand, strict=True)):
        found = reading.found.get(index, [])
        last = reading.swallowed.get(index, index)
        span = (clause.start, clauses[last].end)
        until = max(until, last + 1 if found else 0)
        if not found:
            if index >= until:
                explain.append(Explain(span, "dropped", _why(stance), message.ordinal))
            continue
        explain.append(Explain(span, "kept", ",".join(one.detector for one in found), message.ordinal))
        words = message.text[slice(*span)]
        for one in found:
            if manipulation.may_serve(clause.mask) and manipulation.serves_itself(words, directed):
                one = replace(one, flags=(*one.flags, "self_benefit"), assertion="declared", epistemic="opinion")
            observations.append(observation(one, message, span, _around(sentences, clause.sentence, message.text)))
    return observations


def _verdicts(clauses: tuple[Clause, ...]) -> list[Verdict]:
    """What the learned weights say of each clause, without gainsaying a pattern where they know little.

    They know few names; and a question or a greeting beside a statement makes it look like less than it is.
    """
    few = 1 < len(clauses) <= learned.FEW_CLAUSES and not any(_OF_WORDS.search(clause.text) for clause in clauses)
    found: list[Verdict] = []
    for clause, verdict in zip(clauses, learned.read(clauses), strict=True):
        if persons.introduces(clause.text):
            verdict = learned.open_to(verdict, "profile")
        elif few and (own := learned.alone(clause)).kept >= learned.SURE_ALONE:
            verdict = learned.open_to(verdict, own.kind)
        found.append(verdict)
    return found


def _by_sentence(clauses: Sequence[Clause]) -> dict[int, list[Clause]]:
    found: dict[int, list[Clause]] = {}
    for clause in clauses:
        found.setdefault(clause.sentence, []).append(clause)
    return found


def _around(sentences: dict[int, list[Clause]], number: int, text: str) -> str:
    """The sentence of this number, with a question or a few words before it that it may answer."""
    own, before = sentences[number], sentences.get(number - 1, [])
    begin = own[0].start
    if before and (before[-1].asked or begin - before[0].start <= (FEW_EN if own[0].language == "en" else FEW_ZH)):
        begin = before[0].start
    return text[begin : own[-1].end][:MOST_QUOTED]


def standings(text: str) -> list[tuple[tuple[int, int], str]]:
    """Each clause of a text, and what keeps it from stating something of the user; `no signal` where nothing does."""
    clauses = split(text)
    return [
        ((clause.start, clause.end), _why(stance)) for clause, stance in zip(clauses, stances(clauses), strict=True)
    ]


def _read(
    clauses: tuple[Clause, ...],
    stand: Sequence[Stance],
    verdicts: Sequence[Verdict],
    today: date,
    *,
    directed: bool,
    trusted: bool,
) -> Reading:
    plain = [
        _plain(clause, stance, clauses, index, today, directed)
        if directed or learned.worth_reading(verdicts[index])
        else []
        for index, (clause, stance) in enumerate(zip(clauses, stand, strict=True))
    ]
    corrected = corrections.find(clauses, stand, plain, today)
    if not directed:
        _weigh(plain, corrected, stand, verdicts)
    ends = {index: index + 1 for index, found in corrected.items() if found and "joined" in found[0].flags}
    found = {index: _beside(index, plain, corrected) for index in range(len(clauses)) if index not in ends.values()}
    found = {index: each for index, each in found.items() if each}
    if directed or not trusted:
        return Reading(found, ends)
    free = [
        not plain[index]
        and index not in corrected
        and index not in ends.values()
        and learned.may_state(clauses[index], stand[index], verdict)
        for index, verdict in enumerate(verdicts)
    ]
    for index, (one, end) in learned.found(clauses, verdicts, free, corrected.keys(), today).items():
        found[index], ends[index] = [one], end - 1
    _suspect(clauses, verdicts, free, found, ends)
    return Reading(found, ends)


def _suspect(
    clauses: Sequence[Clause],
    verdicts: Sequence[Verdict],
    free: Sequence[bool],
    found: dict[int, list[Found]],
    ends: dict[int, int],
) -> None:
    """Of each sentence that states nothing, the clause that is likeliest to change something known is kept as such."""
    stated = {clauses[at].sentence for index in found for at in range(index, ends.get(index, index) + 1)}
    best: dict[int, int] = {}
    for index, verdict in enumerate(verdicts):
        sentence = clauses[index].sentence
        if not free[index] or sentence in stated or not learned.worth_a_look(verdict):
            continue
        if sentence not in best or verdict.changed > verdicts[best[sentence]].changed:
            best[sentence] = index
    sentences = _by_sentence(clauses)
    for number, index in best.items():
        found[index] = [learned.suspected(sentences[number], verdicts[index])]


def _weigh(
    plain: list[list[Found]], corrected: dict[int, list[Found]], stand: Sequence[Stance], verdicts: Sequence[Verdict]
) -> None:
    """Take out what the learned weights gainsay; make corrections of what they take for a change."""
    for index, verdict in enumerate(verdicts):
        if index in corrected:
            if verdict.changed < learned.LEAST_CHANGED:
                del corrected[index]
            continue
        if verdict.changed >= learned.CHANGES and stand[index].stands:
            if promotable := [promoted(one, "learned") for one in plain[index] if may_promote(one)]:
                corrected[index] = promotable
        elif max(verdict.kept, verdict.changed) < learned.LEAST_KEPT or not any(
            learned.agrees(verdict, one.kind) for one in plain[index]
        ):
            plain[index] = []


def _beside(index: int, plain: list[list[Found]], corrected: dict[int, list[Found]]) -> list[Found]:
    """What the clause corrects, and what it states beside that; else what it states."""
    found = corrected.get(index, plain[index])
    if index not in corrected or not found or found[0].kind in ("event", "note"):
        return found
    return [
        *found,
        *(
            one
            for one in plain[index]
            if one.kind in _BESIDE and one.kind != found[0].kind and one.detector != "correction"
        ),
    ]


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


def observation(found: Found, message: MessageText, span: tuple[int, int], around: str = "") -> Observation:
    """The finding with its speaker, place, language, and the sentence around it."""
    correction = found.assertion == "correction"
    key, value, text = found.key, found.value, found.text
    if around:
        value = {**value, "quote": around}
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
