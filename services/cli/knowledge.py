"""`smartbrain knowledge`: resources on the knowledge side, and reports of changes there."""

from typing import Annotated

import typer
from rich.text import Text

from schemas.resources import ResourceState
from services.cli.names import By, Limit, Tenant, User, Why, check_id, name_operator
from services.cli.output import AsJson, emit, out
from services.cli.web import reach_compose

app = typer.Typer(help="Show ingested resources; report changes on the knowledge side.", no_args_is_help=True)


@app.command("changed")
def announce_change(
    tenant: Tenant = "default",
    org: Annotated[str | None, typer.Option("--org", help="Only for this organisation.", callback=check_id)] = None,
    profile: Annotated[str | None, typer.Option("--profile", help="Only for this profile.", callback=check_id)] = None,
    reason: Why = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Report that knowledge has changed, after a bulk import: cached answers are not used again."""
    body = {"tenant_id": tenant, "org_id": org, "profile_id": profile, **name_operator(by, reason)}
    with reach_compose() as web:
        version = web.post("/v1/knowledge/changed", {name: value for name, value in body.items() if value})
    if as_json:
        emit(version)
    else:
        out.print(f"noted: version {version['version']}")


@app.command()
def resources(
    user: User = "me",
    tenant: Tenant = "default",
    state: Annotated[
        ResourceState | None, typer.Option("--state", help="pending, ingested, skipped or failed.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Show a user's resources on the knowledge side, newest first."""
    asked = {"tenant_id": tenant, "user_id": user, "limit": limit, "state": state}
    with reach_compose() as web:
        page = web.get("/v1/resources", asked)
    if as_json:
        emit(page)
    elif not page["resources"]:
        out.print("no resources")
    else:
        for each in page["resources"]:
            why = f"  ({each['reason']})" if each["reason"] else ""
            line = Text(f"{each['state']:<9} {each['ref_type']:<9}", "bold")
            out.print(line.append(Text(f"{each['source_uri'] or '(erased)'}{why}", "default")))
