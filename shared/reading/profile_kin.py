"""Facts about the speaker's household and relatives."""

import re

from shared.reading import profile_words as words
from shared.reading.guards import KIN_ZH
from shared.reading.keys import fold, slug, tidy
from shared.reading.model import Found
from shared.reading.profile_build import clip, fact


def household_zh(text: str) -> list[Found]:
    if match := words.FAMILY_ZH.search(text):
        if match["married"]:
            return [
                fact(
                    "marital_status" if "怀孕" not in text and "当" not in text else "parenthood",
                    match["married"],
                    tidy(re.sub(r"^我", "", text)),
                    "family",
                )
            ]
        who = KIN_ZH.search(match["what"])
        if who and re.search(r"老板|经理|客户|问题|朋友|同事|同学|医生|老师|亲戚|邻居", match["what"]):
            return []
        return [fact(f"family:{who.group() if who else 'x'}", match["what"], f"有{match['what']}", "family")]
    match = words.PET_ZH.search(text)
    if match is None or not re.search(
        r"猫|狗|犬|鱼|鸟|鹦鹉|兔|仓鼠|龟|宠物|金毛|柯基|哈士奇|泰迪|布偶|英短|橘|马|羊|蛇|蜥蜴|柴犬|边牧|拉布拉多",
        match["pet"],
    ):
        return []
    name = f"，叫{match['name']}" if match["name"] else ""
    kind = re.sub(r"^(?:[一两三四几\d]+)?[只条匹头个缸]", "", match["pet"])
    return [
        fact(
            f"pet:{slug(kind)}",
            match["pet"],
            f"养了{match['pet']}{name}",
            "pet",
            **({"name": match["name"]} if match["name"] else {}),
        )
    ]


def relative_zh(text: str) -> list[Found]:
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
        fact(
            f"{slug(match['who'])}:{attribute}",
            tidy(match["value"]),
            f"{match['who']}{what}",
            "relative",
            relative=match["who"],
        )
    ]


def household_en(match: re.Match[str]) -> list[Found]:
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
    found = [fact(slot, what, f"has {what}" + (f" named {names['names']}" if names else ""), pattern, **more)]
    again = words.HAVE_EN.search("I have " + rest[second.end() :]) if second else None
    return found + (household_en(again) if again else [])


def relative_en(match: re.Match[str]) -> list[Found]:
    who = fold(match["who"])
    for attribute in ("name", "job", "age", "allergy", "place", "name2"):
        if match[attribute]:
            slot = f"{slug(who)}:{'name' if attribute == 'name2' else attribute}"
            return [
                fact(
                    slot,
                    clip(match[attribute]),
                    f"{who}{chr(39) + 's' if match['what'].startswith('name') else ''} {match['what'].strip(', ')}",
                    "relative",
                    relative=who,
                )
            ]
    return []
