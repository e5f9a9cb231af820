"""Commands that talk to a running SmartBrain over HTTP: commit, compose, remember."""

import re
import sys
from html import unescape
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.text import Text

from services.cli import explain as explained
from services.cli.names import Session, Tenant, User, check_id, check_words
from services.cli.output import AsJson, emit, out, refuse
from services.cli.texts import Lang
from services.cli.web import reach_compose
from shared.errors import RefusedError
from shared.language.patterns import to_pattern

PATIENCE_MS = 5000
"""A person at a terminal would rather wait for a complete package than get part of it in a second."""

_TAG = to_pattern(r"<user_memory (?P<attributes>[^>]*)>(?P<text>.*)</user_memory>\s*$", re.DOTALL)
_ATTRIBUTE = to_pattern(r'(\w+)="([^"]*)"')


def commit(
    text: Annotated[str | None, typer.Argument(help="What the user says; or use --file.", callback=check_words)] = None,
    user: User = "me",
    session: Session = "cli",
    tenant: Tenant = "default",
    assistant: Annotated[str | None, typer.Option("--assistant", help="The assistant's answer.")] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", dir_okay=False, help="TurnEvents as JSON lines; - for stdin."),
    ] = None,
    key: Annotated[str | None, typer.Option("--key", help="Idempotency key.", callback=check_id)] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the outcome.")] = True,
    as_json: AsJson = False,
) -> None:
    """Commit a turn, or a file of turns, and show what was learnt."""
    whose = {"tenant_id": tenant, "user_id": user, "session_id": session}
    bodies = _bodies(text, assistant, file, key, whose)
    with reach_compose() as web:
        results = web.commit_all(bodies, show=not as_json)
        outcomes = web.outcomes(bodies, results, show=not as_json) if wait else []
    if as_json:
        emit([{"result": r, "outcome": o} for r, o in zip(results, outcomes or [None] * len(results), strict=True)])
        return
    for result, outcome in zip(results, outcomes or [None] * len(results), strict=True):
        out.print(f"turn {result['turn_id']} session={result['session_id']} seq={result['seq']}", markup=False)
        if result["reply"]:
            out.print(result["reply"]["text"], markup=False)
        if result["redacted"]:
            kinds = ", ".join(r["kind"] for r in result["redacted"])
            out.print(f"  redacted before storage: {kinds}", markup=False)
        if outcome:
            show_outcome(outcome)


def _bodies(
    text: str | None, assistant: str | None, file: Path | None, key: str | None, whose: dict[str, str]
) -> list[dict[str, Any]]:
    if (text is None) == (file is None):
        raise refuse("give either a text or --file")
    if file is not None:
        if assistant:
            raise refuse("--assistant needs a text; a file contains its own answers")
        bodies = _lines(file, whose)
        if key and len(bodies) != 1:
            raise refuse(
                f"--key names one turn, and {file} holds {len(bodies)}; each line may have its idempotency_key"
            )
    else:
        messages = [{"role": "user", "content": text}]
        messages += [{"role": "assistant", "content": assistant}] if assistant else []
        bodies = [{**whose, "messages": messages}]
    return [{**bodies[0], "idempotency_key": key}] if key else bodies


def _lines(file: Path, whose: dict[str, str]) -> list[dict[str, Any]]:
    """The turns of the file; an invalid line stops the command before any turn is sent, and is named by its number."""
    from schemas.turn_events import TurnEvents  # what only a file needs
    from shared import parsing

    if str(file) != "-" and not file.exists():
        raise refuse(f"{file}: no such file")
    raw = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    bodies: list[dict[str, Any]] = []
    for number, line in enumerate(raw.splitlines(), 1):
        if not line.strip():
            continue
        try:
            body: Any = orjson.loads(line)
            parsing.parse(TurnEvents, orjson.dumps({**whose, **body} if isinstance(body, dict) else body))
        except orjson.JSONDecodeError as error:
            raise refuse(f"{file}:{number}: no JSON: {error}") from error
        except RefusedError as error:
            raise refuse(f"{file}:{number}: {error.message}") from error
        bodies.append({**whose, **body})
    if not bodies:
        raise refuse(f"{file}: no turn in it")
    return bodies


def show_outcome(outcome: dict[str, Any]) -> None:
    """What was learnt, as a person reads it."""
    if outcome["state"] != "complete":
        out.print("  outcome: still pending", markup=False)
        return
    learnt = {m["memory_id"]: m for m in outcome["memories"]}
    for written in outcome["outcome"]["written"]:
        memory = learnt.get(written["memory_id"], {})
        confidence = f"{written['confidence']:.2f}"
        out.print(
            f"  {written['change']:<10} {written['type']:<11} {confidence}  {memory.get('content', '')}", markup=False
        )
    for each in outcome["outcome"]["retention_explain"]:
        if each.get("decision") == "refused":
            out.print(f"  refused    {each.get('reason')}", markup=False)
    if not outcome["outcome"]["written"]:
        out.print("  nothing to remember", markup=False)


