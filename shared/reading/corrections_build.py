"""How a correction is put: what it replaces, under which key, in which words."""

import re
from dataclasses import replace
from datetime import date

from shared.reading import corrections_words as words
from shared.reading import dates, scheduled
from shared.reading.clauses import Clause
from shared.reading.keys import preference_key, slot_of, slug, target_of, third
from shared.reading.model import Found


def of_thing(found: Found, thing: str, today: date) -> Found:
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


def may_promote(one: Found) -> bool:
    return one.kind in ("preference", "profile", "constraint", "goal", "decision", "task", "event")


def promoted(one: Found, pattern: str, old: str | None = None, old_key: str | None = None) -> Found:
    value = dict(one.value)
    if old_key:
        value["old_key"] = old_key
    return replace(
        one, assertion="correction", detector="correction", pattern=pattern, old_value=old or one.old_value, value=value
    )


def denial(old: str, verb: str, pattern: str, clause: Clause) -> list[Found]:
    if (
        not old
        or re.match(
            r"(?:这|那|你|他|她|它|谁|什么|多|下|了$|的|出|到|起|上(?!海)|懂|清|完|见|惯|it\b|that\b|this\b)", old
        )
        or len(old) > 18
    ):
        return []
    if re.match(r"住", verb):
        return [
            build(
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
            build(
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
            build(
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
        build(
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


def build(
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


def with_next(found: Found) -> Found:
    """The correction marked as having used up the clause after its own."""
    return replace(found, flags=(*found.flags, "joined"))


def taste_of(new: str, old: str, pattern: str, verb: str = "喜欢") -> Found:
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
    return build(
        "preference",
        key,
        value,
        f"{verb}{new}" if re.search(r"[\u3400-\u9fff]", verb) else f"{verb} {third(new)}",
        pattern,
        1,
        old or None,
    )


def value_of(topic: str, old: str, new: str, today: date, clause: Clause, pattern: str) -> Found:
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
        return build(
            "profile",
            f"profile:user:{slot}",
            {"slot": slot, "value": new, "old": old},
            _say(slot, new, zh),
            pattern,
            0,
            old or None,
        )
    if mine and re.search(r"喜欢|爱|偏好|要|用|prefer|like|love|use|want|favou?rite", bare):
        return taste_of(new, old, pattern, "喜欢" if zh else "prefers")
    if words.DAY.match(new) or words.DAY.match(old):
        said = dates.find(new, today)
        value: dict[str, object] = {"topic": first, "value": new, "old": old, **dates.without_day(said)}
        thing = re.sub(r"\s+(?:is|are|on|at)$|^(?:the|our)\s+|的$", "", first)
        if thing:
            made = scheduled.made(thing, new, said, "zh" if zh else "en", old, correction=True)
            return replace(made, pattern=pattern)
        made = build("event", None, value, new, pattern, 0, old or None)
        return replace(made, event_date=said.day if said else None)
    if not bare and (slot_of(new) or slot_of(old) or target_of(new) != new or re.search(r"风|style", new + old)):
        return taste_of(new, old, pattern, "喜欢" if zh else "prefers")
    key = f"entity:topic:{slug(first)}" if first else None
    text = (f"{first}是{new}" if zh else f"{first} {new}") if first else new
    return build(
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
