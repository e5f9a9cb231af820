"""Classifies clauses by learned weights: whether a clause is worth keeping, as which type, and whether it corrects.

The weights find statements and changes that no pattern knows, and reject what a pattern finds in words that say nothing
lasting. `tests/training` has the corpus and the fit. Frames find the old and the new value of a change.
"""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from typing import cast

from schemas.memory_types import types_with
from schemas.vocabulary import MemoryType
from shared.classifiers import meanings
from shared.classifiers.network import Network, grams, load
from shared.domain.statements import SUSPECTED
from shared.extraction import dates
from shared.extraction.clauses import Clause
from shared.extraction.guards import Stance
from shared.extraction.keys import tidy
from shared.extraction.model import Finding, Polarity
from shared.extraction.relatives import tells_limit_of_somebody
from shared.extraction.wording import LEAD
from shared.language.patterns import to_pattern
from shared.language.segment import query_terms

NONE = "none"
CHANGED = "correction"
FOR, AGAINST = "for", "against"
_LONGEST = 6
_FEW = 8
LEAST_KEPT = 0.3
"""A finding of a pattern in a clause with less is dropped."""
LEAST_CHANGED = 0.08
"""A correction by a pattern in a clause with less is an ordinary statement."""
LIKELY = 0.28
"""A clause with at least this likelihood of a change continues the correction beside it."""
CHANGES = 0.45
"""A clause with at least this likelihood of a change is a correction without any pattern."""
SUSPECT_CHANGED, SUSPECT_KEPT = 0.02, 0.2
"""With at least one of these, a sentence that states nothing to keep may still end a memory."""
EVEN = 0.5
FEW_CLAUSES, SURE_ALONE = 3, 0.9
"""In a message of so few clauses, a pattern may match a clause that alone would be kept with this certainty.

A longer message is read as a whole, because it may show a text of somebody else.
"""
LITTLE_EN, LITTLE_ZH = 2, 5
"""A clause of at most so many words or characters says little without the clauses beside it."""
CERTAIN, HARDLY = 0.8, 0.05
"""The type of a pattern is rejected if another type has the first likelihood and its own is below the second."""
NAMES_ALONE: MemoryType = "entity"
"""The type of a name; no sentence has it."""
OF_OTHERS = types_with("of_others")
OF_SPEAKER = types_with("wanted") - OF_OTHERS
"""The types that a statement about somebody else cannot have, because only the speaker wants something."""
_OWN = to_pattern(
    r"\b(?:my|our)\b|我|孩子|儿子|女儿|[娃崽]|宝宝|老公|老婆|媳妇|爱人|先生|太太|对象|男朋友|女朋友|[猫狗]|宠物|家里"
    r"|\b(?:son|daughter|kids?|child|children|toddler|baby|twins|wife|husband|partner|spouse|boyfriend|girlfriend"
    r"|fianc\w+|cat|dog|puppy|kitten|pet|household|family)s?\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class ClauseClass:
    """The likelihoods that a clause is worth keeping, that it corrects something, and that it has each type.

    `against` is the likelihood that a taste is a dislike.
    """

    kept: float
    changed: float
    against: float
    kinds: dict[MemoryType, float]

    @property
    def kind(self) -> MemoryType:
        """The likeliest type."""
        return max(self.kinds, key=self.kinds.__getitem__)


def signs(clause: Clause, place: int, count: int) -> list[str]:
    """The grams of a clause, and marks of its place."""
    features = grams(clause.text)
    features += (f"#{min(count, _LONGEST)}", f"@{min(place, 3)}", f"~{min(len(clause.text) // 8, 8)}")
    if clause.asked:
        features.append("=question")
    return features


def read(clauses: Sequence[Clause]) -> list[ClauseClass]:
    """The class of each clause of a message."""
    if not clauses:
        return []
    model = load("statements")
    count = len(clauses)
    rows = [model.find_rows(signs(clause, place, count)) for place, clause in enumerate(clauses)]
    return [_to_clause_class(model, shares) for shares in model.shares(rows).tolist()]


def classify_alone(clause: Clause) -> ClauseClass:
    """The class that the clause would have as a message of its own."""
    model = load("statements")
    return _to_clause_class(model, model.share_alone(model.find_rows(signs(clause, 0, 1))))


def _to_clause_class(model: Network, shares: Sequence[float]) -> ClauseClass:
    types = cast(tuple[MemoryType, ...], model.groups[0][1:])
    changed, against = model.classes.index(CHANGED), model.classes.index(AGAINST)
    kinds = dict(zip(types, shares[1 : len(types) + 1], strict=True))
    return ClauseClass(1.0 - shares[0], shares[changed], shares[against], kinds)


def to_suspicion(sentence: Sequence[Clause], verdict: ClauseClass) -> Finding:
    """The sentence as a finding that may change a memory."""
    text = join_clauses(sentence)
    return Finding(
        _choose_kind([verdict]),
        None,
        {"value": text},
        text,
        "learned",
        f"suspected {verdict.changed:.2f}",
        "preference" if verdict.kind == "preference" else "fact",
        read_polarity([verdict]) if verdict.kind == "preference" else 0,
        assertion="inferred",
        flags=(SUSPECTED,),
    )


def read_polarity(verdicts: Sequence[ClauseClass]) -> Polarity:
    """-1 for a dislike and 1 for a liking, by the clause that is most surely a taste."""
    surest = max(verdicts, key=lambda verdict: verdict.kinds["preference"])
    return -1 if surest.against > EVEN else 1


def is_worth_reading(verdict: ClauseClass) -> bool:
    """Whether a finding of a pattern in the clause would be kept."""
    return verdict.kept >= LEAST_KEPT or verdict.changed >= LEAST_CHANGED


def may_change_memory(verdict: ClauseClass) -> bool:
    """Whether the clause may at least change a memory."""
    return verdict.changed >= SUSPECT_CHANGED or verdict.kept >= SUSPECT_KEPT


def admit_type(verdict: ClauseClass, kind: MemoryType) -> ClauseClass:
    """The class with likelihoods just high enough that a finding of this type by a pattern is kept."""
    kinds = {**verdict.kinds, kind: max(verdict.kinds.get(kind, 0.0), HARDLY)}
    return replace(verdict, kept=max(verdict.kept, LEAST_KEPT), kinds=kinds)


def may_be_of_type(verdict: ClauseClass, kind: MemoryType) -> bool:
    """Whether the type of a pattern may be right: no other type is almost certain."""
    return verdict.kinds[verdict.kind] < CERTAIN or verdict.kinds.get(kind, 1.0) >= HARDLY


def names_own(text: str) -> bool:
    """Whether the words name the user, or somebody or something of theirs."""
    return _OWN.search(text) is not None


def may_state(clause: Clause, stance: Stance, verdict: ClauseClass) -> bool:
    """Whether a clause may state something about the user without matching a pattern.

    Only facts are kept about people outside the household, never what they like, plan or change.
    """
    if not (stance.stands or (stance.doctor and not stance.asked and not stance.supposed)):
        return False
    if stance.subject != "other" or not stance.explicit or names_own(clause.text):
        return True
    return verdict.kind in OF_OTHERS and verdict.changed < CHANGES


def find_changed(
    clauses: Sequence[Clause],
    verdicts: Sequence[ClauseClass],
    free: Sequence[bool],
    corrected: Set[int],
    choose_type: Callable[[Sequence[int]], MemoryType],
) -> dict[int, tuple[Finding, int]]:
    """The corrections in the free clauses by their first clause, each with the clause after its last.

    Neighbouring clauses that correct form one correction. A correction beside a clause that a pattern found to
    correct belongs to that one.
    """
    stated: dict[int, tuple[Finding, int]] = {}
    end = 0
    for place, verdict in enumerate(verdicts):
        if place < end or not free[place] or verdict.changed < CHANGES:
            continue
        end = _find_end(place, [v.changed >= LIKELY and f for v, f in zip(verdicts, free, strict=True)])
        if corrected & {place - 1, end} or (
            end - place == 1 and len(clauses) > 1 and _says_little(clauses[place].text)
        ):
            continue
        text = join_clauses(clauses[place:end])
        kind = choose_type(range(place, end))
        sentence = join_clauses([clause for clause in clauses[place:] if clause.sentence == clauses[end - 1].sentence])
        stated[place] = to_correction(text, kind, sentence, chinese=clauses[place].language == "zh"), end
    return stated


def _find_end(place: int, goes_on: Sequence[bool]) -> int:
    end = place + 1
    while end < len(goes_on) and goes_on[end]:
        end += 1
    return end


def _says_little(text: str) -> bool:
    """Whether a clause says too little to be understood alone."""
    return len(text.split()) <= LITTLE_EN if text.isascii() else len(text) <= LITTLE_ZH


def _choose_kind(verdicts: Sequence[ClauseClass]) -> MemoryType:
    """The likeliest type of all these clauses together, except types of names."""
    kinds = verdicts[0].kinds.keys() - {NAMES_ALONE}
    return max(sorted(kinds), key=lambda kind: sum(verdict.kinds[kind] for verdict in verdicts))


def join_clauses(clauses: Sequence[Clause]) -> str:
    joint = "，" if clauses[0].language == "zh" else ", "
    text = joint.join(clause.text for clause in clauses)
    return LEAD.sub("", text) or text


def to_statement(
    clauses: Sequence[Clause], verdicts: Sequence[ClauseClass], kind: MemoryType, today: date
) -> Finding | None:
    """The clauses of a sentence as a statement of this type; None if no word says what it is about."""
    text = join_clauses(clauses)
    if all(map(meanings.says_little, query_terms(text, _FEW))):
        return None
    if kind in OF_SPEAKER and tells_limit_of_somebody(text):
        kind = "note"
    coming = dates.find_coming(text, today) if kind in ("event", "task") else None
    return Finding(
        kind,
        None,
        {"value": text, **dates.to_value_date(coming)},
        text,
        "learned",
        f"{kind} {max(verdict.kept for verdict in verdicts):.2f}",
        "preference" if kind == "preference" else "fact",
        read_polarity(verdicts) if kind == "preference" else 0,
        event_date=coming.day if coming else None,
    )


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
class ValueChange:
    """The old and the new value of a change; either may be missing."""

    old: str | None
    new: str | None


def read_change(text: str, chinese: bool) -> ValueChange:
    """The values that the first matching frame names; without a match the whole text is the new value."""
    frames = (*_FRAMES_ZH, *_FRAMES_EN) if chinese else _FRAMES_EN
    for frame in frames:
        if match := frame.search(text):
            told = match.groupdict()
            old, new = (tidy(told.get(name) or "") or None for name in ("old", "new"))
            if old or new:
                return ValueChange(old, new)
    return ValueChange(None, text)


def to_correction(text: str, kind: MemoryType, sentence: str, *, chinese: bool) -> Finding:
    """The text as a correction of the old value that it or its sentence names; a denial if neither names a new value."""
    change = read_change(text, chinese)
    if not change.old and (both := read_change(sentence, chinese)).old and both.new:
        change = both
    return Finding(
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
