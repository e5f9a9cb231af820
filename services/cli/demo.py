"""The demonstration: a whole system on embedded defaults that gets a conversation and answers questions about it."""

import shutil
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
import yaml
from rich.text import Text

from services.cli import compose, memories
from services.cli.output import AsJson, emit, err, fail, out
from services.cli.supervisor import Supervisor
from services.cli.web import Web
from shared import settings
from shared.errors import ConfigurationError, SmartBrainError
from shared.telemetry import configure_logs

USER = "lin"
SHOWN = 3
"""Of how many questions the whole package is shown."""
REPEATS = 5
"""Repetitions of each question, for a stable latency."""


@dataclass(frozen=True)
class DemoAnswer:
    """A question, its package, and the missing or stale facts."""

    question: dict[str, Any]
    package: dict[str, Any]
    missing: list[str]
    stale: list[str]
    took_ms: list[float]

    @property
    def ok(self) -> bool:
        """Whether the package contains the expected facts and no outdated ones."""
        return not self.missing and not self.stale


def demo(
    data: Annotated[
        Path | None, typer.Option("--data", file_okay=False, help="Folder to run in; emptied first, unless kept.")
    ] = None,
    conversation: Annotated[
        Path | None, typer.Option("--conversation", exists=True, file_okay=False, help="Folder of session_*.jsonl.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Write a month of two people's data instead, run until Ctrl-C, and keep it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run everything on this machine, commit four conversations, and show what was learnt and composed."""
    config = settings.load()
    folder = conversation or Path(__file__).parents[2] / "deploy" / "demo"
    if keep:
        from services.cli import life

        configure_logs("warning", human=True)
        life.keep(config, (data or config.data / life.FOLDER).absolute(), folder / "life")
        return
    sessions = sorted(folder.glob("session_*.jsonl"))
    if not sessions:
        raise ConfigurationError(f"{folder}: no session_*.jsonl; run from a clone or give --conversation")
    place = (data or config.data / "demo").absolute()
    shutil.rmtree(place, ignore_errors=True)
    configure_logs("warning", human=True)
    chosen = config.model_copy(update={"data": place, "http_port": 0})
    with Supervisor(chosen) as machine:
        running = machine.start(say=lambda line: err.print(line, markup=False))
        with Web(running.http) as web:
            ok = _show(web, folder, sessions, as_json=as_json)
    if not ok:
        raise typer.Exit(1)


def _show(web: Web, folder: Path, sessions: Sequence[Path], *, as_json: bool) -> bool:
    bodies = [orjson.loads(line) for file in sessions for line in file.read_bytes().splitlines() if line.strip()]
    results = web.commit_all(bodies, show=True)
    outcomes = web.outcomes(bodies, results, show=True)
    pending = [o["turn_id"] for o in outcomes if o["state"] != "complete"]
    learnt = web.get("/v1/memories", {"user_id": USER, "limit": 200})["memories"]
    questions: list[dict[str, Any]] = yaml.safe_load((folder / "questions.yaml").read_text("utf-8"))
    answers = [_ask(web, question) for question in questions]
    latencies = [ms for answer in answers for ms in answer.took_ms]
    p95 = statistics.quantiles(latencies, n=20)[-1]
    evidence = sum(len(answer.package["evidence"]) for answer in answers)
    ok = not pending and all(answer.ok for answer in answers)
    if as_json:
        emit(
            {
                "ok": ok,
                "turns": len(results),
                "memories": learnt,
                "questions": [vars(answer) for answer in answers],
                "compose_p95_ms": round(p95, 2),
            }
        )
        return ok
    out.print(Text(f"\nLearnt about {USER} from {len(results)} turns in {len(sessions)} sessions", "bold"))
    memories.show_memories(learnt)
    for n, answer in enumerate(answers):
        _show_answer(answer, whole=n < SHOWN)
    for turn in pending:
        fail(f"turn {turn} has no outcome")
    verdict = "ok" if ok else "FAILED"
    out.print(
        f"\ndemo: {verdict} turns={len(results)} memories={len(learnt)} evidence={evidence} compose_p95_ms={p95:.1f}",
        markup=False,
    )
    return ok


def _ask(web: Web, question: dict[str, Any]) -> DemoAnswer:
    whose = {"user_id": USER, "session_id": question["session_id"]}
    body = {**whose, "user_message": question["user_message"], "deadline_ms": compose.PATIENCE_MS}
    took: list[float] = []
    package: dict[str, Any] = {}
    for _ in range(REPEATS):
        began = time.perf_counter()
        try:
            package = web.post("/v1/context", body)
        except SmartBrainError as error:
            raise SmartBrainError(f"question {question['id']}: {error}") from error
        took.append((time.perf_counter() - began) * 1000)
    package_text = orjson.dumps({k: v for k, v in package.items() if k != "user_message"}).decode().casefold()
    wanted: list[str] = question.get("must_contain_any") or []
    found = not wanted or any(each.casefold() in package_text for each in wanted)
    unwanted: list[str] = question.get("must_not_contain") or []
    stale = [each for each in unwanted if each.casefold() in package_text]
    return DemoAnswer(question, package, [] if found else wanted, stale, took)


def _show_answer(answer: DemoAnswer, *, whole: bool) -> None:
    out.print(Text(f"\nQ: {answer.question['user_message']}", "bold").append(f"  ({answer.question['about']})", "dim"))
    if whole:
        compose.show_package(answer.package)
    if answer.missing:
        fail(f"the package lacks: {' / '.join(answer.missing)}")
    if answer.stale:
        fail(f"the package still contains: {' / '.join(answer.stale)}")
    if answer.ok:
        wanted: list[str] = answer.question.get("must_contain_any") or []
        out.print(Text(f"ok: {'holds ' + wanted[0] if wanted else 'nothing expected, nothing shown'}", "green"))
