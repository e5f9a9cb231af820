"""Keys of statements that were kept: of which one holds at a time, or which name what the body does not bear."""

# ruff: noqa: E501 - one family of words per line

import re
from dataclasses import replace
from datetime import UTC, date, datetime, time

from shared.reading import dates
from shared.reading.gates import gate
from shared.reading.keys import preference_key, slot_of, slug, target_of
from shared.reading.model import Found
from shared.reading.relatives import tells_of_relative
from shared.relate import ALSO
from shared.text.patterns import to_pattern

_ALLERGY = to_pattern(
    r"\ballerg(?:ic|y) to (?P<en>[\w' -]+?(?:(?:,| and| or|, and) [\w' -]+?)*)(?=$|[.;!?]|,? (?:so|but|which|since|because|please|when|and (?:i|my)\b))"
    r"|对(?P<zh>[^，。,.过我]{1,16})(?:都|也|很|有点|严重)?过敏",
    re.I,
)
_JOINT = to_pattern(r",\s*(?:and |or )?|\s+(?:and|or)\s+|[、和跟与及]")
_BUDGET = to_pattern(
    r"\bbudget\b.{0,30}?\d|\d.{0,12}\bbudget\b|预算.{0,8}?[\d一二两三四五六七八九十百千万]|(?:不超过|不要超过|别超过)\s*[\d一二两三四五六七八九十百千万]+\s*(?:元|块|万)",
    re.I,
)
_BUDGET_OF = to_pattern(
    r"\bbudget (?:for|on) (?:the |my |our |a |an )?([a-z]+(?: [a-z]+)?)\b|([^\W\d_a-zA-Z我你他她它咱们这那总了是的边次个]{2,4})(?:的|上的)?预算",
    re.I,
)
"""What a budget is for: two budgets stand side by side."""
_NOT_ALLERGIC = to_pattern(r"\b(?:not|never|isn'?t|no longer|nobody)\b|n't\b|不(?:是|再|对)|没有|没什么", re.I)
_DENIED = to_pattern(
    r"\b(?:not|no longer|isn'?t|never|n't)\s+(?:actually |really |even )?(?:allergic to|have an? allergy to)\s+([\w' -]+?)(?=$|[.,;!?]| after all| any ?more)"
    r"|\b(?:don'?t|do not|no longer) have an? ([\w' -]+?) allergy\b|\bgrew out of (?:my )?([\w' -]+?) allergy\b"
    r"|不再?对([^，。,.我]{1,12}?)过敏|对([^，。,.我]{1,12}?)(?:已经|其实|现在|早就|根本|并|也|都)*(?:不|没有?)(?:再|会)?过敏",
    re.I,
)
DENIES = gate(_DENIED)
_TICKET = to_pattern(r"(?-i:\b[A-Z]{2,8}-\d{1,7}\b)")
_DONE = to_pattern(
    r"\b(?:done|finished|closed?|merged|completed|shipped|resolved|fixed)\b|完成|做完|搞定|好了|关了|合并了|修好", re.I
)
_CANCELLED = to_pattern(r"\b(?:cancel\w*|scrap\w*|no longer needed|drop(?:ped)?)\b|取消|不做了|不用了|作废", re.I)
LONGEST = 200
"""Characters of a sentence in which a key is looked for."""
_KEYED = frozenset({"preference", "constraint", "profile", "note", "pattern"})


def with_slot(found: Found, text: str) -> Found:
    """The finding under the key that its words tell, where it has none yet."""
    text = text[:LONGEST]
    if found.retracts:
        return found
    if found.key is not None:
        also = {key: thing for key, thing in _allergies(text).items() if key != found.key}
        return replace(found, value={**found.value, ALSO: {**found.value.get(ALSO, {}), **also}}) if also else found
    if found.kind == "task" and (ticket := _TICKET.search(text)):
        status = "cancelled" if _CANCELLED.search(text) else "done" if _DONE.search(text) else "todo"
        return replace(found, key=f"task:tool:{slug(ticket[0])}", value={**found.value, "status": status})
    if found.kind not in _KEYED:
        return found
    if keys := _allergies(text):
        return _under(replace(found, kind="constraint", epistemic="fact", polarity=-1), keys)
    if found.kind == "constraint" and _BUDGET.search(text):
        thing = next((part for match in _BUDGET_OF.finditer(text) for part in match.groups() if part), "")
        return _under(found, {f"constraint:budget:{slug(target_of(thing), 32)}" if thing else "constraint:budget": ""})
    if found.kind in ("preference", "constraint") and (slot := slot_of(text)) and slot[0] == "writing":
        key, scope, name = preference_key(text)
        value = {**found.value, "scope": scope, "slot": name}
        return replace(found, kind="preference", key=key, value=value, epistemic="preference")
    return found


def tells_of_ticket(text: str) -> bool:
    """Whether the text says that a ticket which it names is done or not to be done: `HB-1 is done`."""
    return _TICKET.search(text) is not None and (_DONE.search(text) or _CANCELLED.search(text)) is not None


def _allergies(text: str) -> dict[str, str]:
    """What the text says that its speaker does not bear, by key; nothing of a relative's."""
    allergy = _ALLERGY.search(text)
    if allergy is None or _NOT_ALLERGIC.search(text[: allergy.end()]) or tells_of_relative(text):
        return {}
    things = [thing for part in _JOINT.split(allergy["en"] or allergy["zh"]) if (thing := target_of(part))]
    return {f"constraint:allergy:{slug(thing, 40)}": thing for thing in things}


def denied_allergy(text: str) -> Found | None:
    """What the text says that its speaker bears after all, as taken back; None where it says no such thing."""
    match = _DENIED.search(text)
    if match is None:
        return None
    thing = target_of(next(part for part in match.groups() if part))
    key = f"constraint:allergy:{slug(thing, 40)}"
    value = {"value": thing}
    return Found("constraint", key, value, text, "correction", "denied", "fact", 0, "correction", True, thing)


def with_due(found: Found, text: str, today: date) -> Found:
    """A thing to do with when it is due, no finer than it was said, and valid until all of that is over."""
    said = dates.coming(text, today) if found.kind == "task" else None
    if said is None:
        return found
    until = None if said.last is None or said.is_over(today) else datetime.combine(said.last, time(23, 59, 59), UTC)
    value = {"status": "todo", **found.value, "due": str(said.day or said.iso), "due_said": said.text}
    value |= dates.without_day(said)
    return replace(found, value=value, event_date=said.day, valid_until=until if value["status"] == "todo" else None)


def _under(found: Found, keys: dict[str, str]) -> Found:
    first, *others = keys
    value = dict(found.value)
    if keys[first]:
        value["value"] = keys[first]
    if others:
        value[ALSO] = {**value.get(ALSO, {}), **{key: keys[key] for key in others}}
    return replace(found, key=first, value=value)
