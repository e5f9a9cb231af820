"""Constraints: ceilings of price, allergies and diets by need, and standing directives on how to answer."""

import re

from shared.reading import limits_words as words
from shared.reading import signals
from shared.reading.clauses import Clause
from shared.reading.gates import gate
from shared.reading.guards import Stance
from shared.reading.keys import preference_key, slot_of, slug, target_of, tidy
from shared.reading.model import Found
from shared.text.patterns import to_pattern

_ANY = gate(
    words.OVER_ZH,
    words.BUDGET_ZH,
    words.BUDGET_EN,
    words.ALLERGY_ZH,
    words.ALLERGY_EN,
    words.CANNOT_ZH,
    words.CANNOT_EN,
)
_DENIES = gate(words.NO_ALLERGY_ZH, words.NO_ALLERGY_EN)
_BUDGETS = gate(words.OVER_ZH, words.BUDGET_ZH, words.BUDGET_EN)
_NUMBER = to_pattern(r"\d|[一二两三四五六七八九十][百千万亿]|[百千万]元")
_STEERS = gate(words.DIRECTIVE_ZH, words.DIRECTIVE_EN, words.LASTING_ZH, words.LASTING_EN)
_RULES = gate(words.MUST_ZH, words.MUST_EN)


def find(clause: Clause, stance: Stance) -> list[Found]:
    """The constraints that the clause sets."""
    if (
        not clause.mask & (_ANY | _STEERS | _RULES)
        or stance.asked
        or stance.ironic
        or (stance.reported and not stance.doctor)
        or (stance.subject == "other" and not stance.doctor)
    ):
        return []
    text = clause.text
    if clause.mask & _BUDGETS and _NUMBER.search(text) and (found := _budget(text, stance)):
        return [found]
    if stance.supposed:
        return []
    if signals.body(clause) and (found := _body(text, stance)):
        return found
    if stance.doctor or not signals.directive(clause):
        return []
    if match := words.NO_CALL.match(text):
        name = match["name"] or match["name2"]
        if not re.match(r"(?:a|an|back|when|if|later|at|on|out|什么|起)\b", name, re.I):
            said = f"不要叫{name}" if match["name2"] else f"does not want to be called {name}"
            return [_limit(f"reply:call-{slug(name)}", name, said, "directive", -1)]
    if clause.mask & _STEERS and (found := _directive(text, stance)):
        return [found]
    return _rule(text, stance) if clause.mask & _RULES else []


def _group(match: re.Match[str], prefix: str) -> str:
    return tidy(next((value for name, value in match.groupdict().items() if value and name.startswith(prefix)), ""))


def _limit(name: str, value: str, text: str, pattern: str, polarity: int = 0, **more: object) -> Found:
    return Found(
        "constraint",
        f"constraint:{name}",
        {"value": value, **more},
        text,
        "limits",
        pattern,
        "preference",
        -1 if polarity < 0 else 0,
        "directive",
    )


def _budget(text: str, stance: Stance) -> Found | None:
    for pattern, name in ((words.OVER_ZH, "ceiling"), (words.BUDGET_ZH, "budget"), (words.BUDGET_EN, "budget")):
        if (match := pattern.search(text)) and (amount := _group(match, "amount")) and _NUMBER.search(amount):
            if (
                name == "budget"
                and pattern is words.BUDGET_ZH
                and not re.search(r"预算", text)
                and not re.search(r"不超过|以内|以下|不要|不能|控制|最多|不高于", text)
            ):
                continue
            if (
                pattern is words.BUDGET_EN
                and "budget" not in text.lower()
                and stance.subject == "none"
                and not re.match(r"(?:nothing|no more|keep|at most|max|under|not|never|please)", text, re.I)
            ):
                continue
            return _limit(
                "budget",
                re.sub(r"\s+", "", amount),
                tidy(re.sub(r"^(?:我的|我|my |I )", "", text)),
                name,
                amount=re.sub(r"\s+", "", amount),
            )
    return None


def _body(text: str, stance: Stance) -> list[Found]:
    if re.search(r"[不没]有?(?:会)?过敏|not allergic", text):
        return []
    match = words.ALLERGY_ZH.search(text) or words.ALLERGY_EN.search(text)
    if match and (what := _group(match, "what")):
        groups = match.groupdict()
        if (
            groups.get("neg")
            or groups.get("neg2")
            or re.match(r"什么|啥|皮肤$|换季|季节|这|那|it\b|this|that|what|more|another", what)
        ):
            return []
        can = bool(groups.get("what5"))
        if can and (
            stance.momentary
            or not re.search(
                (
                    r"\b(?:gluten|dairy|nuts?|peanuts?|milk|lactose|seafood|shellfish|pork|beef|meat|sugar|wheat"
                    r"|eggs?|soy|fish|spicy|alcohol|caffeine|coffee)\b"
                ),
                what,
                re.I,
            )
        ):
            return []
        zh = bool(re.search(r"[\u3400-\u9fff]", text))
        return [
            _limit(
                f"{'diet' if can else 'allergy'}:{slug(target_of(one))}",
                one,
                f"对{one}过敏" if zh else f"cannot have {one}" if can or groups.get("what4") else f"allergic to {one}",
                "allergy",
                -1,
                target=target_of(one),
            )
            for one in _each(what)
        ]
    match = words.CANNOT_ZH.search(text) or words.CANNOT_EN.search(text)
    if match and (not stance.momentary or stance.doctor):
        verb = match.groupdict().get("verb") or ""
        what = _group(match, "what")
        if (
            (what or verb in ("熬夜", "久坐", "剧烈运动"))
            and not re.match(r"完|下|这|那|太|到|多|亏|it\b", what)
            and (stance.subject in ("self", "none") or stance.doctor)
        ):
            zh = bool(re.search(r"[\u3400-\u9fff]", text))
            return [
                _limit(
                    f"diet:{slug(target_of(one or verb))}",
                    one or verb,
                    f"不能{verb}{one}" if zh else f"must avoid {one}",
                    "cannot",
                    -1,
                    target=target_of(one or verb),
                )
                for one in (_each(what) or [""])
            ]
    return []


