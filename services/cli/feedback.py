"""`smartbrain feedback`: a user's verdict on one memory."""

from typing import Annotated
from uuid import UUID

import typer

from schemas.vocabulary import FeedbackVerdict
from services.cli.names import Tenant, User
from services.cli.output import AsJson, emit, out, refuse
from services.cli.web import reach_compose


def feedback(
    memory_id: Annotated[UUID, typer.Argument(help="The memory, as `smartbrain memories list --ids` shows it.")],
    verdict: Annotated[FeedbackVerdict | None, typer.Argument(help="right, wrong, not_useful or never_again.")] = None,
    end: Annotated[bool, typer.Option("--end", help="End a `never_again`.")] = False,
    context: Annotated[UUID | None, typer.Option("--context", help="The package that showed it.")] = None,
    user: User = "me",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Judge a memory: right, wrong, not useful, or never to be mentioned again."""
    if (verdict is None) == (not end):
        raise refuse("give either a verdict or --end")
    whose = {"tenant_id": tenant, "user_id": user}
    with reach_compose() as web:
        if end:
            receipt = web.delete(f"/v1/feedback/{memory_id}", whose)
        else:
            body = {**whose, "memory_id": str(memory_id), "verdict": verdict}
            receipt = web.post("/v1/feedback", {**body, "context_id": str(context)} if context else body)
    if as_json:
        emit(receipt)
        return
    out.print(f"{receipt['status']} {receipt['memory_id'] or ''} {receipt['reason'] or ''}".rstrip(), markup=False)
