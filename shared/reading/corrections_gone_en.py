"""What is so no more, said in English."""

import re

from shared.reading import corrections_words as words
from shared.reading.corrections_build import build
from shared.reading.guards import Stance
from shared.reading.keys import preference_key, target_of, third, tidy
from shared.reading.model import Found


def gone(text: str, stance: Stance) -> list[Found]:
    match = words.NO_MORE_EN.search(text)
    if not match or stance.subject not in ("self", "group"):
        return []
    neg, old, end = match["neg"].lower(), tidy(match["old"]), (match["end"] or "").strip().lower()
    lasting = (
        end.startswith("any")
        or neg == "no longer"
        or neg.startswith(
            ("stopped", "quit", "gave up", "given up", "have stopped", "have quit", "'ve", "ditched", "abandoned")
        )
        or "done with" in neg
        or neg in ("off", "'m off", "dropped", "gone off")
        or "got rid" in neg
    )
    if (
        not lasting
        or re.search(
            (
                r"\b(?:need|have) to\b|\bneed (?:help|it|this|that)|^(?:\w+ )?(?:this|it|that|them|these"
                r"|those)$|\b(?:know|understand|remember|get|see|care|want to|think|believe|trust|worry|"
                r"have (?:access|time|any|the)|be able|able)\b"
            ),
            old,
            re.I,
        )
        or (stance.momentary and neg == "off")
    ):
        return []
    if neg == "off" and not re.match(r"(?:coffee|sugar|dairy|meat|alcohol|caffeine|gluten|carbs)", old, re.I):
        return []
    if re.match(r"(?:my )?job\b|trying|working (?:on|here)$|here\b|at the\b|for the (?:day|night)", old):
        return []
    return [gone_en(old, "no longer" if neg == "no longer" else "anymore")]


def gone_en(old: str, pattern: str) -> Found:
    old = re.sub(
        r"\s+(?:any ?more|any longer|these days|now|altogether|for good|completely|entirely)$", "", old, flags=re.I
    )
    if place := re.match(r"(?:live|living|based)\s+(?:in|at)\s+(.+)$", old, re.I):
        return build(
            "profile",
            "profile:user:city",
            {"slot": "city", "value": "", "old": tidy(place[1])},
            f"no longer lives in {tidy(place[1])}",
            pattern,
            -1,
            tidy(place[1]),
            True,
        )
    if work := re.match(r"work(?:ing)?\s+(?:at|for)\s+(.+)$", old, re.I):
        return build(
            "profile",
            "profile:user:employer",
            {"slot": "employer", "value": "", "old": tidy(work[1])},
            f"no longer works at {tidy(work[1])}",
            pattern,
            -1,
            tidy(work[1]),
            True,
        )
    if job := re.match(r"(?:work(?:ing)? as\s+)?an?\s+(.+)$", old, re.I):
        return build(
            "profile",
            "profile:user:occupation",
            {"slot": "occupation", "value": "", "old": tidy(job[1])},
            f"no longer a {tidy(job[1])}",
            pattern,
            -1,
            tidy(job[1]),
            True,
        )
    target = re.sub(
        (
            r"^(?:really\s+)?(?:like|love|enjoy|prefer|use|using|drink|drinking|eat|eating|wear|wearing"
            r"|play|playing|watch|watching|want|smoke|smoking|into|a fan of|buy|buying|take|taking|do"
            r"|doing|go to|going to|drive|driving|listen to)\s+"
        ),
        "",
        old,
        flags=re.I,
    )
    key, scope, _ = preference_key(target)
    return build(
        "preference",
        key,
        {"scope": scope, "target": target_of(target), "value": target},
        f"no longer {third(_acts(old))}",
        pattern,
        -1,
        target,
        True,
    )


def _acts(what: str) -> str:
    """What somebody does, as told of them: `use dark mode` is `uses dark mode`."""
    verb, _, rest = what.partition(" ")
    verb = {"watch": "watches", "do": "does", "go": "goes", "buy": "buys", "play": "plays", "enjoy": "enjoys"}.get(
        verb.lower(), f"{verb}s" if verb.lower() in _ACTS else verb if verb.endswith("ing") else f"likes {verb}"
    )
    return f"{verb} {rest}".strip()


_ACTS = frozenset(
    [
        "like",
        "love",
        "prefer",
        "use",
        "drink",
        "eat",
        "wear",
        "want",
        "smoke",
        "take",
        "drive",
        "listen",
        "need",
        "read",
        "write",
        "run",
        "work",
    ]
)
