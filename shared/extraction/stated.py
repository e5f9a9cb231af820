"""Extracts what the clauses of a message state, by patterns and by learned weights.

The weights drop findings of patterns that say nothing lasting, and find statements that no pattern knows.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from itertools import groupby

from schemas.memory_types import MemoryType, types_with
from shared.domain.statements import ALSO
from shared.extraction import changes, learned, manipulation
from shared.extraction.changes import correct_denials, group_by_sentence, may_matter
from shared.extraction.clauses import Clause, language_of, split
from shared.extraction.correction_forms import find_corrections, may_promote, promote_finding
from shared.extraction.guards import Stance, find_order, stances
from shared.extraction.keys import profile_key, slug
from shared.extraction.lasting import MAY_CORRECT, SURE, choose_type, estimate_sentences, keep_sentences, stands_anyway
from shared.extraction.learned import ClauseClass
from shared.extraction.model import Finding, MessageText, Observation, ReadingNote
from shared.extraction.opinions import judge_epistemic
from shared.extraction.slots import add_key, find_plain, with_due
from shared.extraction.word_tags import describe_sentence
from shared.extraction.wording import choose_words
from shared.language import names
from shared.language.patterns import to_pattern

FEW_EN, FEW_ZH = 30, 12
"""A sentence of at most so many characters says little without the next one."""
MOST_QUOTED = 300
"""A quote of a sentence has at most so many characters."""
_OF_WORDS = to_pattern(
    r"\b(?:spell\w*|pronounc\w*|grammar\w*|sentences?|phrases?|(?:say|write|put|express) (?:that|it|this)"
    r"|in (?:English|French|German|Spanish|Italian|Chinese|Japanese|Korean|Russian|Portuguese|Arabic)"
    r"|novel|story|poem|lyrics|characters?|you(?: are|'re) an?)\b"
    r"|怎么[说念读写]|这句|这段|这篇|什么意思|语法|造句|小说|故事|角色|扮演|台词|剧本|歌词|作文",
    re.I,
)
"""These words speak of a text or of a role: a statement beside them may be that text, or be said in that role.

