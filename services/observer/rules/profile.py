"""Facts about the speaker that fill slots: name, home, work, family, health; and facts about the speaker's business."""

import re

import rjieba

from services.observer.rules import profile_words as words
from services.observer.rules.clauses import Clause
from services.observer.rules.gates import gate, mask
from services.observer.rules.guards import KIN_ZH, Stance
from services.observer.rules.keys import fold, slug, tidy
from services.observer.rules.model import Found


_IDENTITY_ZH = gate(
    re.compile("坐标|今年"), words.NAME_ZH, words.SURNAME_ZH, words.AGE_ZH, words.BIRTH_ZH, words.CALL_ZH
)
_PLACES_ZH = gate(words.MOVE_ZH, words.HOME_ZH, words.FROM_ZH)
_WORK_ZH = gate(words.JOB_ZH, words.WORK_ZH, re.compile("[做搞干].*的"))
_SELF_ZH = gate(words.HEALTH_ZH, words.STUDY_ZH, words.TONGUE_ZH, words.BODY_ZH, words.MBTI, words.SEX_ZH, words.OWN_ZH)
_HOUSEHOLD_ZH = gate(words.FAMILY_ZH, words.PET_ZH)
_OWNED_ZH = gate(words.ORG_ZH, words.RELATIVE_ZH)
_IDENTITY_EN = gate(words.CALL_EN, words.NAME_EN, words.AGE_EN, words.BIRTH_EN)
_PLACES_EN = gate(words.HOME_EN, words.MOVE_EN, words.FROM_EN)
_WORK_EN = gate(words.WORK_EN, words.JOB_EN)
_SELF_EN = gate(words.HEALTH_EN, words.STATUS_EN, words.TONGUE_EN, words.STUDY_EN, words.BODY_EN, words.MBTI)
_OWNED_EN = gate(words.ORG_EN, words.RELATIVE_EN, words.HAVE_EN, words.WE_EN)
_ANY_ZH = _IDENTITY_ZH | _PLACES_ZH | _WORK_ZH | _SELF_ZH | _HOUSEHOLD_ZH | _OWNED_ZH
_ANY_EN = _IDENTITY_EN | _PLACES_EN | _WORK_EN | _SELF_EN | _OWNED_EN


def find(clause: Clause, stance: Stance) -> list[Found]:
    """The facts about the speaker or the speaker's business that the clause states."""
    if stance.asked or stance.supposed or stance.reported or stance.ironic or stance.subject == "agent":
        return _call(clause) if stance.subject == "agent" and not stance.asked and not stance.reported else []
    signs = clause.mask
    if clause.language == "en":
        return _english(clause.text, stance, signs) if signs & _ANY_EN else []
    found = _chinese(clause.text, stance, signs) if signs & _ANY_ZH else []
    return found or (
        _english(clause.text, stance, signs)
        if signs & _ANY_EN and re.search(r"\b(?:I|my|our|we)\b", clause.text)
        else []
    )


def _fact(slot: str, value: str, text: str, pattern: str, **more: object) -> Found:
    return Found("profile", f"profile:user:{slot}", {"slot": slot, "value": value, **more}, text, "profile", pattern)


def _call(clause: Clause) -> list[Found]:
    match = words.CALL_EN.search(clause.text) if clause.language == "en" else words.CALL_ZH.search(clause.text)
    if match and not words.NOT_NAME.search(match["name"]):
        name = tidy(match["name"])
        return [
            _fact(
                "call_me",
                name,
                f"希望被称呼为{name}" if clause.language == "zh" else f"wants to be called {name}",
                "call_me",
            )
        ]
    return []


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


def _chinese(text: str, stance: Stance, signs: int) -> list[Found]:
    text = _subjectless(text)
    if signs & _OWNED_ZH and (match := words.ORG_ZH.search(text)):
        return _organisation(match["what"], match["rest"], text, "zh") if not words.ORG_MOOD.search(text) else []
    if stance.subject == "other":
        return _relative_zh(text) if signs & _OWNED_ZH else []
    if signs & _HOUSEHOLD_ZH and (words.FAMILY_ZH.search(text) or words.PET_ZH.search(text)):
        return _household_zh(text)
    if stance.subject == "none":
        return _call_zh(text) or _pro_drop_zh(text)
    if stance.subject == "agent":
        return _call_zh(text)
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
            return [_fact("city", place, f"住在{place}", "lives")]
        return _identity_zh("我" + text) or _place_zh("我" + text, None) or _self_zh("我" + text)
    return []


