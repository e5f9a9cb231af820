"""`python -m tests.training.superseding`: fits the weights of the signs that a statement ends a memory.

The pairs come from the labelled conversations and contradictions (`dev`): each conversation is told to somebody who
knows nothing, and each memory is put beside each later statement. A memory that says what a label calls ended, beside
the first later turn that says what stands instead, is ended by it; every other pair ends nothing. Each conversation is
also told to somebody who knows what strangers said: that ends none of it. `ending_judge` fits what all pairs teach.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from random import Random
from uuid import UUID

from services.cli.evaluate.sets import Contradiction, Conversation, MemoryWords, read
from services.cli.evaluate.world import AT, LATER, World
from shared.classifiers.pair_reader import BOTH, ENDS, NONE, SAME
from shared.domain.statements import ActiveMemory, Statement
from shared.resolution import resolve
from shared.resolution.pair_signs import SIGNS, count_signs
from shared.resolution.related import SentenceRelation
from shared.resolution.superseding import estimate
from tests.training import corpus, natural
from tests.training.corpus import diaries, read_lines
from tests.training.ending_judge import PairOfTexts, PairSample, fit, judge_unseen, write
from tests.training.pair_fit import NOT_ENDS

WEIGHTS = corpus.HERE.parents[1] / "shared" / "classifiers" / "weights"
LINES = 120
"""So many natural lines are told as by one person."""
STRANGERS, MOST_LIKE = 60, 2
"""So many memories of strangers are known where a conversation is told, and so many of them stand beside a sentence."""
SAME_IN_LIFE = tuple(map(SIGNS.index, ("fills_anew", "refills", "one_role")))
"""Signs by which even a stranger's memory would end, had one person said both."""
WEIGHT_OF_ENDS, WEIGHT_OF_DIARY, WEIGHT_OF_STRANGER = 2.0, 0.5, 0.4
MOSTLY = 0.6
"""A memory counts as labelled ended if it has this share of the label's words."""
KEPT_OUT = 5
"""Every fifth of the hard pairs is in no fit."""


@dataclass(frozen=True)
class Pair:
    """A memory, a later statement, and their signs."""

    old: ActiveMemory
    new: Statement
    quote: str
    signs: list[float]

    def to_sample(self, ends: bool, number: int, weight: float = 1.0, plain: bool = False) -> PairSample:
        """The pair as it is fitted, of the conversation of this number."""
        weight = WEIGHT_OF_ENDS if ends else weight
        return PairSample(self.signs, ends, weight, number, self.old.text, self.quote, plain)


@dataclass
class Recorder:
    """The pairs of a replay."""

    pairs: list[Pair] = field(default_factory=list[Pair])

    def __call__(
        self, near: Sequence[ActiveMemory], new: Statement, quote: str, relations: Sequence[SentenceRelation]
    ) -> list[float]:
        """Records the pairs; nothing ends, so that later statements are paired with it too."""
        signs = count_signs(near, new, quote, relations)
        self.pairs += [Pair(old, new, quote, each) for old, each in zip(near, signs, strict=True)]
        return [0.0] * len(near)


def _texts(text: str) -> str:
    return " ".join(text.lower().split())


def conversation_pairs(label: Conversation, number: int) -> Iterator[PairSample]:
    """Each memory of the conversation beside each later statement, and whether that ends it."""
    for pair, ends in judge_pairs(label):
        yield pair.to_sample(ends, number)


def judge_pairs(label: Conversation) -> Iterator[tuple[Pair, bool]]:
    """Each memory with each later statement, and whether that ends it.

    A pair is omitted if it is unclear which later turn, or which statement of a turn, ended the memory.
    """
    recorder = Recorder()
    resolve.estimate_superseding = recorder  # type: ignore[assignment]
    world = World()
    turn_of: dict[UUID, int] = {}
    at: list[tuple[int, Pair]] = []
    for place, turn in enumerate(label.turns, 1):
        world.hear(turn.user, label.id, turn.at, turn.assistant)
        for memory_id in world.active:
            turn_of.setdefault(memory_id, place)
        at += [(place, pair) for pair in recorder.pairs]
        recorder.pairs.clear()
    for place, pair in at:
        said_at = turn_of.get(pair.old.memory_id, 1)
        ended = [gone for gone in label.gone if says(pair.old.text, gone)]
        if not ended:
            yield pair, False
        elif _is_ended(label, ended, said_at, place) and not _leaves_it_to_another(label, place, pair, at):
            yield pair, True


def says(text: str, told: MemoryWords) -> bool:
    return all(_texts(word) in _texts(text) for word in told.words)