def compose(
    message: Annotated[str, typer.Argument(help="What the user says now.", callback=check_words)],
    user: User = "me",
    session: Session = "cli",
    tenant: Tenant = "default",
    limit: Annotated[int | None, typer.Option("--limit", min=256, help="Token limit of the package.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show plan, scores and dropped candidates.")] = False,
    lang: Annotated[Lang | None, typer.Option("--lang", help="Language of the explanation: zh, en.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compose the context for a message."""
    body: dict[str, Any] = {
        "tenant_id": tenant,
        "user_id": user,
        "session_id": session,
        "user_message": message,
        "deadline_ms": PATIENCE_MS,
        "debug": explain or as_json,
    }
    if limit is not None:
        body["token_limit"] = limit
    with reach_compose() as web:
        package = web.post("/v1/context", body)
    if as_json:
        emit(package)
        return
    show_package(package)
    if explain:
        explained.show(package, lang)


def show_package(package: dict[str, Any]) -> None:
    """The package slot by slot, as a person reads it."""
    for block in package["system_blocks"]:
        if block["type"] != "policies":
            _line(block["type"], "bold cyan", block["text"])
    if package["working_summary"]:
        out.print(Text("[summary]\n", "bold cyan").append(Text(package["working_summary"], "default")))
    for turn in package["recent_turns"]:
        out.print(Text(f"[recent {turn['role']}] ", "bold cyan").append(Text(turn["content"][:200], "default")))
    for n, item in enumerate(package["evidence"], 1):
        source = [item["known"]["provenance"]] if item.get("known") else []
        about = ", ".join([*source, f"score {item['score']:.3f}", item["source_uri"]])
        _line(f"E{n}", "bold green", item["snippet"], about)
    budget = package["constraints"]["token_budget"]
    out.print(Text(f"[tokens] {budget['used_estimate']} of {budget['limit']}", "dim"))
    for reason in package["degraded_reason"]:
        out.print(Text(f"[degraded] {reason}", "yellow"))


def _line(slot: str, style: str, tagged: str, more: str = "") -> None:
    """A memory for people: its text, then the attributes of its tag."""
    tag = _TAG.match(tagged)
    words = unescape(tag["text"]) if tag else tagged
    said = dict(_ATTRIBUTE.findall(tag["attributes"])) if tag else {}
    told = [said[name] for name in ("speaker", "confidence") if name in said]
    since = [f"since {said['valid_since']}"] if "valid_since" in said else []
    about = ", ".join([*told, *since, *([more] if more else [])])
    out.print(
        Text(f"[{slot}] ", style)
        .append(Text(words[:300], "default"))
        .append(Text(f"  ({about})" if about else "", "dim"))
    )


def remember(
    text: Annotated[str, typer.Argument(help="What to remember.", callback=check_words)],
    user: User = "me",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Store a note; text that looks like a secret is refused."""
    with reach_compose() as web:
        receipt = web.post("/v1/memories", {"tenant_id": tenant, "user_id": user, "text": text})
        whose = {"tenant_id": tenant, "user_id": user}
        outcome = web.outcome(whose, receipt["turn_id"])
        receipt = web.get(f"/v1/writes/{receipt['receipt_id']}", whose)
    if as_json:
        emit({"receipt": receipt, "outcome": outcome})
    else:
        why = f" ({receipt['reason']})" if receipt["reason"] else ""
        memory = f" {receipt['memory_id']}" if receipt["memory_id"] else ""
        out.print(f"memory{memory} {receipt['status']}{why}", markup=False)
        show_outcome(outcome)


def say(
    text: Annotated[
        str, typer.Argument(help='What the user says: "/memory", "/forget fact 2", ...', callback=check_words)
    ],
    user: User = "me",
    session: Session = "cli",
    tenant: Tenant = "default",
    key: Annotated[str | None, typer.Option("--key", help="Idempotency key.", callback=check_id)] = None,
    as_json: AsJson = False,
) -> None:
    """Send one message as a user; a command (/help lists them) is carried out and gets a reply."""
    whose = {"tenant_id": tenant, "user_id": user, "session_id": session}
    body: dict[str, Any] = {**whose, "messages": [{"role": "user", "content": text}], "idempotency_key": key}
    with reach_compose() as web:
        result = web.post("/v1/turns", body)
        web.outcome(whose, result["turn_id"])
    if as_json:
        emit(result)
    elif result["reply"]:
        out.print(result["reply"]["text"], markup=False)
    else:
        out.print(f"turn {result['turn_id']} session={result['session_id']} seq={result['seq']}", markup=False)