def _call_zh(text: str) -> list[Found]:
    if (match := words.CALL_ZH.search(text)) and not words.NOT_NAME.search(match["name"]):
        name = tidy(match["name"])
        return [_fact("call_me", name, f"希望被称呼为{name}", "call_me")]
    return []


def _identity_zh(text: str) -> list[Found]:
    if (match := words.NAME_ZH.search(text)) and not words.NOT_NAME.search(
        name := tidy(match["name"] or match["name2"])
    ):
        return [_fact("name", name, f"名字叫{name}", "name")]
    if match := words.SURNAME_ZH.search(text):
        return [_fact("surname", match["name"], f"姓{match['name']}", "name")]
    if match := words.AGE_ZH.search(text):
        if match["age"]:
            return [_fact("age", match["age"], f"{match['age']}岁", "age")]
        said = match["year"] or match["sign"]
        return [
            _fact(
                "birth_year" if match["year"] else "zodiac",
                said,
                f"{said}年出生" if match["year"] else f"属{said}",
                "age",
            )
        ]
    if (match := words.BIRTH_ZH.search(text)) and re.search(r"\d|[一二三四五六七八九十]月", match["day"]):
        return [_fact("birthday", match["day"], f"生日是{match['day']}", "birthday")]
    return _call_zh(text)


def _place_zh(text: str, stance: Stance | None) -> list[Found]:
    if match := words.MOVE_ZH.search(text):
        place = tidy(match["place"])
        if words.VAGUE_PLACE.search(place) or re.search(r"[吃睡看办拿]", place):
            return []
        more = {"from": match["old"]} if match["old"] else {}
        return [_fact("city", place, f"搬到{place}", "moved", **more)]
    if match := words.HOME_ZH.search(text):
        place = tidy(match["place"] or match["place2"])
        if words.VAGUE_PLACE.search(place) or (stance and stance.momentary and not _is_place(place)):
            return []
        return [_fact("city", place, f"住在{place}", "lives")]
    if match := words.FROM_ZH.search(text):
        place = tidy(match["place"] or match["native"])
        if match["native"] and not _is_place(place):
            return []
        return [_fact("hometown", place, f"来自{place}", "hometown")]
    return []


def _is_place(text: str) -> bool:
    return any(tag.startswith("ns") for _, tag in rjieba.tag(text)) or bool(re.search(r"[市省县区镇村国州]$", text))


def _work_zh(text: str) -> list[Found]:
    trade = re.match(r"^我(?:现在|目前|一直)?(?:是)?(?:做|搞|干)(?P<field>[\u4e00-\u9fffA-Za-z]{2,10})的$", text)
    if trade and not re.search(r"[我你他这那么样错对]|决定", trade["field"]):
        return [_fact("occupation", trade["field"], f"从事{trade['field']}", "occupation")]
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
        return [_fact("occupation", job, f"职业是{job}" if not match["field"] else f"从事{job}", "occupation")]
    if (match := words.WORK_ZH.search(text)) and (
        match["act"] or re.match(r"^我\S{0,6}(?:就职|任职|供职|入职|加入|跳槽|加盟)", text)
    ):
        place = tidy(match["place"])
        if re.search(r"家里?$|这|那|哪|外面|一起|认真|努力|远程|电脑|晚上|周末|办公室|做|忙|公司$", place) or re.search(
            r"了$|个梦|饭", match["act"] or ""
        ):
            return []
        if _is_place(place) and not re.search(r"公司|大学|医院|银行|集团|学校|院", place):
            found = [_fact("work_city", place, f"在{place}工作", "works_in")]
        else:
            named = not re.match(r"一[家个所间]", place)
            found = [] if not named else [_fact("employer", place, f"在{place}工作", "employer")]
        job = re.match(r"[当做](.{2,12})$", match["act"] or "")
        return [*found, _fact("occupation", tidy(job[1]), f"职业是{tidy(job[1])}", "occupation")] if job else found
    return []


