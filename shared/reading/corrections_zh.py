"""Corrections said in Chinese: contrasts, switches, and what is so no more."""

import re
from dataclasses import replace
from datetime import date

from shared.reading import corrections_words as words
from shared.reading.clauses import Clause
from shared.reading.corrections_build import build, denial, promoted, taste_of, value_of, with_next
from shared.reading.gates import gate
from shared.reading.guards import Stance
from shared.reading.keys import preference_key, slot_of, slug, target_of, tidy
from shared.reading.model import Found
from shared.text.patterns import to_pattern

_CONTRASTS = gate(words.NOT_BUT_ZH, words.BUT_NOT_ZH, to_pattern("不"))


_SWITCHES = gate(words.SWITCH_ZH)


_STOPS = gate(words.NO_MORE_ZH, words.QUIT_ZH, to_pattern("从"))


_NOW = gate(words.NOW_PLAIN_ZH, words.NOW_SWITCH_ZH, words.ACTUALLY_ZH)


def chinese(clause: Clause, following: Clause | None, stance: Stance, plain: list[Found], today: date) -> list[Found]:
    text = clause.text
    signs = clause.mask
    if (signs | (following.mask if following else 0)) & _CONTRASTS and (
        found := contrast_zh(clause, following, stance, today)
    ):
        return found
    if signs & _SWITCHES and (found := _switched_zh(text, stance, today, clause)):
        return found
    if not signs & (_STOPS | _NOW):
        return []
    if stance.trial or re.search(r"今天|今晚|这次|这顿|刚才|暂时|这周|先不", text):
        return []
    if (left := re.search(r"从(?P<old>[^，]{2,14}?)(?:离职|辞职|退出)了?$", text)) and stance.subject == "self":
        return denial(left["old"], "在", "不再", replace(clause, text=text + "工作"))
    if not words.IDIOM_ZH.search(text) and (match := words.NO_MORE_ZH.search(text) or words.QUIT_ZH.search(text)):
        groups = match.groupdict()
        old = tidy(groups.get("old") or groups.get("old2") or groups.get("old3") or groups.get("old4") or "")
        if stance.subject in ("self", "none", "group") and (
            stance.explicit or stance.subject == "self" or groups.get("verb")
        ):
            return denial(old, groups.get("verb") or "", "不再", clause)
    if words.NOW_PLAIN_ZH.search(text) and stance.subject in ("self", "none"):
        return [promoted(one, "现在喜欢") for one in plain if one.kind == "preference"] or _feeling_gone(clause)
    if (match := words.NOW_SWITCH_ZH.search(text)) and stance.subject == "self":
        changed = [promoted(one, "现在") for one in plain if one.kind in ("preference", "profile")]
        if changed:
            return changed
        new = tidy(match["new"])
        if match["verb"] in ("用", "喝", "吃", "穿", "玩", "骑", "开", "听", "看") and not re.match(
            r"不|的|这|那|什么|完|到", new
        ):
            key, scope, _ = preference_key(match["verb"] + new)
            return [
                build(
                    "preference",
                    key,
                    {"scope": scope, "target": target_of(new), "value": new},
                    f"现在{match['verb']}{new}",
                    "现在",
                    1,
                )
            ]
    if words.ACTUALLY_ZH.match(text) and stance.subject == "self":
        return [
            promoted(one, "其实")
            for one in plain
            if one.kind == "profile" or (one.kind == "preference" and one.polarity < 0) or "更" in text
        ]
    return []


def _feeling_gone(clause: Clause) -> list[Found]:
    """`我现在不喜欢了`: something shown before is no longer liked; what it is, the conversation tells."""
    if re.search(r"现在(?:已经|都|又)?不(?:太|怎么)?(?:喜欢|爱)(?:了|它了|这个了|这种了|这样的?了)$", clause.text):
        return [
            Found(
                "preference",
                None,
                {"value": "", "deictic": True},
                clause.text,
                "correction",
                "现在不喜欢了",
                "preference",
                -1,
                "correction",
                True,
            )
        ]
    return []


