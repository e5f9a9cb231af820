"""`smartbrain eval natural`: the alarm rate of each text classifier on ordinary conversation. Hardly a line of such
files is an attack, contains a secret or addresses a memory, so nearly every alarm is false. Statements and personal
data are the exception, because people do talk about themselves: there the rate shows how much is kept.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from rich.table import Table
from rich.text import Text

from schemas.vocabulary import Intent, Role
from services.cli.evaluate.judge import AT, PERSONAL
from services.cli.evaluate.sets import parse_line
from services.cli.output import out
from shared.domain.statements import AMENDS
from shared.errors import ConfigurationError
from shared.extraction import MessageText, ObserveContext, Observed, ObservePolicy, TurnText, observe
from shared.extraction.intent import understand
from shared.language.normalise import clip, detect
from shared.screening.sanitize import Screened, screen, show_own
from shared.secrets import find_secrets

EXAMPLES = 3
SHOWN_CHARS = 100
LANGUAGES = ("zh", "en")
INTENTS: frozenset[Intent] = frozenset({"preference_check", "complaint"})
"""Labels that are rare between people: questions to a memory, complaints about an answer."""
ANSWERS = {"zh": "好的。", "en": "All right."}
"""A neutral answer before each text, so that it can be read as feedback."""


class NaturalLine(BaseModel):
    """One utterance of ordinary conversation; other fields of the line are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    lang: Literal["zh", "en"]
    source: str
    role: Literal["user", "assistant"] = "user"
    text: str = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Alarm:
    """A text with an alarm, and its label."""

    judge: str
    line: NaturalLine
    finding: str


@dataclass(slots=True)
class Alarms:
    """How many texts each judge read and how many raised an alarm, by language and by source."""

    lines: int = 0
    read: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    raised: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    alarms: list[Alarm] = field(default_factory=list[Alarm])

    def rate(self, judge: str, group: str) -> float | None:
        """The share of the group's texts that raised an alarm; None where the judge read none of them."""
        count = self.read[judge, group]
        return round(self.raised[judge, group] / count, 5) if count else None

    @property
    def judges(self) -> list[str]:
        """Every classifier that read something, in order."""
        return list(dict.fromkeys(judge for judge, _ in self.read))

    @property
    def sources(self) -> list[str]:
        """Every source of a line."""
        return sorted({group for _, group in self.read} - set(LANGUAGES))


def read_lines(path: Path) -> list[NaturalLine]:
    """The lines of a file, JSON in `.jsonl`, otherwise the texts alone; ConfigurationError names what does not fit."""
    try:
        texts = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    if path.suffix != ".jsonl":
        return [_to_line(text, path.stem) for text in texts if text.strip()]
    return [parse_line(path, number, text, NaturalLine) for number, text in enumerate(texts, 1) if text.strip()]


def _to_line(text: str, source: str) -> NaturalLine:
    return NaturalLine(lang="zh" if detect(text) == "zh" else "en", source=source, text=text.strip())


def count_alarms(lines: Iterable[NaturalLine], say: Callable[[int], object] = int) -> Alarms:
    """Runs every classifier on every line; `say` gets the number of finished lines."""
    result = Alarms()
    for line in lines:
        result.lines += 1
        for judge, finding in judge_line(line):
            for group in (line.lang, line.source):
                result.read[judge, group] += 1
                result.raised[judge, group] += finding is not None
            if finding is not None:
                result.alarms.append(Alarm(judge, line, finding))
        say(result.lines)
    return result