def _self_zh(text: str) -> list[Found]:
    if match := words.HEALTH_ZH.search(text):
        return [_fact(f"health:{slug(match['what'])}", match["what"], f"有{match['what']}", "health")]
    if match := words.STUDY_ZH.search(text):
        school = match["school"] or match["school2"] or match["school3"]
        if school:
            return [_fact("school", tidy(school), text.removeprefix("我"), "education")]
        if re.search(r"不|会|到|习|了$|着|做|车|什么", match["major"]) or len(match["major"]) < 2:
            return []
        return [_fact("major", tidy(match["major"]), f"专业是{tidy(match['major'])}", "education")]
    if match := words.TONGUE_ZH.search(text):
        slot = "native_language" if "母语" in text else "languages"
        return [_fact(slot, match["tongue"], text.removeprefix("我").removeprefix("的"), "language")]
    if match := words.BODY_ZH.search(text):
        slot = {
            "身高": "height",
            "体重": "weight",
            "血型": "blood_type",
            "星座": "zodiac_sign",
            "鞋码": "shoe_size",
            "时区": "timezone",
        }.get(match["what"], match["what"].lower())
        return [_fact(slot, match["value"], f"{match['what']}{match['value']}", "body")]
    if match := words.MBTI.search(text):
        return [_fact("mbti", match["mbti"].upper(), f"MBTI 是 {match['mbti'].upper()}", "mbti")]
    if match := words.SEX_ZH.search(text):
        return [_fact(f"trait:{match['sex']}", match["sex"], f"是{match['sex']}", "trait")]
    if match := words.OWN_ZH.search(text):
        return [_fact(f"owns:{slug(match['what'][1:])}", match["what"][1:], f"有{match['what']}", "owns")]
    return []


def _household_zh(text: str) -> list[Found]:
    if match := words.FAMILY_ZH.search(text):
        if match["married"]:
            return [
                _fact(
                    "marital_status" if "怀孕" not in text and "当" not in text else "parenthood",
                    match["married"],
                    tidy(re.sub(r"^我", "", text)),
                    "family",
                )
            ]
        who = KIN_ZH.search(match["what"])
        if who and re.search(r"老板|经理|客户|问题|朋友|同事|同学|医生|老师|亲戚|邻居", match["what"]):
            return []
        return [_fact(f"family:{who.group() if who else 'x'}", match["what"], f"有{match['what']}", "family")]
    match = words.PET_ZH.search(text)
    if match is None or not re.search(
        r"猫|狗|犬|鱼|鸟|鹦鹉|兔|仓鼠|龟|宠物|金毛|柯基|哈士奇|泰迪|布偶|英短|橘|马|羊|蛇|蜥蜴|柴犬|边牧|拉布拉多",
        match["pet"],
    ):
        return []
    name = f"，叫{match['name']}" if match["name"] else ""
    kind = re.sub(r"^(?:[一两三四几\d]+)?[只条匹头个缸]", "", match["pet"])
    return [
        _fact(
            f"pet:{slug(kind)}",
            match["pet"],
            f"养了{match['pet']}{name}",
            "pet",
            **({"name": match["name"]} if match["name"] else {}),
        )
    ]


def _relative_zh(text: str) -> list[Found]:
    match = words.RELATIVE_ZH.search(text)
    if (
        not match
        or not words.RELATIVE_OK_ZH.search(match["what"])
        or re.match(r"叫?[我你他她]", match["value"])
        or words.NOT_NAME.search(match["value"].removeprefix("叫"))
    ):
        return []
    what = match["what"]
    attribute = (
        "name"
        if "叫" in what[:2]
        else "age"
        if re.search(r"岁|个月|年级", what)
        else "allergy"
        if "过敏" in what
        else "job"
        if what.startswith("是")
        else "place"
    )
    return [
        _fact(
            f"{slug(match['who'])}:{attribute}",
            tidy(match["value"]),
            f"{match['who']}{what}",
            "relative",
            relative=match["who"],
        )
    ]


def _organisation(what: str, rest: str, text: str, language: str) -> list[Found]:
    subject = slug(re.sub(r"^(?:这个|这家|的)", "", what))
    attribute = slug(
        re.split(r"是|在|偏|用|使用|采用|\b(?:is|are|uses?|runs?|has|have)\b", rest.removeprefix("的"), maxsplit=1)[0]
        or "fact",
        16,
    )
    said = re.sub(r"^(?:我们的?|咱们的?|我的?|本)", "", text) if language == "zh" else f"{what} {rest}"
    return [
        Found(
            "profile",
            f"profile:{subject}:{attribute if attribute != 'x' else slug(rest, 24)}",
            {"subject": what, "value": tidy(rest)},
            tidy(said),
            "profile",
            "business",
        )
    ]