def denied(clause: Clause, stance: Stance) -> list[Found]:
    """The allergies that the speaker says they do not have."""
    if not clause.mask & _DENIES or stance.subject not in ("self", "none") or stance.momentary:
        return []
    match = words.NO_ALLERGY_ZH.search(clause.text) or words.NO_ALLERGY_EN.search(clause.text)
    if match is None or ("neg" in match.groupdict() and not _negated(match)):
        return []
    zh = clause.language == "zh"
    return [
        Found(
            "constraint",
            f"constraint:allergy:{slug(target_of(one))}",
            {"value": one, "target": target_of(one)},
            f"对{one}不过敏" if zh else f"not allergic to {one}",
            "correction",
            "allergy",
            assertion="correction",
            retracts=True,
        )
        for one in _each(_group(match, "what"))
    ]


def _negated(match: re.Match[str]) -> bool:
    return bool(match["neg"]) or re.match(r"[^对]*[不没]", match.group()) is not None


def _each(what: str) -> list[str]:
    return [
        one
        for part in re.split(
            r"、|和|及|或|,\s*(?:and\s+)?|\s+and\s+|\s+or\s+", re.split(r"\s(?:so|because|and I)\b", what)[0]
        )
        if (one := tidy(part))
    ]


def _directive(text: str, stance: Stance) -> Found | None:
    zh = bool(re.search(r"[\u3400-\u9fff]", text))
    match = words.DIRECTIVE_ZH.search(text) if zh else words.DIRECTIVE_EN.search(text)
    slot = slot_of(text)
    if match is None and slot is None:
        return None
    lasting = bool((words.LASTING_ZH if zh else words.LASTING_EN).search(text))
    if match is None:
        if (
            not lasting
            or not re.search(r"回[答复]|输出|说话|\b(?:answer|repl|respon)", text, re.I)
            or stance.subject == "self"
        ):
            return None
        what = text
    else:
        what = match["what"]
    if stance.momentary and not lasting:
        return None
    if not lasting and not (
        slot
        and match
        and (
            match.groupdict().get("standing")
            or re.search(r"请|希望你|\bplease\b|want you|like you|keep|be\b", text, re.I)
        )
        and slot[0] == "writing"
        and not re.search(
            (
                r"这[段个篇封]|下面|以下|本文|帮我|翻译|\b(?:this|the (?:following|above|article|text|paragraph"
                r"|email)|an? )\b"
            ),
            text,
            re.I,
        )
    ):
        return None
    if not (words.AGENT_ACT_ZH if zh else words.AGENT_ACT_EN).search(text) or stance.subject == "other":
        return None
    if re.search(r"我(?:会|要|就|想|再也|都|一定|自己|也)(?!求你)", text) or re.match(
        r"(?:always|never)\s+(?:mind|say never|knew|thought|been|wanted|again)\b", what, re.I
    ):
        return None
    negative = bool(re.search(r"不要|别|不许|禁止|不用|少|\b(?:never|don't|do not|stop|avoid|no|skip)\b", what, re.I))
    said = tidy(text)
    if slot:
        key, scope, name = preference_key(text)
        return Found(
            "preference",
            key,
            {"scope": scope, "slot": name, "value": said, "target": tidy(what)},
            said,
            "limits",
            "directive",
            "preference",
            -1 if negative else 1,
            "directive",
        )
    return _limit(
        f"reply:{slug(target_of(words.ADVERBS.sub('', tidy(what))), 40)}",
        said,
        said,
        "directive",
        -1 if negative else 0,
    )


def _rule(text: str, stance: Stance) -> list[Found]:
    if stance.momentary or stance.trial or stance.subject == "agent":
        return []
    zh = bool(re.search(r"[\u3400-\u9fff]", text))
    match = words.MUST_ZH.search(text) if zh else words.MUST_EN.search(text)
    if (
        match is None
        or not (what := _group(match, "what"))
        or (
            zh
            and stance.subject not in ("self", "group")
            and not re.match(r"(?:要求|底线|原则|硬性要求|规定)", what)
            and not re.search(r"项目|代码|系统|接口|部署|会议", text)
        )
    ):
        return []
    if zh and re.match(r"^我(?:必须|一律)", text):
        return []
    return [_limit(f"rule:{slug(target_of(what), 40)}", what, what, "rule")]
