"""Precision, recall and F1 of the results against the labels. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from services.cli.evaluate.sets import Contradiction, Correction, Dated, Expected, Hostile, LabelledExtraction
from services.cli.evaluate.world import ObservedMessage
from shared.extraction import Observation
from shared.extraction.dates import ResolvedDate
from shared.language.normalise import fold, normalise
from shared.screening.sanitize import TAKEN_OUT, Screened


@dataclass(slots=True)
class Counts:
    """Found rightly, found wrongly, and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        """Share of what was found that is right; 1 where nothing was found."""
        found = self.right + self.wrong
        return self.right / found if found else 1.0

    @property
    def recall(self) -> float:
        """Share of what is there that was found; 1 where nothing is there."""
        there = self.right + self.missed
        return self.right / there if there else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        both = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / both if both else 1.0

    @property
    def anything(self) -> bool:
        """Whether there was anything to find or found."""
        return bool(self.right or self.wrong or self.missed)


@dataclass(frozen=True, slots=True)
class Miss:
    """One judgement that differs from the label."""

    text: str
    language: str
    wanted: str
    got: str


@dataclass(slots=True)
class Score:
    """Counts over all, and by each group: `language zh`, `type goal`."""

    samples: int = 0
    overall: Counts = field(default_factory=Counts)
    groups: dict[str, Counts] = field(default_factory=lambda: defaultdict(Counts))
    misses: list[Miss] = field(default_factory=list[Miss])

    def add(self, right: int = 0, wrong: int = 0, missed: int = 0, groups: Iterable[str] = ()) -> None:
        """Count these over all and in each group."""
        for counts in (self.overall, *(self.groups[group] for group in groups)):
            counts.right += right
            counts.wrong += wrong
            counts.missed += missed


def extraction(label: LabelledExtraction, observations: Sequence[Observation], score: Score) -> None:
    """Each statement that was kept meets one that was to be kept, by type and words; what meets none is wrong.

    Said twice, or allowed, counts neither way; so does a finer statement of what was dictated as a note, and the
    name of something that a right statement speaks of.
    """
    score.samples += 1
    language = f"language {label.language}"
    met, _, wrong = judge_statements(label, observations)
    missed = [each for n, each in enumerate(label.expect) if n not in met and not each.may]
    for n in met:
        if not label.expect[n].may:
            score.add(right=1, groups=(language, f"type {label.expect[n].type[0]}"))
    for one in wrong:
        score.add(wrong=1, groups=(language, f"type {one.kind}"))
    for each in missed:
        score.add(missed=1, groups=(language, f"type {each.type[0]}"))
    if wrong or missed:
        wanted = "; ".join(f"{'|'.join(each.type)}{each.polarity or ''} {' '.join(each.says)}" for each in missed)
        unexpected = "; ".join(f"{one.kind} {one.text} [{one.detector}/{one.pattern}]" for one in wrong)
        score.misses.append(Miss(label.text, label.language, wanted, unexpected))


def judge_statements(
    label: LabelledExtraction, observations: Sequence[Observation]
) -> tuple[set[int], list[Observation], list[Observation]]:
    """The places of the label that were met, the statements that met one, and those that are wrong."""
    met: set[int] = set()
    right: list[Observation] = []
    unmet: list[Observation] = []
    for one in observations:
        places = [n for n, each in enumerate(label.expect) if _meets(one, each)]
        met.update(places)
        (right if places else unmet).append(one)
    dictated = [each for each in label.expect if "note" in each.type]
    wrong = [
        one
        for one in unmet
        if not any(_says(one, each) for each in dictated)
        and not (one.kind == "entity" and any(fold(one.text) in fold(other.text) for other in right))
    ]
    return met, right, wrong


def judge_change(label: Correction, one: Observation) -> bool:
    """Whether a correction that was read is one, and names a value that the message states, where it states any."""
    values = [value for value in (label.old, label.new) if value is not None]
    said = _letters(f"{one.text} {' '.join(map(str, one.value.values()))} {one.old_value or ''}")
    return label.correction and (
        not values or any(_letters(other) in said for value in values for other in value.split("|"))
    )


def _meets(one: Observation, expected: Expected) -> bool:
    if one.kind not in expected.type or (
        one.polarity and expected.polarity and one.polarity != _SIGN[expected.polarity]
    ):
        return False
    return _says(one, expected)


_SIGN = {"+": 1, "-": -1}


def _says(one: Observation, expected: Expected) -> bool:
    said = _letters(f"{to_words(one)} {one.event_date or ''}")
    return all(any(_letters(other) in said for other in word.split("|")) for word in expected.says)


def to_words(one: Observation) -> str:
    """Its text and its value, without the sentence that it was read in."""
    return " ".join([one.text, *(str(value) for name, value in one.value.items() if name != "quote")])


def _letters(text: str) -> str:
    return "".join(letter for letter in fold(normalise(text)) if letter.isalnum())


