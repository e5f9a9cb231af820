"""Facts about the speaker said in Chinese."""

import re

from shared.reading import persons
from shared.reading import profile_words as words
from shared.reading.gates import gate, mask
from shared.reading.guards import Stance
from shared.reading.keys import slug, tidy
from shared.reading.model import Found
from shared.reading.profile_build import fact, organisation
from shared.reading.profile_kin import household_zh, relative_zh
from shared.text.chinese import tag as words_of
from shared.text.patterns import to_pattern

_IDENTITY_ZH = gate(
    to_pattern("坐标|今年"), words.NAME_ZH, words.ME_ZH, words.SURNAME_ZH, words.AGE_ZH, words.BIRTH_ZH, words.CALL_ZH
)


_PLACES_ZH = gate(words.MOVE_ZH, words.HOME_ZH, words.FROM_ZH)


_WORK_ZH = gate(words.JOB_ZH, words.WORK_ZH, to_pattern("[做搞干].*的"))


_SELF_ZH = gate(words.HEALTH_ZH, words.STUDY_ZH, words.TONGUE_ZH, words.BODY_ZH, words.MBTI, words.SEX_ZH, words.OWN_ZH)


_HOUSEHOLD_ZH = gate(words.FAMILY_ZH, words.PET_ZH)


_OWNED_ZH = gate(words.ORG_ZH, words.RELATIVE_ZH)


ANY_ZH = _IDENTITY_ZH | _PLACES_ZH | _WORK_ZH | _SELF_ZH | _HOUSEHOLD_ZH | _OWNED_ZH


def _subjectless(text: str) -> str:
    """The clause without the time and adverbs before its subject."""
    text = re.sub(
        (
            r"^(?:其实|不过|而且|并且|另外|还有|对了|顺便说一下|顺便|因为|所以|但是?|现在|目前|今年|"
            r"去年|最近|如今|上个?月|上周|平时|那|嗯|好的?|你好|大家好|记住|以前|之前|后来|本来|首先"
            r"|说错了|是的?|已经|虽然|毕竟|从小|由于|刚刚?|自我介绍一下|介绍一下|更正一下|更正)+[，,\s]*"
            r"(?=我|咱|本)"
        ),
        "",
        text,
    )
    return text.replace("\u00a0", "")


def chinese(text: str, stance: Stance, signs: int) -> list[Found]:
    text = _subjectless(text)
    if signs & _OWNED_ZH and (match := words.ORG_ZH.search(text)):
        return organisation(match["what"], match["rest"], text, "zh") if not words.ORG_MOOD.search(text) else []
    if stance.subject == "other":
        return relative_zh(text) if signs & _OWNED_ZH else []
    if signs & _HOUSEHOLD_ZH and (words.FAMILY_ZH.search(text) or words.PET_ZH.search(text)):
        return household_zh(text)
    if stance.subject == "none":
        return call_zh(text) or _pro_drop_zh(text)
    if stance.subject == "agent":
        return call_zh(text)
    if stance.subject != "self" and not re.match(r"我们(?:一家|家)?.{0,4}(?:住|搬)", text):
        return []
    if stance.subject == "self" and not stance.explicit and not text.startswith("我"):
        text = "我" + text
        signs |= mask("我")
    return (
        (_identity_zh(text) if signs & _IDENTITY_ZH else [])
        or (_place_zh(text, stance) if signs & _PLACES_ZH else [])
        or (_work_zh(text) if signs & _WORK_ZH else [])
        or (_self_zh(text) if signs & _SELF_ZH else [])
    )


def _pro_drop_zh(text: str) -> list[Found]:
    """Facts said without a subject, where only the speaker can be meant."""
    if re.match(r"^(?:今年\d{1,2}岁|坐标[\u4e00-\u9fff]{2,6}$|名叫|本名|家住)", text):
        if text.startswith("坐标"):
            place = text.removeprefix("坐标")
            return [fact("city", place, f"住在{place}", "lives")]
        return _identity_zh("我" + text) or _place_zh("我" + text, None) or _self_zh("我" + text)
    return []


def call_zh(text: str) -> list[Found]:
    """By what name the text asks that its speaker be called."""
    if (match := words.CALL_ZH.search(text)) and _is_name(name := tidy(match["name"])):
        return [fact("call_me", name, f"希望被称呼为{name}", "call_me")]
    return []


def _is_name(text: str) -> bool:
    return persons.is_name(text) or not words.NOT_NAME.search(text)


def _identity_zh(text: str) -> list[Found]:
    if (match := words.NAME_ZH.search(text)) and _is_name(name := tidy(match["name"] or match["name2"])):
        return [fact("name", name, f"名字叫{name}", "name")]
    if (match := words.ME_ZH.search(text)) and persons.is_nothing_else(match["name"]):
        return [fact("name", match["name"], f"名字叫{match['name']}", "name")]
    if match := words.SURNAME_ZH.search(text):
        return [fact("surname", match["name"], f"姓{match['name']}", "name")]
    if match := words.AGE_ZH.search(text):
        if match["age"]:
            return [fact("age", match["age"], f"{match['age']}岁", "age")]
        said = match["year"] or match["sign"]
        return [
            fact(
                "birth_year" if match["year"] else "zodiac",
                said,
                f"{said}年出生" if match["year"] else f"属{said}",
                "age",
            )
        ]
    if (match := words.BIRTH_ZH.search(text)) and re.search(r"\d|[一二三四五六七八九十]月", match["day"]):
        return [fact("birthday", match["day"], f"生日是{match['day']}", "birthday")]
    return call_zh(text)


