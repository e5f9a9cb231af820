"""Reads a whole turn: every message, tool result, reference and structured item."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import cast

from schemas.vocabulary import Assertion, FeedbackSignal, MemoryType
from shared.classifiers.network import grams, load
from shared.domain.statements import AMENDS, FORGETS, MAY_AMEND, SUSPECTED
from shared.extraction import entities, keeping, manipulation, retractions, slash, structured, wishes
from shared.extraction.clauses import Clause, split
from shared.extraction.lasting import tells_in_jest
from shared.extraction.model import (
    Feedback,
    Finding,
    Mention,
    MessageText,
    Observation,
    ObserveContext,
    Observed,
    ObservePolicy,
    ReadingNote,
    Refusal,
    TurnText,
)
from shared.extraction.repairs import repair
from shared.extraction.replacement import find_repair, owns_slip
from shared.extraction.slots import add_key
from shared.extraction.stated import extract_statements, to_observation
from shared.language.patterns import to_pattern
from shared.secrets import find_secrets

MAY_REPAIR = 0.1
"""The least likelihood that a short message corrects a value, for its conversation to be examined."""
_OF_SOMEBODY = to_pattern(r"\b(?:i|i['’]m|my|we|our|you|your|he|she|they)\b|[我你他她咱]", re.I)
_SAYS_WRONG = to_pattern(
    r"^(?:no|sorry|oops|ugh|correction|make (?:that|it)|i meant?|scratch that|\*)\b|错|口误"
    r"|^(?:不是|不对|是)|才对|更正",
    re.I,
)
"""Begins a message about something that was said before."""


def observe(turn: TurnText, context: ObserveContext, policy: ObservePolicy) -> Observed:
    """All that the turn states and is worth keeping, what is refused, and why the rest is dropped.

    Only the user's own messages state anything about the user; where a message carries a `name`, that person is the
    subject: keys carry the name's slug after their prefix and texts begin with the name.
    """
    observations: list[Observation] = []
    mentions: list[Mention] = []
    refused: list[Refusal] = []
    explain: list[ReadingNote] = []
    signal, answer = None, context.answer_before
    turn, unread = cut_to_stretches(turn, policy)
    for message in turn.messages:
        if message.role in ("user", "assistant"):
            named = entities.find_mentions(message)
            mentions.extend(entities.join_names_of_one(message, named) if message.role == "user" else named)
        if message.role != "user":
            answer = message.text if message.role == "assistant" else answer
            continue
        command = slash.parse_command(message.text)
        if command is not None and command.cmd != "remember":
            explain.append(ReadingNote((0, len(message.text)), "dropped", "command", message.ordinal))
            continue
        statements, bad, why = _read_repaired(message, context)
        observations.extend(statements)
        refused.extend(bad)
        explain.extend(why)
        signal = signal or find_feedback(message, answer)
    explain.extend(unread)
    last = turn.messages[-1].ordinal if turn.messages else 0
    of_tools = [one for tool in turn.tool_calls if (one := structured.from_tool(tool))]
    observations = structured.remove_twins(observations, of_tools, turn.messages)
    observations.extend(structured.from_item(item, last, policy.profile_slots) for item in turn.items)
    observations.extend(of_tools)
    observations.extend(structured.from_ref(ref, last) for ref in turn.refs)
    named = {one.message_ordinal for one in (*observations, *mentions)}
    suspect = {each.ordinal for each in turn.messages if each.ordinal in named and find_secrets(each.text)}
    clean, secret = keeping.remove_secrets(observations, suspect)
    refused.extend(secret)
    suspected = tuple(one for one in clean if SUSPECTED in one.flags)
    clean = [one for one in clean if SUSPECTED not in one.flags]
    clean.extend(keeping.observe_mentions(clean, mentions, context, policy, explain, turn.messages, suspect))
    distinct = tuple(keeping.remove_repeats(clean)[: policy.max_observations])
    return Observed(distinct, suspected, tuple(mentions), tuple(refused), tuple(explain), signal)


def _read_repaired(
    message: MessageText, context: ObserveContext
) -> tuple[list[Observation], list[Refusal], list[ReadingNote]]:
    """Reads the message with its slips repaired; spans refer to the original text."""
    repaired = repair(message.text)
    if repaired is None:
        return _read_message(message, context)
    back = repaired.to_original
    found, refused, explain = _read_message(replace(message, text=repaired.text), context)
    return (
        [replace(one, span=back(one.span)) for one in found],
        [replace(one, span=back(one.span)) for one in refused],
        [replace(one, text_span=back(one.text_span)) for one in explain],
    )


def _read_message(
    message: MessageText, context: ObserveContext
) -> tuple[list[Observation], list[Refusal], list[ReadingNote]]:
    today = (message.created_at or context.occurred_at).date()
    refused: list[Refusal] = []
    explain: list[ReadingNote] = []
    statements: list[Observation] = []
    own = _blank_spans(message.text, [(wish.start, wish.end) for wish in wishes.find_wishes(message.text)])
    remembered = slash.find_remembered(own)
    for command in remembered:
        rule = manipulation.find_manipulation(command.text)
        if rule:
            refused.append(Refusal("manipulation", rule, (command.start, command.end), message.ordinal))
            continue
        if tells_in_jest(command.text):
            explain.append(ReadingNote((command.start, command.end), "dropped", "ironic", message.ordinal))
            continue
        statements.extend(observe_remembered(message, command, today))
        explain.append(ReadingNote((command.start, command.end), "kept", "remember", message.ordinal))
    retracted = retractions.find_retractions(own)
    text = _blank_spans(own, [(command.lead, command.end) for command in remembered])
    if forgotten := [(each.start, each.end) for each in retractions.find_requests_to_forget(text)]:
        statements.extend(observe_forgotten(message, forgotten))
        explain.extend(ReadingNote(span, "kept", "forget", message.ordinal) for span in forgotten)
    text = _blank_spans(text, forgotten)
    clauses = split(text)
    barred = find_barred(clauses, text, message, refused, explain)
    clauses = tuple(clause for clause in clauses if clause.sentence not in barred)
    statements.extend(extract_statements(message, clauses, today, explain, directed=False, trusted=not refused))
    statements = _add_repair(message, _apply_retractions(message, statements, retracted, explain), explain)
    return statements, refused, explain


def _add_repair(message: MessageText, statements: list[Observation], explain: list[ReadingNote]) -> list[Observation]:
    """The findings, with a mark or a note if the short message may correct a value of what was said just before."""
    repair = find_repair(message.text)
    if repair is None or (repair[2] < MAY_REPAIR and not owns_slip(message.text[repair[0] : repair[1]])):
        return statements
    start, end, _ = repair
    words = message.text[start:end]
    there = [one for one in statements if one.span[0] < end and start < one.span[1]]
    stated_there = [one for one in there if SUSPECTED not in one.flags]
    if any(one.retracts or one.assertion == "directive" for one in stated_there):
        return statements
    explain.append(ReadingNote((start, end), "kept", "may put a value right", message.ordinal))
    if any(one.key for one in stated_there):
        return statements
    bare = _SAYS_WRONG.search(words) and not _OF_SOMEBODY.search(words)
    if there and not bare:
        first = (stated_there or there)[0]
        flagged = replace(first, flags=(*first.flags, MAY_AMEND), value={**first.value, "quote": words})
        return [flagged if one is first else one for one in statements]
    flags = (SUSPECTED, AMENDS)
    note = Finding("note", None, {"value": words}, words, "correction", "repair", "fact", 0, "correction", flags=flags)
    return [
        to_observation(note, message, (start, end), words),
        *(one for one in statements if one not in there),
    ]


def _apply_retractions(
    message: MessageText,
    statements: list[Observation],
    retracted: Sequence[retractions.Retraction],
    explain: list[ReadingNote],
) -> list[Observation]:
    """The findings without those that the message retracts, and its retractions of other statements as findings."""
    if not retracted:
        return statements
    gone = [span for each in retracted for span in ((each.start, each.end), each.taken) if span]
    remaining = [
        one
        for one in statements
        if one.retracts or not any(_overlaps(one.span, span) for span in gone) or _replaces(one)
    ]
    explain.extend(ReadingNote((each.start, each.end), "kept", "retraction", message.ordinal) for each in retracted)
    return [*remaining, *(observe_retraction(message, each) for each in retracted if each.thing or each.takes_before)]


def _overlaps(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _replaces(one: Observation) -> bool:
    """Whether the observation says what is true instead: `scratch that, it's navy`."""
    return one.assertion == "correction"


def observe_retraction(message: MessageText, each: retractions.Retraction) -> Observation:
    words = message.text[each.start : each.end].strip()
    kind: MemoryType = "event" if each.thing else "note"
    finding = Finding(kind, None, {"value": each.thing or each.why}, words, retractions.DETECTOR, each.why, "fact", 0)
    finding = replace(finding, assertion="correction", retracts=True, old_value=each.thing)
    flags = (retractions.PLAN,) if each.thing else ()
    return to_observation(replace(finding, flags=flags), message, (each.start, each.end), words if each.thing else "")


def _blank_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with these spans blanked."""
    pieces: list[str] = []
    at = 0
    for start, end in sorted(spans):
        pieces += text[at:start], " " * (end - max(start, at))
        at = max(at, end)
    return "".join(pieces) + text[at:]


