"""Decides whether a sentence states something lasting, which type of memory it has, and whether it is kept.

`tests/training/lasting.py` and `tests/training/sentence_types.py` fit the weights to real messages. No sentence has the
type `entity`, which is for names: a sentence about a thing and not about its speaker is a note.
"""

# ruff: noqa: E501 - one family of words per line

import math
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import cast, get_args

from schemas.vocabulary import MemoryType
from shared.classifiers import meanings
from shared.classifiers.judges import load_class_sum, load_text_sum, to_log_odds
from shared.extraction.clauses import Clause, split
from shared.extraction.guards import Stance, Subject, find_order, stances
from shared.extraction.learned import ClauseClass, names_own, read
from shared.extraction.model import Finding
from shared.extraction.relatives import tells_limit_of_somebody, tells_what_lasts
from shared.extraction.slots import tells_of_ticket
from shared.extraction.word_tags import describe_sentence
from shared.language import segment
from shared.language.patterns import to_pattern
from shared.language.segment import STOPWORDS

SIGNS = (
    "terms",
    "telling",
    "dates",
    "done",
    "names",
    "numbers",
    "kept",
    "changed",
    "asked",
    "agent",
    "supposed",
    "momentary",
    "length",
    "chinese",
    "worth",
    "most_worth",
)
"""The features of a sentence beside its words and its vector, in the order of the weights."""
_WORD = to_pattern(r"[a-z0-9][a-z0-9'’+#.-]*[a-z0-9]")
_HAN = to_pattern(r"[\u3400-\u9fff]+")
_MOST_TERMS = 24
_DATE = to_pattern(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|weeks?|months?|years?|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun|birth|holi)day|\d{4}|january|february|march|april"
    r"|june|july|august|september|october|november|december)\b|[昨今明后前]天|[上下这][个周月]|[去今明前]年|\d{1,4}[年月号日]|[周][一二三四五六日末]|星期",
)
"""Words of time, whether or not they name a day."""
_DONE = to_pattern(
    r"\b\w{3,}ed\b|\b(?:went|got|made|took|had|was|were|bought|found|saw|met|gave|began|been|started|got|won|lost|left|came|ran|wrote"
    r"|read|taught|built|grew|kept|felt|told|said|thought|became|drove|flew|ate|drank|sold|spent|moved|broke|chose|caught|fell)\b"
    r"|[\u3400-\u9fff](?:了|过)(?!头|分|期|不)|刚刚?|已经|终于",
)
_NAME = to_pattern(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]+|《[^》]{1,40}》|“[^”]{1,20}”")
_NUMBER = to_pattern(r"\d+|[一二两三四五六七八九十百千万]+(?=[个只条张次天周年岁万块元斤公里点月号])")


def estimate_lasting(
    text: str,
    clauses: Sequence[Clause],
    stances: Sequence[Stance],
    verdicts: Sequence[ClauseClass],
    tagged: Sequence[float],
) -> float:
    """The likelihood that the sentence, given as a text and by its clauses, is worth keeping for months.

    `tagged` is what `describe_sentence` says of it in its message.
    """
    return load_text_sum("lasting").estimate(text, count_signs(text, clauses, stances, verdicts, tagged))