def judge_line(line: NaturalLine) -> Iterator[tuple[str, str | None]]:
    """The label of each classifier for the line, None without an alarm; only user messages are read for statements."""
    yield "screen_own", _held_back(show_own(line.text))
    yield "screen_foreign", _held_back(screen(line.text))
    hits = find_secrets(line.text)
    yield "secrets", next((hit.kind for hit in hits if hit.kind not in PERSONAL), None)
    yield "personal", next((hit.kind for hit in hits if hit.kind in PERSONAL), None)
    if line.role != "user":
        return
    observed = _observe(line)
    # a short message that puts a value right states nothing alone
    corrections = [
        each for each in observed.observations if each.assertion == "correction" and AMENDS not in each.flags
    ]
    yield "statements", next((f"{each.kind}: {each.text}" for each in observed.observations), None)
    yield "corrections", next((f"{each.pattern}: {each.text}" for each in corrections if not each.retracts), None)
    yield "retractions", next((f"{each.pattern}: {each.text}" for each in corrections if each.retracts), None)
    signal = observed.feedback.signal if observed.feedback else "neutral"
    yield "feedback", None if signal == "neutral" else signal
    yield "manipulation", next((each.rule for each in observed.refused if each.reason == "manipulation"), None)
    intent = understand(line.text).intent
    yield "intents", intent if intent in INTENTS else None


def _held_back(screened: Screened) -> str | None:
    return None if screened.outcome == "pass" else f"{screened.outcome} {screened.rule}"


def _observe(line: NaturalLine) -> Observed:
    said: tuple[tuple[Role, str], ...] = (("assistant", ANSWERS[line.lang]), ("user", line.text))
    messages = tuple(MessageText(role, text, None, n, AT) for n, (role, text) in enumerate(said))
    return observe(TurnText(messages), ObserveContext(occurred_at=AT), ObservePolicy())


def to_json(result: Alarms, examples: int) -> dict[str, Any]:
    """`rates` by judge and language, in numbers; the rest in lists, so that these are all the figures there are."""
    rates = {
        judge: {group: rate for group in LANGUAGES if (rate := result.rate(judge, group)) is not None}
        for judge in result.judges
    }
    sources = [
        {"judge": judge, "source": source, "read": result.read[judge, source], "raised": result.raised[judge, source]}
        for judge in result.judges
        for source in result.sources
        if result.read[judge, source]
    ]
    chosen = [
        {
            "judge": each.judge,
            "source": each.line.source,
            "finding": clip(each.finding, SHOWN_CHARS),
            "text": clip_alarm(each),
        }
        for judge in result.judges
        for each in _examples(result, judge, examples)
    ]
    return {**rates, "sources": sources, "examples": chosen}


def show(result: Alarms, examples: int) -> None:
    """A table of rates by judge, language and source, then a few alarms of each judge."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    table.add_column(f"alarms ({result.lines} lines)")
    for judge in result.judges:
        table.add_column(judge, justify="right")
    for group in (*LANGUAGES, *result.sources):
        if any(result.read[judge, group] for judge in result.judges):
            table.add_row(group, *(_cell(result, judge, group) for judge in result.judges))
    out.print(table)
    for judge in result.judges:
        chosen = _examples(result, judge, examples)
        if chosen:
            out.print(Text(f"{judge}:", "bold"))
        for each in chosen:
            out.print(Text(f"  {clip_alarm(each)}", "default"))
            out.print(Text(f"    {each.line.source} | {clip(each.finding, SHOWN_CHARS)}", "dim"))


def _cell(result: Alarms, judge: str, group: str) -> str:
    rate = result.rate(judge, group)
    return "-" if rate is None else f"{result.raised[judge, group]} ({rate:.2%})"


def _examples(result: Alarms, judge: str, most: int) -> list[Alarm]:
    """Some alarms of a judge, one of each source before a second of any."""
    seen: Counter[str] = Counter()
    order: list[tuple[int, int]] = []
    alarms = [each for each in result.alarms if each.judge == judge]
    for place, each in enumerate(alarms):
        order.append((seen[each.line.source], place))
        seen[each.line.source] += 1
    return [alarms[place] for _, place in sorted(order)[:most]]


def clip_alarm(alarm: Alarm) -> str:
    return clip(" ".join(alarm.line.text.split()), SHOWN_CHARS)