def _is_ended(label: Conversation, ended: Sequence[MemoryWords], said_at: int, place: int) -> bool:
    """Whether this turn ends the statement."""
    later = {each.turn for each in label.stands if each.turn and each.turn > said_at}
    by = place in later if later else len(label.turns) == said_at + 1
    return by and not any(gone.turn and said_at < gone.turn and gone.turn >= place for gone in ended)


def _leaves_it_to_another(label: Conversation, place: int, pair: Pair, at: Sequence[tuple[int, Pair]]) -> bool:
    """Whether another statement of the turn has the words of the replacement, and this one has not."""
    stands = [each for each in label.stands if each.turn == place]
    having = [other.new for then, other in at if then == place and any(says(other.new.text, each) for each in stands)]
    return bool(having) and not any(new is pair.new for new in having)


def contradiction_pairs(case: Contradiction, number: int) -> Iterator[PairSample]:
    """What was said before beside the later message."""
    recorder = Recorder()
    resolve.estimate_superseding = recorder  # type: ignore[assignment]
    world = World()
    for day, text in enumerate(case.before):
        world.hear(text, f"before-{day}", AT + timedelta(days=day))
    recorder.pairs.clear()
    world.hear(case.message, "later", AT + LATER)
    for pair in recorder.pairs:
        old = pair.old
        ends = case.expect in ("replace", "end") and _texts(case.old) in _texts(old.text)
        yield pair.to_sample(ends, number)


def diary_pairs(path: Path, start: int) -> Iterator[PairSample]:
    """What one person tells over some months: nearly nothing of it ends anything.

    Pairs that end something are omitted, because the learned relation was fitted to them.
    """
    lines = [line.split("\t") for line in path.read_text("utf-8").splitlines() if line]
    for number, (diary, told) in enumerate(groupby(lines, key=lambda line: line[0]), start):
        recorder = Recorder()
        resolve.estimate_superseding = recorder  # type: ignore[assignment]
        world = World()
        said_in: dict[UUID, str] = {}
        for day, (_, place, ends, same, text) in enumerate(told):
            world.hear(text, f"{diary}-{day // 8}", AT + timedelta(days=3 * day))
            for memory_id in world.active:
                said_in.setdefault(memory_id, place)
            for pair in recorder.pairs:
                old = pair.old
                if said_in.get(old.memory_id, "") not in (*same.split(","), *ends.split(",")):
                    yield pair.to_sample(False, number, WEIGHT_OF_DIARY, plain=True)
            recorder.pairs.clear()


def change_pairs(path: Path) -> Iterator[PairSample]:
    """Two messages of one person, the later of which says that part of the earlier holds no longer, or does not."""
    for number, line in enumerate(path.read_text("utf-8").splitlines()):
        label = json.loads(line)
        recorder = Recorder()
        resolve.estimate_superseding = recorder  # type: ignore[assignment]
        world = World()
        world.hear(label["old"], "before", AT)
        recorder.pairs.clear()
        world.hear(label["new"], "later", AT + timedelta(days=1))
        gone = set(_texts(label.get("gone", "")).split())
        for pair in recorder.pairs:
            old = pair.old
            ends = bool(gone) and len(gone & set(_texts(old.text).split())) >= MOSTLY * len(gone)
            ends |= bool(gone) and _texts(label["gone"]) in _texts(old.text)
            yield pair.to_sample(ends, number)


def natural_pairs(start: int) -> Iterator[PairSample]:
    """What people really say, some lines of one source after the other: they end nothing of each other."""
    lines = [line.text for line in natural.lines()]
    kept = [text for path in sorted((corpus.HERE / "corpus").glob("lasting_*.jsonl")) for text in _read_natural(path)]
    told = [each[at : at + LINES] for each in (lines, kept) for at in range(0, len(each), LINES)]
    for number, texts in enumerate(told, start):
        recorder = Recorder()
        resolve.estimate_superseding = recorder  # type: ignore[assignment]
        world = World()
        for place, text in enumerate(texts):
            world.hear(text, f"natural-{number}", AT + timedelta(minutes=5 * place))
        for pair in recorder.pairs:
            yield pair.to_sample(False, number, plain=True)


def _read_natural(path: Path) -> Iterator[str]:
    """The messages of the file that people wrote to each other or to an assistant, some of which say what is kept."""
    for line in map(json.loads, path.read_text("utf-8").splitlines()):
        if line.get("source") != "written" and "records" not in path.stem:
            yield line["text"]


