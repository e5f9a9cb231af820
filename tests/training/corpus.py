"""Labelled messages as samples of a classifier: the tagged corpus, and the dev part of the labelled sets."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from shared.extraction import MessageText, ObserveContext, ObservePolicy, TurnText, intent, observe
from shared.extraction.clauses import split
from shared.extraction.learned import AGAINST, CHANGED, FOR, NONE, signs
from shared.extraction.observe import list_feedback_signs
from shared.resolution import related
from shared.resolution.from_rows import quoted_text
from tests.training import natural, phrases

HERE = Path(__file__).parent
SETS = HERE.parent / "eval"
SOME = "some"
NONE_OF = "none of "
"""The prefix of a label that lists excluded classes, separated by bars."""
IDLE = frozenset({"sarcasm", "question", "temporary", "task", "past"})
"""Kinds of non-lasting sentences used in samples of relations."""
AT = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)
STRANGERS = 24
"""The number of unrelated texts compared with each sentence; few share any words with it."""
IDLY = 2
"""The number of most similar texts compared with each message that states nothing."""
PLAIN = 8
"""The number of pairs per plain phrasing."""
FILLED = 4
"""The number of times each frame is filled."""
READ_FOR_STATEMENTS = 4
"""The sampling interval of natural lines for statements."""
ROUNDED_BY = 30_000
"""The number of natural sentences by which the weights of statements are rounded."""
READ_FOR_INTENTS = 12
"""The sampling interval of natural lines for intents: they are many, and only their excluded classes are known."""
SIGNS = {"+": FOR, "-": AGAINST}
_TAG = re.compile(r"<(/?)([a-z]+)([+-]?)((?:\s+\w+=\"[^\"]*\")*)\s*>")


@dataclass(frozen=True)
class Row:
    """One text of a message: its grams, and its class in each group; None if unlabelled."""

    grams: list[str]
    labels: tuple[str | None, ...]


@dataclass(frozen=True)
class Span:
    """A span of a message and its type, SOME if unlabelled.

    `maybe` if it may but need not be stored, `sign` of a preference.
    """

    start: int
    end: int
    label: str
    maybe: bool = False
    sign: str | None = None


@dataclass(frozen=True)
class Message:
    """A message with its labelled spans.

    `part` is its source. `loose` labels mark words, not whole statements; `types` and `changes` say which of both are
    labelled at all.
    """

    text: str
    spans: list[Span] = field(default_factory=list[Span])
    part: str = "corpus"
    loose: bool = False
    types: bool = True
    changes: bool = True


def tagged(line: str) -> Message:
    """A line of the corpus; an unclosed tag is a ValueError."""
    text, spans, at = "", list[Span](), 0
    opened: tuple[int, str, str] | None = None
    for tag in _TAG.finditer(line):
        text += line[at : tag.start()]
        at = tag.end()
        if not tag[1]:
            if opened:
                raise ValueError(f"nested tag: {line}")
            opened = (len(text), tag[2], tag[3])
        elif opened and opened[1] == tag[2]:
            spans.append(Span(opened[0], len(text), tag[2], sign=SIGNS.get(opened[2])))
            opened = None
        else:
            raise ValueError(f"tag out of place: {line}")
    if opened:
        raise ValueError(f"open tag: {line}")
    return Message(text + line[at:], spans)


def read_lines(folder: Path, pattern: str) -> Iterator[str]:
    for path in sorted(folder.glob(pattern)):
        yield from (line for line in path.read_text("utf-8").splitlines() if line.strip())


def _labels(name: str) -> Iterator[dict[str, Any]]:
    for line in read_lines(SETS, f"{name}.jsonl"):
        label = json.loads(line)
        if label["part"] == "dev":
            yield label


def _find_words(text: str, words: str) -> tuple[int, int] | None:
    for word in words.split("|"):
        at = text.lower().find(word.lower())
        if at >= 0:
            return at, at + len(word)
    return None


def messages() -> list[Message]:
    """All samples for the weights of `statements`."""
    found = [tagged(line) for line in read_lines(HERE / "corpus", "statements_*.txt")]
    found += [tagged(line) for line in phrases.lines(HERE)]
    found += _make_chatter()
    for label in _labels("extraction"):
        spans = [
            Span(*place, expected["type"].split("|")[0], bool(expected.get("may")), SIGNS.get(expected.get("polarity")))
            for expected in label["expect"]
            for words in expected["says"]
            if (place := _find_words(label["text"], words))
        ]
        found.append(Message(label["text"], spans, "extraction", loose=True, changes=False))
    for label in _labels("corrections"):
        values = [label.get("old"), label.get("new")] if label["correction"] else []
        spans = [Span(*place, CHANGED) for value in values if value and (place := _find_words(label["text"], value))]
        found.append(Message(label["text"], spans, "corrections", loose=True, types=False))
    # natural messages may be worth storing, but change nothing
    found += [Message(line.text, types=False) for line in list(natural.lines())[::READ_FOR_STATEMENTS]]
    return found


def _make_chatter() -> Iterator[Message]:
    """Existing memories are worth storing, of any type; the chatter beside them is not."""
    for line in read_lines(HERE / "corpus", "relations_*.tsv"):
        _, kind, earlier, said = line.split("\t")
        yield Message(earlier, [Span(0, len(earlier), SOME)])
        if kind in IDLE:
            yield Message(said)


def statement_rows(message: Message) -> list[Row]:
    """The clauses of a message with their types, and whether they correct."""
    clauses = split(message.text)
    spans = [[s for s in message.spans if s.start < c.end and c.start < s.end] for c in clauses]
    stated = {c.sentence for c, found in zip(clauses, spans, strict=True) if found}
    rows: list[Row] = []
    for place, (clause, found) in enumerate(zip(clauses, spans, strict=True)):
        label: str | None = NONE
        if found:
            label = None if all(span.maybe for span in found) else next(s.label for s in found if not s.maybe)
        elif message.loose and clause.sentence in stated:
            label = None
        kind = label if message.types and label != CHANGED else None
        change = None if label in (None, SOME) or not message.changes else CHANGED if label == CHANGED else NONE
        sign = next((span.sign for span in found if span.sign), None)
        rows.append(Row(signs(clause, place, len(clauses)), (kind, change, sign)))
    return rows


def natural_statement_rows() -> list[list[Row]]:
    """Natural sentences, of which it is not known what they state."""
    sentences = list(natural.sentences())
    chosen: list[int] = np.random.default_rng(2).permutation(len(sentences))[:ROUNDED_BY].tolist()
    clauses = [split(sentences[place]) for place in chosen]
    return [[Row(signs(clause, place, len(of)), (NONE,)) for place, clause in enumerate(of)] for of in clauses if of]


def feedback_rows() -> list[list[Row]]:
    """Messages after the answers that they judge, and alone, as if the answer were unknown."""
    told = [line.split("\t") for line in read_lines(HERE / "corpus", "feedback_*.tsv")]
    told += [[label["signal"], label["before"], label["text"]] for label in _labels("feedback")]
    rows: list[list[Row]] = []
    for signal, before, text in told:
        answer, said = list_feedback_signs(before, text)
        rows.append([Row(answer, (None,)), Row(said, (signal,))])
        rows.append([Row(list_feedback_signs("", text)[1], (signal,))])
    return [*rows, *_natural_feedback()]


def _natural_feedback() -> Iterator[list[Row]]:
    """Natural messages judge no answer: after an unrelated one, and alone."""
    pools: dict[str, list[str]] = {}
    for line in natural.lines():
        pools.setdefault(line.language, []).append(line.text)
    random = np.random.default_rng(29)
    for pool in pools.values():
        for text in pool:
            answer, said = list_feedback_signs(pool[random.integers(len(pool))], text)
            yield [Row(answer, (None,)), Row(said, ("neutral",))]
            yield [Row(list_feedback_signs("", text)[1], ("neutral",))]


def intent_rows() -> list[list[Row]]:
    """Messages with their intents; natural messages neither complain about answers nor query a memory."""
    told = [line.split("\t") for line in read_lines(HERE / "corpus", "intents_*.tsv")]
    told += [[label["intent"], label["say"]] for label in _labels("intents")]
    natural_lines = list(natural.lines())[::READ_FOR_INTENTS]
    told += [[f"{NONE_OF}complaint|preference_check", line.text] for line in natural_lines]
    return [[Row(intent.signs(text), (name,))] for name, text in told]


def relation_rows() -> list[list[Row]]:
    """Sentences after existing memories, each with other texts that share words with it."""
    pairs = [line.split("\t") for line in read_lines(HERE / "corpus", "relations_*.tsv")]
    held = [(label, text, said) for label, _, earlier, said in pairs for text in _normalise_text(earlier)]
    rows = [_make_relations(label, known, said) for label, known, said in held]
    texts = sorted({known for _, known, _ in held})
    random = np.random.default_rng(3)
    for _, _, earlier, said in pairs:
        others = [texts[place] for place in random.integers(0, len(texts), STRANGERS) if texts[place] != earlier]
        rows += [_make_relations(NONE, known, said) for known in others]
    rows += [
        _make_relations(label, known, said) for label, known, said in (*_fill_frames(random), *_make_phrasings(random))
    ]
    rows += [_make_relations(NONE, known, said) for known, said in _idle(texts)]
    rows += [
        _make_relations(label, known, said) for label, earlier, said in diaries() for known in _normalise_text(earlier)
    ]
    return [row for row in rows if row]


def diaries() -> Iterator[tuple[str, str, str]]:
    """One person's messages over some months, each paired with earlier ones; few end any."""
    for path in sorted((HERE / "corpus").glob("diaries_*.tsv")):
        before: dict[str, dict[str, str]] = {}
        for line in path.read_text("utf-8").splitlines():
            diary, number, ends, same, said = line.split("\t")
            told = before.setdefault(diary, {})
            for place, earlier in told.items():
                yield (
                    "ends" if place in ends.split(",") else "same" if place in same.split(",") else NONE,
                    earlier,
                    said,
                )
            told[number] = said


