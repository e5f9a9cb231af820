"""`python -m tests.training.ranking FILE...`: fits the weights of signals and the probability of a score; evaluates
both.

Every labelled conversation is committed and queried through the assembled system, with static vectors and with the
encoder of its language; the ranking's input for each candidate is stored (`--kept` reads it again).
"""

import argparse
import asyncio
import json
import logging
import pickle
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import structlog
from numpy.typing import NDArray

from services.cli.supervisor import Supervisor
from services.compose.context import scope_ranking
from services.compose.rules.planning import cues
from services.compose.rules.ranking import weigh as weighing
from services.compose.rules.ranking.weigh import BY_MEANING, BY_WORDS, Odds, Weights, score_candidates
from shared.language.normalise import detect
from shared.language.replies import says_something
from shared.runtime import Runtime
from tests.bench import store
from tests.bench.dialogues import SMALL_TALK, Line, Question, Talk, read, steps
from tests.bench.store import Committed

Floats = NDArray[np.float64]
SIGNALS = tuple(each.name for each in fields(Weights))
PARTS = {"meaning": [SIGNALS.index(each) for each in BY_WORDS], "words": [SIGNALS.index(each) for each in BY_MEANING]}
"""The missing signals of a question searched by meaning alone, or by words alone."""
NATURAL = Path(__file__).parent / "corpus"
UNRELATED = 60
"""The number of natural lines asked of each file's users, which no memory answers."""
SAMPLES = 160
"""The number of questions of each file that are also asked of a few lines, half of them without their answer."""
FEW_LINES = 6, 12
SAMPLE = ", few lines "
"""The suffix in the name of a dialogue of a few lines."""
FOLDS = 5
EDGES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
CUTS = (0.03, 0.05, 0.08, 0.1, 0.15, 0.2)
MOST = 12


@dataclass
class Asked:
    """One question with the signals of its candidates, a row each, and their lines."""

    file: str
    vectors: str
    user: str
    evidence: frozenset[str]
    rows: Floats
    lines: list[str]
    few: bool = False

    @property
    def right(self) -> NDArray[np.bool_]:
        """The candidates that answer."""
        return np.array([line in self.evidence for line in self.lines], dtype=np.bool_)


_seen: ContextVar[list[Any]] = ContextVar("seen")


def look(*given: Any, **more: Any) -> Any:
    """As `score_candidates`; the question that is being asked sees what went in and came out."""
    scored = score_candidates(*given, **more)
    _seen.get().append((given[0].words, given[1], scored.signals))
    return scored


async def ask(rt: Runtime, question: Question, committed: Committed, file: str, vectors: str) -> Asked | None:
    """The question as the ranking sees it; None without any near candidate."""
    seen: list[Any] = []
    watched = _seen.set(seen)
    with store.at(question.at):
        await store.search(rt, question.dialogue, question.text[:4000], top_k=50)
    _seen.reset(watched)
    whole = [each for each in seen if each[0] == cues.to_letters(question.text[:4000])]
    if not whole:
        return None
    _, hits, signals = whole[-1]
    rows = np.stack([signals.get(name, np.zeros(len(hits))) for name in SIGNALS], axis=1)
    telling = [n for n, hit in enumerate(hits) if hit.memory_id or says_something(hit.text)]
    lines = [committed.lines.get((str(hits[n].turn_id), hits[n].ordinal or 0), "") for n in telling]
    user, few, _ = question.dialogue.partition(SAMPLE)
    return Asked(file, vectors, user, question.evidence, rows[telling], lines, bool(few))