def find_barred(
    clauses: tuple[Clause, ...], text: str, message: MessageText, refused: list[Refusal], explain: list[ReadingNote]
) -> set[int]:
    """The numbers of the sentences that try to steer the agent; each is added to `refused`."""
    barred: set[int] = set()
    for number, start, end, signs in manipulation.list_sentences(clauses, text):
        rule = manipulation.find_manipulation(text[start:end], signs)
        if rule:
            barred.add(number)
            refused.append(Refusal("manipulation", rule, (start, end), message.ordinal))
            explain.append(ReadingNote((start, end), "dropped", "manipulation", message.ordinal))
    return barred


def observe_remembered(message: MessageText, command: slash.RememberCommand, today: date) -> list[Observation]:
    """What the user asks to remember, as one statement with the type and key of its words, or as a note."""
    benefits = manipulation.serves_itself(command.text, directed=True)
    inner = replace(message, text=command.text, name=None)
    stated_in = extract_statements(inner, split(command.text), today, [], directed=True)
    first = next((one for one in stated_in if one.key), None)
    assertion: Assertion = "declared" if benefits else "directive"
    if first and first.assertion == "correction" and not benefits:
        assertion = "correction"
    note = Finding(
        first.kind if first else "note",
        first.key if first else None,
        {**(first.value if first else {"value": command.text})},
        command.text,
        "remember",
        command.pattern,
        "opinion" if benefits else first.epistemic if first else "fact",
        first.polarity if first else 0,
        assertion,
        old_value=first.old_value if first else None,
        flags=("self_benefit",) if benefits else (),
        event_date=first.event_date if first else None,
        valid_until=first.valid_until if first else None,
    )
    return [to_observation(add_key(note, command.text), message, (command.start, command.end), command.text)]


