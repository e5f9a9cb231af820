"""Retrieval quality on a file in LoCoMo's format: its dialogues committed turn by turn, its questions asked."""

import argparse
import asyncio
import json
import logging
import math
import re
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import structlog

from schemas.retrieve import RetrieveRequest
from schemas.turn_events import TurnEvents
from services.cli.supervisor import Supervisor
from services.compose.commit import commit_turn
from services.compose.context import retrieve
from services.evolver.embed import embed_some
from shared.runtime import Runtime, open_runtime
from shared.settings import Settings
from shared.store.turns import count_late
from tests.bench.kit import machine
from tests.system import databases
from tests.system.wait import wait_for

TENANT = "bench"
TOP_K = 50
WORKERS = ("relay", "observer", "analyzer", "evolver")
SCORED = (1, 2, 3, 4)
"""The categories of `overall`; 5 asks for what was never said."""
WAYS = (("lexical", "exact"), ("vector", "semantic"), ("full", "hybrid"))
_EVIDENCE = re.compile(r"D(\d+)\s*:\s*(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True)
class Line:
    """One turn of a dialogue."""

    dialogue: str
    session: str
    id: str
    speaker: str
    text: str
    said_at: datetime


@dataclass(frozen=True)
class Question:
    """One question with the turns that answer it."""

    dialogue: str
    text: str
    category: int
    evidence: frozenset[str]


def read(path: Path) -> tuple[list[Line], list[Question]]:
    """All turns in order, and all questions that have evidence."""
    lines: list[Line] = []
    questions: list[Question] = []
    for each in json.loads(path.read_text()):
        name, talk = str(each["sample_id"]), each["conversation"]
        numbers = sorted(int(m.group(1)) for key in talk if (m := re.fullmatch(r"session_(\d+)", key)))
        for number in numbers:
            start = datetime.strptime(talk[f"session_{number}_date_time"], _DATE).replace(tzinfo=UTC)
            for at, turn in enumerate(talk[f"session_{number}"]):
                text = " ".join(filter(None, (turn["text"], _caption(turn))))
                said = start + timedelta(seconds=at)
                lines.append(Line(name, f"s{number}", _plain(turn["dia_id"]), turn["speaker"], text, said))
        for asked in each["qa"]:
            places = [place for each in asked.get("evidence") or () for place in _EVIDENCE.findall(each)]
            evidence = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in places)
            if evidence:
                questions.append(Question(name, asked["question"], int(asked["category"]), evidence))
    return lines, questions


def _caption(turn: Mapping[str, Any]) -> str:
    return f"[image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""


def _plain(dia_id: str) -> str:
    found = _EVIDENCE.search(dia_id)
    return f"D{int(found.group(1))}:{int(found.group(2))}" if found else dia_id


@asynccontextmanager
async def runtime(on: Supervisor, model: str | None) -> AsyncIterator[Runtime]:
    """What compose is handed, and the encoder: vectors are made here, so that the bench knows when all are there."""
    settings = Settings.model_validate({"database_url": on.dsn, "kafka_bootstrap": on.bootstrap})
    async with open_runtime(settings.model_copy(update={"embedding_dir": model}), "bench", pool=6) as rt:
        yield rt


async def ingest(rt: Runtime, lines: Sequence[Line]) -> tuple[dict[str, str], float]:
    """The dialogue's id of each turn id, and how many turns a second were committed and learnt from."""
    began = time.perf_counter()
    named: dict[str, str] = {}
    for line in lines:
        turn = TurnEvents.model_validate(
            {
                "tenant_id": TENANT,
                "user_id": line.dialogue,
                "session_id": line.session,
                "created_at": line.said_at,
                "messages": [{"role": "user", "name": line.speaker, "content": line.text}],
            }
        )
        done = await commit_turn(turn, rt, transport="bench")
        named[str(done.result.turn_id)] = line.id
    await wait_for(lambda: _settled(rt), "every turn has its outcome", deadline_s=600)
    rate = len(lines) / (time.perf_counter() - began)
    while await embed_some(rt):
        pass
    return named, rate


async def _settled(rt: Runtime) -> bool:
    """Whether every turn has its outcome."""
    async with rt.db.system() as conn:
        return not await count_late(conn, timedelta(0))


