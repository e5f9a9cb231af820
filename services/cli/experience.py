"""`smartbrain experience`: what the agents of a tenant have learnt about their tools."""

from typing import Annotated, Any

import typer

from services.cli.names import Tenant, check_id
from services.cli.output import AsJson, emit, out, to_table
from services.cli.web import reach_compose


def experience(
    tenant: Tenant = "default",
    user: Annotated[
        str, typer.Option("--user", "-u", help="Include the experience of this user alone.", callback=check_id)
    ] = "me",
    as_json: AsJson = False,
) -> None:
    """Show which tools work and which fail, and the reception of recalled memories."""
    with reach_compose() as web:
        page = web.get("/v1/experience", {"tenant_id": tenant, "user_id": user})
    if as_json:
        emit(page)
    elif page["experience"]:
        out.print(to_table(("what", "conf", "share", "figures", "from"), map(_to_row, page["experience"])))
    else:
        out.print("nothing has been learnt yet")


def _to_row(each: dict[str, Any]) -> tuple[str, ...]:
    figures = each["figures"]
    shown = [f"{name} {value}" for name, value in figures.items() if isinstance(value, int) and name != "users"]
    whose = "several users" if each["shared"] else "this user"
    return each["key"], f"{each['confidence']:.2f}", f"{figures['share']:.0%}", ", ".join(shown), whose