def observe_forgotten(message: MessageText, asked: Sequence[tuple[int, int]]) -> list[Observation]:
    """The request to forget what the message names; nothing if the message tries to steer the agent."""
    span = (asked[0][0], asked[-1][1])
    said = message.text[slice(*span)].strip()
    if manipulation.find_manipulation(said):
        return []
    note = Finding("note", None, {"value": said}, said, "correction", "forget", "fact", 0, "correction", True)
    return [to_observation(replace(note, flags=(FORGETS,)), message, span, message.text)]


TOO_LONG = "too long"
"""The reason for text beyond the limit, which is not read."""


def cut_to_stretches(turn: TurnText, policy: ObservePolicy) -> tuple[TurnText, list[ReadingNote]]:
    """The turn cut to what the policy lets be read, and notes of what is left out; the user's messages come first."""
    room = policy.max_turn_chars
    lengths: dict[int, int] = {}
    for message in sorted(turn.messages, key=lambda each: each.role != "user"):
        lengths[message.ordinal] = min(len(message.text), policy.max_message_chars, room)
        room -= lengths[message.ordinal]
    left = [
        ReadingNote((lengths[each.ordinal], len(each.text)), "dropped", TOO_LONG, each.ordinal)
        for each in turn.messages
        if each.role == "user" and len(each.text) > lengths[each.ordinal]
    ]
    return replace(turn, messages=tuple(_cut_message(each, lengths[each.ordinal]) for each in turn.messages)), left


def _cut_message(message: MessageText, chars: int) -> MessageText:
    return message if len(message.text) <= chars else replace(message, text=message.text[:chars])


ANSWER_END = 80
"""Only so many characters at the end of the answer matter: the message replies to these."""
READ = 160
LEAST_SHARED = 2
"""A longer gram that both texts have counts as shared."""
LEAST_SHARE = 0.4
"""With a lower likelihood the signal is neutral."""
LEAST_ALONE = 0.55
"""The same if the answer is not known."""


def list_feedback_signs(before: str, text: str) -> tuple[list[str], list[str]]:
    """The features of the end of an answer, and those of the message after it."""
    asks = "=asks" if before.rstrip().endswith(("?", "？")) else "=tells"
    answer, said = grams(before[-ANSWER_END:]), grams(text[:READ])
    shared = len({gram for gram in said if len(gram) > LEAST_SHARED}.intersection(answer))
    return [*answer, asks], [*said, f"~{min(len(text) // 8, 12)}", f"&{min(shared, 6)}"]


def find_feedback(message: MessageText, before: str | None) -> Feedback:
    """The feedback that the message gives; `before` is None if the answer is not known, and empty if there was none."""
    neutral = Feedback("neutral", "", (0, 0), message.ordinal)
    if before == "" or not message.text.strip():
        return neutral
    model = load("feedback")
    answer, shown_signs = list_feedback_signs(before or "", message.text)
    rows = [model.find_rows(row) for row in ((answer, shown_signs) if before else (shown_signs,))]
    shares = dict(zip(model.classes, model.shares(rows)[-1].tolist(), strict=True))
    best = max(shares, key=shares.__getitem__)
    if best == "neutral" or shares[best] < (LEAST_SHARE if before else LEAST_ALONE):
        return neutral
    words = " ".join(model.reasons(shown_signs, best))
    return Feedback(cast(FeedbackSignal, best), words, (0, min(len(message.text), READ)), message.ordinal)
