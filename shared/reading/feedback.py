"""What the user's message says about the answer before it (seed 004 section 4.1.1-B)."""

import re

from schemas.vocabulary import FeedbackSignal
from shared.reading.model import Feedback, MessageText

_CORRECTION = re.compile(
    (
        r"^\s*(?:(?:不对|不是的?|不|错了|你?(?:说|记|搞|弄|理解|想)错了|你误会了|这不对|那不对|不不不?)[，,。."
        r"！!\s]+(?=.{0,24}(?:我|应该|其实|是|改|已经))|你(?:说|记|搞|弄|理解)错了|我(?:现在|已经)?不"
        r"(?:再)?喜欢.{0,10}了|我现在不\S{1,8}了|no[,.!]?\s+(?:i|it'?s|that'?s not|my|actually|we"
        r"|not)\b|actually,?\s+(?:i|it'?s|my|no)\b|that'?s (?:not right|wrong|incorrect|outdated"
        r"|not true|not correct|no longer true)|you(?:'re| are) wrong|you got (?:it|that|my .{1,20})"
        r" wrong|(?:you )?misunderstood|wrong[,.!:]|not anymore|i don'?t .{1,30} any ?more|correction\b)"
    ),
    re.I,
)
_POSITIVE = re.compile(
    (
        r"^\s*(?:(?:对+|是的|没错|正是|正确|可以|好的?|嗯+|太好了|完美|棒|赞|就是|行|不错)[，,。.！!\s的了呀啊"
        r"]*(?:就是(?:这种|这样|这个|它)|正是|没错|我就(?:要|喜欢)|很好|可以|挺好|不错|完美|谢谢"
        r"|$)|就是(?:这种|这样|这个)|正合我意|我就喜欢这|说得(?:很)?对|你(?:说|记)得(?:没错|很?对"
        r"|对)|太(?:棒|好|对|完美)了|很?完美|很有(?:用|帮助)|帮大忙了|(?:yes|yeah|yep|yup)[,.!]*\s*"
        r"(?:exactly|that'?s (?:it|right|correct|the one)|correct|perfect|right|great|please|thanks?"
        r"|that works|$)|exactly|perfect|that'?s (?:exactly|it[.!]?$|right|correct|the one|perfect"
        r"|great|what i)|spot on|correct[.!]?$|you(?:'re| are) right|you (?:got|nailed) it|great[,!.]"
        r"|love it|awesome|brilliant|excellent|good (?:call|memory|point|one)|this is (?:great|perfect"
        r"|exactly)|works (?:great|perfectly)|(?:thanks|thank you)[,!.]?\s*(?:that|this|exactly|"
        r"perfect|very helpful))"
    ),
    re.I,
)
_NEGATIVE = re.compile(
    (
        r"^\s*(?:不对|不是(?:这|那)|不行|不好|错了?[。.！!]*$|不(?:要|喜欢)(?:这|那)|这不是我(?:要"
        r"|想)|没用|太(?:差|烂|丑|长|啰嗦)了|不是我(?:要|想)的|(?:完全)?不(?:满意|合适|准确|符合"
        r"|相关)|答非所问|重(?:来|写|做)|换一个|no[.!]*$|nope|wrong[.!]*$|not (?:what i|good|helpful"
        r"|right|really|quite|this)|this is (?:wrong|bad|not|terrible|useless)|that'?s (?:not (?:what"
        r"|it|helpful|good)|bad|terrible|useless)|i don'?t (?:like|want) (?:this|that|it)|(?:too"
        r"|way too) (?:long|short|verbose|complicated|generic)|bad\b|useless|terrible|try again|"
        r"doesn'?t (?:help|work))"
    ),
    re.I,
)


def find(message: MessageText) -> Feedback | None:
    """The signal with which the message begins; neutral where it says nothing of the answer, none where it is empty."""
    text = message.text
    if not text.strip():
        return None
    signals: tuple[tuple[FeedbackSignal, re.Pattern[str]], ...] = (
        ("correction", _CORRECTION),
        ("positive_confirm", _POSITIVE),
        ("negative", _NEGATIVE),
    )
    for signal, pattern in signals:
        if match := pattern.search(text):
            return Feedback(signal, match.group().strip(" ，,。.！!"), match.span(), message.ordinal)
    return Feedback("neutral", "", (0, 0), message.ordinal)
