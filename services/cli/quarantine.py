"""`smartbrain quarantine`: events that workers gave up, and the turns behind them, redriven once or dropped."""

from typing import Annotated
from uuid import UUID

import typer
from rich.table import Table
from rich.text import Text

from services.cli import data_folder
from services.cli.dead_letters import (
    By,
    Limit,
    OfTenant,
    OfUser,
    Reason,
    When,
    act,
    drop_absent,
    name_owner,
    show_redrive,
)
from services.cli.names import Tenant, User
from services.cli.output import AsJson, emit, out
from services.cli.web import Web

app = typer.Typer(help="Quarantine: events that workers gave up, and their turns.", no_args_is_help=True)
Event = Annotated[UUID, typer.Argument(help="The id, as `quarantine list` shows it.", metavar="ID")]


@app.command("list")
def show_list(
    stage: Annotated[str | None, typer.Option("--stage", help="observer, analyzer, evolver, ...")] = None,
    since: Annotated[When, typer.Option("--since", help="Not before this moment, in the local time.")] = None,
    user: OfUser = None,
    tenant: OfTenant = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List quarantined events, newest first."""
    moment = since.astimezone().isoformat() if since else None
    with Web(data_folder.url()) as web:
        page = web.get(
            "/v1/quarantine", drop_absent(stage=stage, since=moment, **name_owner(user, tenant), limit=limit)
        )
    if as_json:
        emit(page)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("id", "given up", "user", "stage", "turn", "state"):
        table.add_column(name, no_wrap=True)
    for each in page["events"]:
        whose, turn = f"{each['tenant_id']}:{each['user_id']}", each["turn_id"] or "-"
        cells = (each["quarantine_id"], each["created_at"][:19], whose, each["stage"], turn, each["state"])
        table.add_row(*(Text(cell) for cell in cells))
    out.print(table if page["events"] else "nothing is in quarantine")


@app.command("show")
def show_one(event: Event, user: User = "me", tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show a quarantined event and what a redrive would do."""
    with Web(data_folder.url()) as web:
        shown = web.get(f"/v1/quarantine/{event}", drop_absent(**name_owner(user, tenant)))
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
    """Have the turn go on where it was given up, once; refused where nothing would change."""
    act(f"/v1/quarantine/{event}/redrive", reason, by, name_owner(user, tenant), as_json=as_json)


@app.command()
def drop(
    event: Event, reason: Reason, by: By = None, user: User = "me", tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """Let a quarantined event be: its turn stays as it is."""
    act(f"/v1/quarantine/{event}/drop", reason, by, name_owner(user, tenant), as_json=as_json)
