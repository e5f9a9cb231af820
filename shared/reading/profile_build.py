"""How a fact about the speaker or the speaker's business is put."""

import re

from shared.reading.keys import slug, tidy
from shared.reading.model import Found


def fact(slot: str, value: str, text: str, pattern: str, **more: object) -> Found:
    return Found("profile", f"profile:user:{slot}", {"slot": slot, "value": value, **more}, text, "profile", pattern)


def organisation(what: str, rest: str, text: str, language: str) -> list[Found]:
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


def clip(place: str) -> str:
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
