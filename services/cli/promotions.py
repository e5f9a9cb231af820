"""`smartbrain promotions`: lists, decides and retries proposals to share memories."""

from typing import Annotated, Any, Literal
from uuid import UUID

import typer
from rich.text import Text

from schemas.promotion import PromotionStatus
from services.cli.names import By, Limit, Tenant, User, Why, name_operator
from services.cli.output import AsJson, emit, out
from services.cli.web import reach_compose

app = typer.Typer(help="Show and decide proposals to share memories with others.", no_args_is_help=True)
Proposal = Annotated[UUID, typer.Argument(help="The proposal's id.")]
Reason = Annotated[str, typer.Option("--reason", help="Why.")]
Where = Literal["store", "region", "brand", "global"]


@app.command("list")
def show(
    user: User = "me",
    tenant: Tenant = "default",
    status: Annotated[
        PromotionStatus | None, typer.Option("--status", help="pending_approval, approved, expired, ...")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Show a user's proposals, newest first."""
    asked = {"tenant_id": tenant, "user_id": user, "limit": limit, "status": status}
    with reach_compose() as web:
        page = web.get("/v1/promotions", asked)
    if as_json:
        emit(page)
    elif page["promotions"]:
        for each in page["promotions"]:
            _line(each)
    else:
        out.print("nothing qualifies")


@app.command()
def approve(
    proposal: Proposal,
    user: User = "me",
    tenant: Tenant = "default",
    reason: Reason = "",
    visibility: Annotated[Where | None, typer.Option("--visibility", help="store, region, brand or global.")] = None,
    org: Annotated[
        str | None, typer.Option("--org", help="The organisation; by default that of the source turn.")
    ] = None,
    consent: Annotated[bool, typer.Option("--consent", help="The person concerned has agreed.")] = False,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Approve a proposal; it is written to the knowledge side with the given --visibility."""
    more = {"visibility": visibility, "org_id": org}
    _decide(proposal, tenant, user, by, as_json, decision="approve", reason=reason, consent=consent, **more)


@app.command()
def reject(
    proposal: Proposal,
    user: User = "me",
    tenant: Tenant = "default",
    reason: Reason = "",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Reject a proposal; the memory does not change."""
    _decide(proposal, tenant, user, by, as_json, decision="reject", reason=reason)


@app.command()
def retry(
    proposal: Proposal,
    user: User = "me",
    tenant: Tenant = "default",
    reason: Why = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Retry writing an approved proposal to the knowledge side after write_failed."""
    with reach_compose() as web:
        whose = {"tenant_id": tenant, "user_id": user}
        waiting = web.post(f"/v1/promotions/{proposal}/retry", {**whose, **name_operator(by, reason)})
    if as_json:
        emit(waiting)
    else:
        _line(waiting)


def _decide(proposal: UUID, tenant: str, user: str, by: str | None, as_json: bool, **said: Any) -> None:
    with reach_compose() as web:
        whose = {"tenant_id": tenant, "user_id": user, **name_operator(by)}
        decided = web.post(f"/v1/promotions/{proposal}", {**whose, **said})
    if as_json:
        emit(decided)
    else:
        _line(decided)


def _line(each: dict[str, Any]) -> None:
    figures = each["figures"]
    whom = f"{each['visibility']} {each['org_id']}".strip()
    facts = f"{each['class']}, for {whom}, until {each['expires_at'][:10]}"
    facts += f", confidence {figures['confidence']:.2f}, {figures['uses_30d']} uses in {figures['sessions']} sessions"
    facts += f", written {each['written_at'][:10]}" if each["written_at"] else ""
    why = "".join(f", {each[name]}" for name in ("reason", "write_reason") if each[name])
    out.print(
        Text(f"{each['proposal_id']}  {each['status']:<16} ", "bold")
        .append(Text(each["content"][:200], "default"))
        .append(Text(f"  ({facts}{why})", "dim"))
    )
