"""Corrections said in English: contrasts and switches."""

import re
from dataclasses import replace
from datetime import date

from shared.reading import corrections_words as words
from shared.reading.clauses import Clause
from shared.reading.corrections_build import build, promoted, taste_of, value_of, with_next
from shared.reading.corrections_gone_en import gone, gone_en
from shared.reading.guards import Stance
from shared.reading.keys import tidy
from shared.reading.model import Found
from shared.reading.slots import find_tastes


def english(clause: Clause, following: Clause | None, stance: Stance, plain: list[Found], today: date) -> list[Found]:
    text = re.sub(r"^(?:no|yes|well|oh|hey|hi|sorry|wait|and|but|so)[,.]?\s+(?=\S)", "", clause.text, flags=re.I)
    if (
        following
        and re.match(r"instead of\b", text, re.I)
        and (match := words.INSTEAD_EN.search(f"{text}, {following.text}"))
    ):
        return [
            with_next(
                taste_of(
                    tidy(match["new2"] or match["new"]), tidy(match["old2"] or match["old"]), "instead of", "prefers"
                )
            )
        ]
    if match := words.NOT_ANYMORE_EN.search(text):
        old = tidy(match["old"] or match["old2"])
        return (
            [gone_en(old, "not anymore")]
            if not re.match(
                (
                    r"(?:sure|at all|even|working|that|it|this|now|yet|bad|right|good|questions?|need|worries"
                    r"|problem)\b"
                ),
                old,
                re.I,
            )
            else []
        )
    if found := _switched_en(text, today, clause, stance):
        return found
    if found := gone(text, stance):
        return found
    if (match := words.INSTEAD_EN.search(text)) and (stance.subject in ("self", "group") or match["new2"]):
        verb = match["verb"] or "prefer"
        if re.search(r"\bnow\b|prefer|switched|started|'m|am\b|from now on|these days", text):
            return [
                taste_of(
                    tidy(match["new"] or match["new2"]),
                    tidy(match["old"] or match["old2"]),
                    "instead of",
                    "uses" if verb.startswith("us") else "prefers",
                )
            ]
    if (
        match := re.match(
            r"not (?P<old>[A-Z]\w+), (?P<new>[A-Z]\w+)$", f"{text}, {following.text}" if following else text, re.I
        )
    ) and (words.DAY.match(match["old"]) and words.DAY.match(match["new"])):
        return [with_next(value_of("", match["old"], match["new"], today, clause, "not X but Y"))]
    if found := contrast_en(text, following, stance, today, clause):
        typed = [one for one in plain if one.kind == "constraint"]
        return (
            [with_next(promoted(one, "not X but Y", found[0].old_value)) for one in typed]
            if typed and following
            else found
        )
    if (
        stance.subject in ("self", "none", "group")
        and words.NOW_EN.search(clause.text)
        and not words.NOW_ASIDE_EN.search(clause.text)
    ):
        return [
            promoted(one, "now")
            for one in (plain or find_tastes(clause, replace(stance, momentary=False)))
            if one.kind in ("preference", "profile")
        ]
    if words.ACTUALLY_EN.match(clause.text) and stance.subject == "self":
        return [
            promoted(one, "actually")
            for one in plain
            if one.kind == "profile" or (one.kind == "preference" and one.polarity < 0)
        ]
    return []


def _switched_en(text: str, today: date, clause: Clause, stance: Stance) -> list[Found]:
    match = words.SWITCH_EN.search(text)
    if (
        not match
        or stance.trial
        or re.search(
            (
                r"\b(?:how|should|want to|need to|could|would|tab|branch|directory|file|gears|topics?|channel"
                r"|attention)\b"
            ),
            text,
            re.I,
        )
    ):
        return []
    old = tidy(match["old"] or match["old2"] or match["old3"] or "")
    new = tidy(match["new"] or match["new2"] or match["new3"])
    how = (match["how"] or "switched").lower()
    new = tidy(
        re.sub(
            r"\s+(?:instead|now|recently|last \w+|this \w+|yesterday|today|completely|entirely)$", "", new, flags=re.I
        )
    )
    if words.DAY.match(new):
        topic = re.match(
            (
                r"^(?:my|our|the)\s+(.+?)\s+(?:has|have|is|was|got|been|moved|changed|rescheduled|pushed"
                r"|postponed|shifted|bumped)\b"
            ),
            text,
            re.I,
        ) or re.search(r"(?:moved|rescheduled|pushed|changed)\s+(?:my|our|the)\s+(.+?)\s+(?:from|to)\b", text, re.I)
        return [value_of(topic[1] if topic else "", old, new, today, clause, "switched")]
    if how in ("moved", "pushed", "shifted", "bumped", "postponed", "rescheduled", "renamed", "upgraded"):
        return []
    if re.match(r"(?:the|a|an)\s", text, re.I) and not old:
        return []
    name = re.search(r"my name", text, re.I)
    if name:
        return [
            build(
                "profile",
                "profile:user:name",
                {"slot": "name", "value": new, "old": old},
                f"name is {new}",
                "switched",
                0,
                old or None,
            )
        ]
    found = taste_of(new, old, "switched", "switched to")
    return [found]


def contrast_en(text: str, following: Clause | None, stance: Stance, today: date, clause: Clause) -> list[Found]:
    for candidate in [text] if not following else [text, f"{text}, {following.text}"]:
        if not re.search(r"\bnot\b|n't\b|rather than|instead of", candidate):
            continue
        match = words.NOT_BUT_EN.search(candidate) or words.BUT_NOT_EN.search(candidate)
        if not match or words.NO_CONTRAST_EN.search(candidate) or words.DEICTIC_EN.search(match["topic"] + " "):
            continue
        if re.search(r"instead of|rather than", candidate) and not re.search(r"\bI\s+(?:now|actually)", candidate):
            continue
        topic, old, new = match["topic"].strip(), tidy(match["old"]), tidy(match["new"])
        link = match.groupdict().get("link") or ""
        if (
            len(old.split()) > 5
            or len(new.split()) > 6
            or not new
            or not old
            or re.match(r"(?:to|going|working|sure|because|if|when|just|only|really|what|how)\b", old + " ", re.I)
            or re.match(r"(?:to|because|if|when|just|what|how|that|going|getting|more|too)\b", new, re.I)
        ):
            continue
        if not (words.PERSONAL_EN.search(candidate) or words.DAY.match(new) or not topic):
            continue
        made = value_of(
            f"{topic} {link}".strip()
            if link not in ("is", "are", "'s", "was", "am", "'m", "on", "at", "in", "be")
            else topic,
            old,
            new,
            today,
            clause,
            "not X but Y",
        )
        return [with_next(made) if following and candidate != text else made]
    return []