def stranger_pairs(labels: Sequence[Conversation]) -> Iterator[PairSample]:
    """What each conversation says beside what strangers said long before: it ends none of that.

    Where one person cannot have said both, so that the first would end, the pair is left out.
    """
    random = Random(5)
    known: dict[str, list[tuple[int, ActiveMemory]]] = defaultdict(list)
    for number, label in enumerate(labels):
        world, turn = World(), label.turns[0]
        world.hear(turn.user, label.id, AT - timedelta(days=400), turn.assistant)
        known[label.lang] += [(number, each) for each in world.active.values() if not each.name_alone]
    for number, label in enumerate(labels):
        recorder = Recorder()
        resolve.estimate_superseding = recorder  # type: ignore[assignment]
        world, begin = World(), label.turns[0].at
        strangers = [each for of, each in random.sample(known[label.lang], STRANGERS) if of != number]
        world.active = {each.memory_id: each for each in strangers}
        theirs = frozenset(world.active)
        for turn in label.turns:
            world.hear(turn.user, label.id, AT + (turn.at - begin), turn.assistant)
        foreign = [pair for pair in recorder.pairs if pair.old.memory_id in theirs]
        for _, of_one in groupby(foreign, key=lambda pair: id(pair.new)):
            for pair in list(of_one)[:MOST_LIKE]:
                if not any(pair.signs[place] for place in SAME_IN_LIFE):
                    yield pair.to_sample(False, number, WEIGHT_OF_STRANGER, plain=True)


def conversations(folder: Path) -> Iterator[Conversation]:
    """The conversations for fitting: those of the sets, and those written for it."""
    yield from (label for label in read(folder, "conversations", Conversation) if label.part == "dev")
    for path in sorted((corpus.HERE / "corpus").glob("conversations_*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            yield Conversation.model_validate_json(line)


def samples(folder: Path) -> list[PairSample]:
    """Every pair of the parts that may be fitted."""
    found: list[PairSample] = []
    labels = list(conversations(folder))
    for number, label in enumerate(labels):
        found += conversation_pairs(label, number)
    found += stranger_pairs(labels)
    for number, case in enumerate(read(folder, "contradictions", Contradiction)):
        if case.part == "dev":
            found += contradiction_pairs(case, number)
    for path in sorted((corpus.HERE / "corpus").glob("diaries_*.tsv")):
        found += diary_pairs(path, len(found))
    return [*found, *natural_pairs(len(found))]


def texts() -> list[PairOfTexts]:
    """Pairs of texts with their class, read without signs: sentences, diaries, and four fifths of the hard pairs."""
    named = {"none": NONE, "ends": ENDS, "same": SAME, "both": BOTH}
    told = [line.split("\t") for line in read_lines(corpus.HERE / "corpus", "relations_*.tsv")]
    found = [PairOfTexts(earlier, later, named[label]) for label, _, earlier, later in told]
    found += [PairOfTexts(earlier, later, named[label]) for label, earlier, later in diaries() if label != "none"]
    hard = [each for each in hard_pairs() if each.message % KEPT_OUT]
    return [*found, *(PairOfTexts(each.earlier, each.quote, ENDS if each.kept else NOT_ENDS) for each in hard)]


def hard_pairs() -> list[PairSample]:
    """The pairs that were written to be hard."""
    return [each for path in sorted((corpus.HERE / "corpus").glob("changes_*.jsonl")) for each in change_pairs(path)]


def check(every: Sequence[PairSample], more: Sequence[PairOfTexts]) -> None:
    """What thresholds would end, each part judged by a fit on the others."""
    report(list(zip(judge_unseen(every, more), (each.kept for each in every), strict=True)))


def check_written() -> None:
    """What thresholds would end, by the weights that are there, of hard pairs that they were not fitted to."""
    hard = [each for each in hard_pairs() if not each.message % KEPT_OUT]
    print("hard pairs, never fitted:")
    shares = [estimate([each.earlier], each.quote, [each.signs])[0] for each in hard]
    report(list(zip(shares, (each.kept for each in hard), strict=True)))


def report(told: Sequence[tuple[float, bool]]) -> None:
    """Precision and recall by threshold."""
    there = sum(ends for _, ends in told)
    print(f"{len(told)} pairs, {there} end")
    for least in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        found = [ends for share, ends in told if share >= least]
        print(f"  at {least}: precision {sum(found) / max(1, len(found)):.3f} recall {sum(found) / max(1, there):.3f}")


def main() -> None:
    """Fits and writes, or checks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--folder", type=Path, default=corpus.SETS)
    given = parser.parse_args()
    every, more = samples(given.folder), texts()
    if given.check:
        check(every, more)
    else:
        size = write(fit(every, more), WEIGHTS / "pairs.npz", WEIGHTS / "superseding.npz")
        print(f"{sum(each.kept for each in every)} of {len(every)} pairs end; {size} bytes")
    check_written()


if __name__ == "__main__":
    main()
