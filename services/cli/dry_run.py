"""`smartbrain observe`: the effect of a message, without a database, a broker or a trace of it."""

import asyncio
import time
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.text import Text

from schemas.vocabulary import Role
from services.cli.names import check_words
from services.cli.output import AsJson, emit, out
from services.cli.progress import show_work
from services.cli.texts import Lang, choose_texts
from services.observer.extract import extract
from shared import clock, settings
from shared.extraction import MessageText, ObserveContext, Observed, TurnText
from shared.extraction.model import Observation
from shared.extraction.standing_wishes import TurnPlace, Wishes
from shared.extraction.wishes import find_learning_wish, to_unread
from shared.models.factory import make_models
from shared.policy import ConfidencePolicy, ObserverPolicy
from shared.policy_file import load_policy
from shared.secrets import SecretHit, redact


def observe(
    text: Annotated[str, typer.Argument(help="What the user says.", callback=check_words)],
    before: Annotated[str | None, typer.Option("--before", help="The assistant's preceding answer.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="The speaker, in a chat of several people.")] = None,
    at: Annotated[datetime | None, typer.Option("--at", help="Time of the message; by default now.")] = None,
    model: Annotated[
        bool, typer.Option("--model/--no-model", help="Also call the chat model, if one is configured.")
    ] = True,
    lang: Annotated[Lang | None, typer.Option("--lang", help="Language of the answer: zh, en.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what would be kept, corrected, refused and redacted from a message, and why; nothing is stored."""
    policy = load_policy(settings.load().policy)
    stored, hits = redact(text, policy.personal_data.kinds_kept)
    said_at = clock.now() if at is None else at.astimezone()
    spoken: list[tuple[Role, str]] = [("assistant", before)] if before else []
    spoken.append(("user", stored))
    turn = TurnText(
        tuple(
            MessageText(role, words, name if role == "user" else None, n, said_at)
            for n, (role, words) in enumerate(spoken)
        )
    )
    with show_work("reading", quiet=as_json):
        observed, notes = asyncio.run(observe_text(turn, policy.observer, said_at, ask=model))
    report = to_json(stored, hits, observed, notes, policy.confidence, len(spoken) - 1)
    if as_json:
        emit(report)
    else:
        _show(report, choose_texts("observe", lang, text), judged=before is not None)


async def observe_text(
    turn: TurnText, policy: ObserverPolicy, at: datetime, *, ask: bool
) -> tuple[Observed, tuple[str, ...]]:
    wish = find_learning_wish(turn)
    place = TurnPlace(clock.uuid7(), "", 1, at, learning=wish is None or wish.remember)
    if why := Wishes().hear(place, turn):
        return Observed(explain=to_unread(turn, why)), ()
    where = settings.load()
    models = make_models(
        where.ollama_url if ask else None, where.chat_model, None, None, where.embedding_dimension, time.monotonic
    )
    try:
        found = await extract(models, policy, turn, ObserveContext(occurred_at=at))
        return found.observed, found.notes
    finally:
        await models.close()


def to_json(
    stored: str,
    hits: tuple[SecretHit, ...],
    observed: Observed,
    notes: tuple[str, ...],
    policy: ConfidencePolicy,
    ordinal: int,
) -> dict[str, Any]:
    """Everything that is shown, as JSON has it."""
    rows = [(one, describe_memory(one, policy)) for one in observed.observations]
    feedback = observed.feedback
    return {
        "stored": stored,
        "redacted": [hit.kind for hit in hits],
        "kept": [row for one, row in rows if one.assertion != "correction"],
        "corrected": [row for one, row in rows if one.assertion == "correction"],
        "refused": [
            {"text": stored[slice(*each.span)], "reason": each.reason, "rule": each.rule}
            for each in observed.refused
            if each.ordinal == ordinal
        ],
        "dropped": [
            {"text": stored[slice(*each.text_span)], "reason": each.reason}
            for each in observed.explain
            if each.decision == "dropped" and each.ordinal == ordinal
        ],
        "feedback": {"signal": feedback.signal, "pattern": feedback.pattern} if feedback else None,
        "notes": list(notes),
    }


def describe_memory(one: Observation, policy: ConfidencePolicy) -> dict[str, Any]:
    standing = policy.level_of(one.assertion, one.flags)
    return {
        "type": one.kind,
        "key": one.key,
        "text": one.text,
        "value": one.value,
        "polarity": one.polarity,
        "assertion": one.assertion,
        "provenance": standing.provenance,
        "confidence": standing.initial,
        "cap": standing.cap,
        "epistemic_type": one.epistemic,
        "priority": one.priority,
        "retracts": one.retracts,
        "old_value": one.old_value,
        "event_date": one.event_date.isoformat() if one.event_date else None,
        "valid_until": one.valid_until.isoformat() if one.valid_until else None,
        "flags": list(one.flags),
        "detector": one.detector,
        "pattern": one.pattern,
    }


def _show(report: dict[str, Any], say: dict[str, str], *, judged: bool) -> None:
    """The result for people; feedback only if an answer was given."""
    out.print(Text(f"{say['stored']}: ", "bold").append(Text(report["stored"], "default")))
    if report["redacted"]:
        out.print(Text(f"  {say['redacted']}: {', '.join(report['redacted'])}", "yellow"))
    for group in ("kept", "corrected"):
        if report[group] or group == "kept":
            _head(say[group], report[group], say)
        for row in report[group]:
            _row(row, say)
    for group in ("refused", "dropped"):
        if report[group]:
            _head(say[group], report[group], say)
        for row in report[group]:
            rule = f" ({row['rule']})" if "rule" in row else ""
            out.print(Text(f"  {row['text']}  ", "default").append(Text(f"{row['reason']}{rule}", "dim")))
    if judged and report["feedback"]:
        pattern = f" ({report['feedback']['pattern']})" if report["feedback"]["pattern"] else ""
        out.print(
            Text(f"{say['feedback']}: ", "bold").append(Text(f"{report['feedback']['signal']}{pattern}", "default"))
        )
    if report["notes"]:
        out.print(Text(f"{say['notes']}: {', '.join(report['notes'])}", "yellow"))


def _head(title: str, rows: list[Any], say: dict[str, str]) -> None:
    out.print(Text(title, "bold").append(Text("" if rows else f": {say['nothing']}", "default")))


def _row(row: dict[str, Any], say: dict[str, str]) -> None:
    sign = {1: "+", -1: "-"}.get(row["polarity"], "")
    out.print(Text(f"  {row['type']}{sign}  ", "cyan").append(Text(row["text"], "default")))
    about = [f"{say['key']} {row['key']}"] if row["key"] else []
    about.append(
        f"{say['confidence']} {row['confidence']:.1f} ({say['at most']} {row['cap']:.2f}, {row['provenance']})"
    )
    if row["old_value"]:
        about.append(f"{say['was']} {row['old_value']}")
    if row["retracts"]:
        about.append(say["taken back"])
    if row["event_date"]:
        about.append(f"{say['on']} {row['event_date']}")
    if row["valid_until"]:
        about.append(f"{say['until']} {row['valid_until']}")
    if row["flags"]:
        about.append(f"{say['flags']} {', '.join(row['flags'])}")
    about.append(f"{say['because']} {row['detector']}: {row['pattern']}")
    out.print(Text(f"    {'; '.join(about)}", "dim"))
