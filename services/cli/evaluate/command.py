"""`smartbrain eval`."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import orjson
import typer

from services.cli.evaluate import confidence, gate, judge, natural, report
from services.cli.evaluate.confidence import Trust
from services.cli.evaluate.reader import Reader
from services.cli.evaluate.received import ReceptionModel
from services.cli.evaluate.score import Score
from services.cli.evaluate.sets import SETS, Part, SetName
from services.cli.output import AsJson, emit, refuse
from services.cli.progress import Say, show_progress, show_work
from shared.models.factory import make_models
from shared.policy import Policy
from shared.policy_file import load_policy
from shared.settings import Settings, load

CALIBRATION = "calibration"
NATURAL = "natural"
HERE = Path(__file__).parents[3] / "tests" / "eval"
"""The labelled sets of a checkout; an installed package has none and is told where they are."""


def evaluate(
    sets: Annotated[
        list[str] | None,
        typer.Argument(help=f"Any of {', '.join(SETS)}; by default all of them. Or calibration. Or natural FILE..."),
    ] = None,
    part: Annotated[
        Literal["dev", "held", "hard", "all"], typer.Option("--part", help="dev, held, hard or all.")
    ] = "all",
    data: Annotated[Path, typer.Option("--data", file_okay=False, help="Folder of the labelled sets.")] = HERE,
    model: Annotated[bool, typer.Option("--model", help="Also use the configured chat model.")] = False,
    misses: Annotated[
        int | None,
        typer.Option("--misses", min=0, help="Show this many misses of each set, or alarms of each classifier."),
    ] = None,
    to: Annotated[Path | None, typer.Option("--report", help="Write a report: .json or .md.")] = None,
    gated: Annotated[bool, typer.Option("--gate", help="Exit with 1 below a floor of the policy.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Write the calibration diagram to this file, as SVG.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure extraction on labelled messages: precision, recall and F1 by language and type.

    `calibration` instead compares stated confidence with observed correctness. `natural FILE...` counts false alarms in
    ordinary conversation: lines of JSON with `lang`, `source`, `role` and `text`.
    """
    if sets and sets[0] == NATURAL:
        _count_alarms([Path(each) for each in sets[1:]], misses, to, as_json)
        return
    _refuse_misfits(sets, to, plot)
    settings = load()
    policy = load_policy(settings.policy)
    chosen: Part | None = None if part == "all" else part
    if sets == [CALIBRATION]:
        with show_work("measuring", quiet=as_json):
            trust, detector = asyncio.run(_trust(data, chosen, settings if model else None, policy))
        print_trust(trust, report.about(part, detector, policy.version), to, plot, as_json)
        return
    wanted = list_sets(sets or list(SETS))
    with show_progress("measuring", quiet=as_json) as say:
        scores, detector = asyncio.run(_measure(wanted, data, chosen, settings if model else None, policy, say))
    verdicts = gate.verdicts(scores, policy.gate)
    about = report.about(part, detector, policy.version)
    if to is not None:
        report.write(to, scores, verdicts, about)
    if as_json:
        emit(report.as_json(scores, verdicts, about))
    else:
        report.show(scores, verdicts, misses or 0)
    if gated and not all(verdict.passed for verdict in verdicts):
        raise typer.Exit(1)


def _count_alarms(paths: list[Path], examples: int | None, to: Path | None, as_json: bool) -> None:
    if not paths:
        raise refuse("natural needs files: smartbrain eval natural FILE...")
    if to is not None and to.suffix != ".json":
        raise refuse(f"{to}: the report of natural is .json")
    most = natural.EXAMPLES if examples is None else examples
    with show_progress("reading", quiet=as_json) as say:
        lines = [line for path in paths for line in natural.read_lines(path)]
        result = natural.count_alarms(lines, lambda done: say("lines judged", done, len(lines)))
    if to is not None:
        to.write_bytes(orjson.dumps(natural.to_json(result, most), option=orjson.OPT_INDENT_2) + b"\n")
    if as_json:
        emit(natural.to_json(result, most))
    else:
        natural.show(result, most)


def _refuse_misfits(sets: list[str] | None, to: Path | None, plot: Path | None) -> None:
    """Reports a wrong argument before anything is measured."""
    if sets != [CALIBRATION]:
        list_sets(sets or [])
        if plot is not None:
            raise refuse("--plot needs calibration")
    if to is not None and to.suffix not in (".json", ".md"):
        raise refuse(f"{to}: a report is .json or .md")


def print_trust(trust: Trust, about: dict[str, Any], to: Path | None, plot: Path | None, as_json: bool) -> None:
    figures = confidence.as_json(trust, about)
    if to is not None:
        to.write_bytes(orjson.dumps(figures, option=orjson.OPT_INDENT_2) + b"\n")
    if plot is not None:
        confidence.plot(trust, plot)
    if as_json:
        emit(figures)
    else:
        confidence.show(trust)


async def _trust(data: Path, part: Part | None, settings: Settings | None, policy: Policy) -> tuple[Trust, str]:
    async with _reader(settings, policy) as reader:
        found = await confidence.measure(data, part, reader, policy, ReceptionModel())
        return found, _detector(reader)


def list_sets(sets: list[str]) -> list[SetName]:
    unknown = [name for name in sets if name not in get_args(SetName)]
    if unknown:
        raise refuse(f"unknown set {', '.join(unknown)}; there are {', '.join(SETS)}")
    return [name for name in SETS if name in sets]


async def _measure(
    wanted: list[SetName], data: Path, part: Part | None, settings: Settings | None, policy: Policy, say: Say
) -> tuple[dict[str, Score], str]:
    scores: dict[str, Score] = {}
    async with _reader(settings, policy) as reader:
        for number, name in enumerate(wanted, 1):
            scores |= await judge.judge(name, data, part, reader)
            if reader and name in judge.READ_BY_MODEL:
                alone = await judge.judge(name, data, part, None)
                scores |= {f"{each}, rules alone": score for each, score in alone.items()}
            say("sets measured", number, len(wanted))
        return scores, _detector(reader)


@asynccontextmanager
async def _reader(settings: Settings | None, policy: Policy) -> AsyncGenerator[Reader | None]:
    """The model that is configured, closed at the end; None without settings."""
    if settings is None:
        yield None
        return
    models = make_models(
        settings.ollama_url, settings.chat_model, None, None, settings.embedding_dimension, time.monotonic
    )
    if models.chat_model_id is None:
        raise refuse("--model needs SMARTBRAIN_OLLAMA_URL and SMARTBRAIN_CHAT_MODEL")
    try:
        yield models, policy.observer
    finally:
        await models.close()


def _detector(reader: Reader | None) -> str:
    return f"model:{reader[0].chat_model_id}" if reader else "rules"