def count_signs(
    text: str,
    clauses: Sequence[Clause],
    stances: Sequence[Stance],
    verdicts: Sequence[ClauseClass],
    tagged: Sequence[float],
) -> list[float]:
    """The features of a sentence, each scaled to about one."""
    statement = " ".join(c.text for c, s in zip(clauses, stances, strict=True) if not s.asked) if clauses else text
    terms = _content_words(statement)
    telling = [term for term in terms if not meanings.says_little(term)]
    count = max(1, len(clauses))
    chinese = any(clause.language == "zh" for clause in clauses)
    return [
        math.log1p(len(terms)),
        min(len(telling), _MOST_TERMS) / 8,
        min(2, len(_DATE.findall(statement))),
        min(3, len(_DONE.findall(statement))),
        min(3, len(_NAME.findall(statement))),
        min(3, len(_NUMBER.findall(statement))),
        max((to_log_odds(verdict.kept) for verdict in verdicts), default=-3.0),
        max((to_log_odds(verdict.changed) for verdict in verdicts), default=-3.0),
        sum(stance.asked for stance in stances) / count,
        sum(stance.subject == "agent" for stance in stances) / count,
        float(any(stance.supposed or stance.reported or stance.ironic for stance in stances)),
        float(any(stance.momentary or stance.trial for stance in stances)),
        math.log1p(len(statement)) / 4,
        float(chinese),
        *(odds / 2 for odds in tagged[:2]),
    ]


def _content_words(text: str) -> set[str]:
    """The words of the text without stop words."""
    low = text.lower()
    found = _WORD.findall(low)
    if not low.isascii():
        found += [word for word in segment.words("".join(_HAN.findall(low))) if len(word) > 1]
    return set(found) - STOPWORDS


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
"""Words of habits, tasks, aims, choices, tastes, limits, events, remedies, and of the speaker."""
SHARE_SCALE = 2.0
"""The factor that scales the likelihoods of the types to about one."""


def choose_type(
    text: str,
    clauses: Sequence[Clause],
    stances: Sequence[Stance],
    verdicts: Sequence[ClauseClass],
    tagged: Sequence[float],
) -> MemoryType:
    """The likeliest type of the sentence, given as a text, by its clauses and by what the tags of its words say."""
    signs = count_type_signs(text, clauses, stances, verdicts, tagged)
    return cast(MemoryType, load_class_sum("sentence_types").find_likeliest(text, signs))


def count_type_signs(
    text: str,
    clauses: Sequence[Clause],
    stances: Sequence[Stance],
    verdicts: Sequence[ClauseClass],
    tagged: Sequence[float],
) -> list[float]:
    """The likelihood of each type by the clauses, their subjects, the matching forms, and the features of the sentence."""
    kinds, low = verdicts[0].kinds, text.lower().replace("’", "'")
    return [
        *(SHARE_SCALE * sum(each.kinds[kind] for each in verdicts) / len(verdicts) for kind in sorted(kinds)),
        *(float(any(stance.subject == subject for stance in stances)) for subject in SUBJECTS),
        *(float(stances[0].subject == subject) for subject in SUBJECTS),
        *(float(form.search(low) is not None) for form in FORMS),
        *count_signs(text, clauses, stances, verdicts, tagged),
        *(SHARE_SCALE * share for share in tagged[2:]),
    ]


SHORTEST, SHORTEST_ZH = 3, 4
"""A sentence with fewer words, or fewer letters in Chinese, states nothing unless it names a subject."""
SURE = 0.6
"""A sentence with at least this likelihood states something lasting, whatever the classes of its clauses are."""
PLAINLY = 0.75
"""The least likelihood of a sentence that plainly describes somebody else."""
TOLD_IN_PASSING = 2.0
"""A question states something in passing if a word of it has at least these log odds: `as a nurse on nights, do I`."""
MAY_CORRECT = 0.1
"""A sentence with at least this likelihood may be a correction by the learned weights."""
LEAST, PLAIN = 0.2, 0.9
"""A sentence below SURE is kept from the first likelihood on if the class of one clause reaches the second."""
_PRONOUN = to_pattern(r"(?:he|she|they|his|her|their)\b|[他她]们?", re.I)
_MARKS = " .,!?。，！？~～"
_LAUGHS = to_pattern(r"[😂🤣😹😆😅🙃😜]|\b(?:lol|lmao|rofl|ha(?:ha)+h?|jk|just kidding)\b|哈哈|笑死|嘿嘿|开玩笑", re.I)
INTRODUCTIONS = frozenset({"profile:user:name", "profile:user:call_me"})


