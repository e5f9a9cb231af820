"""`smartbrain eval`."""

import asyncio
import time
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from services.cli.evaluate import gate, judge, report
from services.cli.evaluate.judge import Reader
from services.cli.evaluate.score import Score
from services.cli.evaluate.sets import SETS, Part, SetName
from services.cli.output import AsJson, emit, fail
from shared import policy as policies
from shared.models import make_models
from shared.policy import Policy
from shared.settings import Settings, load

HERE = Path(__file__).parents[3] / "tests" / "eval"
"""The labelled sets of a checkout; an installed package has none and is told where they are."""


def evaluate(
    sets: Annotated[
        list[str] | None, typer.Argument(help=f"Any of {', '.join(SETS)}; all of them unless told.")
    ] = None,
    part: Annotated[
        Literal["dev", "held", "hard", "all"], typer.Option("--part", help="dev, held, hard or all.")
    ] = "all",
    data: Annotated[Path, typer.Option("--data", help="Folder of the labelled sets.")] = HERE,
    model: Annotated[bool, typer.Option("--model", help="With the chat model that is configured.")] = False,
    misses: Annotated[int, typer.Option("--misses", min=0, help="Show so many misses of each set.")] = 0,
    to: Annotated[Path | None, typer.Option("--report", help="Write a report: .json or .md.")] = None,
    gated: Annotated[bool, typer.Option("--gate", help="Exit with 1 below a floor of the policy.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure what is read into labelled messages: precision, recall and F1 by language and type."""
    wanted = _known(sets or list(SETS))
    settings = load()
    policy = policies.load(settings.policy)
    chosen: Part | None = None if part == "all" else part
    scores, detector = asyncio.run(_measure(wanted, data, chosen, settings if model else None, policy))
    verdicts = gate.verdicts(scores, policy.gate)
    about = report.about(part, detector, policy.version)
    if to is not None:
        report.write(to, scores, verdicts, about)
    if as_json:
        emit(report.as_json(scores, verdicts, about))
    else:
        report.show(scores, verdicts, misses)
    if gated and not all(verdict.passed for verdict in verdicts):
        raise typer.Exit(1)


def _known(sets: list[str]) -> list[SetName]:
    unknown = [name for name in sets if name not in get_args(SetName)]
    if unknown:
        fail(f"unknown set {', '.join(unknown)}; there are {', '.join(SETS)}")
        raise typer.Exit(2)
    return [name for name in SETS if name in sets]


async def _measure(
    wanted: list[SetName], data: Path, part: Part | None, settings: Settings | None, policy: Policy
) -> tuple[dict[str, Score], str]:
    reader: Reader | None = None
    if settings is not None:
        models = make_models(
            settings.ollama_url, settings.chat_model, None, None, settings.embedding_dimension, time.monotonic
        )
        if models.chat_model_id is None:
            fail("--model needs SMARTBRAIN_OLLAMA_URL and SMARTBRAIN_CHAT_MODEL")
            raise typer.Exit(2)
        reader = (models, policy.observer)
    scores: dict[str, Score] = {}
    for name in wanted:
        scores |= await judge.judge(name, data, part, reader)
    if reader is not None:
        await reader[0].close()
    return scores, f"model:{reader[0].chat_model_id}" if reader else "rules"
