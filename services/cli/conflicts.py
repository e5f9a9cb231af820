"""`smartbrain conflicts`: statements against stronger memories, and the choice between them."""

from typing import Annotated, Literal
from uuid import UUID

import typer
from rich.text import Text

from services.cli.compose import show_outcome
from services.cli.listing import LIST, ListingGroup
from services.cli.memories import Json, moment
from services.cli.names import Limit, Tenant, User
from services.cli.output import AsJson, emit, out
from services.cli.texts import LanguageOption, choose_texts
from services.cli.web import reach_compose

group = typer.Typer(cls=ListingGroup, help="Show open conflicts; settle one.")


@group.command(LIST)
def list_conflicts(
    user: User = "me",
    tenant: Tenant = "default",
    state: Annotated[
        Literal["open", "kept", "replaced", "all"], typer.Option("--state", help="open, kept, replaced or all.")
    ] = "open",
    limit: Limit = 50,
    lang: LanguageOption = None,
    as_json: AsJson = False,
) -> None:
    """Show statements that contradict a stronger memory and did not replace it."""
    with reach_compose() as web:
        page = web.get("/v1/conflicts", {"tenant_id": tenant, "user_id": user, "state": state, "limit": limit})
    if as_json:
        emit(page)
    elif page["conflicts"]:
        for each in page["conflicts"]:
            _show(each, choose_texts("conflicts", lang, each["known"]))
    else:
        out.print("no conflicts")


def _show(each: Json, say: dict[str, str]) -> None:
    head = f"{moment(each['opened_at'])}  {say.get(each['state'], each['state'])}  {each['kind']}"
    out.print(Text(head, "bold magenta").append(Text(f"  {each['conflict_id']}", "dim")))
    known = Text(each["known"], "default").append(Text(f"  {each['memory_id']}", "dim"))
    out.print(Text(f"  {say['known']}: ", "cyan").append(known))
    where = f"{say['session']} {each['session_id']}, {say['turn']} {each['turn_id']}"
    words = say["erased"] if each["erased"] else each["quote"] or each["said"]
    said = Text(words, "default").append(Text(f"  {moment(each['said_at'])}, {where}", "dim"))
    out.print(Text(f"  {say['said']}: ", "cyan").append(said))


@group.command("settle")
def settle(
    conflict_id: Annotated[UUID, typer.Argument(help="The conflict's id.")],
    keep: Annotated[Literal["known", "said"], typer.Option("--keep", help="known, or said.")],
    user: User = "me",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Decide which side of a conflict holds."""
    whose = {"tenant_id": tenant, "user_id": user}
    with reach_compose() as web:
        receipt = web.post(f"/v1/conflicts/{conflict_id}", {"keep": keep}, whose)
        outcome = web.outcome(whose, receipt["turn_id"])
    if as_json:
        emit({"receipt": receipt, "outcome": outcome})
    else:
        show_outcome(outcome)
