"""Tastes and habits: like, dislike, favourite, usual tool and diet, in Chinese and English."""

import re

from shared.reading import preferences_words as words
from shared.reading.clauses import Clause
from shared.reading.gates import gate
from shared.reading.guards import Stance
from shared.reading.keys import fold, preference_key, scope_of, slot_of, slug, target_of, third, tidy
from shared.reading.model import Found, Polarity
from shared.text.patterns import to_pattern

_LIKES_ZH = gate(
    words.FAVOURITE_ZH,
    words.OVER_ZH,
    words.RATHER_ZH,
    words.ZH,
    words.DIET_ZH,
    words.OWN_TOOL_ZH,
    words.USE_PHONE_ZH,
    words.HABIT_EAT_ZH,
    words.HABIT_USE_ZH,
    words.OPEN_ZH,
    words.OBJECT_FIRST_ZH,
    to_pattern("平时|一般|通常|经常|每"),
)
_LIKES_EN = gate(
    words.FAVOURITE_EN,
    words.HOBBY_EN,
    words.NOT_FAN_EN,
    words.DIET_EN,
    words.EAT_DIET_EN,
    words.OWN_TOOL_EN,
    words.EN,
    words.DONT_EAT_EN,
    words.HABIT_EN,
)

_TASTES_ZH = gate(words.FAVOURITE_ZH, words.OVER_ZH, words.RATHER_ZH, words.ZH, words.OBJECT_FIRST_ZH)
_USUALLY_ZH = to_pattern(
    r"平时(?:我)?(?:一般|通常|基本)?(?:都|都是|就|会|是)*(?P<what>[坐骑开喝吃用穿看听玩去]\S{1,14})$"
)
_OFTEN_ZH = to_pattern(
    r"(?:一般|通常|经常|每个?)(?:周末|早上|晚上|下班后?|饭后|中午)都?会?(?P<what>[去做跑打喝吃看听玩]\S{1,12})$"
)
_UNLIKE_EN = gate(words.PAST_EN, words.LIKE_AS_EN, words.WANT_EN)


def find(clause: Clause, stance: Stance) -> list[Found]:
    """The tastes that the clause states about its speaker."""
    if (
        stance.subject in ("other", "agent", "group")
        or stance.asked
        or stance.supposed
        or stance.reported
        or stance.ironic
    ):
        return []
    if stance.momentary or stance.trial:
        return []
    zh = clause.language != "en"
    found = _chinese(clause, stance) if zh and clause.mask & _LIKES_ZH else []
    return found or (_english(clause, stance, mixed=zh) if clause.mask & _LIKES_EN else [])


def _chinese(clause: Clause, stance: Stance) -> list[Found]:
    text = clause.text
    if words.DOUBLE_ZH.search(text):
        return []
    if not clause.mask & _TASTES_ZH:
        return _habits_zh(text, stance)
    if match := words.FAVOURITE_ZH.search(text):
        if match["what2"]:
            return _tastes(match["target2"], 1, "爱好是", "zh", "favourite")
        return [_favourite(match["what"], match["target"], "zh")]
    if match := words.OVER_ZH.search(text):
        return _tastes(match["target"], 1, "更喜欢", "zh", "like", over=tidy(match["over"]))
    if match := words.RATHER_ZH.search(text):
        return _tastes(match["target"], 1, "宁愿", "zh", "like", over=tidy(match["over"]))
    if match := words.ZH.search(text):
        negative = bool(match["neg"])
        if match["hate"] and negative:
            return []
        polarity: Polarity = -1 if negative or match["hate"] else 1
        said = (
            (match["neg"] or "")
            + ("更" if "更" in match["lead"] + match["deg"] else "")
            + (match["like"] or match["hate"])
        )
        return _tastes(match["target"], polarity, said, "zh", "like" if polarity > 0 else "dislike")
    return _object_first(text) or _habits_zh(text, stance)


