"""Corrections: what the user takes back and what replaces it (seed 004 section 2.3.0.1-A, X33)."""

import re
from collections.abc import Sequence
from datetime import date

from shared.reading import corrections_words as words
from shared.reading import scheduled, signals
from shared.reading.clauses import Clause
from shared.reading.corrections_build import build, may_promote, of_thing, promoted, with_next
from shared.reading.corrections_en import contrast_en, english
from shared.reading.corrections_slips import bare_slip, bare_value, meant, old_key_of, slips, used_to
from shared.reading.corrections_zh import chinese, contrast_zh
from shared.reading.guards import Stance
from shared.reading.keys import tidy
from shared.reading.model import Found
from shared.reading.slots import DENIES, denied_allergy
from shared.text.patterns import to_pattern


def find(
    clauses: Sequence[Clause], stances: Sequence[Stance], plain: list[list[Found]], today: date
) -> dict[int, list[Found]]:
    """Corrections by the clause that states them; each replaces what the plain detectors found in that clause."""
    found: dict[int, list[Found]] = {}
    pending: Found | None = None
    armed = opened = -9
    before: tuple[int, str, str] | None = None
    for index, (clause, stance) in enumerate(zip(clauses, stances, strict=True)):
        if stance.asked or stance.supposed or stance.ironic or (stance.reported and stance.subject != "self"):
            continue
        following = (
            clauses[index + 1] if index + 1 < len(clauses) and clauses[index + 1].sentence == clause.sentence else None
        )
        waiting = index - armed <= 2 or index - opened == 1 or before is not None
        if (
            not waiting
            and not clause.mask & (scheduled.MOVES | DENIES)
            and not (signals.correction(clause) or (following and signals.correction(following)))
        ):
            continue
        if words.OPENER.fullmatch(clause.text):
            opened = index
            continue
        if slips(clause):
            armed = index
            corrected = _named(clause, following, stance, plain[index], today) or meant(clause, today)
            if corrected:
                found[index] = corrected
            elif plain[index] and not bare_slip(clause):
                found[index] = [promoted(one, "slip") for one in plain[index] if may_promote(one)]
            if not found.get(index):
                found.pop(index, None)
            continue
        if (old := used_to(clause)) is not None:
            before = (index, *old)
            continue
        if (
            before
            and index - before[0] <= 2
            and plain[index]
            and (words.BACK.match(clause.text) or "现在" in clause.text or re.search(r"\bnow\b", clause.text))
        ):
            changed = [
                promoted(one, "used_to", before[2], old_key_of(before[1], before[2]))
                for one in plain[index]
                if may_promote(one)
            ]
            if changed:
                found[index] = changed
                before = None
                continue
        shifted, joined = scheduled.moved(clauses, index, today)
        if shifted:
            found[index] = [with_next(shifted[0]) if joined else shifted[0]]
            continue
        direct = _named(clause, following, stance, plain[index], today)
        if direct and direct[0].kind == "event" and direct[0].key is None:
            thing = scheduled.thing_before("", clauses, index)
            direct = [of_thing(direct[0], thing, today)] if thing else direct
        if direct:
            found[index] = direct
            pending = direct[0]
            if following and index + 1 not in found and direct[0].retracts:
                armed = index
            continue
        if words.CHANGED.search(clause.text) and stance.subject == "self":
            armed = index
        if index - armed <= 2 and armed >= 0 and index != armed:
            if pending and pending.retracts and pending.key == "profile:user:employer":
                now = re.search(r"现在(?:在|去了?)(?P<new>[\u4e00-\u9fffA-Za-z]{2,12})$", clause.text)
                plain[index] = plain[index] or (
                    [
                        build(
                            "profile",
                            pending.key,
                            {"slot": "employer", "value": now["new"]},
                            f"在{now['new']}工作",
                            "现在",
                        )
                    ]
                    if now
                    else []
                )
            changed = [
                promoted(
                    one,
                    "slip",
                    pending.old_value if pending and pending.retracts else _set_against(following),
                    pending.key if pending and pending.retracts else None,
                )
                for one in plain[index]
                if may_promote(one)
            ]
            if not changed and not (pending and pending.retracts):
                changed = bare_value(clause, today)
            if changed:
                found[index] = changed
                armed = -9
                continue
        if index - opened == 1 and stance.subject == "self":
            changed = [promoted(one, "actually") for one in plain[index] if one.kind == "profile"]
            if changed:
                found[index] = changed
    return found


_AGAINST = to_pattern(r"(?:而|并)?不是(?P<zh>[^，吗呢]{1,14})$|(?:and )?not (?P<en>[\w' -]{1,40})$", re.IGNORECASE)


def _set_against(following: Clause | None) -> str | None:
    """What the next clause names as wrong: `..., not coffee`, `……，不是咖啡`."""
    match = _AGAINST.match(following.text) if following else None
    return tidy(match["zh"] or match["en"]) if match else None


def _named(clause: Clause, following: Clause | None, stance: Stance, plain: list[Found], today: date) -> list[Found]:
    """A correction by a pattern of its own."""
    if stance.subject in ("self", "none") and (denied := denied_allergy(clause.text)):
        return [denied]
    if stance.subject == "other" and following and re.match(r"(?:no,? )?it(?:'s| is) (?!not)", clause.text, re.I):
        return contrast_en(clause.text, following, stance, today, clause)
    if renamed := re.search(
        r"把我的?(?:称呼|名字|昵称)(?:改成|改为|换成)(?P<new>[\u4e00-\u9fffA-Za-z]{1,10})(?:吧|了)?$", clause.text
    ):
        value: dict[str, object] = {"slot": "call_me", "value": renamed["new"]}
        return [build("profile", "profile:user:call_me", value, f"希望被称呼为{renamed['new']}", "改成")]
    if stance.subject == "other" or stance.subject == "agent":
        return (
            contrast_zh(clause, following, stance, today)
            if clause.language == "zh" and stance.subject == "other" and not re.search(r"^(?:我|他|她|它)", clause.text)
            else []
        )
    if clause.language == "en":
        return english(clause, following, stance, plain, today)
    return chinese(clause, following, stance, plain, today) or (
        english(clause, None, stance, plain, today)
        if re.search(r"\b(?:switch|anymore|instead|no longer)", clause.text)
        else []
    )
