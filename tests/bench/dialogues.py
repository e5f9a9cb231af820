"""Conversations with labelled questions in a common format: the lines in order, and which lines
answer each question.
"""

import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from shared.language.segment import keywords
from tests.eval import golden_set

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""LoCoMo's names of the categories that its file only numbers."""
UNSCORED = frozenset({"adversarial"})
"""Asks one speaker about the other's lines; reported separately and not in the overall figures."""
SMALL_TALK = (
    "Hello!",
    "Thanks, that's all for today.",
    "Write me a haiku about autumn rain.",
    "What is 17 times 23?",
    "Tell me a joke.",
    "你好！",
    "谢谢，今天先到这里。",
    "写一首关于秋雨的俳句。",
    "十七乘二十三等于多少？",
    "讲个笑话吧。",
)
"""Messages that no memory helps to answer."""
JOINED = (3, 4, 5, 6)
STORY = 4
"""The number of filler sentences before a question."""
_EVIDENCE = re.compile(r"D(\d+)\s*:\s*(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True)
class Line:
    """One line of a dialogue."""

    dialogue: str
    session: str
    id: str
    speaker: str
    text: str
    said_at: datetime
    role: Literal["user", "assistant"] = "user"


@dataclass(frozen=True)
class Question:
    """One question with the lines that answer it, if any. `at` is its time, if known.

    `earlier` is the number of lines of its dialogue before it: all of them if the file does not say.
    """

    dialogue: str
    text: str
    category: str
    evidence: frozenset[str]
    earlier: int
    at: datetime | None = None

    @property
    def scored(self) -> bool:
        """Whether it counts in the overall figures."""
        return bool(self.evidence) and self.category not in UNSCORED


@dataclass(frozen=True)
class Talk:
    """The dialogues of one file, each in the order of its lines."""

    name: str
    lines: tuple[Line, ...]
    questions: tuple[Question, ...]

    def part(self, dialogues: Sequence[str] | None, limit: int | None = None) -> "Talk":
        """Only these dialogues, and this many questions, sampled evenly."""
        lines = tuple(each for each in self.lines if dialogues is None or each.dialogue in dialogues)
        asked = [each for each in self.questions if dialogues is None or each.dialogue in dialogues]
        if limit is not None and limit < len(asked):
            asked = [asked[n * len(asked) // limit] for n in range(limit)]
        return Talk(self.name, lines, tuple(asked))


def join_questions(talk: Talk, filler: Sequence[str]) -> Talk:
    """The same dialogues with unusual questions, whose evidence is that of all questions they combine.

    Three to six questions of a dialogue together; their subjects as a list; one question behind filler sentences.
    """
    made: list[Question] = []
    for dialogue in dict.fromkeys(each.dialogue for each in talk.questions):
        asked = [each for each in talk.questions if each.dialogue == dialogue and each.scored]
        at = 0
        while at < len(asked):
            few = asked[at : at + JOINED[len(made) % len(JOINED)]]
            at += len(few)
            story = " ".join(filler[(len(made) * STORY + n) % len(filler)] for n in range(STORY))
            things = "; ".join(" ".join(keywords(each.text)) for each in few)
            texts = {"3 to 6 questions": " ".join(each.text for each in few), "3 to 6 things": things}
            made += [_join_questions(text, name, few) for name, text in texts.items()]
            made.append(_join_questions(f"{story} {few[0].text}", "behind filler", few[:1]))
    return Talk(talk.name, talk.lines, tuple(made))


def _join_questions(text: str, category: str, few: Sequence[Question]) -> Question:
    evidence = frozenset(line for each in few for line in each.evidence)
    return Question(few[0].dialogue, text, category, evidence, max(each.earlier for each in few), few[-1].at)


@dataclass(frozen=True)
class Step:
    """Lines to commit, then questions: each question is asked before any later line is committed."""

    lines: tuple[Line, ...]
    questions: tuple[Question, ...]


def read(path: Path) -> Talk:
    """The content of a file in LoCoMo's format, or of the repository's golden set (.jsonl)."""
    return _golden(path) if path.suffix == ".jsonl" else _locomo(path)


def steps(talk: Talk, *, at_their_time: bool) -> list[Step]:
    """The steps in order: one for everything, or as many as the dialogue with the most question times needs."""
    if not at_their_time:
        return [Step(talk.lines, talk.questions)]
    lines: dict[str, list[Line]] = defaultdict(list)
    asked: dict[str, dict[int, list[Question]]] = defaultdict(lambda: defaultdict(list))
    for line in talk.lines:
        lines[line.dialogue].append(line)
    for question in talk.questions:
        asked[question.dialogue][question.earlier].append(question)
    portions = [_portions(lines[name], asked[name]) for name in lines]
    return [
        Step(
            tuple(line for portion in portions if n < len(portion) for line in portion[n].lines),
            tuple(question for portion in portions if n < len(portion) for question in portion[n].questions),
        )
        for n in range(max(map(len, portions), default=0))
    ]


def _portions(lines: Sequence[Line], asked: Mapping[int, Sequence[Question]]) -> list[Step]:
    ends = sorted(asked)
    return [
        Step(tuple(lines[start:end]), tuple(asked[end]))
        for start, end in zip([0, *ends[:-1]], ends, strict=True)
        if end
    ]


def turns(lines: Sequence[Line]) -> Iterator[tuple[Line, ...]]:
    """The lines of one dialogue as turns: an answer of the assistant belongs to the user message before it."""
    turn: tuple[Line, ...] = ()
    for line in lines:
        if turn and line.role == "assistant" and turn[0].role == "user" and turn[0].session == line.session:
            turn = (*turn, line)
        else:
            if turn:
                yield turn
            turn = (line,)
    if turn:
        yield turn


def _locomo(path: Path) -> Talk:
    lines: list[Line] = []
    questions: list[Question] = []
    for each in json.loads(path.read_text()):
        own = list(_lines(str(each["sample_id"]), each["conversation"]))
        lines += own
        places = {line.id: n for n, line in enumerate(own)}
        for asked in each["qa"]:
            evidence = frozenset(place for named in asked.get("evidence") or () for place in _places(named))
            earlier, at = _find_time(asked, own, places)
            questions.append(
                Question(str(each["sample_id"]), asked["question"], _category(asked), evidence, earlier, at)
            )
    return Talk(path.stem, tuple(lines), tuple(questions))


def _lines(name: str, talk: Mapping[str, Any]) -> Iterator[Line]:
    for number in sorted(int(m.group(1)) for key in talk if (m := re.fullmatch(r"session_(\d+)", key))):
        start = datetime.strptime(talk[f"session_{number}_date_time"], _DATE).replace(tzinfo=UTC)
        for place, turn in enumerate(talk[f"session_{number}"]):
            exact = turn.get("date_time")
            said = datetime.fromisoformat(exact).replace(tzinfo=UTC) if exact else start + timedelta(seconds=place)
            text = " ".join(filter(None, (turn["text"], _caption(turn))))
            line_id = next(iter(_places(turn["dia_id"])), turn["dia_id"])
            yield Line(name, f"s{number}", line_id, turn["speaker"], text, said, turn.get("role", "user"))


def _caption(turn: Mapping[str, Any]) -> str:
    return f"[image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""


def _places(named: str) -> list[str]:
    return [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(named)]


def _category(asked: Mapping[str, Any]) -> str:
    """The name in the file, or LoCoMo's name of its number."""
    if name := asked.get("question_type"):
        return f"{name}, {asked['scope'].replace('_', ' ')}" if asked.get("scope") else str(name)
    number = asked.get("category")
    return CATEGORIES.get(number, str(number)) if isinstance(number, int) else str(number or "any")


def _find_time(asked: Mapping[str, Any], own: Sequence[Line], places: Mapping[str, int]) -> tuple[int, datetime | None]:
    """The number of lines before the question, and its time."""
    if "asked_in" in asked:
        place = places[_places(asked["asked_in"])[0]]
        return place, own[place].said_at
    if "ask_time" in asked:
        at = _end(asked["ask_time"])
        return bisect_left(own, at, key=lambda line: line.said_at), at
    return len(own), None


def _end(named: str) -> datetime:
    """The first moment after the named month or day."""
    numbers = [int(each) for each in named.split("-")]
    if len(numbers) > 2:
        return datetime(*numbers[:3], tzinfo=UTC) + timedelta(days=1)
    year, month = numbers
    return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)


def _golden(path: Path) -> Talk:
    sessions, asked = golden_set.read(path)
    lines = [
        Line(
            session["talk"],
            session["session"],
            message.id,
            "" if message.who in ("user", "assistant") else message.who,
            message.text,
            datetime.fromisoformat(session["at"]) + timedelta(minutes=n),
            "assistant" if message.who == "assistant" else "user",
        )
        for session in sessions
        for n, turn in enumerate(golden_set.turns(session))
        for message in turn
    ]
    said = {name: sum(line.dialogue == name for line in lines) for name in {line.dialogue for line in lines}}
    questions = [Question(each.talk, each.ask, _shares(each), each.evidence, said[each.talk]) for each in asked]
    return Talk(path.stem, tuple(lines), tuple(questions))


def _shares(question: golden_set.Question) -> str:
    if not question.evidence:
        return question.kind
    return "shares a word" if question.shares else "shares no word"