def _object_first(text: str) -> list[Found]:
    """`这家店的咖啡我很喜欢`: what is liked stands before who likes it."""
    match = words.OBJECT_FIRST_ZH.search(text)
    if match is None or words.NOT_OBJECT_ZH.search(match["target"]):
        return []
    polarity: Polarity = -1 if match["neg"] or match["hate"] else 1
    found = _taste(tidy(match["target"]), polarity, "喜欢" if polarity > 0 else "不喜欢", "zh", "like", None, seen=True)
    return [found] if found else []


def _habits_zh(text: str, stance: Stance) -> list[Found]:
    if match := words.DIET_ZH.search(text):
        return [_slot("food", "diet", match["diet"], f"饮食：{match['diet']}", "diet")]
    for pattern in (words.OWN_TOOL_ZH, words.USE_PHONE_ZH):
        if match := pattern.search(text):
            return [
                _slot(
                    "tools",
                    slug(_tool(match["what"])),
                    tidy(match["target"]),
                    f"{match['what']}用{tidy(match['target'])}",
                    "uses",
                )
            ]
    if match := words.HABIT_EAT_ZH.search(text):
        return _tastes(match["verb"] + match["target"], -1, match["neg"], "zh", "abstains")
    if match := words.HABIT_USE_ZH.search(text):
        target = tidy(match["target"])
        return _tastes(match["verb"] + target, 1, match["habit"], "zh", "habit")
    if match := _USUALLY_ZH.search(text):
        return _tastes(match["what"], 1, "平时", "zh", "habit")
    if match := _OFTEN_ZH.search(text):
        return _tastes(match["what"], 1, "经常", "zh", "habit")
    if stance.explicit and (match := words.OPEN_ZH.search(text)):
        negative = bool(match["how"] and re.search(r"不|没", match["how"])) or match["what"] == "无感"
        return _tastes(
            match["target"], -1 if negative else 1, "不感兴趣：" if negative else "感兴趣：", "zh", "interest"
        )
    return []


def _tool(what: str) -> str:
    return {
        "手机": "phone",
        "主力机": "phone",
        "电脑": "computer",
        "笔记本": "computer",
        "编辑器": "editor",
        "浏览器": "browser",
    }.get(what, fold(what))


def _english(clause: Clause, stance: Stance, mixed: bool = False) -> list[Found]:
    text = clause.text
    if clause.mask & _UNLIKE_EN and (
        words.PAST_EN.search(text) or words.LIKE_AS_EN.search(text) or words.WANT_EN.search(text)
    ):
        return []
    if match := words.FAVOURITE_EN.search(text):
        return [_favourite(match["what"] or match["what2"], match["target"] or match["target2"], "en")]
    if match := words.HOBBY_EN.search(text):
        return _tastes(match["target"], 1, "enjoys", "en", "favourite")
    if match := words.NOT_FAN_EN.search(text):
        return _tastes(match["target"], -1, "dislikes", "en", "dislike")
    for pattern in (words.DIET_EN, words.EAT_DIET_EN):
        if (match := pattern.search(text)) and " not " not in text:
            return [_slot("food", "diet", match["diet"].lower(), f"diet: {match['diet'].lower()}", "diet")]
    if match := words.OWN_TOOL_EN.search(text):
        what, target = match["what"] or match["what2"], tidy(match["target"] or match["target2"])
        return [_slot("tools", slug(what), target, f"uses {target} as {what.lower()}", "uses")]
    if (
        (match := words.EN.search(text))
        and (stance.explicit or match.start() == 0)
        and not (mixed and not stance.explicit)
    ):
        if match["hate"] and match["neg"]:
            return []
        polarity: Polarity = -1 if match["neg"] or match["hate"] else 1
        verb = re.sub(r"^(?:am|'?m|would|'d)\s+", "", (match["like"] or match["hate"]).lower().removeprefix("'"))
        return _tastes(match["target"], polarity, _third(verb, polarity), "en", "like" if polarity > 0 else "dislike")
    if match := words.DONT_EAT_EN.search(text):
        return _tastes(match["target"], -1, f"does not {match['verb'].lower()}", "en", "abstains")
    if stance.subject == "self" and (match := words.HABIT_EN.search(text)):
        negative = match["habit"].lower() in ("never", "rarely")
        return _tastes(
            f"{match['verb']} {match['target']}",
            -1 if negative else 1,
            match["habit"].lower().removeprefix("'ve ").removeprefix("have "),
            "en",
            "habit",
        )
    return []


