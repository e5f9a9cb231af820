"""What a request to forget asks for: the parts of memories that it names in whatever words. Pure."""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.meanings import says_little
from shared.classifiers.static_encoder import load_static_encoder
from shared.domain.statements import ActiveMemory
from shared.extraction.retractions import REMOVING
from shared.language.patterns import to_pattern
from shared.resolution.parts import split_parts
from shared.resolution.related import about
from shared.resolution.remaining import is_detail, join_parts

_FRAME = to_pattern(
    rf"\b(?:please|pls|plz|kindly|{REMOVING}|keep|retain|stored?|saved?|saving|remember(?:ed)?|hold|hang|record(?:s|ed)?|notes?|written|write|heard|memor(?:y|ies)|trace|told|said|say|tell|mention(?:ed)?|typed|bit|thing|part|stuff|everything|anything|ever|never|existed|rather|account|file)\b"
    r"|[别別不莫勿甭要好]*[再往]?[记記存留写寫提][录錄忆憶得着住下在过了]*|[删刪抹擦清忘毁毀撤划劃扔消][掉除去了干净乾淨销銷回]*|[去拿]掉|移除|收回|勾[销銷]"
    r"|[当當][我你]?[没沒](?:[听聽说說讲講][过過见見到]*)?|请|請|[麻劳勞][烦煩]|帮我|幫我|那[句条條段个個事些]?|这[条條句事]|[关關]於|关于|[说說讲講]的|事[儿情]?|刚才|剛才|昨[天晚]|前天|之前|上次|彻底|徹底|记忆|脑[子海]",
    re.I,
)
"""The words of a request that say that something is to be forgotten, and not what."""
_KEEPS = to_pattern(
    r"\b(?:keep|stays?|retain|leave|fine|no secret|public|the rest|still|as before|all right|okay to)\b|照|留[着著]|可[以]?留|得留|保留|随你|隨你|不变|不變",
    re.I,
)
_KEEPS_NOT = to_pattern(r"n[o']t\b|never|leave .{0,30}\bout\b|[别別勿莫]|不要|不用|不准|唔好", re.I)
_ALL = to_pattern(
    r"\b(?:what(?:ever)?|everything|anything|all)\b (?:that )?(?:\w+ ){0,2}(?:said|told|mentioned|typed|wrote|shared|know|about)\b|[说說讲講提]过?的.{1,12}的?事|所有|一切|全部|任何",
    re.I,
)
"""Asks for all to be forgotten that was said with it, and not for a part of it."""
_CLAUSE = to_pattern(r"[^。！？!?\n；;，,]+?(?:[。！？!?\n；;，,]+|\.(?=\s|$)|$)")
OWN_SESSION = 0.35
"""What it counts that a memory was learnt in the session of the request."""
LEAST = 0.55
"""How near a part must be to what is named to be what was meant: of shared words, of meaning, of each word's meaning."""
BESIDE = 0.3
"""Parts of one memory that are nearly as near as the nearest were meant with it."""
ELSEWHERE = 0.15
"""The same, where they are parts of other memories."""
AROUND = 160
"""Characters of a message at most that tells what a request in it means by `that`."""
KEPT_COUNTS = 0.5
"""What being named as something to keep counts against being meant."""
Numbers = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ForgottenParts:
    """A memory that a request to forget means, and its parts that are to stay as one text; empty where none are."""

    memory: ActiveMemory
    rest: str


def find_forgotten(request: str, message: str, session: str, known: Sequence[ActiveMemory]) -> list[ForgottenParts]:
    """The memories that the request means, the likeliest first; none where nothing known is near what it names.

    What its sentences do not name is told by the message around them; what was said in the same session is likelier
    meant than what was said long ago.
    """
    memories = [each for each in known if not each.name_alone]
    parts = [(place, part) for place, each in enumerate(memories) for part in split_parts(each.words_said)]
    if not parts:
        return []
    texts = [part for _, part in parts]
    kept = [clause for clause in _split_clauses(message) if is_to_stay(clause)]
    named = _find_named(request) or (_find_named(message) if len(message) <= AROUND else "")
    if not named:
        return []
    near = _compare(named, texts)
    own = [OWN_SESSION * (session in memories[place].source_sessions) for place, _ in parts]
    near = near + np.asarray(own, np.float32)
    for clause in kept:
        near = near - KEPT_COUNTS * np.maximum(_compare(strip_frame(clause), texts), 0)
    meant = _choose_parts(memories, parts, near)
    return meant if kept or not _ALL.search(request) else [replace(each, rest="") for each in meant]


def is_to_stay(clause: str) -> bool:
    """Whether a clause of a request to forget names what is not to be forgotten."""
    return _KEEPS.search(clause) is not None and _KEEPS_NOT.search(clause) is None


def _find_named(request: str) -> str:
    """What the request names; empty where it says no more than `delete that`."""
    named = " ".join(strip_frame(clause) for clause in _split_clauses(request) if not is_to_stay(clause))
    return named if any(not says_little(term) for term in about(named).terms) else ""


def _split_clauses(text: str) -> list[str]:
    return [clause for each in _CLAUSE.finditer(text) if (clause := each[0].strip())]


def strip_frame(request: str) -> str:
    """What the request names: its words without those that ask for it to be forgotten."""
    return " ".join(_FRAME.sub(" ", request).split())


def _compare(named: str, parts: Sequence[str]) -> Numbers:
    """How near each part is to what is named: the words that both have, their meaning, and each word's nearest."""
    encode = load_static_encoder().encode
    wanted = [term for term in about(named).terms if not says_little(term)]
    if not wanted:
        return np.zeros(len(parts), np.float32)
    whole, words = encode(named), np.stack([encode(term) for term in wanted])
    nearness: list[float] = []
    for part in parts:
        terms = [term for term in about(part).terms if not says_little(term)]
        nearest = (words @ np.stack([encode(term) for term in terms]).T).max(axis=1).mean() if terms else 0.0
        nearness.append(len(set(wanted) & set(terms)) / 2 + float(nearest) + float(whole @ encode(part)))
    return np.asarray(nearness, np.float32)


def _choose_parts(
    memories: Sequence[ActiveMemory], parts: Sequence[tuple[int, str]], near: Numbers
) -> list[ForgottenParts]:
    nearest = int(near.argmax())
    if near[nearest] < LEAST:
        return []
    best, own = float(near[nearest]), parts[nearest][0]
    gone = [
        score >= max(LEAST, best - (BESIDE if place == own else ELSEWHERE))
        for (place, _), score in zip(parts, near.tolist(), strict=True)
    ]
    for at in range(1, len(parts)):
        if gone[at - 1] and parts[at][0] == parts[at - 1][0] and is_detail(parts[at][1]):
            gone[at] = True
    order = sorted(
        {place for (place, _), over in zip(parts, gone, strict=True) if over}, key=lambda place: place != own
    )
    return [
        ForgottenParts(
            memories[place],
            join_parts(
                [part for (its, part), over in zip(parts, gone, strict=True) if its == place and not over],
                memories[place].words_said,
            ),
        )
        for place in order
    ]