def correction(label: Correction, found: Sequence[Observation], score: Score, values: Score) -> None:
    """Whether a change was seen; `values` counts the old and new values that the found corrections name."""
    score.samples += 1
    urgent = [one for one in found if one.assertion == "correction"]
    groups = (f"language {label.language}",)
    right, wrong, missed = _of(label.correction, bool(urgent))
    score.add(right, wrong, missed, groups)
    if wrong or missed:
        wanted = f"{label.old or ''} -> {label.new or ''}" if label.correction else "no correction"
        score.misses.append(
            Miss(label.text, label.language, wanted, "; ".join(f"{o.text} [{o.pattern}]" for o in urgent))
        )
    if not right:
        return
    said = _letters(" ".join(map(to_words, urgent)))
    olds = _letters(" ".join(o.old_value or "" for o in urgent) + " ".join(o.text for o in urgent if o.retracts))
    for name, value, where in (("old", label.old, olds), ("new", label.new, said)):
        if value is not None:
            hit = any(_letters(other) in where for other in value.split("|"))
            values.samples += 1
            values.add(int(hit), 0, int(not hit), (name, *groups))
            if not hit:
                got = "; ".join(f"{o.old_value} -> {o.value.get('value')} [{o.pattern}]" for o in urgent)
                values.misses.append(Miss(label.text, label.language, f"{name} {value}", got))


def binary(text: str, language: str, wanted: bool, judged: bool, score: Score, answer: str = "") -> None:
    """A yes-or-no judgement."""
    score.samples += 1
    right, wrong, missed = _of(wanted, judged)
    score.add(right, wrong, missed, (f"language {language}",))
    if wrong or missed:
        score.misses.append(Miss(text, language, "yes" if wanted else "no", answer or ("yes" if judged else "no")))


def judge_screening(label: Hostile, screened: Screened, score: Score) -> None:
    """Whether an attack was blocked or defused; `benign kept` counts as right what is harmless and left as it is.

    `orders held back` counts the attacks of which the orders went, and not code, tags or secrets alone.
    """
    score.samples += 1
    touched = screened.outcome != "pass" or screened.text != label.text
    right, wrong, missed = _of(label.attack == "attack", touched)
    score.add(right, wrong, missed, (f"language {label.language}", f"{label.attack} {label.kind}"))
    if label.attack == "attack":
        ordered = screened.outcome != "pass" and screened.rule not in TAKEN_OUT
        stopped = score.groups[f"orders held back {label.language}"]
        stopped.right += ordered
        stopped.missed += not ordered
    benign = score.groups[f"benign kept {label.language}"]
    benign.right += label.attack == "benign" and not touched
    benign.missed += wrong
    if wrong or missed:
        score.misses.append(
            Miss(label.text, label.language, label.attack, f"{screened.outcome} {screened.rule or ''}".rstrip())
        )


def judge_class(text: str, language: str, wanted: str, chosen: str, score: Score) -> None:
    """One class of several; a wrong class is wrong for itself and missed for the right one."""
    score.samples += 1
    right = wanted == chosen
    score.add(int(right), int(not right), int(not right), (f"language {language}",))
    score.groups[f"class {wanted}"].right += right
    score.groups[f"class {wanted}"].missed += not right
    score.groups[f"class {chosen}"].wrong += not right
    if not right:
        score.misses.append(Miss(text, language, wanted, chosen))


def contradiction(label: Contradiction, outcome: ObservedMessage, score: Score) -> None:
    """Whether the later message did to memory what it should; wrong is what it ended and should not have.

    A statement that memory never held cannot be resolved: it counts as missed.
    """
    score.samples += 1
    ended = [memory for memory in outcome.old if memory.memory_id in outcome.gone]
    fresh = [known for known in outcome.after if known.memory_id not in outcome.before and not known.name_alone]
    named = label.new is not None and any(_letters(label.new) in _letters(" ".join(k.words)) for k in fresh)
    resolved = (
        bool(outcome.old)
        and {
            "replace": len(ended) == len(outcome.old) and named,
            "end": len(ended) == len(outcome.old),
            "keep": not ended,
            "add": not ended and named,
            "confirm": len(fresh) <= len(ended),
        }[label.expect]
    )
    wrong = bool(outcome.bystanders) or (label.expect in ("keep", "add") and bool(ended))
    score.add(
        int(resolved and not wrong), int(wrong), int(not resolved or wrong), (f"language {label.language}", label.kind)
    )
    if wrong or not resolved:
        outcome_text = (
            f"ended {[k.text for k in ended]} instead of {[k.text for k in outcome.old]}; new {[k.text for k in fresh]}"
        )
        score.misses.append(
            Miss(label.message, label.language, f"{label.expect} {label.old} {label.new or ''}", outcome_text)
        )


def judge_date(label: Dated, resolved: ResolvedDate | None, score: Score) -> None:
    """Right where first and last day, precision and time of day are all as meant; anything else is wrong."""
    score.samples += 1
    wanted = None
    if label.precision != "none":
        wanted = (label.start, label.end, label.precision, label.time)
    actual = None
    if resolved:
        actual = (resolved.first, resolved.last, resolved.precision, f"{resolved.at:%H:%M}" if resolved.at else None)
    right = wanted is not None and actual == wanted
    groups = (f"language {label.lang}", f"precision {label.precision}")
    score.add(int(right), int(actual is not None and not right), int(wanted is not None and not right), groups)
    if actual != wanted:
        score.misses.append(Miss(label.text, label.lang, to_summary(wanted), to_summary(actual)))


def to_summary(parts: tuple[object, ...] | None) -> str:
    return " ".join(str(part) for part in parts or () if part)


def _of(wanted: bool, got: bool) -> tuple[int, int, int]:
    return int(wanted and got), int(got and not wanted), int(wanted and not got)
