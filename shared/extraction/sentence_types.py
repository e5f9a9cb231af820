"""Which type of memory a sentence is: fitted by `tests/training/sentence_types.py` to what people really say.

A sentence is never of the type `entity`, which names a thing: what says something of a thing, and nothing of its
speaker, is a note.
"""

# ruff: noqa: E501 - one family of words per line

from collections.abc import Sequence
from typing import cast, get_args

from schemas.vocabulary import MemoryType
from shared.classifiers.class_sum import load_class_sum
from shared.extraction.clauses import Clause
from shared.extraction.guards import Stance, Subject
from shared.extraction.lasting import count_signs
from shared.extraction.learned import ClauseClass
from shared.language.patterns import to_pattern

SUBJECTS: tuple[Subject, ...] = get_args(Subject)
FORMS = tuple(
    to_pattern(form)
    for form in (
        r"\b(?:every|each|usually|always|mostly|often|daily|weekly|nightly|(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekends|mornings|evenings|nights|when(?:ever)? i|twice a|once a|times a)\b|每|一般|平时|通常|经常|总是|习惯|天天|老是|雷打不动",
        r"\b(?:need to|needs to|have to|has to|gotta|must|remind me|due|deadline|by (?:next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|book|call|send|submit|still to|to ?do|left to)\b|要(?!是|么|不)|得(?=[\u4e00-\u9fff]{2})|记得|提醒|别忘|之前(?:要|得)|还没|待办|截止|交",
        r"\b(?:want to|wanna|would like to|hoping to|hope to|aim\w*|goal|plan(?:ning)? to|thinking of|thinking about|dream|trying to|saving|by the end of|might)\b|想|打算|计划|目标|争取|希望|准备|梦想|攒",
        r"\b(?:decided|settled|chose|chosen|going with|went with|signed up|booked|agreed|picked|switched|sticking with|final|approved|voted)\b|决定|定了|选了|订了|订好|报了|敲定|就用|说好|拍板|改成|换成",
        r"\b(?:like|love|hate|prefer|enjoy|favou?rite|fan of|into|can't stand|fond|rather)\b|喜欢|爱(?!人)|讨厌|偏好|更喜欢|最喜欢|受不了|迷",
        r"\b(?:can't|cannot|can not|don't|do not|never|no more|not allowed|allerg\w+|avoid|only|at most|max|under|budget|limit|unless|without)\b|不能|不可以|不要|别|过敏|最多|不超过|预算|只能|必须|禁|忌|不吃|以内",
        r"\b(?:yesterday|last (?:night|week|month|year|\w+day)|ago|this morning|just (?:got|had|came)|went|got|bought|happened|tomorrow|next|tonight|appointment|flight|birthday|wedding)\b|昨天|上周|上个?月|去年|前天|刚|今天|明天|下周|下个?月|后天|[过了]$|生日|婚礼|面试|考试|约了",
        r"\b(?:turned out|worked|fixed|the trick|solved|the fix|because of|helped|the problem|broke|fails?|error)\b|解决|修好|管用|办法|原来是|踩坑|故障|报错|才好",
        r"\b(?:i'm|i am|my (?:name|wife|husband|partner|son|daughter|mum|mom|dad|job|kids?)|i work|i live|i teach|i run|i have|we have|i'm from|years old)\b|我[是叫住在]|我们?家|岁|我(?:老公|老婆|爸|妈|儿子|女儿|孩子)|工作|上班",
    )
)
"""What tells of habits, of things to do, aims, choices, tastes, limits, happenings, remedies, and of who speaks."""
SHARE_SCALE = 2.0
"""What the shares of the types are multiplied with, to be numbers around one."""


def choose_type(
    text: str, clauses: Sequence[Clause], stances: Sequence[Stance], verdicts: Sequence[ClauseClass]
) -> MemoryType:
    """The type that the sentence, given as a text and by its clauses, is likeliest to be of."""
    signs = count_type_signs(text, clauses, stances, verdicts)
    return cast(MemoryType, load_class_sum("sentence_types").find_likeliest(text, signs))


def count_type_signs(
    text: str, clauses: Sequence[Clause], stances: Sequence[Stance], verdicts: Sequence[ClauseClass]
) -> list[float]:
    """How likely each type is by the clauses, of whom they speak, its forms, and the signs of what lasts."""
    kinds, low = verdicts[0].kinds, text.lower().replace("’", "'")
    return [
        *(SHARE_SCALE * sum(each.kinds[kind] for each in verdicts) / len(verdicts) for kind in sorted(kinds)),
        *(float(any(stance.subject == subject for stance in stances)) for subject in SUBJECTS),
        *(float(stances[0].subject == subject) for subject in SUBJECTS),
        *(float(form.search(low) is not None) for form in FORMS),
        *count_signs(text, clauses, stances, verdicts),
    ]