def _english(text: str, stance: Stance, signs: int) -> list[Found]:
    owned = signs & _OWNED_EN
    if owned and (match := words.ORG_EN.search(text)) and not words.TRANSIENT_EN.search(text):
        return _organisation(match["what"].lower(), tidy(match["rest"]), text, "en")
    if owned and (match := words.RELATIVE_EN.search(text)):
        return _relative_en(match)
    if (
        owned
        and (match := words.HAVE_EN.search(text))
        and not re.search(r"\b(?:question|problem|issue|idea|to\b)", match["rest"], re.I)
    ):
        return _household_en(match)
    if stance.subject == "group":
        if (
            (match := words.WE_EN.search(text))
            and not words.TRANSIENT_EN.search(text)
            and not re.search(r"^(?:to|a (?:question|problem|bug)|no\b|not\b|it\b|been)", match["what"], re.I)
        ):
            verb = match["verb"].lower().removeprefix("are ").removeprefix("'re ")
            return [
                Found(
                    "profile",
                    f"profile:team:{slug(verb)}:{slug(match['what'], 32)}",
                    {"subject": "team", "value": tidy(match["what"])},
                    f"team {verb}s {tidy(match['what'])}"
                    if verb.isalpha() and verb not in ("using", "a")
                    else tidy(text),
                    "profile",
                    "business",
                )
            ]
        return _place_en(text)
    if stance.subject == "other" or (stance.subject == "none" and not signs & _IDENTITY_EN):
        return []
    if stance.subject == "none" and not words.NAME_EN.search(text) and not words.CALL_EN.search(text):
        return []
    found = [
        *(_identity_en(text) if signs & _IDENTITY_EN else []),
        *(_place_en(text) if signs & _PLACES_EN else []),
        *(_work_en(text) if signs & _WORK_EN else []),
    ]
    return found or (_self_en(text) if signs & _SELF_EN else [])


def _identity_en(text: str) -> list[Found]:
    if (match := words.CALL_EN.search(text)) and not words.NOT_NAME.search(match["name"]):
        return [_fact("call_me", tidy(match["name"]), f"wants to be called {tidy(match['name'])}", "call_me")]
    if match := words.NAME_EN.search(text):
        name = tidy(match["name"] or match["name2"])
        if match["name"] or not re.search(
            (
                r"ing$|ed$|^(?:Not|Sorry|Very|Fine|Good|Happy|Sure|Chinese|American|French|German|British"
                r"|Japanese|Korean|Indian|Canadian|Italian|Spanish|Christian|Muslim|Jewish|Vegan|Monday|"
                r"Friday)"
            ),
            name,
        ):
            return [_fact("name", name, f"name is {name}", "name")]
    if (match := words.AGE_EN.search(text)) and 4 < int(match["age"]) < 120:
        return [_fact("age", match["age"], f"{match['age']} years old", "age")]
    if match := words.BIRTH_EN.search(text):
        day = tidy(match["day"] or match["day2"])
        return (
            [_fact("birthday", day, f"birthday is {day}", "birthday")]
            if re.search(r"\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", day, re.I)
            else []
        )
    return []


def _clip(place: str) -> str:
    return tidy(
        re.split(
            (
                r"\s(?:and|but|with|for|since|because|where|now|currently|these days|which|as|so|when|before"
                r"|after|last|this|at the moment|right now|anymore|in (?:19|20)\d\d|\d+ years|about|a (?:few"
                r"|couple)|instead|full[- ]time|two|three|two|years)\b"
            ),
            place,
            maxsplit=1,
        )[0]
    )


def _place_en(text: str) -> list[Found]:
    if (match := words.MOVE_EN.search(text)) and not words.VAGUE_PLACE.search(place := _clip(match["place"])):
        return [
            _fact("city", place, f"moved to {place}", "moved", **({"from": tidy(match["old"])} if match["old"] else {}))
        ]
    if match := words.HOME_EN.search(text):
        place = _clip(match["place"] or match["place2"] or match["place3"])
        return (
            [_fact("city", place, f"lives in {place}", "lives")]
            if place and not words.VAGUE_PLACE.search(place)
            else []
        )
    if match := words.FROM_EN.search(text):
        place = _clip(match["place"] or match["place2"] or match["place3"] or match["place4"])
        return (
            [_fact("hometown", place, f"is from {place}", "hometown")]
            if place and not words.VAGUE_PLACE.search(place)
            else []
        )
    return []