`guards` knows the words that ask for a text (`translate`, `pretend`, 改写).
"""
ORDERED = types_with("ordered")
"""The types that an order to the agent may have."""
VIEWED = types_with("judged")
"""The types that a judgement of a thing may seem to have; it becomes an inferred note of what the user thinks."""
_BESIDE = types_with("beside_correction")
"""The types that a clause may state beside its correction."""


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """The findings by their first clause, and the last clause of each finding that has several."""

    found: dict[int, list[Finding]]
    swallowed: dict[int, int]


def extract_statements(
    message: MessageText,
    clauses: tuple[Clause, ...],
    today: date,
    explain: list[ReadingNote],
    *,
    directed: bool,
    trusted: bool = True,
) -> list[Observation]:
    """The observations that the clauses state; `explain` receives why the other clauses are dropped.

    `directed` clauses are those that the user asks to remember: only patterns read them. A message that is not
    `trusted` tries to steer the agent: nothing is kept of it that only the learned weights find.
    """
    verdicts, plainly = ([], frozenset[int]()) if directed else _classify_clauses(clauses)
    stand = stances(clauses)
    likely = {} if directed else estimate_sentences(message.text, clauses, stand, verdicts)
    if not directed and max(likely.values(), default=0.0) < SURE and not any(map(may_matter, clauses, verdicts)):
        explain.extend(
            ReadingNote((clause.start, clause.end), "dropped", "nothing lasting", message.ordinal) for clause in clauses
        )
        return []
    choose = partial(_choose_type, message.text, clauses, stand, verdicts)
    reading = _read_sentences(clauses, stand, verdicts, plainly, today, likely, choose, directed, trusted)
    observations: list[Observation] = []
    sentences = group_by_sentence(clauses)
    until = 0
    for index, (clause, stance) in enumerate(zip(clauses, stand, strict=True)):
        findings = reading.found.get(index, [])
        last = reading.swallowed.get(index, index)
        span = (clause.start, clauses[last].end)
        until = max(until, last + 1 if findings else 0)
        if not findings:
            if index >= until:
                explain.append(ReadingNote(span, "dropped", _name_reason(stance), message.ordinal))
            continue
        explain.append(ReadingNote(span, "kept", ",".join(one.detector for one in findings), message.ordinal))
        begin, end = _find_clause_range(clauses, reading, index, last)
        sentence = message.text[clauses[begin].start : clauses[end - 1].end]
        one = add_key(_merge_findings(findings), sentence)
        if manipulation.may_serve(clause.mask) and manipulation.serves_itself(message.text[slice(*span)], directed):
            one = replace(one, flags=(*one.flags, "self_benefit"), assertion="declared", epistemic="opinion")
        if not directed and one.assertion == "declared":
            one = _mark_order(one, sentence, today)
        words, span = choose_words(message.text, clauses, stand, begin, end, one)
        around = _quote_around(sentences, clause.sentence, clauses[last].sentence, message.text)
        observations.append(to_observation(_replace_words(one, words), message, span, around))
    return observations


def _merge_findings(findings: Sequence[Finding]) -> Finding:
    """Merges the findings of one statement under the first key; the values of the other keys are kept beside it."""
    first = next((one for one in findings if one.assertion == "correction" or one.key), findings[0])
    also = {
        key: str(one.value.get("value") or "")
        for one in findings
        if one is not first and not one.retracts and (key := one.key and profile_key(one.key)) and key != first.key
    }
    return replace(first, value={**first.value, ALSO: also}) if also else first


def _mark_order(finding: Finding, text: str, today: date) -> Finding:
    """Marks the finding as an order if its words tell how to answer, or of what to remind the user and when."""
    order = find_order(text)
    if order == "reminder":
        finding = replace(finding, kind="task", assertion="directive")
    finding = with_due(finding, text, today)
    return replace(finding, assertion="directive") if order and finding.kind in ORDERED else finding


def _replace_words(found: Finding, words: str) -> Finding:
    """The finding with these words as its text."""
    same = found.value.get("value") == found.text
    return replace(found, text=words, value={**found.value, "value": words} if same else found.value)


def _find_clause_range(clauses: Sequence[Clause], reading: SentenceReading, index: int, last: int) -> tuple[int, int]:
    """The range of clauses that belong to the statement at this place: up to the next statement of its sentence.

    The first statement of a sentence also has the clauses before it, such as a condition or an introduction.
    """
    sentence = clauses[index].sentence
    starts = {at for at in reading.found if clauses[at].sentence == sentence}
    begin = index if min(starts) < index else next(n for n, c in enumerate(clauses) if c.sentence == sentence)
    end = index + 1
    while end < len(clauses) and clauses[end].sentence == sentence and end not in starts:
        end += 1
    return begin, max(end, last + 1)


def _classify_clauses(clauses: tuple[Clause, ...]) -> tuple[list[ClauseClass], frozenset[int]]:
    """The class of each clause by the learned weights, and the places of clauses that alone would surely be kept.

    The weights know few names, so a pattern may find the name of the speaker all the same. A question or a greeting
    beside a statement lowers its class, so in short messages each clause is classified alone as well.
    """
    few = len(clauses) <= learned.FEW_CLAUSES and not any(_OF_WORDS.search(clause.text) for clause in clauses)
    classes: list[ClauseClass] = []
    plainly: set[int] = set()
    for place, (clause, verdict) in enumerate(zip(clauses, learned.read(clauses), strict=True)):
        if names.introduces(clause.text):
            verdict = learned.admit_type(verdict, "profile")
        elif len(clauses) == 1 and verdict.kept >= learned.EVEN:
            plainly.add(place)
        elif few and (own := learned.classify_alone(clause)).kept >= learned.SURE_ALONE:
            verdict = learned.admit_type(verdict, own.kind)
            plainly.add(place)
        classes.append(verdict)
    return classes, frozenset(plainly)


def _quote_around(sentences: dict[int, list[Clause]], number: int, last: int, text: str) -> str:
    """Quotes the sentences with these numbers, and a question or a short sentence before them that they may answer."""
    own, before = sentences[number], sentences.get(number - 1, [])
    begin = own[0].start
    if before and (before[-1].asked or begin - before[0].start <= (FEW_EN if own[0].language == "en" else FEW_ZH)):
        begin = before[0].start
    return text[begin : sentences[last][-1].end][:MOST_QUOTED]


def explain_clauses(text: str) -> list[tuple[tuple[int, int], str]]:
    """The span of each clause, and why it states nothing about the user; `no signal` if there is no reason."""
    clauses = split(text)
    return [
        ((clause.start, clause.end), _name_reason(stance))
        for clause, stance in zip(clauses, stances(clauses), strict=True)
    ]


def _read_sentences(
    clauses: tuple[Clause, ...],
    stand: Sequence[Stance],
    verdicts: Sequence[ClauseClass],
    plainly: Set[int],
    today: date,
    likely: Mapping[int, float],
    choose: Callable[[Sequence[int]], MemoryType],
    directed: bool,
    trusted: bool,
) -> SentenceReading:
    plain = [
        find_plain(clause, stance, today) if directed or learned.is_worth_reading(verdicts[index]) else []
        for index, (clause, stance) in enumerate(zip(clauses, stand, strict=True))
    ]
    corrected = find_corrections(clauses, stand, plain, today)
    if not directed:
        _apply_classes(plain, corrected, stand, verdicts)
    ends = {index: index + 1 for index, findings in corrected.items() if findings and "joined" in findings[0].flags}
    places = [index for index in range(len(clauses)) if index not in ends.values()]
    findings = {index: each for index in places if (each := join_findings(index, plain, corrected))}
    if directed:
        return SentenceReading(findings, ends)
    worth = keep_sentences(clauses, verdicts, likely)
    findings = {
        n: each for n, each in findings.items() if worth[clauses[n].sentence] or n in plainly or stands_anyway(each[0])
    }
    if not trusted:
        return SentenceReading(findings, ends)
    free = [
        not plain[index]
        and index not in corrected
        and index not in ends.values()
        and learned.may_state(clauses[index], stand[index], verdict)
        for index, verdict in enumerate(verdicts)
    ]
    for index, (one, end) in learned.find_changed(clauses, verdicts, free, corrected.keys(), choose).items():
        if worth[clauses[index].sentence] or likely[clauses[index].sentence] >= MAY_CORRECT:
            findings[index], ends[index] = [one], end - 1
    taken = {clauses[at].sentence for index in findings for at in range(index, ends.get(index, index) + 1)}
    for number, its_places in groupby(range(len(clauses)), key=lambda place: clauses[place].sentence):
        every = list(its_places)
        told_in_passing = worth[number] and all(stand[place].asked for place in every)
        own = every if told_in_passing else [place for place in every if free[place]]
        if (
            own
            and number not in taken
            and (worth[number] or any(place in plainly and verdicts[place].kind == "constraint" for place in own))
        ):
            own_clauses, own_verdicts = [clauses[n] for n in own], [verdicts[n] for n in own]
            whole = learned.to_statement(own_clauses, own_verdicts, choose(own), today)
            if whole:
                findings[own[0]], ends[own[0]] = [whole], own[-1]
    correct_denials(clauses, stand, findings, ends)
    changes.add_suspicions(clauses, verdicts, free, findings, ends)
    return SentenceReading(findings, ends)


def _choose_type(
    text: str,
    clauses: Sequence[Clause],
    stand: Sequence[Stance],
    verdicts: Sequence[ClauseClass],
    places: Sequence[int],
) -> MemoryType:
    """The type of what the clauses at these places state together."""
    chosen = [clauses[place] for place in places]
    tagged = describe_sentence(text, chosen[0].start, chosen[-1].end)
    joined = learned.join_clauses(chosen)
    return choose_type(joined, chosen, [stand[n] for n in places], [verdicts[n] for n in places], tagged)


def _apply_classes(
    plain: list[list[Finding]],
    corrected: dict[int, list[Finding]],
    stand: Sequence[Stance],
    verdicts: Sequence[ClauseClass],
) -> None:
    """Drops findings that the learned weights contradict, and turns what they class as a change into corrections."""
    for index, verdict in enumerate(verdicts):
        if index in corrected:
            if verdict.changed < learned.LEAST_CHANGED and corrected[index][0].pattern != "denied":
                del corrected[index]
            continue
        if verdict.changed >= learned.CHANGES and stand[index].stands:
            if promotable := [promote_finding(one, "learned") for one in plain[index] if may_promote(one)]:
                corrected[index] = promotable
        elif max(verdict.kept, verdict.changed) < learned.LEAST_KEPT or not any(
            learned.may_be_of_type(verdict, one.kind) for one in plain[index]
        ):
            plain[index] = []


def join_findings(index: int, plain: list[list[Finding]], corrected: dict[int, list[Finding]]) -> list[Finding]:
    """The corrections of the clause with what it states beside them; without a correction, all that it states."""
    findings = corrected.get(index, plain[index])
    if index not in corrected or not findings or findings[0].kind in ("event", "note"):
        return findings
    return [
        *findings,
        *(
            one
            for one in plain[index]
            if one.kind in _BESIDE and one.kind != findings[0].kind and one.detector != "correction"
        ),
    ]


def _name_reason(stance: Stance) -> str:
    for name in ("asked", "supposed", "reported", "ironic", "trial", "momentary"):
        if getattr(stance, name):
            return name
    return f"about {stance.subject}" if stance.subject in ("other", "agent") else "no signal"


def to_observation(finding: Finding, message: MessageText, span: tuple[int, int], around: str = "") -> Observation:
    """The observation of the finding, with its speaker, place, language, and the sentence around it."""
    epistemic = judge_epistemic(finding)
    viewed = finding.kind in VIEWED or (finding.kind == "note" and finding.detector == "learned")
    if epistemic == "opinion" and finding.assertion == "declared" and viewed:
        finding = replace(finding, kind="note", assertion="inferred", polarity=0)
    correction = finding.assertion == "correction"
    key, value, text = finding.key and profile_key(finding.key), finding.value, finding.text
    if around:
        value = {**value, "quote": around}
    if message.name:
        key = _to_named_key(key, message.name)
        value = {**value, "speaker": message.name}
        if isinstance(value.get("old_key"), str):
            value["old_key"] = _to_named_key(value["old_key"], message.name)
        text = f"{message.name}: {text}"
    return Observation(
        finding.kind,
        key,
        value,
        text,
        finding.assertion,
        epistemic,
        finding.polarity,
        "urgent" if correction else "normal",
        finding.retracts,
        finding.old_value,
        finding.detector,
        finding.pattern,
        language_of(message.text[span[0] : span[1]] or text),
        message.role,
        message.ordinal,
        span,
        tuple(flag for flag in finding.flags if flag != "joined"),
        finding.event_date,
        finding.valid_until,
    )


def _to_named_key(key: str | None, name: str) -> str | None:
    """The key of a named speaker: the slug of the name replaces `user` behind the prefix."""
    if key is None:
        return None
    prefix, _, rest = key.partition(":")
    return f"{prefix}:{slug(name, 32)}:{rest.removeprefix('user:')}"
