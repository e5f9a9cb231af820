"""Slips of the tongue and what was so before: the words that announce a correction, and bare values after them."""

import re
from datetime import date

from shared.reading import corrections_words as words
from shared.reading.clauses import Clause
from shared.reading.corrections_build import taste_of, value_of
from shared.reading.gates import gate
from shared.reading.keys import preference_key, tidy
from shared.reading.model import Found
from shared.text.patterns import to_pattern

_SLIPS = gate(words.SLIP_ZH, words.SLIP_EN)


_PAST = gate(words.USED_TO_ZH, words.USED_TO_EN)


def slips(clause: Clause) -> bool:
    if not clause.mask & _SLIPS:
        return False
    if clause.language == "en":
        return (
            bool(words.SLIP_EN.search(clause.text))
            and not re.match(r"(?:sorry|wait)\s+(?:for|to|about|i\b|a\b|until|what|but)", clause.text, re.I)
            and not re.search(r"\bif I\b|\bhelp me\b|\bplease correct\b", clause.text, re.I)
        )
    return bool(words.SLIP_ZH.search(clause.text)) and not words.SLIP_ASKED_ZH.search(clause.text)


def bare_slip(clause: Clause) -> bool:
    return len(clause.text) <= 5


def old_key_of(verb: str, old: str) -> str | None:
    """The key under which the old value would have been stored, where the verb tells."""
    if re.match(r"住|live", verb):
        return "profile:user:city"
    if re.match(r"work (?:at|for)|在", verb):
        return "profile:user:employer"
    if re.match(r"叫", verb):
        return "profile:user:name"
    if re.match(r"做|是|work as|be", verb):
        return "profile:user:occupation"
    return preference_key(verb + old if re.match(r"[吃喝用穿看玩]", verb) else old)[0]


def used_to(clause: Clause) -> tuple[str, str] | None:
    if not clause.mask & _PAST:
        return None
    match = words.USED_TO_EN.search(clause.text) if clause.language == "en" else words.USED_TO_ZH.search(clause.text)
    if not match:
        return None
    groups = match.groupdict()
    if groups.get("was"):
        return "be", tidy(groups["was"])
    return match["verb"], tidy(match["old"])


_AMENDED = to_pattern(
    r"^(?:更正|纠正|订正|correction)(?:一下)?[:：，, ]+(?:the |my |our )?(?P<topic>[^，,]{1,24}?)\s*"
    r"(?:应该是|应该|改成|改到|是|为|\bis|\bare|should be)\s*(?P<new>[^，]{1,30})$",
    re.I,
)


def meant(clause: Clause, today: date) -> list[Found]:
    if amended := _AMENDED.search(clause.text):
        return [value_of(amended["topic"], "", tidy(amended["new"]), today, clause, "slip")]
    match = words.MEANT_EN.search(clause.text) if clause.language == "en" else words.SHOULD_ZH.search(clause.text)
    if not match:
        return []
    old = tidy(match.groupdict().get("old") or "")
    new = tidy(match["new"])
    if re.match(
        (
            r"(?:me|wrong|not|to|that|fine|okay?|right|true|the way|all|good|你|我|的|错|no|because|"
            r"just|so|too|a (?:good|bad))\b"
        ),
        new,
        re.I,
    ):
        return []
    return [value_of("", old, new, today, clause, "slip")]


def bare_value(clause: Clause, today: date) -> list[Found]:
    """The value after `no, I misspoke`: a bare day or `it is X`."""
    if clause.language == "en":
        return meant(clause, today) if words.MEANT_EN.match(clause.text) and len(clause.text) < 48 else []
    chosen = re.match(
        r"^(?:我)?(?:还是|想|要|决定|改|就|打算|现在)+(?:用|选|喝|吃|买|去|换|穿)(?P<new>.{1,20})$", clause.text
    )
    if chosen and not re.match(r"这|那|你|他|了", chosen["new"]):
        return [taste_of(tidy(chosen["new"]), "", "slip", "选择")]
    match = words.SHOULD_ZH.match(clause.text)
    if match and not re.match(r"我|你|这|那|的|因为|不|没|说|想", match["new"]):
        return [value_of("", "", tidy(match["new"]), today, clause, "slip")]
    return []