def _idle(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Messages that state nothing, each paired with the most similar texts."""
    having: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        for sign in related.about(text).all:
            having.setdefault(sign, []).append(place)
    for line in read_lines(HERE / "corpus", "statements_*.txt"):
        if "<" in line:
            continue
        shares = Counter[int]()
        for sign in related.about(line).all:
            of = having.get(sign, ())
            shares.update(dict.fromkeys(of, 1 / (1 + len(of))))  # pyright: ignore[reportArgumentType] # a sum of floats
        for place in sorted(shares, key=lambda place: (-shares[place], place))[:IDLY]:
            yield texts[place], line


def _fill_frames(random: np.random.Generator) -> Iterator[tuple[str, str, str]]:
    """The frames with words filled in: {a} is the existing value, {b} another."""
    for path in sorted((HERE / "corpus").glob("relation_frames_*.tsv")):
        words = phrases.words(phrases.LEXICON / f"{path.stem.split('_')[2]}.txt")
        for line in filter(str.strip, path.read_text("utf-8").splitlines()):
            label, sort, earlier, said = line.split("\t")
            for _ in range(FILLED):
                chosen = random.choice(len(words[sort]), 2, replace=False)
                known, other = (words[sort][place] for place in chosen)
                yield label, earlier.replace("{a}", known), said.replace("{a}", known).replace("{b}", other)


def _make_phrasings(random: np.random.Generator) -> Iterator[tuple[str, ...]]:
    """Blocks of plain phrasings that state, end, repeat or mention a fact, each paired with each."""
    for path in sorted((HERE / "corpus").glob("relation_blocks_*.tsv")):
        words = phrases.words(phrases.LEXICON / f"{path.stem.split('_')[2]}.txt")
        blocks: list[tuple[list[str], dict[str, list[str]]]] = []
        for line in filter(str.strip, path.read_text("utf-8").splitlines()):
            if line.startswith("#"):
                blocks.append((line[1:].split(), {}))
            else:
                role, text = line.split("\t")
                blocks[-1][1].setdefault(role, []).append(text)
        for sorts, says in blocks:
            known = says.pop("known")
            for label in [role for role in says for _ in range(PLAIN * len(says[role]))]:
                of = words[str(random.choice(sorts))]
                fill = dict(zip("ab", (of[place] for place in random.choice(len(of), 2, replace=False)), strict=True))
                yield label, *(phrases.chosen(str(random.choice(each)), fill, random) for each in (known, says[label]))


@cache
def _normalise_text(text: str) -> list[str]:
    """The text as it was said, and as the rules normalise it."""
    turn = TurnText((MessageText("user", text, None, 0, AT),))
    seen = observe(turn, ObserveContext(occurred_at=AT), ObservePolicy()).observations
    kept = [quoted_text(each.text, each.value) for each in seen if each.kind != "entity"]
    return list(dict.fromkeys([text, *kept[:1]]))


def _make_relations(label: str, known: str, said: str) -> list[Row]:
    found = related.signs(known, said)
    return [Row(found[0], (None,)), Row(found[1], (label,))] if found else []


def lexicon() -> dict[str, set[str]]:
    """The meaning classes of each gram that is a word of the lexicon."""
    found: dict[str, set[str]] = {}
    for path in sorted(phrases.LEXICON.glob("*.txt")):
        name = ""
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("#"):
                name = line[1:].split()[0]
                continue
            for word in filter(None, (part.strip().lower() for part in line.split("|"))):
                found.setdefault(gram_of(word), set()).add(name)
    return found


def gram_of(word: str) -> str:
    """The gram of a word."""
    return word if word[0] >= "\u3400" else word.replace(" ", "_") if " " in word else f" {word}"


def classes(rows: Sequence[Sequence[Row]]) -> list[list[str]]:
    """The classes of each group, `none` first."""
    groups = len(rows[0][0].labels)
    found = [{row.labels[n] for message in rows for row in message} - {None, SOME} for n in range(groups)]
    found = [{name for name in group if not str(name).startswith(NONE_OF)} for group in found]
    return [sorted((str(name) for name in group), key=lambda name: (name != NONE, name)) for group in found]
