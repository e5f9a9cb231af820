"""`smartbrain sessions`: list a user's sessions, show one, end one; talks to a running SmartBrain over HTTP."""

from typing import Annotated, Any
from urllib.parse import quote, urlencode

import typer
from rich.text import Text

from services.cli.names import Limit, Tenant, User, check_id
from services.cli.output import AsJson, emit, out, to_table
from services.cli.web import reach_compose

app = typer.Typer(help="Show and end a user's sessions.", no_args_is_help=True)
SessionId = Annotated[str, typer.Argument(help="The session.", callback=check_id)]


def _path(session_id: str) -> str:
    return f"/v1/sessions/{quote(session_id, safe='')}"


@app.command("list")
def list_sessions(
    user: User = "me",
    tenant: Tenant = "default",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Show a user's sessions, the most recently used first."""
    with reach_compose() as web:
        page = web.get("/v1/sessions", {"tenant_id": tenant, "user_id": user, "limit": limit})
    if as_json:
        emit(page)
    elif page["sessions"]:
        rows = (
            (each["session_id"], each["state"], str(each["turns"]), each["last_turn_at"][:19])
            for each in page["sessions"]
        )
        out.print(to_table(("session", "state", "turns", "last turn"), rows))
    else:
        out.print("no sessions")


@app.command("show")
def show(session: SessionId, user: User = "me", tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show a session: its state, its summary, its summary blocks and its names."""
    with reach_compose() as web:
        shown = web.get(_path(session), {"tenant_id": tenant, "user_id": user})
    if as_json:
        emit(shown)
    else:
        _show(shown)


@app.command("archive")
def archive(
    session: SessionId,
    user: User = "me",
    tenant: Tenant = "default",
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the summary.")] = True,
    as_json: AsJson = False,
) -> None:
    """End a session; its summary is updated, and the next turn reopens it."""
    whose = {"tenant_id": tenant, "user_id": user}
    with reach_compose() as web:
        receipt = web.post(f"{_path(session)}/archive?{urlencode(whose)}", {})
        if wait:
            web.outcome(whose, receipt["turn_id"])
        ended = web.get(_path(session), whose) if wait else None
    if as_json:
        emit({"receipt": receipt, "session": ended})
        return
    out.print(f"receipt {receipt['receipt_id']} turn {receipt['turn_id']}", markup=False)
    if ended:
        _show(ended)


@app.command("remember")
def remember(
    session: SessionId,
    user: User = "me",
    tenant: Tenant = "default",
    remembered: Annotated[bool, typer.Option("--on/--off", help="Learn from later turns, or learn nothing.")] = True,
    as_json: AsJson = False,
) -> None:
    """Stop learning from later turns of a session, or start again."""
    whose = {"tenant_id": tenant, "user_id": user}
    with reach_compose() as web:
        wish = web.patch(_path(session), {"remembered": remembered}, whose)
    if as_json:
        emit(wish)
        return
    state = "remembered" if remembered else "not remembered"
    out.print(f"{session}: {state} since {wish['since'][:19]}, turn {wish['turn_id']}", markup=False)


def _show(session: dict[str, Any]) -> None:
    since = f" since {session['archived_at'][:19]}" if session["archived_at"] else ""
    out.print(Text(f"{session['session_id']}: {session['state']}{since}, {session['turns']} turns", "bold"))
    if summary := session["summary"]:
        head = f"[summary {summary['version']}, turns {summary['source_from_seq']}-{summary['source_to_seq']}"
        out.print(Text(f"{head}, {summary['model_id']}]\n", "bold cyan").append(Text(summary["text"], "default")))
    for block in session["blocks"]:
        head = f"[block, turns {block['from_seq']}-{block['to_seq']}]\n"
        out.print(Text(head, "bold green").append(Text(block["text"] or "(nothing to keep)", "default")))
    if named := session["entity_slots"]:
        said = "; ".join(f"{each['name']} ({each['kind']}, {each['mentions']})" for each in named)
        out.print(Text("[names] ", "bold cyan").append(Text(said, "default")))