async def ask(rt: Runtime, question: Question, mode: str, named: Mapping[str, str]) -> tuple[list[str], float]:
    """The ids of the turns found, best first, and how long it took in milliseconds."""
    plan = RetrieveRequest.model_validate(
        {
            "version": "0.1",
            "tenant_id": TENANT,
            "user_id": question.dialogue,
            "queries": [{"text": question.text, "mode": mode}],
            "budget": {"top_k": TOP_K},
        }
    )
    began = time.perf_counter()
    pack = await retrieve(plan, rt)
    took = (time.perf_counter() - began) * 1000
    found = [named[e.ref.turn_id] for e in pack.evidences if e.ref.turn_id in named]
    return list(dict.fromkeys(found)), took


def judged(found: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    """The figures of one question."""
    at = [rank for rank, each in enumerate(found, 1) if each in evidence]
    gain = sum(1 / math.log2(rank + 1) for rank in at if rank <= 10)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(evidence), 10) + 1))
    recall = {f"recall@{k}": sum(rank <= k for rank in at) / len(evidence) for k in (5, 10, 20, 50)}
    hit = float(any(rank <= 10 for rank in at))
    return {**recall, "hit@10": hit, "ndcg@10": gain / ideal, "mrr": 1 / at[0] if at else 0.0}


def mean(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each figure."""
    return {name: round(sum(f[name] for f in figures) / len(figures), 4) for name in figures[0]} if figures else {}


async def measure(rt: Runtime, questions: Iterable[Question], mode: str, named: Mapping[str, str]) -> dict[str, Any]:
    """All figures of one way to search."""
    by_category: dict[int, list[dict[str, float]]] = defaultdict(list)
    times: list[float] = []
    for question in questions:
        found, took = await ask(rt, question, mode, named)
        times.append(took)
        by_category[question.category].append(judged(found, question.evidence))
    times.sort()
    overall = [figures for category in SCORED for figures in by_category[category]]
    return {
        "overall": mean(overall),
        "by_category": {str(c): {**mean(f), "questions": len(f)} for c, f in sorted(by_category.items())},
        "latency_ms": {"p50": round(times[len(times) // 2], 2), "p95": round(times[int(len(times) * 0.95)], 2)},
    }


async def run(on: Supervisor, path: Path, model: str | None) -> dict[str, Any]:
    """The report: by words, by meaning (static vectors where there is no model), and by both."""
    lines, questions = read(path)
    report: dict[str, Any] = {"lexical": None, "vector": None, "full": None}
    async with runtime(on, model) as rt:
        named, rate = await ingest(rt, lines)
        databases.rows(on.dsn, "VACUUM ANALYZE")
        print(f"{len(lines)} turns committed and learnt from at {rate:.0f}/s, {len(questions)} questions")
        for name, mode in WAYS:
            figures = await measure(rt, questions, mode, named)
            report[name] = {**figures, "dev_or_file": path.name}
            show(name, figures)
    return report


def show(name: str, figures: Mapping[str, Any]) -> None:
    """One table."""
    rows = {"1-4": figures["overall"], **figures["by_category"]}
    heads = list(figures["overall"])
    print(f"\n{name}: p50 {figures['latency_ms']['p50']} ms, p95 {figures['latency_ms']['p95']} ms")
    print("category  " + "".join(f"{head:>11}" for head in heads))
    for category, row in rows.items():
        print(f"{category:<10}" + "".join(f"{row[head]:>11.3f}" for head in heads))


def main() -> int:
    """Prints tables and writes JSON."""
    parser = argparse.ArgumentParser("python -m tests.bench.retrieval", description=__doc__)
    parser.add_argument("--locomo", type=Path, required=True, help="a file in LoCoMo's format")
    parser.add_argument("--embedding-model", help="folders of ONNX sentence encoders; without: static vectors")
    parser.add_argument("--out", type=Path, help="write the report as JSON")
    args = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with machine(WORKERS) as on:
        report = asyncio.run(run(on, args.locomo, args.embedding_model))
    if args.out:
        args.out.write_text(json.dumps(report, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