async def collect(on: Supervisor, talk: Talk, encoder: str | None, limit: int) -> list[Asked]:
    """All questions of one file, also of a few of its lines, and unanswerable natural lines.

    With both kinds of vectors, and all candidates of words and meaning, before any shortlist.
    """
    talk = talk.part(None, limit)
    few = samples(talk)
    made: list[Asked] = []
    committed = Committed()
    async with AsyncExitStack() as stack:
        stack.enter_context(patch.object(scope_ranking, "weigh", look))
        stack.enter_context(patch.object(weighing, "MOST_TURNS", sys.maxsize))
        stack.enter_context(patch.object(weighing, "MOST_MEMORIES", sys.maxsize))
        bare = await stack.enter_async_context(store.runtime(on))
        ways = {"static": bare}
        if encoder:
            ways["encoder"] = await stack.enter_async_context(store.runtime(on, encoder))
        both = replace(talk, lines=talk.lines + few.lines, questions=talk.questions + few.questions)
        plan = steps(both, at_their_time=True)
        for number, step in enumerate(plan):
            await store.commit(bare, step.lines, committed)
            asked = [each for each in step.questions if each.scored or not each.evidence]
            if number == len(plan) - 1:
                asked += load_unrelated(talk)
            for way, rt in ways.items():
                await store.embed_all(rt)
                done = await store.each_of(asked, lambda q, rt=rt, way=way: ask(rt, q, committed, talk.name, way))
                made += [each for each in done if each]
    return made


def samples(talk: Talk) -> Talk:
    """Questions about a few lines of their dialogue, adjacent or scattered; half without an answer."""
    said = {each.dialogue: [line for line in talk.lines if line.dialogue == each.dialogue] for each in talk.questions}
    answered = [each for each in talk.questions if each.scored and len(each.evidence) <= 3]
    lines: list[Line] = []
    questions: list[Question] = []
    for n, asked in enumerate(replace(talk, questions=tuple(answered)).part(None, SAMPLES).questions):
        chance = random.Random(f"{asked.dialogue} {asked.text}")  # deterministic
        whole = said[asked.dialogue]
        places = [at for at, line in enumerate(whole) if line.id in asked.evidence]
        if not places:
            continue
        many = chance.randint(*FEW_LINES)
        if n % 4 < 2:
            start = max(0, min(places[0] - chance.randrange(many), len(whole) - many))
            chosen = set(range(start, min(start + many, len(whole))))
        else:
            chosen = {*chance.sample(range(len(whole)), min(many, len(whole))), places[0]}
        chosen -= set(places if n % 2 else ())
        name = f"{asked.dialogue}{SAMPLE}{n}"
        own = [replace(whole[at], dialogue=name) for at in sorted(chosen)]
        lines += own
        evidence = asked.evidence & {line.id for line in own}
        questions.append(replace(asked, dialogue=name, evidence=evidence, earlier=len(own)))
    return Talk(talk.name, tuple(lines), tuple(questions))


