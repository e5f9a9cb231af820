"""Facts about the speaker said in English."""

import re

from shared.reading import profile_words as words
from shared.reading.gates import gate
from shared.reading.guards import Stance
from shared.reading.keys import slug, tidy
from shared.reading.model import Found
from shared.reading.profile_build import clip, fact, organisation
from shared.reading.profile_kin import household_en, relative_en

_IDENTITY_EN = gate(words.CALL_EN, words.NAME_EN, words.AGE_EN, words.BIRTH_EN)


_PLACES_EN = gate(words.HOME_EN, words.MOVE_EN, words.FROM_EN)


_WORK_EN = gate(words.WORK_EN, words.JOB_EN)


_SELF_EN = gate(
    words.HEALTH_EN, words.TRAIT_EN, words.STATUS_EN, words.TONGUE_EN, words.STUDY_EN, words.BODY_EN, words.MBTI
)


_OWNED_EN = gate(words.ORG_EN, words.MY_ORG_EN, words.RELATIVE_EN, words.HAVE_EN, words.WE_EN)


ANY_EN = _IDENTITY_EN | _PLACES_EN | _WORK_EN | _SELF_EN | _OWNED_EN


def english(text: str, stance: Stance, signs: int) -> list[Found]:
    owned = signs & _OWNED_EN
    if owned and (match := words.ORG_EN.search(text)) and not words.TRANSIENT_EN.search(text):
        return organisation(match["what"].lower(), tidy(match["rest"]), text, "en")
    if owned and (match := words.MY_ORG_EN.search(text)) and not words.TRANSIENT_EN.search(text):
        return organisation(match["what"].lower(), tidy(match["rest"]), text, "en")
    if owned and (match := words.RELATIVE_EN.search(text)):
        return relative_en(match)
    if (
        owned
        and (match := words.HAVE_EN.search(text))
        and not re.search(r"\b(?:question|problem|issue|idea|to\b)", match["rest"], re.I)
    ):
        return household_en(match)
    if stance.subject == "group":
        if (
            (match := words.WE_EN.search(text))
            and not words.TRANSIENT_EN.search(text)
            and not words.NOT_OF_A_TEAM_EN.match(match["what"])
        ):
            verb = match["verb"].lower().removeprefix("are ").removeprefix("'re ")
            return [
                Found(
                    "profile",
                    f"profile:team:{slug(verb)}:{slug(match['what'], 32)}",
                    {"subject": "team", "value": tidy(match["what"])},
                    f"team {'has' if verb == 'have' else f'{verb}s'} {tidy(match['what'])}"
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
        return [fact("call_me", tidy(match["name"]), f"wants to be called {tidy(match['name'])}", "call_me")]
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
            return [fact("name", name, f"name is {name}", "name")]
    if (match := words.AGE_EN.search(text)) and 4 < int(match["age"]) < 120:
        return [fact("age", match["age"], f"{match['age']} years old", "age")]
    if match := words.BIRTH_EN.search(text):
        day = tidy(match["day"] or match["day2"])
        return (
            [fact("birthday", day, f"birthday is {day}", "birthday")]
            if re.search(r"\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", day, re.I)
            else []
        )
    return []


def _place_en(text: str) -> list[Found]:
    if (match := words.MOVE_EN.search(text)) and not words.VAGUE_PLACE.search(place := clip(match["place"])):
        return [
            fact("city", place, f"moved to {place}", "moved", **({"from": tidy(match["old"])} if match["old"] else {}))
        ]
    if match := words.HOME_EN.search(text):
        place = clip(match["place"] or match["place2"] or match["place3"])
        return (
            [fact("city", place, f"lives in {place}", "lives")] if place and not words.VAGUE_PLACE.search(place) else []
        )
    if match := words.FROM_EN.search(text):
        place = clip(match["place"] or match["place2"] or match["place3"] or match["place4"])
        return (
            [fact("hometown", place, f"is from {place}", "hometown")]
            if place and not words.VAGUE_PLACE.search(place)
            else []
        )
    return []


def _work_en(text: str) -> list[Found]:
    found: list[Found] = []
    if match := words.WORK_EN.search(text):
        org = clip(match["org"] or match["org2"] or match["org3"])
        if org and not re.match(r"(?:the (?:moment|office)|home|night|AM|PM)\b", org):
            found.append(fact("employer", org, f"works at {org}", "employer"))
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
                fact(
                    slot,
                    job,
                    f"works in {job}" if match["field"] else f"is a {job}" if match["job"] else f"job is {job}",
                    "occupation",
                )
            )
            at = re.match(r"\s+(?:at|for|with)\s+(.+)$", match["at"] or "")
            if at and not any(one.value["slot"] == "employer" for one in found) and at[1][:1].isupper():
                found.append(fact("employer", clip(at[1]), f"works at {clip(at[1])}", "employer"))
    return found


def _self_en(text: str) -> list[Found]:
    if match := words.HEALTH_EN.search(text):
        return [fact(f"health:{slug(match['what'])}", match["what"].lower(), f"has {match['what'].lower()}", "health")]
    if (match := words.TRAIT_EN.search(text)) and " not " not in text:
        what = match["what"].lower()
        return [fact(f"trait:{slug(what)}", what, f"is a{'n' if what[0] in 'aeio' else ''} {what}", "trait")]
    if (match := words.STATUS_EN.search(text)) and " not " not in text:
        status = match["status"].lower()
        slot = (
            "marital_status"
            if status in ("married", "single", "divorced", "engaged", "widowed")
            else f"trait:{slug(status)}"
        )
        return [fact(slot, status, f"is {status}", "family")]
    if match := words.TONGUE_EN.search(text):
        return [
            fact(
                "native_language" if re.search(r"native|mother|first", text) else "languages",
                tidy(match["what"]),
                f"speaks {tidy(match['what'])}",
                "language",
            )
        ]
    if match := words.STUDY_EN.search(text):
        what = clip(match["what"])
        school = bool(words.SCHOOL_EN.search(what))
        if re.search(r"went to|attend|go to school", text, re.I) and not school:
            return []
        return [
            fact(
                "school" if school else "major",
                what,
                f"studied {what}" if not school else f"school: {what}",
                "education",
            )
        ]
    if match := words.BODY_EN.search(text):
        return [
            fact(
                slug(match["what"]), tidy(match["value"]), f"{match['what'].lower()} is {tidy(match['value'])}", "body"
            )
        ]
    if match := words.MBTI.search(text):
        return [fact("mbti", match["mbti"].upper(), f"MBTI type {match['mbti'].upper()}", "mbti")]
    return []