def estimate_sentences(
    text: str, clauses: Sequence[Clause], stand: Sequence[Stance], verdicts: Sequence[ClauseClass]
) -> dict[int, float]:
    """The likelihood of each sentence, by its number, that it states something lasting."""
    likelihoods: dict[int, float] = {}
    for number, places in groupby(range(len(clauses)), key=lambda place: clauses[place].sentence):
        at = list(places)
        own = slice(at[0], at[-1] + 1)
        begin, end = clauses[at[0]].start, clauses[at[-1]].end
        words = text[begin:end]
        tagged = describe_sentence(text, begin, end)
        unnamed = number == clauses[0].sentence and _names_nobody(words, stand[own])
        only_asked = all(stance.asked for stance in stand[own]) and tagged[1] < TOLD_IN_PASSING
        if unnamed or only_asked or _is_bare(words, stand[own]):
            likelihoods[number] = 0.0
            continue
        likely = estimate_lasting(words, clauses[own], stand[own], verdicts[own], tagged)
        likelihoods[number] = max(likely, PLAINLY) if _tells_of_another(words, stand[own], likely) else likely
    return likelihoods


def tells_in_jest(text: str) -> bool:
    """Whether the text contains laughter and states nothing lasting: `i'm an idiot 😂`."""
    if not _LAUGHS.search(text):
        return False
    clauses = split(text)
    return max(estimate_sentences(text, clauses, stances(clauses), read(clauses)).values(), default=0.0) < SURE


def _tells_of_another(text: str, stand: Sequence[Stance], likely: float) -> bool:
    """Whether the sentence plainly says what somebody else is or does, or what their health or faith forbids them."""
    if stand[0].subject == "other" and tells_what_lasts(text):
        return all(stance.stands for stance in stand)
    if likely < LEAST or not tells_limit_of_somebody(text):
        return False
    return not any(s.supposed or s.ironic or s.reported for s in stand)


def _is_bare(text: str, stand: Sequence[Stance]) -> bool:
    """Whether the words only name something and claim nothing: `Chicago.`, 两百块."""
    short = len(text.split()) < SHORTEST if text.isascii() else len(text.strip(_MARKS)) < SHORTEST_ZH
    return short and not any(stance.explicit for stance in stand) and not tells_limit_of_somebody(text)


def _names_nobody(text: str, stand: Sequence[Stance]) -> bool:
    """Whether the first sentence of a message is about somebody whom only a pronoun names: 他下周三要出差.

    Where it names the user or something of theirs, it is about them: `they moved our flight to the 14th`.
    """
    return stand[0].subject == "other" and _PRONOUN.match(text) is not None and not names_own(text)


def _states_enough(verdicts: Sequence[ClauseClass], likely: float) -> bool:
    """Whether the sentence is worth keeping, by its own likelihood or by the class of its surest clause."""
    return likely >= SURE or (likely >= LEAST and max(verdict.kept for verdict in verdicts) >= PLAIN)


def stands_anyway(found: Finding) -> bool:
    """Whether the finding is kept regardless of its sentence: a correction, a name, an appointment."""
    return found.assertion == "correction" or found.key in INTRODUCTIONS or found.pattern == "scheduled"


def keep_sentences(
    clauses: Sequence[Clause], verdicts: Sequence[ClauseClass], likely: Mapping[int, float]
) -> dict[int, bool]:
    """Whether each sentence, by its number, is worth keeping; an order and the end of a ticket always are."""
    worth_keeping: dict[int, bool] = {}
    for number, places in groupby(range(len(clauses)), key=lambda place: clauses[place].sentence):
        own = list(places)
        ordered = any(find_order(text) or tells_of_ticket(text) for text in (clauses[place].text for place in own))
        worth_keeping[number] = ordered or _states_enough([verdicts[place] for place in own], likely[number])
    return worth_keeping