def contrast_zh(clause: Clause, following: Clause | None, stance: Stance, today: date) -> list[Found]:
    """`不是X，是Y` in one clause or over two."""
    text = clause.text
    joined = [text] if not following else [f"{text}，{following.text}", text]
    for candidate in joined:
        if "不" not in candidate:
            continue
        for pattern in (words.NOT_BUT_ZH, words.BUT_NOT_ZH):
            match = pattern.search(candidate)
            if (
                not match
                or words.NO_CONTRAST_ZH.search(match.group()[match.start("topic") + len(match["topic"]) :])
                or words.NO_CONTRAST_ZH.search(candidate)
            ):
                continue
            topic, old, new = match["topic"].strip(), tidy(match["old"]), tidy(match["new"])
            if (
                words.DEICTIC_ZH.search(topic)
                or not old
                or not new
                or old == new
                or re.search(r"[吗呢]$|什么|怎么", new)
            ):
                continue
            taste = re.match(r"(?:我)?(?:现在|如今)?(?:更|最)?(?:喜欢|偏爱|爱|要的?)(?P<what>.+)$", new)
            made = value_of(topic, old, tidy(taste["what"]) if taste else new, today, clause, "不是X,是Y")
            return [with_next(made) if following and candidate is joined[0] and candidate != text else made]
        if (
            following
            and candidate is joined[0]
            and (
                match := re.match(
                    (
                        r"^(?:不|不对)?(?:不是|不要|不喜欢|别用)(?P<old>[^，]{1,14})，(?:而)?(?:我)?(?:现在|如今"
                        r"|其实|更|改|要|是)*(?:喜欢|偏爱|爱|用)(?P<new>[^，]{1,20})$"
                    ),
                    candidate,
                )
            )
            and not re.search(r"吗|什么|不是不", candidate)
            and re.match(r"不是|不(?:不|对)", candidate)
        ):
            return [with_next(taste_of(tidy(match["new"]), tidy(match["old"]), "不是X,是Y"))]
    return []


def _switched_zh(text: str, stance: Stance, today: date, clause: Clause) -> list[Found]:
    match = words.SWITCH_ZH.search(text)
    if not match or re.search(r"怎么|如何|什么|要不|能|会不会|建议|考虑|想", text):
        return []
    if re.match(r"(?:了)?(?:个|份)?(?:工作|公司|地方|房子|话题)$", match["new"]):
        return []
    head, old, new, how, done = (
        match["head"],
        tidy(match["old"] or ""),
        tidy(match["new"]),
        match["how"],
        match["end"] == "了",
    )
    if words.TO_AGENT_ZH.search(text) and not slot_of(text):
        return []
    if re.match(r"[一二三两几]|这|那|大写|小写|粗体|红|绿|蓝|别的|其他|异步|同步|了", new) and not words.DAY.match(new):
        return []
    if (
        topic := re.match(
            r"^(?:我们?的?|把)?(?P<what>[\u4e00-\u9fffA-Za-z]{2,12}?)(?:的)?(?:时间|日期)?(?:已经|被|要|从\S+)?$", head
        )
    ) and words.DAY.match(new):
        return [value_of(topic["what"], old, new, today, clause, "换成" if "换" in how else "改成")]
    if words.DAY.match(new):
        return [value_of(re.sub(r"^把|从\S*$|已经|时间|的$", "", head), old, new, today, clause, "改成")]
    self_said = stance.subject in ("self", "group") or re.match(r"^(?:我|现在|最近|已经|以后|早就)", text)
    if how.startswith("跳槽"):
        return [
            build(
                "profile",
                "profile:user:employer",
                {"slot": "employer", "value": new, "old": old},
                f"在{new}工作",
                "换成",
                0,
                old or None,
            )
        ]
    if how.startswith(("转行", "转做")):
        return [
            build(
                "profile",
                "profile:user:occupation",
                {"slot": "occupation", "value": new, "old": old},
                f"职业是{new}",
                "换成",
                0,
                old or None,
            )
        ]
    if how == "改叫":
        return [
            build(
                "profile",
                "profile:user:name",
                {"slot": "name", "value": new, "old": old},
                f"名字叫{new}",
                "换成",
                0,
                old or None,
            )
        ]
    if not (self_said or done or old or slot_of(head + new)):
        return []
    before = re.sub(
        r"^(?:我们?的?|现在|以后|最近|已经|早就|决定|把|从|都|也|就|请|他|的)+|(?:已经|都|从|就|也)+$", "", head
    )
    if not old and head.startswith(("把", "我把", "我们把")):
        old = tidy(re.sub(r"^我?们?把", "", head))
    context = slot_of(head + new) or slot_of(new)
    found = taste_of(new, old, "换成" if "换" in how else "改成", "改用" if not context else "使用")
    if context:
        return [
            replace(
                found,
                key=f"pref:{context[0]}:{context[1]}",
                value={**found.value, "scope": context[0], "slot": context[1]},
            )
        ]
    if (
        before
        and before != old
        and re.search(r"手机|电脑|编辑器|浏览器|数据库|框架|语言|相机|键盘|输入法|系统|品牌|牌子", before)
    ):
        return [
            replace(
                found,
                key=f"pref:tools:{slug(words.TOOLS.get(before, before))}",
                value={**found.value, "slot": before},
            )
        ]
    return [found]