def load_unrelated(talk: Talk) -> list[Question]:
    """Small talk and natural lines of other people, asked of this file's users."""
    language = detect(" ".join(line.text for line in talk.lines[:20]))
    path = NATURAL / f"natural_{'zh' if language == 'zh' else 'en'}.jsonl"
    texts = [json.loads(line)["text"] for line in path.read_text().splitlines()]
    fit = [text for text in texts if 4 <= len(text) <= 160]
    chosen = [*SMALL_TALK, *(fit[n * len(fit) // UNRELATED] for n in range(UNRELATED))]
    users = sorted({line.dialogue for line in talk.lines})
    return [Question(users[n % len(users)], text, "unrelated", frozenset(), 0) for n, text in enumerate(chosen)]


def fit_weights(asked: Sequence[Asked], shrink: float = 0.06, rounds: int = 150) -> Floats:
    """Weights that maximise the likelihood of the right candidates; each file counts by its square root.

    For a few lines nearly any order is right: they train the probability, not the order.
    """
    known = [each for each in asked if each.right.any() and not each.few]
    sizes = {each.file: sum(other.file == each.file for other in known) for each in known}
    rows = np.concatenate([each.rows for each in known])
    spread = rows.std(axis=0) + 1e-6
    rows = rows / spread
    lengths = [len(each.lines) for each in known]
    starts = np.cumsum([0, *lengths[:-1]])
    of = np.repeat(np.arange(len(known)), lengths)
    target = np.concatenate([each.right / each.right.sum() for each in known])
    share = np.array([sizes[each.file] ** -0.5 for each in known])
    share = (share / share.sum())[of]
    weights, slow, fast = (np.zeros(rows.shape[1]) for _ in range(3))
    for step in range(1, rounds + 1):
        score = rows @ weights
        odds = np.exp(score - np.maximum.reduceat(score, starts)[of])
        guess = odds / np.add.reduceat(odds, starts)[of]
        slope = rows.T @ (share * (guess - target)) + shrink * weights
        slow, fast = 0.9 * slow + 0.1 * slope, 0.99 * fast + 0.01 * slope * slope
        weights -= 0.06 * (slow / (1 - 0.9**step)) / (np.sqrt(fast / (1 - 0.99**step)) + 1e-8)
    return weights / spread


def traits(asked: Asked, weights: Floats) -> Floats:
    """The log odds of a score: the columns of `Odds`, in its order."""
    score = asked.rows @ weights
    count = len(score)
    no_meaning, no_words = (np.full(count, float(asked.vectors == part)) for part in ("words", "meaning"))
    first = np.full(count, max(score.max(initial=0.0), 0.0))
    meaning, coverage = (
        np.full(count, asked.rows[:, SIGNALS.index(each)].max(initial=0.0)) for each in ("meaning", "coverage")
    )
    many = np.full(count, np.log1p(count))
    return np.stack([np.ones(count), score, first, meaning, coverage, many, no_meaning, no_words], axis=1)


def fit_odds(asked: Sequence[Asked], weights: Floats) -> Floats:
    """Fits by logistic regression."""
    rows = np.concatenate([traits(each, weights) for each in asked])
    right = np.concatenate([each.right for each in asked]).astype(float)
    found = np.zeros(rows.shape[1])
    for _ in range(40):
        guess = 1 / (1 + np.exp(-(rows @ found)))
        curve = rows.T @ (rows * (guess * (1 - guess))[:, None]) + 1e-3 * np.eye(rows.shape[1])
        found += np.linalg.solve(curve, rows.T @ (right - guess) - 1e-3 * found)
    return found


def chances(asked: Asked, weights: Floats, odds: Floats) -> Floats:
    """The probability that each candidate helps."""
    return 1 / (1 + np.exp(-(traits(asked, weights) @ odds)))


def in_part(asked: Sequence[Asked]) -> list[Asked]:
    """The same questions by words alone and by meaning alone."""
    made: list[Asked] = []
    for each in asked:
        for part, missing in PARTS.items() if each.vectors == "static" else ():
            rows = each.rows.copy()
            rows[:, missing] = 0.0
            made.append(replace(each, vectors=part, rows=rows))
    return made


def tell(asked: Sequence[Asked], scores: Sequence[Floats]) -> None:
    """Recall in order of probability, reliability, and the effect of cut-offs."""
    for file, few in sorted({(each.file, each.few) for each in asked}):
        for vectors in ("words", "meaning", "static", "encoder"):
            pairs = [
                (each, p)
                for each, p in zip(asked, scores, strict=True)
                if (each.file, each.few, each.vectors) == (file, few, vectors)
            ]
            if pairs:
                _tell(f"{file}{SAMPLE.rstrip() if few else ''}, {vectors}", pairs)


def _tell(name: str, pairs: Sequence[tuple[Asked, Floats]]) -> None:
    answered = [(each, p) for each, p in pairs if each.evidence]
    orders = [_order(each, p) for each, p in answered]
    recall = {
        k: np.mean([len(set(o[:k]) & e.evidence) / len(e.evidence) for o, (e, _) in zip(orders, answered, strict=True)])
        for k in (5, 10, 12, 50)
    }
    every = np.concatenate([p for _, p in pairs])
    right = np.concatenate([each.right for each, _ in pairs])
    bins = np.digitize(every, EDGES)
    shown = [
        f"{every[bins == n].mean():.2f}/{right[bins == n].mean():.2f} ({(bins == n).sum()})" for n in np.unique(bins)
    ]
    error = sum(abs(every[bins == n].mean() - right[bins == n].mean()) * (bins == n).mean() for n in np.unique(bins))
    print(f"\n{name}: " + ", ".join(f"R@{k} {value:.3f}" for k, value in recall.items()))
    print(f"  reliability, said/true (candidates): {' '.join(shown)}; ECE {error:.4f}")
    for cut in CUTS:
        kept = [set(_order(each, p, cut)[:MOST]) for each, p in answered]
        hit = sum(len(k & each.evidence) for k, (each, _) in zip(kept, answered, strict=True))
        share = np.mean([len(k & e.evidence) / len(e.evidence) for k, (e, _) in zip(kept, answered, strict=True)])
        nothing = [bool((p >= cut).any()) for each, p in pairs if not each.evidence]
        precision = hit / max(1, sum(map(len, kept)))
        print(
            f"  from {cut}: recall {share:.3f} precision {precision:.3f} lines {np.mean([len(k) for k in kept]):.1f}"
            f" | unrelated with anything {np.mean(nothing):.2f}"
        )


def _order(asked: Asked, scores: Floats, least: float = 0.0) -> list[str]:
    """The lines, most likely first."""
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    ranked = [n for n in order if scores[n] >= least]
    return list(dict.fromkeys(asked.lines[n] or f"?{n}" for n in ranked))


def folds(asked: Sequence[Asked]) -> Iterable[tuple[list[Asked], list[Asked]]]:
    """The fitted and the evaluated questions, split by users."""
    users = sorted({(each.file, each.user) for each in asked})
    for fold in range(FOLDS):
        left = {user for n, user in enumerate(users) if n % FOLDS == fold}
        yield (
            [each for each in asked if (each.file, each.user) not in left],
            [each for each in asked if (each.file, each.user) in left],
        )


def fit_both(asked: Sequence[Asked]) -> Callable[[Asked], Floats]:
    """The probabilities by a fit to these questions."""
    weights = fit_weights([each for each in asked if each.vectors not in PARTS])
    odds = fit_odds(asked, weights)
    return lambda each: chances(each, weights, odds)


def main() -> int:
    """Prints figures of cross-validation, then the numbers for `Weights` and `Odds`."""
    parser = argparse.ArgumentParser("python -m tests.training.ranking", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", help="labelled conversations, as tests.bench.retrieval reads")
    parser.add_argument("--english", help="folder of an encoder for English")
    parser.add_argument("--chinese", help="folder of an encoder for Chinese")
    parser.add_argument("--kept", type=Path, help="a folder: what was asked is kept there, or read if it is there")
    parser.add_argument("--limit", type=int, default=1500, help="so many questions of each file")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    asked: list[Asked] = []
    for path in options.files:
        kept = options.kept / f"{path.stem}.pickle" if options.kept else None
        if kept and kept.exists():
            asked += pickle.loads(kept.read_bytes())  # noqa: S301 # written by this command
            continue
        talk = read(path)
        encoder = options.chinese if detect(talk.questions[0].text) == "zh" else options.english
        with store.system() as on:
            found = asyncio.run(collect(on, talk, encoder, options.limit))
        print(f"{talk.name}: {len(found)} questions seen", flush=True)
        asked += found
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(pickle.dumps(found))
    asked += in_part(asked)
    measured: list[Asked] = []
    scores: list[Floats] = []
    for known, left in folds(asked):
        score = fit_both(known)
        measured += left
        scores += [score(each) for each in left]
    tell(measured, scores)
    weights = fit_weights([each for each in asked if each.vectors not in PARTS])
    print("\nWeights:", ", ".join(f"{name}={value:.2f}" for name, value in zip(SIGNALS, weights, strict=True)))
    names = [each.name for each in fields(Odds)]
    odds = fit_odds(asked, weights)
    print("Odds:", ", ".join(f"{name}={value:.3f}" for name, value in zip(names, odds, strict=True)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
