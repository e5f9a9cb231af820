"""The old and the new value of a change, wherever a sentence puts them; for changes that no pattern foresaw."""

# ruff: noqa: E501 - one frame a line

import re
from dataclasses import dataclass

from schemas.vocabulary import MemoryType
from shared.extraction.keys import tidy
from shared.extraction.model import Found
from shared.language.patterns import to_pattern

_TO = r"(?:成|到|为|至|去|回|作|做|给|在)了?"
_TURN = r"(?:改名?|换|调整?|搬家?|转|挪|推迟|提前|延后?|延期|升|降|变|切换?|迁移?|涨|减|缩短?|跳槽?|过继|移)"
_ZH = (
    r"(?:并?不是|不叫|不在|别写|不对应)(?P<old>[^，,。是]{1,16}?)(?:[，,]\s*|的?而)?(?:而?是|应该是?|叫|在)(?P<new>[^，,。]{1,20})",
    r"是(?P<new>[^，,。不]{1,16})[，,]?(?:而|并|可)?不是(?P<old>[^，,。]{1,16})",
    rf"(?:从|由|把|将)(?P<old>[^，,。]{{1,16}}?)(?:直接|已经|正式|都|给|也)?{_TURN}{_TO}(?P<new>[^，,。]{{1,20}})",
    r"从(?P<old>[^，,。]{1,16}?)(?:到|去|变)(?P<new>[^，,。]{1,16})",
    r"(?:以前|之前|原来|原先|本来|过去|原本|一开始|上次说)(?:的?是|说|在|用|叫|喜欢|定|想)?的?(?P<old>[^，,。]{1,16}?)(?:[，,]|的?)"
    r".{0,10}?(?:现在|如今|目前|后来|已经|改)(?:都|就|是|已经|只|改|在|用|换|更|叫|成|到|为|喜欢)*(?P<new>[^，,。]{1,20})",
    rf"(?P<old>[^，,。我了]{{1,12}}?)(?:已经|也|又|要|都)?{_TURN}{_TO}(?P<new>[^，,。]{{1,20}})",
    r"(?:用|拿)(?P<new>[^，,。]{1,12})(?:代替|替换|取代|替)了?(?P<old>[^，,。]{1,16})",
    r"(?:不再|别再|再也不|不用再|戒掉?了?|放弃了?|退掉?了?|辞掉?了?|取消了?|卸载?了?|停掉?了?|告别了?|没再)(?P<old>[^，,。了]{1,16})",
    r"(?:已经|早就|现在)?不(?P<old>[^，,。不了]{1,12})了",
    rf"{_TURN}{_TO}(?P<new>[^，,。]{{1,20}})",
    r"(?:其实|应该|更正|准确(?:来)?说|正确的?|记错了?|说错了?|口误).{0,6}?(?:是|叫|在)(?P<new>[^，,。]{1,20})",
    r"(?:现在|如今|目前|从今|以后)(?:都|就|是|已经|只|改|在|用|更|叫|喜欢|住|爱)*(?P<new>[^，,。]{1,20})",
)
_STOP = r"(?=[,.;!?]|\s+(?:but|and|so|because|since|now|as|which|from|after|when|by|anymore|any more|instead)\b|$)"
_EN = (
    rf"\bnot (?:the |a |an |at |in |on )?(?P<old>[\w' &/-]{{1,40}}?)(?:[,;]| anymore,?)? (?:but|it'?s|it is|i'?m|rather)(?: now| actually)?(?: in| at| on)? (?P<new>[\w' &/.-]{{1,40}}?){_STOP}",
    rf"\bfrom (?P<old>[\w' &/.-]{{1,40}}?) (?:to|into|over to|onto) (?P<new>[\w' &/.-]{{1,40}}?){_STOP}",
    rf"\b(?:swapped|traded|ditched|replaced|dropped|switched|changed|exchanged|left|sold) (?:out |my |the |our )*(?P<old>[\w' &/.-]{{1,40}}?) (?:for|with|to|in favou?r of) (?P<new>[\w' &/.-]{{1,40}}?){_STOP}",
    rf"(?P<new>[\w' &/.-]{{1,40}}?)(?<!\bis)(?<!\bare)(?<!\bwas)[, ]+(?:instead of|rather than|in place of|and not|not) (?P<old>[\w' &/.-]{{1,40}}?){_STOP}",
    rf"\bused to (?:be |have |like |love |use |live in |work at |drink |eat )?(?P<old>[\w' &/.-]{{1,40}}?)[,.;]? (?:but|and|these days|nowadays|now).{{0,12}}?\b(?:i'?m|it'?s|i|now|we)\b (?P<new>[\w' &/.-]{{1,40}}?){_STOP}",
    rf"\b(?:no longer|never again|not .{{0,12}}anymore|stopped|quit|gave up|given up|cancelled|canceled|scrapped|dropped|done with|through with|off)\b (?:a |an |the |my |at |in |with |using |eating |drinking )*(?P<old>[\w' &/.-]{{1,40}}?){_STOP}",
    r"\b(?:don'?t|doesn'?t|isn'?t|aren'?t|won'?t|can'?t|am not|i'm not) (?:really |even )*(?P<old>[\w' &/.-]{1,40}?) any ?more\b",
    rf"\b(?:moved|changed|switched|pushed|shifted|bumped|rescheduled|upgraded|relocated|transferred|converted|gone|went)(?: back| over| up| out| house)? (?:to|into|for|onto) (?P<new>[\w' &/.:-]{{1,40}}?){_STOP}",
    rf"\b(?:actually|correction|i meant|should be|supposed to be|it's now|is now|are now|now it'?s)\b[:,]? (?:it'?s |is |the |a |an )*(?P<new>[\w' &/.:-]{{1,40}}?){_STOP}",
    rf"\b(?:now|these days|nowadays|from now on)\b,? (?:i |i'm |it's |we |we're |is |the |a )*(?P<new>[\w' &/.:-]{{1,40}}?){_STOP}",
)
_FRAMES_ZH = tuple(to_pattern(frame) for frame in _ZH)
_FRAMES_EN = tuple(to_pattern(frame, re.IGNORECASE) for frame in _EN)


@dataclass(frozen=True, slots=True)
class ChangeFound:
    """What no longer holds, and what does; either may be unsaid."""

    old: str | None
    new: str | None


def read(text: str, chinese: bool) -> ChangeFound:
    """The values that the first fitting frame names; the whole text is the new one where none fits."""
    frames = (*_FRAMES_ZH, *_FRAMES_EN) if chinese else _FRAMES_EN
    for frame in frames:
        if match := frame.search(text):
            told = match.groupdict()
            old, new = (tidy(told.get(name) or "") or None for name in ("old", "new"))
            if old or new:
                return ChangeFound(old, new)
    return ChangeFound(None, text)


def correction(text: str, kind: MemoryType, sentence: str, *, chinese: bool) -> Found:
    """The text as a correction of what it, or else its sentence, names; a denial where that names nothing new."""
    change = read(text, chinese)
    if not change.old and (both := read(sentence, chinese)).old and both.new:
        change = both
    return Found(
        kind,
        None,
        {"value": change.new or change.old or text},
        text,
        "learned",
        "change",
        "preference" if kind == "preference" else "fact",
        0,
        "correction",
        retracts=change.new is None,
        old_value=change.old,
    )
