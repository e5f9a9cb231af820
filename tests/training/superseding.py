"""`python -m tests.training.superseding`: fits the weights of the signs that a statement ends a memory.

The pairs come from the labelled conversations and contradictions (`dev`): each conversation is replayed for a user
without memories, and each memory is paired with each later statement. A memory that a label calls ended is ended by the
first later turn with its replacement; every other pair ends nothing.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from uuid import UUID

from services.cli.evaluate.sets import Contradiction, Conversation, MemoryWords, read
from services.cli.evaluate.world import AT, LATER, World
from shared.domain.statements import ActiveMemory, Statement
from shared.resolution import resolve
from shared.resolution.pair_signs import count_signs
from shared.resolution.related import SentenceRelation
from tests.training import corpus, natural
from tests.training.trees import Sample, fit, write

OUT = corpus.HERE.parents[1] / "shared" / "classifiers" / "weights" / "superseding.npz"
LINES = 40
"""The number of natural lines used as one person's messages."""
WEIGHT_OF_ENDS, WEIGHT_OF_DIARY = 2.0, 0.5
MOSTLY = 0.6
"""A memory counts as labelled ended if it has this share of the label's words."""


@dataclass(frozen=True)
class Pair:
    """A memory, a later statement, and their signs."""

    old: ActiveMemory
    new: Statement
    signs: list[float]


@dataclass
class Recorder:
    """The pairs of a replay."""

    pairs: list[Pair] = field(default_factory=list[Pair])

    def __call__(
        self, near: Sequence[ActiveMemory], new: Statement, quote: str, relations: Sequence[SentenceRelation]
    ) -> list[float]:
        """Records the pairs; nothing ends, so that later statements are paired with it too."""
        signs = count_signs(near, new, quote, relations)
        self.pairs += [Pair(old, new, each) for old, each in zip(near, signs, strict=True)]
        return [0.0] * len(near)


def _texts(text: str) -> str:
    return " ".join(text.lower().split())


def conversation_pairs(label: Conversation, number: int) -> Iterator[Sample]:
    """Each memory of the conversation with each later statement, and whether that ends it."""
    for pair, ends in judge_pairs(label):
        yield Sample(pair.signs, ends, WEIGHT_OF_ENDS if ends else 1.0, number)


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


def contradiction_pairs(case: Contradiction, number: int) -> Iterator[Sample]:
    """The earlier statements paired with the later message."""
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
        yield Sample(pair.signs, ends, WEIGHT_OF_ENDS if ends else 1.0, number)


def diary_pairs(path: Path, start: int) -> Iterator[Sample]:
    """One person's messages over some months: nearly nothing in them ends anything.

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
                    yield Sample(pair.signs, False, WEIGHT_OF_DIARY, number)
            recorder.pairs.clear()


def change_pairs(path: Path) -> Iterator[Sample]:
    """Two messages of one person, of which the later ends a part of the earlier, or does not.

    They were written to be hard, and nothing is fitted to them.
    """
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
            yield Sample(pair.signs, ends, 1.0, number)


def natural_pairs(start: int) -> Iterator[Sample]:
    """Natural messages, some lines of one source after the other: none ends another."""
    lines = list(natural.lines())
    for number, at in enumerate(range(0, len(lines), LINES), start):
        recorder = Recorder()
        resolve.estimate_superseding = recorder  # type: ignore[assignment]
        world = World()
        for place, line in enumerate(lines[at : at + LINES]):
            world.hear(line.text, f"natural-{at}", AT + timedelta(minutes=5 * place))
        for pair in recorder.pairs:
            yield Sample(pair.signs, False, 1.0, number)


def conversations(folder: Path) -> Iterator[Conversation]:
    """The conversations for fitting: those of the sets, and those written for it."""
    yield from (label for label in read(folder, "conversations", Conversation) if label.part == "dev")
    for path in sorted((corpus.HERE / "corpus").glob("conversations_*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            yield Conversation.model_validate_json(line)


def samples(folder: Path) -> list[Sample]:
    """Every pair of the parts for fitting."""
    found: list[Sample] = []
    for number, label in enumerate(conversations(folder)):
        found += conversation_pairs(label, number)
    for number, case in enumerate(read(folder, "contradictions", Contradiction)):
        if case.part == "dev":
            found += contradiction_pairs(case, number)
    for path in sorted((corpus.HERE / "corpus").glob("diaries_*.tsv")):
        found += diary_pairs(path, len(found))
    return [*found, *natural_pairs(len(found))]


def check(every: Sequence[Sample]) -> None:
    """The effect of thresholds, each half judged by a fit on the other; and of hard pairs, by a fit on all."""
    told: list[tuple[float, bool]] = []
    for half in (0, 1):
        fitted = fit([each for each in every if each.message % 2 != half])
        unseen = [each for each in every if each.message % 2 == half]
        told += zip(fitted.estimate([each.signs for each in unseen]), (each.kept for each in unseen), strict=True)
    report(told)
    hard = [each for path in sorted((corpus.HERE / "corpus").glob("changes_*.jsonl")) for each in change_pairs(path)]
    print("hard pairs, never fitted:")
    shares = fit(every).estimate([each.signs for each in hard])
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
    every = samples(given.folder)
    if given.check:
        check(every)
        return
    print(f"{sum(each.kept for each in every)} of {len(every)} pairs end; {write(fit(every), OUT)} bytes")


if __name__ == "__main__":
    main()
