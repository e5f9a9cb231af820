"""Retrieval and packages on labelled conversations: turns are committed and learnt, then the questions are asked."""

import argparse
import asyncio
import json
import logging
import os
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from services.cli.supervisor import Supervisor
from shared.language.normalise import detect
from shared.runtime import Runtime
from tests.bench import memories, store, verbatim
from tests.bench.bm25 import Bm25
from tests.bench.dialogues import SMALL_TALK, Question, Step, Talk, join_questions, read, steps
from tests.bench.figures import Figures, cut_figures, mean, percentile, rank_figures
from tests.bench.store import TOP_K, Committed
from tests.system import databases

NATURAL = Path(__file__).parent.parent / "training" / "corpus"
BM25 = "bm25"
NOTHING = "nothing configured"
SHOWN = 20
"""The number of texts printed of those that are not found."""
DIAGNOSED = (("words", "exact"), ("meaning", "semantic"))
"""The arms of a search separately; fusion should not be worse than the best arm."""


@dataclass
class Way:
    """A search configuration, and its results."""

    name: str
    encoders: str | None = None
    mode: str = "hybrid"
    whole: bool = True
    """Whether packages and the product's own cut-off are measured, or only the ranking."""
    ranks: dict[str, list[Figures]] = field(default_factory=lambda: defaultdict(list))
    cuts: list[Figures] = field(default_factory=list[Figures])
    packages: list[Figures] = field(default_factory=list[Figures])
    unfit: dict[str, list[Figures]] = field(default_factory=lambda: defaultdict(list))
    times: list[float] = field(default_factory=list[float])
    degraded: set[str] = field(default_factory=set[str])
    scored: list[Figures] = field(default_factory=list[Figures])

    def judge(self, question: Question, ranked: Sequence[str], cut: Figures | None = None) -> None:
        """The ranking for one question, and its part above the product's own cut-off."""
        figures = rank_figures(ranked, question.evidence)
        if cut:
            self.cuts.append(cut)
            figures |= {"cut": cut["recall"], "all@cut": float(cut["recall"] == 1.0)}
        self.ranks[question.category].append(figures)
        if question.scored:
            self.scored.append(figures)

    def report(self) -> dict[str, Any]:
        """All figures, by their names."""
        categories = {name: {**mean(each), "questions": len(each)} for name, each in sorted(self.ranks.items())}
        found: dict[str, Any] = {"overall": {**mean(self.scored), "questions": len(self.scored)}}
        found["by_category"] = categories
        if self.times:
            found["latency_ms"] = {"p50": percentile(self.times, 50), "p95": percentile(self.times, 95)}
        if self.whole and self.name != BM25:
            found["at_the_cut"] = mean(self.cuts)
            found["packages"] = mean(self.packages)
            found["where_nothing_fits"] = {name: mean(each) for name, each in sorted(self.unfit.items())}
            found["degraded"] = sorted(self.degraded)
        return found


