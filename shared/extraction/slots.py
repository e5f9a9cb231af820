"""Finds the key and value of statements: slots of the speaker and the household, tastes, allergies and budgets."""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, date, datetime, time

from schemas.memory_types import types_with
from shared.domain.statements import ALSO
from shared.extraction import dates, scheduled, slots_words
from shared.extraction import slots_words as words
from shared.extraction.clauses import Clause
from shared.extraction.gates import gate
from shared.extraction.guards import Stance
from shared.extraction.keys import find_scope, find_slot, fold, preference_key, slug, tidy, to_target
from shared.extraction.model import Finding, Polarity
from shared.extraction.relatives import tells_of_relative
from shared.language import names
from shared.language.patterns import read_group, to_pattern
from shared.language.segment import tag_words as words_of

_ALLERGY = to_pattern(
    r"\ballerg(?:ic|y) to (?P<en>[\w' -]+?(?:(?:,| and| or|, and) [\w' -]+?)*)(?=$|[.;!?]|,? (?:btw|fyi|tho|though|too|by the way|like|so|but|which|since|because|please|when|and (?:i|my)\b))"
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
"""The purpose of a budget: budgets with two purposes are two memories."""
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
"""A key is searched in so many characters of a sentence."""
_KEYED = types_with("keyed_by_slot")
_FACTS = tuple((who, slot, pattern, gate(pattern)) for who, slot, pattern in words.FACTS)
_OF_WHOM = {
    "self": frozenset({"self", "name", "place", "home", "kin"}),
    "group": frozenset({"place", "home"}),
    "other": frozenset({"kin", "home"}),
    "none": frozenset({"name", "kin"}),
}
"""The forms that may match, by the subject of the clause."""
_LEAD_ZH = to_pattern(r"^(?:现在|目前|今年|去年|最近|如今|上个?月|上周|平时|那|嗯|好的?|你好|大家好|其实|不过|而且|并且|另外|还有|对了|顺便说?一?下?|因为|所以|但是?|记住|以前|之前|后来|首先|说错了|是的?|已经|虽然|毕竟|由于|刚刚?|(?:自我)?介绍一下|更正(?:一下)?)+[，,\s]*(?=[我咱本])")  # fmt: skip
_INSTEAD = to_pattern(r"\s+(?:more |better )?(?:over|rather than|instead of|than)\s+", re.I)
_ASIDE = to_pattern(r"\s[-–—]\s|[（(]|\s(?:because|since|so that|but|which is why)\s|因为|所以|，")
_HAN = to_pattern(r"[\u3400-\u9fff]")
_AND = to_pattern(r"(?:,|,? and)\s+(?=(?:an?|one|two|three|four|five|six|\d+) )", re.I)
MOST_SAID = 100
"""The target of a taste has at most so many characters."""


def find_facts(clause: Clause, stance: Stance) -> list[Finding]:
    """The slots of the speaker or of somebody in the household that the clause fills."""
    if stance.asked or stance.reported or (stance.subject != "agent" and (stance.supposed or stance.ironic)):
        return []
    text = clause.text if clause.language == "en" else _LEAD_ZH.sub("", clause.text)
    if stance.subject == "agent":
        return _fill_slots("call_me", ("name",), text, clause)
    if clause.language != "en" and stance.subject == "self" and not stance.explicit and "我" not in text:
        return _fill_slots("", _OF_WHOM["self"], "我" + text, None)
    return _fill_slots("", _OF_WHOM[stance.subject], text, clause)


def _fill_slots(only: str, whose: Collection[str], text: str, clause: Clause | None) -> list[Finding]:
    """The findings of the forms for these subjects, each slot once; without a clause all forms are tried."""
    findings: dict[str, Finding] = {}
    for who, slot, pattern, bit in _FACTS:
        if who not in whose or only not in ("", slot) or (clause is not None and not clause.mask & bit):
            continue
        match = pattern.search(text)
        if match is None or not (value := _read_value(slot, match)):
            continue
        one = _make_slot(_name_slot(slot, match, value), value, text)
        findings.setdefault(str(one.key), one)
        if who == "home" and (more := _AND.match(text, match.end())):
            others = _fill_slots("", ("home",), f"I have {text[more.end() :]}", None)
            findings |= {str(other.key): other for other in others if other.key not in findings}
    if findings or "self" not in whose:
        return list(findings.values())
    if (match := words.SELF_NAMED.search(text)) and names.is_nothing_else(match["v"]):
        return [_make_slot("name", match["v"], text)]
    match = words.NATIVE.search(text)
    return [_make_slot("hometown", match["v"], text)] if match and _is_place(match["v"]) else []


def _make_slot(slot: str, value: str, text: str) -> Finding:
    return Finding("profile", f"profile:user:{slot}", {"slot": slot, "value": value}, text, "slots", slot)


def _name_slot(slot: str, match: re.Match[str], value: str) -> str:
    if slot == "employer" and _is_place(value) and not words.EMPLOYER_ZH.search(value):
        return "work_city"
    if slot.endswith(":"):
        return slot + slug(value)
    return slot.replace("%", slug(fold(read_group(match, "who"))))


def _read_value(slot: str, match: re.Match[str]) -> str:
    """The value that the form captures, without what follows it; empty if it is no value of this slot."""
    value = read_group(match, "v")
    if slot in ("city", "hometown", "employer", "school", "%:place", "occupation", "major"):
        value = words.CLIP.split(value, maxsplit=1)[0]
    value = tidy(value)
    if slot in ("name", "call_me", "%:name"):
        return value if names.is_name(value) or not words.NOT_NAME.search(value) else ""
    if slot in ("city", "hometown"):
        return "" if words.VAGUE_PLACE.search(value) else value
    if slot == "employer" and words.SORT_OF_EMPLOYER.search(value):
        return ""
    if slot == "age" and value.isdigit() and not 4 < int(value) < 120:
        return ""
    return value


def _is_place(text: str) -> bool:
    return not text.isascii() and (
        any(tag.startswith("ns") for _, tag in words_of(text)) or bool(re.search(r"[市省县区镇村国州]$", text))
    )


_FORMS: tuple[tuple[bool, Polarity, re.Pattern[str]], ...] = (
    (True, 1, words.OVER_ZH),
    (True, 1, words.TASTE_ZH),
    (True, 1, words.OBJECT_FIRST_ZH),
    (False, 1, words.TASTE_EN),
    (True, -1, words.ABSTAIN_ZH),
    (False, -1, words.ABSTAIN_EN),
    (True, 1, words.HABIT_ZH),
    (False, 1, words.HABIT_EN),
    (True, 1, words.INTEREST_ZH),
)
"""Whether a form is Chinese, its polarity if nothing denies it, and the form."""
_TASTES = tuple((zh, polarity, pattern, gate(pattern)) for zh, polarity, pattern in _FORMS)
_NAMED_TASTES = gate(words.FAVOURITE, words.HOBBY, words.DIET, words.TOOL)
_UNLIKE = gate(words.NOT_A_TASTE)


def find_tastes(clause: Clause, stance: Stance) -> list[Finding]:
    """The tastes of the speaker that the clause states, with their targets."""
    if stance.subject in ("other", "agent", "group") or not stance.stands or stance.momentary or stance.trial:
        return []
    return [replace(one, text=clause.text) for one in _find_stated_tastes(clause, stance)]


def _find_stated_tastes(clause: Clause, stance: Stance) -> list[Finding]:
    """The same by the first form that matches; none if the clause retracts, doubts or compares."""
    text = clause.text
    if clause.mask & _UNLIKE and words.NOT_A_TASTE.search(text):
        return []
    if clause.mask & _NAMED_TASTES and (named := _find_named_taste(text)):
        return named
    for zh, polarity, pattern, bit in _TASTES:
        if not clause.mask & bit or (zh and clause.language == "en"):
            continue
        match = pattern.search(text)
        ordered = pattern is words.HABIT_EN and stance.subject != "self"
        if match is None or ordered or (not zh and match.start() and not stance.explicit):
            continue
        against = bool(read_group(match, "neg") or read_group(match, "how").lower() in ("never", "rarely"))
        hated = bool(read_group(match, "hate"))
        if hated and against:
            return []
        stands: Polarity = -1 if against or hated or polarity < 0 else 1
        return _make_tastes(read_group(match, "v"), stands, read_group(match, "over"))
    return []


def _find_named_taste(text: str) -> list[Finding]:
    """A taste of a named kind: a favourite thing, a hobby, a diet, a tool in use."""
    if match := words.FAVOURITE.search(text):
        what, target = tidy(read_group(match, "what")), tidy(_ASIDE.split(read_group(match, "v"), maxsplit=1)[0])
        return [_make_named_taste(find_scope(what), f"favourite-{slug(to_target(what))}", target)]
    if match := words.HOBBY.search(text):
        return _make_tastes(read_group(match, "v"), 1, "")
    if (match := words.DIET.search(text)) and " not " not in text:
        return [_make_named_taste("food", "diet", read_group(match, "v").lower())]
    if match := words.TOOL.search(text):
        what = fold(read_group(match, "what"))
        return [_make_named_taste("tools", slug(words.TOOLS_ZH.get(what, what)), tidy(read_group(match, "v")))]
    return []


def _make_named_taste(scope: str, slot: str, target: str) -> Finding:
    value = {"scope": scope, "slot": slot, "target": target, "value": target}
    return Finding("preference", f"pref:{scope}:{slot}", value, target, "slots", slot, "preference", 1)


def _make_tastes(target: str, polarity: Polarity, over: str) -> list[Finding]:
    """The tastes for or against the target, one for each thing of a short list."""
    target = tidy(_ASIDE.split(target, maxsplit=1)[0])
    if not over and len(halves := _INSTEAD.split(target, maxsplit=1)) == 2:
        target, over = tidy(halves[0]), halves[1]
    if not target or words.VAGUE.match(target) or len(target) > MOST_SAID:
        return []
    parts = [part for raw in words.LIST.split(target) if (part := tidy(raw))]
    short = all(len(part) <= 8 if _HAN.search(part) else len(part.split()) <= 3 for part in parts)
    if words.SET_PHRASES.search(target) or find_slot(target) or not 1 < len(parts) <= 6 or not short:
        parts = [target]
    return [
        _make_taste(part, polarity, tidy(over)) for part in parts if to_target(part) and not words.VAGUE.match(part)
    ]


def _make_taste(target: str, polarity: Polarity, over: str) -> Finding:
    """A taste under the key of its target; a liking that fills a slot has the key of the slot."""
    canonical = to_target(target)
    key, scope, slot = preference_key(target)
    if slot and polarity < 0:
        key, slot = f"pref:{scope}:{slug(canonical)}", None
    value: dict[str, object] = {"scope": scope, "target": canonical, "value": target}
    value |= {name: said for name, said in (("slot", slot), ("over", over)) if said}
    return Finding("preference", key, value, target, "slots", "taste", "preference", polarity)


def add_key(finding: Finding, text: str) -> Finding:
    """The finding under the key that its words give, if it has none yet."""
    text = text[:LONGEST]
    if finding.retracts:
        return finding
    if finding.key is not None:
        also = {key: thing for key, thing in _find_allergies(text).items() if key != finding.key}
        return (
            replace(finding, value={**finding.value, ALSO: {**finding.value.get(ALSO, {}), **also}})
            if also
            else finding
        )
    if finding.kind == "task" and (ticket := _TICKET.search(text)):
        status = "cancelled" if _CANCELLED.search(text) else "done" if _DONE.search(text) else "todo"
        return replace(finding, key=f"task:tool:{slug(ticket[0])}", value={**finding.value, "status": status})
    if finding.kind not in _KEYED:
        return finding
    if keys := _find_allergies(text):
        return _put_under_key(replace(finding, kind="constraint", epistemic="fact", polarity=-1), keys)
    if finding.kind == "constraint" and _BUDGET.search(text):
        thing = next((part for match in _BUDGET_OF.finditer(text) for part in match.groups() if part), "")
        return _put_under_key(
            finding, {f"constraint:budget:{slug(to_target(thing), 32)}" if thing else "constraint:budget": ""}
        )
    if finding.kind in ("preference", "constraint") and (slot := find_slot(text)) and slot[0] == "writing":
        key, scope, name = preference_key(text)
        value = {**finding.value, "scope": scope, "slot": name}
        return replace(finding, kind="preference", key=key, value=value, epistemic="preference")
    return finding


def tells_of_ticket(text: str) -> bool:
    """Whether the text says that a named ticket is done or will not be done: `HB-1 is done`."""
    return _TICKET.search(text) is not None and (_DONE.search(text) or _CANCELLED.search(text)) is not None


def _find_allergies(text: str) -> dict[str, str]:
    """The allergies of the speaker that the text states, by key; none of a relative."""
    allergy = _ALLERGY.search(text)
    if allergy is None or _NOT_ALLERGIC.search(text[: allergy.end()]) or tells_of_relative(text):
        return {}
    things = [thing for part in _JOINT.split(allergy["en"] or allergy["zh"]) if (thing := to_target(part))]
    return {f"constraint:allergy:{slug(thing, 40)}": thing for thing in things}


def find_denied_allergy(text: str) -> Finding | None:
    """The retraction of an allergy that the text denies; None if it denies none."""
    match = _DENIED.search(text)
    if match is None:
        return None
    thing = to_target(next(part for part in match.groups() if part))
    key = f"constraint:allergy:{slug(thing, 40)}"
    value = {"value": thing}
    return Finding("constraint", key, value, text, "correction", "denied", "fact", 0, "correction", True, thing)


def with_due(finding: Finding, text: str, today: date) -> Finding:
    """A task with its due date as exactly as it was stated, valid until that time is over."""
    due = dates.find_coming(text, today) if finding.kind == "task" else None
    if due is None:
        return finding
    until = None if due.last is None or due.is_over(today) else datetime.combine(due.last, time(23, 59, 59), UTC)
    value = {"status": "todo", **finding.value, "due": str(due.day or due.iso), "due_said": due.text}
    value |= dates.to_value_date(due)
    return replace(finding, value=value, event_date=due.day, valid_until=until if value["status"] == "todo" else None)


def _put_under_key(finding: Finding, keys: dict[str, str]) -> Finding:
    first, *others = keys
    value = dict(finding.value)
    if keys[first]:
        value["value"] = keys[first]
    if others:
        value[ALSO] = {**value.get(ALSO, {}), **{key: keys[key] for key in others}}
    return replace(finding, key=first, value=value)


def find_plain(clause: Clause, stance: Stance, today: date) -> list[Finding]:
    """The findings in the clause: an appointment, facts about the speaker, or tastes."""
    if appointed := scheduled.find_appointments(clause, stance, today):
        return appointed
    about = stance.subject == "self" or slots_words.may_state_speaker(clause)
    if about and (facts := find_facts(clause, stance)):
        return facts
    return find_tastes(clause, stance) if slots_words.may_state_taste(clause) else []
