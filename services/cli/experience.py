"""`smartbrain experience`: what the agent of a tenant has learnt of its own tools, from a running SmartBrain."""

from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from services.cli import data_folder
from services.cli.names import Tenant, check_id
from services.cli.output import AsJson, emit, out
from services.cli.web import Web


def experience(
    tenant: Tenant = "default",
    user: Annotated[
        str, typer.Option("--user", "-u", help="Also what comes from this user alone.", callback=check_id)
    ] = "me",
    as_json: AsJson = False,
) -> None:
    """Show which tools work and which fail, and how recalled memories were received."""
    with Web(data_folder.url()) as web:
        page = web.get("/v1/experience", {"tenant_id": tenant, "user_id": user})
    if as_json:
        emit(page)
    elif page["experience"]:
        _show(page["experience"])
    else:
        out.print("nothing has been learnt yet")


def _show(learnt: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("what", "conf", "share", "figures", "from"):
        table.add_column(name, no_wrap=True)
    for each in learnt:
        figures = each["figures"]
        shown = [f"{name} {value}" for name, value in figures.items() if isinstance(value, int) and name != "users"]
        cells = (each["key"], f"{each['confidence']:.2f}", f"{figures['share']:.0%}", ", ".join(shown))
        table.add_row(*(Text(cell) for cell in cells), Text("several users" if each["shared"] else "this user"))
    out.print(table)