def _place_zh(text: str, stance: Stance | None) -> list[Found]:
    if match := words.MOVE_ZH.search(text):
        place = tidy(match["place"])
        if words.VAGUE_PLACE.search(place) or re.search(r"[吃睡看办拿]", place):
            return []
        more = {"from": match["old"]} if match["old"] else {}
        return [fact("city", place, f"搬到{place}", "moved", **more)]
    if match := words.HOME_ZH.search(text):
        place = tidy(match["place"] or match["place2"])
        if words.VAGUE_PLACE.search(place) or (stance and stance.momentary and not _is_place(place)):
            return []
        return [fact("city", place, f"住在{place}", "lives")]
    if match := words.FROM_ZH.search(text):
        place = tidy(match["place"] or match["native"])
        if match["native"] and not _is_place(place):
            return []
        return [fact("hometown", place, f"来自{place}", "hometown")]
    return []


def _is_place(text: str) -> bool:
    return any(tag.startswith("ns") for _, tag in words_of(text)) or bool(re.search(r"[市省县区镇村国州]$", text))


def _work_zh(text: str) -> list[Found]:
    trade = re.match(r"^我(?:现在|目前|一直)?(?:是)?(?:做|搞|干)(?P<field>[\u4e00-\u9fffA-Za-z]{2,10})的$", text)
    if trade and not re.search(r"[我你他这那么样错对]|决定", trade["field"]):
        return [fact("occupation", trade["field"], f"从事{trade['field']}", "occupation")]
    if re.search(r"主义者|素食", text):
        return []
    if match := words.JOB_ZH.search(text):
        job = tidy(match["job"] or match["job2"] or match["field"])
        if (
            match["neg"]
            or re.match(r"(?:你|他|她|这|那|一?个好|说|对|真的|不|想|要|第一|唯一|被|在|来|最|有|很|大家|需要)", job)
            or re.search(r"的(?:人|忠实|老用户)|大家$|专家$|用户", job)
        ):
            return []
        return [fact("occupation", job, f"职业是{job}" if not match["field"] else f"从事{job}", "occupation")]
    if (match := words.WORK_ZH.search(text)) and (
        match["act"] or re.match(r"^我\S{0,6}(?:就职|任职|供职|入职|加入|跳槽|加盟)", text)
    ):
        place = tidy(match["place"])
        if re.search(r"家里?$|这|那|哪|外面|一起|认真|努力|远程|电脑|晚上|周末|办公室|做|忙|公司$", place) or re.search(
            r"了$|个梦|饭", match["act"] or ""
        ):
            return []
        if _is_place(place) and not re.search(r"公司|大学|医院|银行|集团|学校|院", place):
            found = [fact("work_city", place, f"在{place}工作", "works_in")]
        else:
            named = not re.match(r"一[家个所间]", place)
            found = [] if not named else [fact("employer", place, f"在{place}工作", "employer")]
        job = re.match(r"[当做](.{2,12})$", match["act"] or "")
        return [*found, fact("occupation", tidy(job[1]), f"职业是{tidy(job[1])}", "occupation")] if job else found
    return []


def _self_zh(text: str) -> list[Found]:
    if match := words.HEALTH_ZH.search(text):
        return [fact(f"health:{slug(match['what'])}", match["what"], f"有{match['what']}", "health")]
    if match := words.STUDY_ZH.search(text):
        school = match["school"] or match["school2"] or match["school3"]
        if school:
            return [fact("school", tidy(school), text.removeprefix("我"), "education")]
        if re.search(r"不|会|到|习|了$|着|做|车|什么", match["major"]) or len(match["major"]) < 2:
            return []
        return [fact("major", tidy(match["major"]), f"专业是{tidy(match['major'])}", "education")]
    if match := words.TONGUE_ZH.search(text):
        slot = "native_language" if "母语" in text else "languages"
        return [fact(slot, match["tongue"], text.removeprefix("我").removeprefix("的"), "language")]
    if match := words.BODY_ZH.search(text):
        slot = {
            "身高": "height",
            "体重": "weight",
            "血型": "blood_type",
            "星座": "zodiac_sign",
            "鞋码": "shoe_size",
            "时区": "timezone",
        }.get(match["what"], match["what"].lower())
        return [fact(slot, match["value"], f"{match['what']}{match['value']}", "body")]
    if match := words.MBTI.search(text):
        return [fact("mbti", match["mbti"].upper(), f"MBTI 是 {match['mbti'].upper()}", "mbti")]
    if match := words.SEX_ZH.search(text):
        return [fact(f"trait:{match['sex']}", match["sex"], f"是{match['sex']}", "trait")]
    if match := words.OWN_ZH.search(text):
        return [fact(f"owns:{slug(match['what'][1:])}", match["what"][1:], f"有{match['what']}", "owns")]
    return []