def _work_en(text: str) -> list[Found]:
    found: list[Found] = []
    if match := words.WORK_EN.search(text):
        org = _clip(match["org"] or match["org2"] or match["org3"])
        if org and not re.match(r"(?:the (?:moment|office)|home|night|AM|PM)\b", org):
            found.append(_fact("employer", org, f"works at {org}", "employer"))
    if (match := words.JOB_EN.search(text)) and not match["neg"] and "used to be" not in text:
        job = tidy(match["job"] or match["job2"] or match["field"] or "")
        if (
            job
            and not re.search(
                r"\b(?:\w+etarian|pescatarian|person|fan|bit|little|lot|big believer|only|kind of)\b", job, re.I
            )
            and not re.match(r"\s+(?:of|for) (?:this|that|your)", match["rest"] or "")
        ):
            slot = "occupation" if not re.search(r"\b(?:mom|dad|mother|father|speaker)$", job) else "trait:" + slug(job)
            found.append(
                _fact(
                    slot,
                    job,
                    f"works in {job}" if match["field"] else f"is a {job}" if match["job"] else f"job is {job}",
                    "occupation",
                )
            )
            at = re.match(r"\s+(?:at|for|with)\s+(.+)$", match["at"] or "")
            if at and not any(one.value["slot"] == "employer" for one in found) and at[1][:1].isupper():
                found.append(_fact("employer", _clip(at[1]), f"works at {_clip(at[1])}", "employer"))
    return found


def _self_en(text: str) -> list[Found]:
    if match := words.HEALTH_EN.search(text):
        return [_fact(f"health:{slug(match['what'])}", match["what"].lower(), f"has {match['what'].lower()}", "health")]
    if (match := words.STATUS_EN.search(text)) and " not " not in text:
        status = match["status"].lower()
        slot = (
            "marital_status"
            if status in ("married", "single", "divorced", "engaged", "widowed")
            else f"trait:{slug(status)}"
        )
        return [_fact(slot, status, f"is {status}", "family")]
    if match := words.TONGUE_EN.search(text):
        return [
            _fact(
                "native_language" if re.search(r"native|mother|first", text) else "languages",
                tidy(match["what"]),
                f"speaks {tidy(match['what'])}",
                "language",
            )
        ]
    if match := words.STUDY_EN.search(text):
        what = _clip(match["what"])
        school = bool(words.SCHOOL_EN.search(what))
        if re.search(r"went to|attend|go to school", text, re.I) and not school:
            return []
        return [
            _fact(
                "school" if school else "major",
                what,
                f"studied {what}" if not school else f"school: {what}",
                "education",
            )
        ]
    if match := words.BODY_EN.search(text):
        return [
            _fact(
                slug(match["what"]), tidy(match["value"]), f"{match['what'].lower()} is {tidy(match['value'])}", "body"
            )
        ]
    if match := words.MBTI.search(text):
        return [_fact("mbti", match["mbti"].upper(), f"MBTI type {match['mbti'].upper()}", "mbti")]
    return []


def _household_en(match: re.Match[str]) -> list[Found]:
    what = match["what"].lower()
    rest = match["rest"]
    second = re.match(r"\s*(?:,|and|,\s*and)\s+(?=(?:an?|one|two|three|four|five|\d+)\s)", rest)
    names = None if second else words.NAMED_EN.search(rest)
    kind = slug(re.sub(r"^\S+\s+", "", what))
    family = re.search(r"kid|child|son|daughter|brother|sister|sibling|twin|grand", what)
    pet = re.search(
        (
            r"dog|cat|pupp|kitten|retriever|labrador|corgi|poodle|beagle|husk|shepherd|pet|parrot|rabbit"
            r"|hamster|fish|horse"
        ),
        what,
    )
    slot = f"family:{kind}" if family else f"pet:{kind}" if pet else f"owns:{kind}"
    more = {"name": names["names"]} if names else {}
    pattern = "family" if family else "pet" if pet else "owns"
    found = [_fact(slot, what, f"has {what}" + (f" named {names['names']}" if names else ""), pattern, **more)]
    again = words.HAVE_EN.search("I have " + rest[second.end() :]) if second else None
    return found + (_household_en(again) if again else [])


def _relative_en(match: re.Match[str]) -> list[Found]:
    who = fold(match["who"])
    for attribute in ("name", "job", "age", "allergy", "place", "name2"):
        if match[attribute]:
            slot = f"{slug(who)}:{'name' if attribute == 'name2' else attribute}"
            return [
                _fact(
                    slot,
                    _clip(match[attribute]),
                    f"{who}{chr(39) + 's' if match['what'].startswith('name') else ''} {match['what'].strip(', ')}",
                    "relative",
                    relative=who,
                )
            ]
    return []
