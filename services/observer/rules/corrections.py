"""Corrections: what the user takes back and what replaces it (seed 004 section 2.3.0.1-A, X33)."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from services.observer.rules import corrections_words as words
from services.observer.rules import dates, preferences, scheduled, signals
from services.observer.rules.clauses import Clause
from services.observer.rules.gates import gate
from services.observer.rules.guards import Stance
from services.observer.rules.keys import preference_key, slot_of, slug, target_of, tidy
from services.observer.rules.model import Found


_SLIPS = gate(words.SLIP_ZH, words.SLIP_EN)
_PAST = gate(words.USED_TO_ZH, words.USED_TO_EN)
_CONTRASTS = gate(words.NOT_BUT_ZH, words.BUT_NOT_ZH, re.compile("不"))
_SWITCHES = gate(words.SWITCH_ZH)
_STOPS = gate(words.NO_MORE_ZH, words.QUIT_ZH, re.compile("从"))
_NOW = gate(words.NOW_PLAIN_ZH, words.NOW_SWITCH_ZH, words.ACTUALLY_ZH)


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
            and not clause.mask & scheduled.MOVES
            and not (signals.correction(clause) or (following and signals.correction(following)))
        ):
            continue
        if words.OPENER.fullmatch(clause.text):
            opened = index
            continue
        if _slips(clause):
            armed = index
            corrected = _named(clause, following, stance, plain[index], today) or _meant(clause, today)
            if corrected:
                found[index] = corrected
            elif plain[index] and not _bare_slip(clause):
                found[index] = [_promote(one, "slip") for one in plain[index] if _promotable(one)]
            if not found.get(index):
                found.pop(index, None)
            continue
        if (old := _used_to(clause)) is not None:
            before = (index, *old)
            continue
        if (
            before
            and index - before[0] <= 2
            and plain[index]
            and (words.BACK.match(clause.text) or "现在" in clause.text or re.search(r"\bnow\b", clause.text))
        ):
            changed = [
                _promote(one, "used_to", before[2], _old_key(before[1], before[2]))
                for one in plain[index]
                if _promotable(one)
            ]
            if changed:
                found[index] = changed
                before = None
                continue
        shifted, joined = scheduled.moved(clauses, index, today)
        if shifted:
            found[index] = [_joined(shifted[0]) if joined else shifted[0]]
            continue
        direct = _named(clause, following, stance, plain[index], today)
        if direct and direct[0].kind == "event" and direct[0].key is None:
            thing = scheduled.thing_before("", clauses, index)
            direct = [_of_thing(direct[0], thing, today)] if thing else direct
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
                        _made(
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
                _promote(
                    one,
                    "slip",
                    pending.old_value if pending and pending.retracts else None,
                    pending.key if pending and pending.retracts else None,
                )
                for one in plain[index]
                if _promotable(one)
            ]
            if not changed and not (pending and pending.retracts):
                changed = _bare_value(clause, today)
            if changed:
                found[index] = changed
                armed = -9
                continue
        if index - opened == 1 and stance.subject == "self":
            changed = [_promote(one, "actually") for one in plain[index] if one.kind == "profile"]
            if changed:
                found[index] = changed
    return found


def _of_thing(found: Found, thing: str, today: date) -> Found:
    """The new day as the day of the thing that was spoken of before."""
    new = str(found.value["value"])
    made = scheduled.made(
        thing,
        new,
        dates.find(new, today),
        "zh" if re.search(r"[\u3400-\u9fff]", thing) else "en",
        found.old_value or "",
        correction=True,
    )
    return replace(made, flags=found.flags, pattern=found.pattern)


def _promotable(one: Found) -> bool:
    return one.kind in ("preference", "profile", "constraint", "goal", "decision", "task", "event")


def _promote(one: Found, pattern: str, old: str | None = None, old_key: str | None = None) -> Found:
    value = dict(one.value)
    if old_key:
        value["old_key"] = old_key
    return replace(
        one, assertion="correction", detector="correction", pattern=pattern, old_value=old or one.old_value, value=value
    )


def _slips(clause: Clause) -> bool:
    if not clause.mask & _SLIPS:
        return False
    if clause.language == "en":
        return (
            bool(words.SLIP_EN.search(clause.text))
            and not re.match(r"(?:sorry|wait)\s+(?:for|to|about|i\b|a\b|until|what|but)", clause.text, re.I)
            and not re.search(r"\bif I\b|\bhelp me\b|\bplease correct\b", clause.text, re.I)
        )
    return bool(words.SLIP_ZH.search(clause.text)) and not words.SLIP_ASKED_ZH.search(clause.text)


def _bare_slip(clause: Clause) -> bool:
    return len(clause.text) <= 5


def _old_key(verb: str, old: str) -> str | None:
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


def _used_to(clause: Clause) -> tuple[str, str] | None:
    if not clause.mask & _PAST:
        return None
    match = words.USED_TO_EN.search(clause.text) if clause.language == "en" else words.USED_TO_ZH.search(clause.text)
    if not match:
        return None
    groups = match.groupdict()
    if groups.get("was"):
        return "be", tidy(groups["was"])
    return match["verb"], tidy(match["old"])


_AMENDED = re.compile(
    r"^(?:更正|纠正|订正|correction)(?:一下)?[:：，, ]+(?:the |my |our )?(?P<topic>[^，,]{1,24}?)\s*"
    r"(?:应该是|应该|改成|改到|是|为|\bis|\bare|should be)\s*(?P<new>[^，]{1,30})$",
    re.I,
)


def _meant(clause: Clause, today: date) -> list[Found]:
    if amended := _AMENDED.search(clause.text):
        return [_value(amended["topic"], "", tidy(amended["new"]), today, clause, "slip")]
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
    return [_value("", old, new, today, clause, "slip")]


def _bare_value(clause: Clause, today: date) -> list[Found]:
    """The value after `no, I misspoke`: a bare day or `it is X`."""
    if clause.language == "en":
        return _meant(clause, today) if words.MEANT_EN.match(clause.text) and len(clause.text) < 48 else []
    chosen = re.match(
        r"^(?:我)?(?:还是|想|要|决定|改|就|打算|现在)+(?:用|选|喝|吃|买|去|换|穿)(?P<new>.{1,20})$", clause.text
    )
    if chosen and not re.match(r"这|那|你|他|了", chosen["new"]):
        return [_taste(tidy(chosen["new"]), "", "slip", "选择")]
    match = words.SHOULD_ZH.match(clause.text)
    if match and not re.match(r"我|你|这|那|的|因为|不|没|说|想", match["new"]):
        return [_value("", "", tidy(match["new"]), today, clause, "slip")]
    return []


def _named(clause: Clause, following: Clause | None, stance: Stance, plain: list[Found], today: date) -> list[Found]:
    """A correction by a pattern of its own."""
    if stance.subject == "other" and following and re.match(r"(?:no,? )?it(?:'s| is) (?!not)", clause.text, re.I):
        return _contrast_en(clause.text, following, stance, today, clause)
    if renamed := re.search(
        r"把我的?(?:称呼|名字|昵称)(?:改成|改为|换成)(?P<new>[\u4e00-\u9fffA-Za-z]{1,10})(?:吧|了)?$", clause.text
    ):
        value: dict[str, object] = {"slot": "call_me", "value": renamed["new"]}
        return [_made("profile", "profile:user:call_me", value, f"希望被称呼为{renamed['new']}", "改成")]
    if stance.subject == "other" or stance.subject == "agent":
        return (
            _contrast(clause, following, stance, today)
            if clause.language == "zh" and stance.subject == "other" and not re.search(r"^(?:我|他|她|它)", clause.text)
            else []
        )
    if clause.language == "en":
        return _english(clause, following, stance, plain, today)
    return _chinese(clause, following, stance, plain, today) or (
        _english(clause, None, stance, plain, today)
        if re.search(r"\b(?:switch|anymore|instead|no longer)", clause.text)
        else []
    )


def _chinese(clause: Clause, following: Clause | None, stance: Stance, plain: list[Found], today: date) -> list[Found]:
    text = clause.text
    signs = clause.mask
    if (signs | (following.mask if following else 0)) & _CONTRASTS and (
        found := _contrast(clause, following, stance, today)
    ):
        return found
    if signs & _SWITCHES and (found := _switched_zh(text, stance, today, clause)):
        return found
    if not signs & (_STOPS | _NOW):
        return []
    if stance.trial or re.search(r"今天|今晚|这次|这顿|刚才|暂时|这周|先不", text):
        return []
    if (left := re.search(r"从(?P<old>[^，]{2,14}?)(?:离职|辞职|退出)了?$", text)) and stance.subject == "self":
        return _denied(left["old"], "在", "不再", replace(clause, text=text + "工作"))
    if not words.IDIOM_ZH.search(text) and (match := words.NO_MORE_ZH.search(text) or words.QUIT_ZH.search(text)):
        groups = match.groupdict()
        old = tidy(groups.get("old") or groups.get("old2") or groups.get("old3") or groups.get("old4") or "")
        if stance.subject in ("self", "none", "group") and (
            stance.explicit or stance.subject == "self" or groups.get("verb")
        ):
            return _denied(old, groups.get("verb") or "", "不再", clause)
    if words.NOW_PLAIN_ZH.search(text) and stance.subject in ("self", "none"):
        return [_promote(one, "现在喜欢") for one in plain if one.kind == "preference"] or _feeling_gone(clause)
    if (match := words.NOW_SWITCH_ZH.search(text)) and stance.subject == "self":
        changed = [_promote(one, "现在") for one in plain if one.kind in ("preference", "profile")]
        if changed:
            return changed
        new = tidy(match["new"])
        if match["verb"] in ("用", "喝", "吃", "穿", "玩", "骑", "开", "听", "看") and not re.match(
            r"不|的|这|那|什么|完|到", new
        ):
            key, scope, _ = preference_key(match["verb"] + new)
            return [
                _made(
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
            _promote(one, "其实")
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


def _denied(old: str, verb: str, pattern: str, clause: Clause) -> list[Found]:
    if (
        not old
        or re.match(r"(?:这|那|你|他|她|它|谁|什么|多|下|的|出|到|起|上|懂|清|完|见|惯|it\b|that\b|this\b)", old)
        or len(old) > 18
    ):
        return []
    if re.match(r"住", verb):
        return [
            _made(
                "profile",
                "profile:user:city",
                {"slot": "city", "value": "", "old": old},
                f"不再住在{old}",
                pattern,
                -1,
                old,
                True,
            )
        ]
    if verb == "在":
        slot = "employer" if "工作" in clause.text or "上班" in clause.text or "干" in clause.text else "city"
        return [
            _made(
                "profile",
                f"profile:user:{slot}",
                {"slot": slot, "value": "", "old": old},
                f"不再在{old}",
                pattern,
                -1,
                old,
                True,
            )
        ]
    if verb in ("是", "当", "做", "从事", "担任", "叫"):
        slot = "name" if verb == "叫" else "occupation"
        return [
            _made(
                "profile",
                f"profile:user:{slot}",
                {"slot": slot, "value": "", "old": old},
                f"不再{verb}{old}",
                pattern,
                -1,
                old,
                True,
            )
        ]
    key, scope, _ = preference_key((verb if len(verb) == 1 else "") + old)
    return [
        _made(
            "preference",
            key,
            {"scope": scope, "target": target_of(old), "value": old},
            f"不再{verb or '用'}{old}",
            pattern,
            -1,
            old,
            True,
        )
    ]


def _made(
    kind: str,
    key: str | None,
    value: dict[str, object],
    text: str,
    pattern: str,
    polarity: int = 0,
    old: str | None = None,
    retracts: bool = False,
) -> Found:
    assert kind in ("profile", "preference", "event", "entity", "note")  # noqa: S101 - narrows the type
    return Found(
        kind,
        key,
        dict(value),
        text,
        "correction",
        pattern,
        "preference" if kind == "preference" else "fact",
        -1 if polarity < 0 else 1 if polarity > 0 else 0,
        "correction",
        retracts,
        old,
    )


def _contrast(clause: Clause, following: Clause | None, stance: Stance, today: date) -> list[Found]:
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
            made = _value(topic, old, tidy(taste["what"]) if taste else new, today, clause, "不是X,是Y")
            return [_joined(made) if following and candidate is joined[0] and candidate != text else made]
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
            return [_joined(_taste(tidy(match["new"]), tidy(match["old"]), "不是X,是Y"))]
    return []


def _joined(found: Found) -> Found:
    """The correction marked as having used up the clause after its own."""
    return replace(found, flags=(*found.flags, "joined"))


def _taste(new: str, old: str, pattern: str, verb: str = "喜欢") -> Found:
    key, scope, slot = preference_key(new)
    value: dict[str, object] = {
        "scope": scope,
        "target": target_of(new),
        "value": new,
        "old": old,
        "old_key": preference_key(old)[0],
    }
    if slot:
        value["slot"] = slot
    return _made(
        "preference",
        key,
        value,
        f"{verb}{new}" if re.search(r"[\u3400-\u9fff]", verb) else f"{verb} {new}",
        pattern,
        1,
        old or None,
    )


def _value(topic: str, old: str, new: str, today: date, clause: Clause, pattern: str) -> Found:
    """The correction of a value: of a slot of the speaker, of a day, or of whatever the topic names."""
    topic = re.sub(r"我?(?:刚才)?(?:说|指|要|问)的$", "", topic)
    bare = re.sub(r"^(?:其实|不对|错了|不|哦|啊|是的|no|actually|sorry|wait)[，, ]*", "", topic, flags=re.I).strip(
        " ，,"
    )
    first = re.sub(r"^(?:我|本人|I'm|I am|I|it's|it is|it|my)(?![a-z])\s*(?:的)?", "", bare, flags=re.I)
    bare = "" if bare.lower() in ("it", "it's", "it is") else bare
    mine = bool(re.match(r"(?:我(?!们)|本人|I\b|I'm\b|my\b)", bare, re.I))
    slot = _slot_of(bare, old, new) if mine or not bare or re.search(r"名字|生日|职业|name|birthday", bare) else None
    zh = clause.language != "en"
    if slot:
        return _made(
            "profile",
            f"profile:user:{slot}",
            {"slot": slot, "value": new, "old": old},
            _say(slot, new, zh),
            pattern,
            0,
            old or None,
        )
    if mine and re.search(r"喜欢|爱|偏好|要|用|prefer|like|love|use|want|favou?rite", bare):
        return _taste(new, old, pattern, "喜欢" if zh else "prefers")
    if words.DAY.match(new) or words.DAY.match(old):
        said = dates.find(new, today)
        value: dict[str, object] = {"topic": first, "value": new, "old": old}
        thing = re.sub(r"\s+(?:is|are|on|at)$|^(?:the|our)\s+|的$", "", first)
        if thing:
            made = scheduled.made(thing, new, said, "zh" if zh else "en", old, correction=True)
            return replace(made, pattern=pattern)
        made = _made("event", None, value, new, pattern, 0, old or None)
        return replace(made, event_date=said.day if said else None)
    if not bare and (slot_of(new) or slot_of(old) or target_of(new) != new or re.search(r"风|style", new + old)):
        return _taste(new, old, pattern, "喜欢" if zh else "prefers")
    key = f"entity:topic:{slug(first)}" if first else None
    text = (f"{first}是{new}" if zh else f"{first} {new}") if first else new
    return _made(
        "entity" if first else "note", key, {"topic": first, "value": new, "old": old}, text, pattern, 0, old or None
    )


def _say(slot: str, new: str, zh: bool) -> str:
    if zh:
        return {
            "name": f"名字叫{new}",
            "city": f"住在{new}",
            "hometown": f"来自{new}",
            "employer": f"在{new}工作",
            "occupation": f"职业是{new}",
            "birthday": f"生日是{new}",
        }.get(slot, f"{slot}：{new}")
    return {
        "name": f"name is {new}",
        "city": f"lives in {new}",
        "hometown": f"is from {new}",
        "employer": f"works at {new}",
        "occupation": f"is a {new}",
        "birthday": f"birthday is {new}",
    }.get(slot, f"{slot}: {new}")


def _slot_of(topic: str, old: str, new: str) -> str | None:
    for slot, pattern in (
        ("name", r"叫|名字|姓名|\bname|called"),
        ("city", r"住|家在|\blive|based"),
        ("birthday", r"生日|birthday"),
        ("age", r"岁$|\bage\b"),
        ("employer", r"公司|工作在|在.*(?:工作|上班)|work (?:at|for)|employer|company"),
        ("occupation", r"职业|工作是|做$|\bjob\b|work as|profession"),
        ("hometown", r"来自|老家|家乡|from$|hometown"),
        ("email", r"邮箱|email"),
        ("phone", r"电话|手机号|phone number"),
    ):
        if re.search(pattern, topic, re.I):
            return slot
    joined = f"我是{new}"
    if re.search(r"(?:师|员|生|家|者|经理|医生|老师)$", new) or re.search(
        (
            r"\b(?:engineer|developer|designer|teacher|doctor|nurse|manager|student|lawyer|analyst|scientist"
            r"|writer)\b"
        ),
        new,
        re.I,
    ):
        return "occupation"
    if re.search(r"岁$", new):
        return "age"
    return "hometown" if joined.endswith("人") and old.endswith("人") else None


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
        return [_value(topic["what"], old, new, today, clause, "换成" if "换" in how else "改成")]
    if words.DAY.match(new):
        return [_value(re.sub(r"^把|从\S*$|已经|时间|的$", "", head), old, new, today, clause, "改成")]
    self_said = stance.subject in ("self", "group") or re.match(r"^(?:我|现在|最近|已经|以后|早就)", text)
    if how.startswith("跳槽"):
        return [
            _made(
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
            _made(
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
            _made(
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
    found = _taste(new, old, "换成" if "换" in how else "改成", "改用" if not context else "使用")
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


def _english(clause: Clause, following: Clause | None, stance: Stance, plain: list[Found], today: date) -> list[Found]:
    text = re.sub(r"^(?:no|yes|well|oh|hey|hi|sorry|wait|and|but|so)[,.]?\s+(?=\S)", "", clause.text, flags=re.I)
    if (
        following
        and re.match(r"instead of\b", text, re.I)
        and (match := words.INSTEAD_EN.search(f"{text}, {following.text}"))
    ):
        return [
            _joined(
                _taste(
                    tidy(match["new2"] or match["new"]), tidy(match["old2"] or match["old"]), "instead of", "prefers"
                )
            )
        ]
    if match := words.NOT_ANYMORE_EN.search(text):
        old = tidy(match["old"] or match["old2"])
        return (
            [_gone_en(old, "not anymore")]
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
    if found := _gone(text, stance):
        return found
    if (match := words.INSTEAD_EN.search(text)) and (stance.subject in ("self", "group") or match["new2"]):
        verb = match["verb"] or "prefer"
        if re.search(r"\bnow\b|prefer|switched|started|'m|am\b|from now on|these days", text):
            return [
                _taste(
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
        return [_joined(_value("", match["old"], match["new"], today, clause, "not X but Y"))]
    if found := _contrast_en(text, following, stance, today, clause):
        typed = [one for one in plain if one.kind == "constraint"]
        return (
            [_joined(_promote(one, "not X but Y", found[0].old_value)) for one in typed]
            if typed and following
            else found
        )
    if (
        stance.subject in ("self", "none", "group")
        and words.NOW_EN.search(clause.text)
        and not words.NOW_ASIDE_EN.search(clause.text)
    ):
        return [
            _promote(one, "now")
            for one in (plain or preferences.find(clause, replace(stance, momentary=False)))
            if one.kind in ("preference", "profile")
        ]
    if words.ACTUALLY_EN.match(clause.text) and stance.subject == "self":
        return [
            _promote(one, "actually")
            for one in plain
            if one.kind == "profile" or (one.kind == "preference" and one.polarity < 0)
        ]
    return []


def _gone(text: str, stance: Stance) -> list[Found]:
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
        or neg in ("off", "'m off", "dropped")
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
    return [_gone_en(old, "no longer" if neg == "no longer" else "anymore")]


def _gone_en(old: str, pattern: str) -> Found:
    old = re.sub(
        r"\s+(?:any ?more|any longer|these days|now|altogether|for good|completely|entirely)$", "", old, flags=re.I
    )
    if place := re.match(r"(?:live|living|based)\s+(?:in|at)\s+(.+)$", old, re.I):
        return _made(
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
        return _made(
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
        return _made(
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
    return _made(
        "preference",
        key,
        {"scope": scope, "target": target_of(target), "value": target},
        f"no longer {old}",
        pattern,
        -1,
        target,
        True,
    )


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
        return [_value(topic[1] if topic else "", old, new, today, clause, "switched")]
    if how in ("moved", "pushed", "shifted", "bumped", "postponed", "rescheduled", "renamed", "upgraded"):
        return []
    if re.match(r"(?:the|a|an)\s", text, re.I) and not old:
        return []
    name = re.search(r"my name", text, re.I)
    if name:
        return [
            _made(
                "profile",
                "profile:user:name",
                {"slot": "name", "value": new, "old": old},
                f"name is {new}",
                "switched",
                0,
                old or None,
            )
        ]
    found = _taste(new, old, "switched", "switched to")
    return [found]


def _contrast_en(text: str, following: Clause | None, stance: Stance, today: date, clause: Clause) -> list[Found]:
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
        made = _value(
            f"{topic} {link}".strip()
            if link not in ("is", "are", "'s", "was", "am", "'m", "on", "at", "in", "be")
            else topic,
            old,
            new,
            today,
            clause,
            "not X but Y",
        )
        return [_joined(made) if following and candidate != text else made]
    return []
