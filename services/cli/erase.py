"""`smartbrain erase`: erases data of a user with a proof; lists, verifies and requeues erasures."""

import os
import sys
import time
from collections.abc import Sequence
from typing import Annotated, Literal
from uuid import UUID

import typer
from rich.text import Text

from services.cli.memories import Json, moment
from services.cli.names import Tenant, check_id, check_ids
from services.cli.output import AsJson, emit, err, fail, out, to_table
from services.cli.texts import LanguageOption, choose_texts
from services.cli.web import Web, reach_compose
from shared.language.normalise import detect
from shared.settings import API_KEY

Scope = Literal["all", "personal", "session", "items"]
PATIENCE_S = 300.0
"""Timeout of one request: with many rows, hiding or scanning them takes long."""
LOOKS_S = 2.0
"""The longest pause between two checks of an awaited erasure."""
HELP_ID = "Id of an erasure, for --verify (default: the newest) and --requeue."


def erase(
    user: Annotated[str, typer.Option("--user", "-u", help="Whose data.", callback=check_id)],
    tombstone_id: Annotated[UUID | None, typer.Argument(metavar="ID", help=HELP_ID)] = None,
    tenant: Tenant = "default",
    scope: Annotated[
        Scope | None,
        typer.Option(
            "--scope", help="all, personal, session or items; all if neither a session nor a memory is named."
        ),
    ] = None,
    session: Annotated[
        list[str] | None, typer.Option("--session", "-s", help="A session; may be repeated.", callback=check_ids)
    ] = None,
    memory: Annotated[list[UUID] | None, typer.Option("--memory", "-m", help="A memory; may be repeated.")] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="The requester, if it is not the user.", callback=check_id)
    ] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Why.")] = None,
    profile: Annotated[str | None, typer.Option("--profile", help="The legal profile that sets the deadline.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="Idempotency key.")] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the proof.")] = True,
    timeout: Annotated[float, typer.Option("--timeout", min=0, help="Maximum seconds to wait.")] = 60.0,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Erase everything without asking for confirmation.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Scan for residue now; exit with 1 if any is left.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="Show the user's erasures, newest first.")] = False,
    requeue: Annotated[bool, typer.Option("--requeue", help="Retry an escalated erasure.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="With --list.")] = 50,
    lang: LanguageOption = None,
    as_json: AsJson = False,
) -> None:
    """Erase a user, everything learnt about them, sessions or memories: hidden at once, then deleted, with a proof."""
    whose: Json = {"tenant_id": tenant, "user_id": user}
    spoken = _join([*(session or ()), reason])
    say = choose_texts("erase", lang, spoken if detect(spoken) != "other" else _join([user, by]))
    _refuse_mixed(tombstone_id, verify=verify, listing=listing, requeue=requeue)
    with reach_compose(PATIENCE_S) as web:
        if listing:
            _list(web, whose, limit, say, as_json=as_json)
        elif verify:
            _verify(web, whose, tombstone_id, say, as_json=as_json)
        elif requeue:
            _requeue(web, whose, tombstone_id, by, reason, say, as_json=as_json)
        else:
            named = {"session_ids": session, "memory_ids": [str(each) for each in memory or ()]}
            asked: Json = {"scope": scope or _scope(session, memory), **named, "requested_by": by, "reason": reason}
            asked |= {"profile": profile, "idempotency_key": key}
            _confirm(asked["scope"], user, say, yes=yes)
            body = {**whose, **{name: value for name, value in asked.items() if value}}
            _ask(web, whose, body, timeout if wait else None, say, as_json=as_json)


def _join(texts: Sequence[str | None]) -> str:
    return " ".join(filter(None, texts))


def translate_word(say: dict[str, str], word: str) -> str:
    """A state or a scope in the language of the answer."""
    return say.get(word, word)


def _scope(session: list[str] | None, memory: list[UUID] | None) -> Scope:
    """The scope follows from the named sessions or memories; the service refuses both at once."""
    return "session" if session else "items" if memory else "all"


def _refuse_mixed(tombstone_id: UUID | None, *, verify: bool, listing: bool, requeue: bool) -> None:
    if verify + listing + requeue > 1:
        raise typer.BadParameter("give one of --verify, --list and --requeue")
    if tombstone_id and not (verify or requeue):
        raise typer.BadParameter("an id needs --verify or --requeue")
    if requeue and not tombstone_id:
        raise typer.BadParameter("--requeue needs the erasure's id")


def _confirm(scope: str, user: str, say: dict[str, str], *, yes: bool) -> None:
    """Asks for confirmation before all data of a user is erased."""
    if scope != "all" or yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter("--scope all needs --yes without a terminal")
    typer.confirm(say["sure"].format(user=user), abort=True, err=True)


def _ask(web: Web, whose: Json, body: Json, wait_s: float | None, say: dict[str, str], *, as_json: bool) -> None:
    receipt = web.post("/v1/erasures", body)
    if not as_json:
        _show_receipt(receipt, say)
    seen = wait_for_erasure(web, whose, receipt["tombstone_id"], wait_s, say) if wait_s is not None else None
    if as_json:
        emit({"receipt": receipt, "erasure": seen})
    elif seen:
        _show(seen, say)
    if seen and seen["status"] != "completed":
        fail(say["not_yet"].format(id=receipt["tombstone_id"], status=translate_word(say, seen["status"])))
        raise typer.Exit(1)


def wait_for_erasure(web: Web, whose: Json, tombstone_id: str, wait_s: float, say: dict[str, str]) -> Json:
    """The erasure once it is completed or escalated, or its state after the timeout."""
    until, pause = time.monotonic() + wait_s, 0.02
    with err.status("") as bar:
        while True:
            seen = _one(web, whose, tombstone_id)
            if seen["status"] in ("completed", "escalated") or time.monotonic() >= until:
                return seen
            rows = sum(step["affected"] for step in seen["steps"])
            bar.update(Text(f"{say.get(seen['status'], seen['status'])}: {rows} {say['rows']}"))
            time.sleep(max(0.0, min(pause, until - time.monotonic())))
            pause = min(pause * 1.5, LOOKS_S)


def _one(web: Web, whose: Json, tombstone_id: UUID | str) -> Json:
    return web.get(f"/v1/erasures/{tombstone_id}", whose)


def _list(web: Web, whose: Json, limit: int, say: dict[str, str], *, as_json: bool) -> None:
    page = web.get("/v1/erasures", {**whose, "limit": limit})
    if as_json:
        emit(page)
    elif page["erasures"]:
        names = ("id", "scope", "status", "requested", "due", "memories", "rows", "error")
        heads = [say.get(f"head {name}", name) for name in names]
        out.print(to_table(heads, (_to_row(each, say) for each in page["erasures"])))
    else:
        out.print(say["none"])


def _to_row(each: Json, say: dict[str, str]) -> tuple[str, ...]:
    names = (translate_word(say, each["scope"]), translate_word(say, each["status"]))
    times = (moment(each["requested_at"]), moment(each["deadline_at"]))
    return (
        str(each["tombstone_id"]),
        *names,
        *times,
        str(each["item_count"]),
        str(each["row_count"]),
        each["error"] or "",
    )


def _verify(web: Web, whose: Json, tombstone_id: UUID | None, say: dict[str, str], *, as_json: bool) -> None:
    wanted = tombstone_id or next(
        (each["tombstone_id"] for each in web.get("/v1/erasures", {**whose, "limit": 1})["erasures"]), None
    )
    if wanted is None:
        fail(say["none"])
        raise typer.Exit(1)
    seen = _one(web, whose, wanted)
    residue = web.get(f"/v1/erasures/{wanted}/residue", whose)
    proved = seen["status"] == "completed" and residue["rows_left"] == 0
    if as_json:
        emit({"proved": proved, "erasure": seen, "residue": residue})
    else:
        _show_receipt(seen, say)
        _show(seen, say)
        _show_scan(say["now"], residue, say)
        out.print(Text(say["proved" if proved else "not_proved"], "bold green" if proved else "bold red"))
    if not proved:
        raise typer.Exit(1)


def _requeue(
    web: Web,
    whose: Json,
    tombstone_id: UUID | None,
    by: str | None,
    reason: str | None,
    say: dict[str, str],
    *,
    as_json: bool,
) -> None:
    if not (reason and (by or os.environ.get(API_KEY))):
        raise typer.BadParameter("--requeue needs --by and --reason")
    named = {"requested_by": by} if by else {}  # else the key says who asks
    seen = web.post(f"/v1/erasures/{tombstone_id}/requeue", {**whose, **named, "reason": reason})
    if as_json:
        emit(seen)
    else:
        _show_receipt(seen, say)
        _show(seen, say)


def _show_receipt(receipt: Json, say: dict[str, str]) -> None:
    """The scope, size and deadline of the erasure."""
    state = say["in_force" if receipt["status"] != "completed" else "is_done"].format(
        scope=translate_word(say, receipt["scope"]), items=receipt["item_count"], rows=receipt["row_count"]
    )
    due = say["by_when"].format(deadline=moment(receipt["deadline_at"]), profile=receipt["profile"])
    out.print(
        Text(f"{say['erasure']} {receipt['tombstone_id']}  ", "bold")
        .append(Text(state, "default"))
        .append(Text(f"  ({due})", "dim"))
    )


def _show(seen: Json, say: dict[str, str]) -> None:
    """The states with their times, the rows by store, and the scan that proves it."""
    passed = [f"{say.get(each['to'], each['to'])} {each['at'][11:23]}" for each in seen["history"]]
    day = seen["history"][0]["at"][:10] if seen["history"] else ""
    _line(say["states"], f"{day} {' > '.join(passed)}")
    for each in seen["history"]:
        if each["to"] == "failed":
            _line(say["failed"], f"{moment(each['at'])}  {each['error']}", "red")
    if steps := seen["steps"]:
        rows = [f"{each['step']} {each['affected']}" for each in steps if each["affected"]]
        _line(say["stores"], ", ".join([*rows, say["nothing_in"].format(count=len(steps) - len(rows))]))
    if proof := seen["proof"]:
        _show_scan(say["scan"], proof["residue"], say)
        if clear_by := proof["details"].get("broker", {}).get("clear_by"):
            _line("Kafka", say["clear_by"].format(at=moment(clear_by)))


def _show_scan(head: str, scan: Json, say: dict[str, str]) -> None:
    line = say["looked"].format(tables=scan["tables"], columns=scan["columns"], left=scan["rows_left"])
    for name in ("left", "kept_without_words"):
        if rows := scan[name]:
            line += say[name].format(rows=", ".join(f"{table} {count}" for table, count in rows.items()))
    _line(head, line, "red" if scan["rows_left"] else "default")


def _line(head: str, told: str, style: str = "default") -> None:
    out.print(Text(f"  {head}: ", "cyan").append(Text(told, style)))
