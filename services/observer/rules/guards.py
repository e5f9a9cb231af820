"""Who a clause is about, and whether it states anything at all: questions, wishes, moods, hearsay and irony do not."""

import re
from dataclasses import dataclass
from typing import Literal

from services.observer.rules import guards_words as words
from services.observer.rules.clauses import Clause

Subject = Literal["self", "group", "other", "agent", "none"]

KIN_ZH = re.compile(words.KIN_ZH)

_FICTION = re.compile(
    r"\bwrite (?:me )?(?:a|an|the|another|some)\b.{0,40}\b(?:story|poem|email|essay|letter|song"
    r"|dialogue|script|post|tweet|speech|bio"
    r"|review|novel|scene)\b|\b(?:translate|proofread|rephrase|paraphrase|rewrite)\b"
    r"|写一?[个篇首封段份].{0,12}(?:故事|诗|小说|作文|邮件|文章|对话|台词|剧本|歌词|文案|信|演讲|介绍|日记)|翻译|润色|改写",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Stance:
    """How a clause stands: whom it is about and what keeps it from being a lasting statement."""

    subject: Subject
    explicit: bool
    asked: bool
    supposed: bool
    momentary: bool
    trial: bool
    ironic: bool
    reported: bool
    doctor: bool = False


def body_of(clause: Clause) -> str:
    """The clause without the adverbs and interjections before its subject."""
    lead = words.LEAD_EN if clause.language == "en" else words.LEAD_ZH
    rest = lead.sub("", clause.text)
    return rest or clause.text


def subject_of(clause: Clause) -> Subject:
    """Whom the clause names first; none where it names nobody."""
    text = body_of(clause)
    if clause.language == "en":
        return _subject_en(text)
    if words.GROUP_ZH.match(text):
        return "group"
    if words.SELF_POSSESSION_ZH.match(text):
        return "other"
    if words.SELF_ZH.match(text):
        return "self"
    if words.OTHER_ZH.match(text):
        return "other"
    if words.AGENT_ZH.match(text):
        return "agent"
    return _subject_en(text)


def _subject_en(text: str) -> Subject:
    if words.OTHER_EN.match(text) or words.NAME_EN.match(text):
        return "other"
    if words.SELF_EN.match(text):
        return "self"
    if words.GROUP_EN.match(text):
        return "group"
    if words.AGENT_EN.match(text):
        return "agent"
    return "none"


def is_question(clause: Clause, following: Clause | None) -> bool:
    """Whether the clause asks: by its mark where it stands last, by its words, or by a tag behind it."""
    if (
        following is not None
        and following.sentence == clause.sentence
        and following.asked
        and words.TAG.match(following.text)
    ):
        return True
    if clause.asked and clause.last:
        return True
    text = clause.text
    if clause.language == "en":
        return bool(words.ASK_EN.match(text)) and (clause.asked or not _is_imperative(text))
    return bool(words.ASK_WORD_ZH.search(text)) or (clause.asked and bool(words.ASK_ZH.search(text)))


def _is_imperative(text: str) -> bool:
    return bool(
        re.match(r"(?:don't|do not|do|have|may|might|any|when|which|who|whose)\b", text, re.I)
    ) and not re.match(r"(?:do|does|did|have|has|had) (?:i|you|we|they|he|she)\b", text, re.I)


def stances(clauses: tuple[Clause, ...]) -> tuple[Stance, ...]:
    """The stance of every clause; subject, supposition and hearsay carry on to later clauses of the same sentence."""
    found: list[Stance] = []
    carried: Subject = "none"
    supposed = reported = doctor = fiction = False
    sentence = -1
    jest = {clause.sentence for clause in clauses if words.JEST.search(clause.text)}
    jest |= {number - 1 for number in jest}
    for index, clause in enumerate(clauses):
        if clause.sentence != sentence:
            sentence, supposed, reported, doctor = clause.sentence, False, False, False
            carried = carried if carried in ("self", "other") and clause.language == "zh" else "none"
            carried = "none" if carried == "other" else carried
        text = clause.text
        named = subject_of(clause)
        explicit = named != "none"
        if explicit:
            carried = named
        fiction = fiction or _FICTION.search(text) is not None
        supposed = supposed or fiction or bool(words.IF_ZH.search(text) or words.IF_EN.search(text))
        doctor = doctor or bool(words.DOCTOR.search(text))
        reported = reported or bool(words.REPORT_ZH.search(text) or words.REPORT_EN.search(text))
        if named == "self" and reported and sentence != -1 and clause.sentence == sentence and _breaks(clause):
            reported = False
        following = clauses[index + 1] if index + 1 < len(clauses) else None
        found.append(
            Stance(
                subject=named if explicit else carried,
                explicit=explicit,
                asked=is_question(clause, following),
                supposed=supposed,
                momentary=bool(words.NOW_ZH.search(text) or words.NOW_EN.search(text)),
                trial=bool(words.TRIAL_ZH.search(text) or words.TRIAL_EN.search(text)),
                ironic=clause.sentence in jest or bool(words.IRONY.search(text)),
                reported=reported,
                doctor=doctor,
            )
        )
    return tuple(found)


def _breaks(clause: Clause) -> bool:
    """Whether the speaker takes the word back after hearsay: `but I ...`, `不过我 ...`."""
    return bool(
        re.match(r"(?:但是?|不过|可是?|然而|而|其实|but|however|though|actually)\s*,?\s*(?:我|I\b)", clause.text, re.I)
    )