async def measure(on: Supervisor, talk: Talk, encoders: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    """The figures of every search configuration, by its name, on one ingestion."""
    plan = steps(talk, at_their_time=options.ask_at_time)
    ways = [way for folders in (None, *encoders) for way in _ways(folders, options.parts)]
    plain, committed, spent = Way(BM25), Committed(), 0.0
    words: dict[str, Bm25] = defaultdict(Bm25)
    async with AsyncExitStack() as stack:
        bare = await stack.enter_async_context(store.runtime(on))
        reading = {name: await stack.enter_async_context(store.runtime(on, name)) for name in encoders}
        for number, step in enumerate(plan):
            began = time.perf_counter()
            await store.commit(bare, step.lines, committed)
            spent += time.perf_counter() - began
            if number % 16 == 0:
                databases.rows(on.dsn, "VACUUM ANALYZE")
            for line in step.lines:
                words[line.dialogue].add(line.id, line.text)
            for question in step.questions:
                if question.evidence:
                    plain.judge(question, words[question.dialogue].search(question.text, TOP_K))
            for way in ways:
                rt = await _ready(on, way, bare, reading)
                await _ask(rt, step, way, committed, small_talk=number == len(plan) - 1)
    rate, asked = committed.turns / spent, len(talk.questions)
    print(f"\n{talk.name}: {committed.turns} turns committed and learnt from at {rate:.0f}/s, {asked} questions")
    return {way.name: way.report() for way in (plain, *ways)}


def label(encoders: str) -> str:
    """The name of these folders in a table."""
    return ":".join(Path(each).name for each in encoders.split(os.pathsep))


def _ways(encoders: str | None, parts: bool) -> list[Way]:
    """The configuration with these encoders, and on request its two arms separately."""
    name = label(encoders) if encoders else NOTHING
    alone = [Way(f"{name}, {part}", encoders, mode, whole=False) for part, mode in DIAGNOSED] if parts else []
    return [Way(name, encoders), *alone]


async def _ready(on: Supervisor, way: Way, bare: Runtime, reading: Mapping[str, Runtime]) -> Runtime:
    """The runtime of this configuration, every chunk with its vector."""
    if way.encoders is None:
        return bare
    if len(reading) > 1 and way.mode == "hybrid":
        store.forget_vectors(on)
    await store.embed_all(reading[way.encoders])
    return reading[way.encoders]


async def _ask(rt: Runtime, step: Step, way: Way, committed: Committed, *, small_talk: bool) -> None:
    async def ask(question: Question) -> None:
        with store.at(question.at):
            await _ask_one(rt, question, way, committed)

    await store.each_of(step.questions, ask)
    if way.whole and small_talk and (user := next((each.dialogue for each in step.questions), None)):
        for text in SMALL_TALK:
            await _unfit(rt, user, text, way, "small talk")


async def _ask_one(rt: Runtime, question: Question, way: Way, committed: Committed) -> None:
    user, text = question.dialogue, question.text[: verbatim.MOST_CHARS]
    if not question.evidence:
        if way.whole:
            await _unfit(rt, user, text, way, "unanswerable")
        return
    began = time.perf_counter()
    pack = await store.search(rt, user, text, mode=way.mode, top_k=TOP_K)
    way.times.append((time.perf_counter() - began) * 1000)
    way.degraded.update(pack.explain.degraded_reason)
    ranked = [line for each in pack.evidences if (line := committed.line_of(each.ref))]
    whole, cut = way.whole and question.scored, None
    if whole:
        pack = await store.search(rt, user, text)
        cut = cut_figures([committed.line_of(each.ref) or "" for each in pack.evidences], question.evidence)
    way.judge(question, list(dict.fromkeys(ranked)), cut)
    if whole:
        made = await store.package(rt, user, text)
        way.packages.append({**cut_figures(committed.lines_of(made.evidence), question.evidence), **_size(made)})
        way.degraded.update(made.degraded_reason)


async def _unfit(rt: Runtime, user: str, text: str, way: Way, kind: str) -> None:
    """A question that nothing answers: whether anything is returned."""
    pack, made = await store.search(rt, user, text), await store.package(rt, user, text)
    searched, packed = float(bool(pack.evidences)), float(bool(made.evidence))
    way.unfit[kind].append({"retrieve answers": searched, "package has evidence": packed, **_size(made)})


def _size(made: store.ContextPackage) -> Figures:
    core = sum(block.source.memory_item_id is not None for block in made.system_blocks)
    return {"core": float(core), "tokens": float(made.constraints.token_budget.used_estimate)}


async def measure_memories(on: Supervisor, path: Path, encoders: Sequence[str]) -> dict[str, Any]:
    """The figures on memories provided by the caller, by search configuration."""
    beliefs, queries = memories.read(path)
    async with store.runtime(on) as rt:
        named = await memories.remember(rt, beliefs)
        found: dict[str, Any] = {NOTHING: await memories.measure(rt, queries, named)}
    for folders in encoders:
        async with store.runtime(on, folders) as rt:
            store.forget_vectors(on)
            await store.embed_all(rt)
            found[label(folders)] = await memories.measure(rt, queries, named)
    return found


async def look_verbatim(on: Supervisor, path: Path, options: argparse.Namespace) -> verbatim.Lost:
    """The texts of this file that their own words do not find, in the default configuration."""
    lines, sought = verbatim.read(path, options.verbatim, options.dialogue)
    async with store.runtime(on) as rt:
        return await verbatim.look(rt, lines, sought)


def report(path: Path, encoders: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    """The figures of every search configuration on one file; a system for each encoder if time
    passes between questions.
    """
    if options.verbatim:
        with store.system() as on:
            lost = asyncio.run(look_verbatim(on, path, options))
        print(f"{path.stem}: {len(lost.lines)} of {lost.asked} texts do not come back by their own words")
        for line in lost.lines[:SHOWN]:
            print(f"  {line.id} ({line.role}, {len(line.text)} characters): {line.text[:100]}")
        return {"lost": lost.share, "asked": lost.asked, "ids": [line.id for line in lost.lines]}
    if memories.is_memories(path):
        with store.system() as on:
            found = asyncio.run(measure_memories(on, path, encoders))
        show_memories(path.stem, found)
        return found
    talk = read(path).part(options.dialogue)
    talk = (join_questions(talk, _filler(talk)) if options.joined else talk).part(None, options.limit)
    runs = [[name] for name in encoders] if options.ask_at_time and encoders else [list(encoders)]
    found: dict[str, Any] = {}
    for names in runs:
        with store.system() as on:
            found |= asyncio.run(measure(on, talk, names, options))
    show(found)
    return found


def _filler(talk: Talk) -> list[str]:
    """Lines of other people, in the language of these conversations."""
    language = "zh" if detect(talk.questions[0].text) == "zh" else "en"
    texts = [json.loads(line)["text"] for line in (NATURAL / f"natural_{language}.jsonl").read_text().splitlines()]
    return [text for text in texts if 12 <= len(text) <= 160 and "?" not in text and "？" not in text]


def show_memories(name: str, ways: Mapping[str, Mapping[str, Figures]]) -> None:
    """A table of the memories' figures."""
    rows = {f"{way}, {part}": row for way, parts in ways.items() for part, row in parts.items()}
    print(f"\n{name}")
    _table(max(map(len, rows)) + 2, list(next(iter(rows.values()))), rows)


def show(ways: Mapping[str, Mapping[str, Any]]) -> None:
    """A table of all configurations, then one of the product's cut-off and packages, then the categories."""
    names = list(dict.fromkeys(name for way in ways.values() for name in way["overall"] if name != "questions"))
    width = max(map(len, ways)) + 2
    _table(width, names, {name: way["overall"] for name, way in ways.items()})
    cut = {name: way for name, way in ways.items() if "at_the_cut" in way}
    for title, key in (("retrieve, its own cut", "at_the_cut"), ("packages", "packages")):
        shown = {name: way[key] for name, way in cut.items() if way[key]}
        if shown:
            print(f"\n{title}")
            _table(width, list(dict.fromkeys(head for each in shown.values() for head in each)), shown)
    for name, way in cut.items():
        for kind, figures in way["where_nothing_fits"].items():
            print(f"{name}, {kind}: " + ", ".join(f"{key} {value:.2f}" for key, value in figures.items()))
        if way["degraded"]:
            print(f"{name}, degraded: {', '.join(way['degraded'])}")
    for category in next(iter(ways.values()))["by_category"]:
        rows = {name: way["by_category"][category] for name, way in ways.items()}
        print(f"\n{category} ({next(iter(rows.values()))['questions']})")
        _table(width, names, rows)


def _table(width: int, names: Sequence[str], rows: Mapping[str, Figures]) -> None:
    print(" " * width + "".join(f"{name:>11}" for name in names))
    for title, row in rows.items():
        cells = (
            f"{row[name]:>11.3f}" if name in row and row[name] < 100 else f"{row.get(name, 0):>11.0f}" for name in names
        )
        print(f"{title:<{width}}" + "".join(cells))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.bench.retrieval", description=__doc__)
    parser.add_argument(
        "files", type=Path, nargs="+", help="in LoCoMo's shape, or memories with cases, or golden_zh.jsonl"
    )
    parser.add_argument(
        "--embedding-model",
        action="append",
        default=[],
        metavar="DIRS",
        help="as SMARTBRAIN_EMBEDDING_DIR; may be given several times, each is measured beside nothing configured",
    )
    parser.add_argument(
        "--ask-at-time", action="store_true", help="ask each question when only what was said before it stands"
    )
    parser.add_argument("--limit", type=int, help="so many questions of each file, for a quick look")
    parser.add_argument("--dialogue", action="append", help="this dialogue alone; may be given several times")
    parser.add_argument(
        "--joined", action="store_true", help="several questions in one, lists of things, and questions behind filler"
    )
    parser.add_argument("--parts", action="store_true", help="search by words alone and by meaning alone too")
    parser.add_argument("--verbatim", type=int, metavar="N", help="instead: look for N texts by their very words")
    parser.add_argument("--out", type=Path, help="write the report as JSON")
    return parser


def main() -> int:
    """Prints tables and writes JSON."""
    options = _parser().parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    found: dict[str, Any] = {}
    for path in options.files:
        found[path.stem] = report(path, options.embedding_model, options)
        if options.out:
            options.out.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
