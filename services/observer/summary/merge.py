"""Lines of a summary: a repeated one is renewed, an unmentioned one stays, a withdrawn one goes."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace

from schemas.memory_types import MEMORY_TYPES
from services.observer.summary.model import Section, SummaryFact, SummaryItem, SummaryRef
from services.observer.summary.questions import speaks_of
from shared.language.normalise import fold, normalise
from shared.language.patterns import to_pattern
from shared.language.segment import query_terms
from shared.resolution.summary_lines import restates_old_value

Items = dict[str, SummaryItem]

_OF_USER: frozenset[Section] = frozenset({"profile", "preferences", "constraints"})
_LEAST_TERMS = 2
_REFERENCE_KEYS = ("entity:url:", "entity:repo:", "entity:file:")
_TICKET = to_pattern(r"\b[A-Z][A-Z0-9]{1,9}-\d+\b")
_URI = to_pattern(r"[a-z][a-z0-9+.-]*://[^\s，。；、）)>\"'”]+", re.IGNORECASE)


def identity(section: Section, name: str) -> str:
    """The same id for the same thing, whatever its case and spacing; it reveals nothing of the text."""
    return f"{section}:{hashlib.sha256(fold(normalise(name)).encode()).hexdigest()[:16]}"


def apply_fact(items: Items, fact: SummaryFact) -> None:
    """Applies the fact to the items; a fact that is older than its item changes nothing."""
    section = _section(fact)
    if fact.old_value:
        _end_old_value(items, fact, fact.old_value)
    if section is None or (section in _OF_USER and not fact.retracts and not _states_something(fact)):
        return
    if fact.supersedes_key:
        items.pop(identity(section, fact.supersedes_key), None)
    if section == "references":
        apply_reference(items, SummaryRef(_first_uri(fact.text), None), fact.turn_seq)
        return
    item = find_known(items, section, fact)
    if fact.retracts:
        if item:
            items.pop(item.id)
    elif item is None:
        _add(items, section, fact)
    elif item.seq <= fact.turn_seq:
        items[item.id] = renew_item(item, fact)


def apply_reference(items: Items, ref: SummaryRef, seq: int) -> None:
    """Adds or renews the reference; it has one line, with its last title."""
    key = identity("references", ref.uri)
    known = items.get(key)
    if known and not ref.title:
        items[key] = replace(known, seq=max(seq, known.seq))
        return
    text = f"{ref.title} — {ref.uri}" if ref.title else ref.uri
    items[key] = SummaryItem("references", key, text, seq)


def _states_something(fact: SummaryFact) -> bool:
    """Whether the text states something without its context."""
    return fact.key is not None or len(query_terms(fact.text)) >= _LEAST_TERMS


def _end_old_value(items: Items, fact: SummaryFact, old: str) -> None:
    """Removes earlier lines that contain the replaced value of the same thing."""
    for item in [each for each in items.values() if each.seq < fact.turn_seq]:
        if restates_old_value(item.text, old, fact.text):
            items.pop(item.id)


def close_questions(items: Items, sentences: Iterable[str], seq: int) -> None:
    """Removes earlier questions that these sentences settle."""
    for sentence in sentences:
        for item in [each for each in items.values() if each.section == "questions" and each.seq < seq]:
            if speaks_of(sentence, item.text):
                items.pop(item.id)


def _section(fact: SummaryFact) -> Section | None:
    if fact.kind == "entity" and fact.key and fact.key.startswith(_REFERENCE_KEYS):
        return "references" if _first_uri(fact.text) else None
    return MEMORY_TYPES[fact.kind].section


def _first_uri(text: str) -> str:
    match = _URI.search(text)
    return match.group().rstrip(".,;:!?") if match else ""


def _add(items: Items, section: Section, fact: SummaryFact) -> None:
    key = identity(section, fact.key or fact.text)
    if section == "tasks":
        items[key] = SummaryItem(section, key, fact.text, fact.turn_seq, fact.state or "todo", _tickets(fact))
    else:
        items[key] = SummaryItem(section, key, fact.text, fact.turn_seq)


def renew_item(item: SummaryItem, fact: SummaryFact) -> SummaryItem:
    """The item after the fact: a task that changes its state keeps its text; anything else takes the latest."""
    if item.section != "tasks":
        return replace(item, text=fact.text, seq=fact.turn_seq)
    text = fact.text if fact.state in (None, "todo") else item.text
    tickets = tuple(dict.fromkeys(item.tickets + _tickets(fact)))
    return replace(item, text=text, seq=fact.turn_seq, state=fact.state or item.state, tickets=tickets)


def find_known(items: Items, section: Section, fact: SummaryFact) -> SummaryItem | None:
    """The item about the same thing as the fact."""
    for name in (fact.key, fact.text):
        if name and (item := items.get(identity(section, name))):
            return item
    same = [item for item in items.values() if item.section == section]
    text = fold(normalise(fact.text))
    for item in same:
        other = fold(normalise(item.text))
        if other == text or (item.seq == fact.turn_seq and (other in text or text in other)):
            return item
    return _known_task(same, fact) if section == "tasks" else None


def _known_task(tasks: list[SummaryItem], fact: SummaryFact) -> SummaryItem | None:
    """The task whose state changes: other words often name it, by its ticket or by most of its words."""
    if fact.state in (None, "todo"):
        return None
    tickets = set(_tickets(fact))
    by_ticket = (task for task in tasks if tickets & set(task.tickets))
    by_words = (task for task in tasks if task.state != "done" and speaks_of(fact.text, task.text))
    return next(by_ticket, None) or next(by_words, None)


def _tickets(fact: SummaryFact) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_TICKET.findall(f"{fact.key or ''} {fact.text}".upper())))
