"""`smartbrain quarantine`: events that workers gave up, and the turns behind them, redriven once or dropped."""

from typing import Annotated, Any
from uuid import UUID

import typer
from rich.text import Text

from services.cli.dead_letters import (
    By,
    OfTenant,
    OfUser,
    Reason,
    When,
    act,
    name_owner,
    show_redrive,
)
from services.cli.names import Limit, Tenant, User
from services.cli.output import AsJson, emit, out, to_table
from services.cli.web import reach_compose

app = typer.Typer(help="Quarantine: events that workers gave up on, with their turns.", no_args_is_help=True)
Event = Annotated[UUID, typer.Argument(help="The id, as `quarantine list` shows it.", metavar="ID")]


@app.command("list")
def show_list(
    stage: Annotated[str | None, typer.Option("--stage", help="observer, analyzer, evolver, ...")] = None,
    since: Annotated[When, typer.Option("--since", help="Not before this local time.")] = None,
    user: OfUser = None,
    tenant: OfTenant = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List quarantined events, newest first."""
    moment = since.astimezone().isoformat() if since else None
    with reach_compose() as web:
        query = {"stage": stage, "since": moment, **name_owner(user, tenant), "limit": limit}
        page = web.get("/v1/quarantine", query)
    if as_json:
        emit(page)
        return
    heads = ("id", "given up", "user", "stage", "turn", "state")
    out.print(to_table(heads, map(_to_row, page["events"])) if page["events"] else "the quarantine is empty")


def _to_row(each: dict[str, Any]) -> tuple[str, ...]:
    whose, turn = f"{each['tenant_id']}:{each['user_id']}", each["turn_id"] or "-"
    return each["quarantine_id"], each["created_at"][:19], whose, each["stage"], turn, each["state"]


@app.command("show")
def show_one(event: Event, user: User = "me", tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show a quarantined event and the effect of a redrive."""
    with reach_compose() as web:
        shown = web.get(f"/v1/quarantine/{event}", name_owner(user, tenant))
    if as_json:
        emit(shown)
        return
    for name in ("quarantine_id", "stage", "error", "created_at", "turn_id", "event_id"):
        if shown[name]:
            out.print(Text(f"{name:<14}", "dim").append(Text(str(shown[name]), "default")))
    show_redrive(shown)


@app.command()
def redrive(
    event: Event, reason: Reason, by: By = None, user: User = "me", tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """Resume the turn at the step that gave up, once; refused if that has no effect."""
    act(f"/v1/quarantine/{event}/redrive", reason, by, name_owner(user, tenant), as_json=as_json)


@app.command()
def drop(
    event: Event, reason: Reason, by: By = None, user: User = "me", tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """Drop a quarantined event: its turn does not change."""
    act(f"/v1/quarantine/{event}/drop", reason, by, name_owner(user, tenant), as_json=as_json)
