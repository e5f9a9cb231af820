"""`smartbrain dlq`: dead letters of a running SmartBrain, listed, shown, redriven once or dropped."""

from datetime import datetime
from typing import Annotated, Any, Literal

import orjson
import typer
from rich.text import Text

from services.cli.names import By, Limit, check_id, check_words, name_operator
from services.cli.output import AsJson, emit, out, to_table
from services.cli.web import reach_compose

app = typer.Typer(help="Dead letters: records that could not be handled, with reasons.", no_args_is_help=True)
Letter = Annotated[str, typer.Argument(help="The letter's id, as `dlq list` shows it.", metavar="ID")]
Reason = Annotated[str, typer.Option("--reason", help="The reason, for the audit.", callback=check_words)]
OfTenant = Annotated[str | None, typer.Option("--tenant", help="Of this tenant only.", callback=check_id)]
OfUser = Annotated[str | None, typer.Option("--user", "-u", help="Of this user only.", callback=check_id)]
When = datetime | None
STATES = Literal["open", "redriven", "dropped", "all"]
STYLES = {"commits": "green", "derives": "green", "applies": "green", "nothing": "yellow"}


@app.command("list")
def show_list(
    topic: Annotated[str | None, typer.Option("--topic", help="Short name, such as turn.commit.")] = None,
    error: Annotated[str | None, typer.Option("--error", help="Only those whose reason contains this text.")] = None,
    since: Annotated[When, typer.Option("--since", help="Not before this local time.")] = None,
    until: Annotated[When, typer.Option("--until", help="Before this local time.")] = None,
    state: Annotated[STATES, typer.Option("--state", help="State of the letter.")] = "open",
    user: OfUser = None,
    tenant: OfTenant = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List dead letters, newest first, without their text."""
    moments = {"since": since, "until": until}
    asked = {"topic": topic, "error": error, "state": None if state == "all" else state}
    asked |= {name: moment.astimezone().isoformat() if moment else None for name, moment in moments.items()}
    with reach_compose() as web:
        page = web.get("/v1/dead-letters", {**asked, **name_owner(user, tenant), "limit": limit})
    if as_json:
        emit(page)
        return
    if not page["letters"]:
        out.print("no dead letters")
    else:
        table = to_table(("letter", "dead since", "user", "state", "error"), map(_to_row, page["letters"]))
        table.columns[-1].no_wrap = False
        out.print(table)
    if page["unread"]:
        out.print(Text("there are older ones; --limit shows more", "dim"))


@app.command("show")
def show_one(
    letter: Letter,
    raw: Annotated[bool, typer.Option("--raw", help="Include its text.")] = False,
    user: OfUser = None,
    tenant: OfTenant = None,
    as_json: AsJson = False,
) -> None:
    """Show a dead letter and the effect of a redrive; text is blanked without --raw."""
    with reach_compose() as web:
        shown = web.get(f"/v1/dead-letters/{letter}", {**name_owner(user, tenant), "raw": "true" if raw else None})
    if as_json:
        emit(shown)
        return
    for name in ("letter_id", "origin", "error", "dead_at", "tenant_id", "user_id", "event_type", "event_id", "key"):
        if shown[name]:
            out.print(Text(f"{name:<12}", "dim").append(Text(str(shown[name]), "default")))
    show_redrive(shown)
    value = shown["value"]
    if shown["encoding"] == "json":
        value = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    out.print(Text(str(value), "default"))


@app.command()
def redrive(
    letter: Letter,
    reason: Reason,
    by: By = None,
    user: OfUser = None,
    tenant: OfTenant = None,
    vouch: Annotated[
        bool, typer.Option("--vouch", help="Vouch for a letter that was refused because of its sender.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Send a dead letter back to its topic, once; refused if that has no effect."""
    more = {"vouched": True} if vouch else {}
    act(f"/v1/dead-letters/{letter}/redrive", reason, by, name_owner(user, tenant), as_json=as_json, **more)


@app.command()
def drop(
    letter: Letter, reason: Reason, by: By = None, user: OfUser = None, tenant: OfTenant = None, as_json: AsJson = False
) -> None:
    """Drop a dead letter: it will not be redriven."""
    act(f"/v1/dead-letters/{letter}/drop", reason, by, name_owner(user, tenant), as_json=as_json)


def name_owner(user: str | None, tenant: str | None) -> dict[str, str | None]:
    """The owner as query parameters; empty for all owners."""
    return {"user_id": user, "tenant_id": tenant}


def act(path: str, reason: str, by: str | None, whose: dict[str, str | None], *, as_json: bool, **more: Any) -> None:
    """Carries out the action and prints whether it was done now or earlier."""
    body = {**name_operator(by, reason), **more}
    with reach_compose() as web:
        done = web.post(path, body, whose)
    if as_json:
        emit(done)
    elif done["fresh"]:
        out.print(done["state"])
    else:
        told = done["act"]
        out.print(f"was {done['state']} before, at {told['at'][:19]} by {told['requested_by']}: {told['reason']}")


def show_redrive(shown: dict[str, Any]) -> None:
    """The state of the letter and the effect of a redrive."""
    if told := shown["act"]:
        out.print(Text(f"{told['act']} at {told['at'][:19]} by {told['requested_by']}: {told['reason']}", "bold"))
    would = shown["redrive"]
    line = Text("a redrive: ", "dim").append(Text(would["effect"], STYLES.get(would["effect"], "red")))
    out.print(line.append(Text(f", {would['why']} ({would['topic']}, read by {would['group']})", "default")))


def _to_row(each: dict[str, Any]) -> tuple[str, ...]:
    whose = f"{each['tenant_id']}:{each['user_id']}" if each["user_id"] else "-"
    return each["letter_id"], each["dead_at"][:19], whose, each["state"], each["error"]