def _third(verb: str, polarity: Polarity) -> str:
    plain = {
        "like": "likes",
        "love": "loves",
        "enjoy": "enjoys",
        "prefer": "prefers",
        "adore": "adores",
        "favor": "favors",
        "favour": "favours",
        "hate": "hates",
        "dislike": "dislikes",
        "detest": "detests",
        "loathe": "loathes",
        "avoid": "avoids",
        "despise": "despises",
    }.get(verb)
    if plain is None:
        return "likes" if polarity > 0 and "rather" not in verb else "prefers to" if polarity > 0 else "cannot stand"
    if polarity < 0 and verb in ("like", "love", "enjoy", "prefer", "adore"):
        return f"does not {verb}"
    return plain


def _favourite(what: str, target: str, language: str) -> Found:
    what, target = tidy(what), _cut(target)
    text = f"最喜欢的{what}是{target}" if language == "zh" else f"favourite {what} is {target}"
    value = {"slot": f"favourite {what}", "target": target, "scope": scope_of(what), "value": target}
    return Found(
        "preference",
        f"pref:{value['scope']}:favourite-{slug(target_of(what))}",
        value,
        text,
        "preference",
        "favourite",
        "preference",
        1,
    )


def _slot(scope: str, slot: str, target: str, text: str, pattern: str) -> Found:
    value = {"scope": scope, "slot": slot, "target": target, "value": target}
    return Found("preference", f"pref:{scope}:{slot}", value, text, "preference", pattern, "preference", 1)


def _cut(target: str) -> str:
    """The target without what follows a dash, a bracket or a purpose that is not part of it."""
    return tidy(
        re.split(r"\s[-–—]\s|[（(]|\s(?:because|since|so that|but|which is why)\s|因为|所以|，", target, maxsplit=1)[0]
    )


def _tastes(
    target: str, polarity: Polarity, said: str, language: str, pattern: str, over: str | None = None
) -> list[Found]:
    target = _cut(target)
    if (
        over is None
        and language == "en"
        and (match := re.search(r"\s+(?:over|rather than|instead of|than|more than)\s+(.+)$", target, re.I))
    ):
        over, target = tidy(match[1]), tidy(target[: match.start()])
        target = re.sub(r"\s+(?:more|better)$", "", target, flags=re.I)
    if not target or words.VAGUE.match(target) or words.RELATIVE_ZH.match(target) or len(target) > 100:
        return []
    parts = _parts(target)
    return [found for part in parts if (found := _taste(part, polarity, said, language, pattern, over))]


def _parts(target: str) -> list[str]:
    if words.SET_PHRASES.search(target) or slot_of(target):
        return [target]
    parts = [part for raw in words.LIST.split(target) if (part := tidy(raw))]
    short = all(len(part) <= 8 if re.search(r"[\u3400-\u9fff]", part) else len(part.split()) <= 3 for part in parts)
    return parts if 1 < len(parts) <= 6 and short else [target]


def _taste(
    target: str, polarity: Polarity, said: str, language: str, pattern: str, over: str | None, *, seen: bool = False
) -> Found | None:
    """A taste by its target; one of a slot by its slot where it chooses, since what it refuses leaves the rest open."""
    canonical = target_of(target)
    if not canonical or (not seen and words.VAGUE.match(target)):
        return None
    key, scope, slot = preference_key(target)
    if slot and polarity < 0:
        key, slot = f"pref:{scope}:{slug(canonical)}", None
    value: dict[str, object] = {"scope": scope, "target": canonical, "value": target}
    if slot:
        value["slot"] = slot
    if over:
        value["over"] = over
    tail = (f" over {over}" if language == "en" else f"（胜过{over}）") if over else ""
    text = f"{said}{target}{tail}" if language == "zh" else f"{said} {third(target)}{third(tail)}"
    return Found("preference", key, value, text, "preference", pattern, "preference", polarity)
