"""`smartbrain contexts` and `smartbrain receipts`: stored packages, and the reason for each candidate."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer
from rich.text import Text

from services.cli import data_folder
from services.cli.listing import ListingGroup
from services.cli.names import Limit, Tenant, User, check_id
from services.cli.output import AsJson, emit, err, out, to_table
from services.cli.web import reach_compose
from shared import settings
from shared.db import Database
from shared.domain.subjects import Subject
from shared.errors import RefusedError
from shared.store import contexts as store
from shared.store.contexts import Receipts, Stored

if TYPE_CHECKING:
    from services.compose.rules.packing.receipts import ReplayCheck

contexts = typer.Typer(help="Show stored packages.", cls=ListingGroup)
ContextId = Annotated[UUID, typer.Argument(help="The package's context_id.")]


@contexts.command("list")
def list_packages(
    user: User = "me",
    tenant: Tenant = "default",
    session: Annotated[str | None, typer.Option("--session", help="Of this session only.", callback=check_id)] = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """Show a user's packages, newest first."""
    query = {"tenant_id": tenant, "user_id": user, "limit": limit, "session_id": session}
    with reach_compose() as web:
        page = web.get("/v1/contexts", query)
    if as_json:
        emit(page)
        return
    heads = ("context", "session", "composed", "memories", "degraded", "utilized", "feedback")
    out.print(to_table(heads, map(_to_row, page["contexts"])) if page["contexts"] else "no packages")


def _to_row(each: dict[str, Any]) -> list[str]:
    received = ("-" if each[name] is None else str(each[name]) for name in ("utilized", "user_feedback_signal"))
    figures = (str(each["memories"]), str(each["degraded"]))
    return [each["context_id"], each["session_id"], each["created_at"][:19], *figures, *received]


@contexts.command("show")
def show(
    context: ContextId,
    user: User = "me",
    tenant: Tenant = "default",
    messages: Annotated[bool, typer.Option("--messages", help="As messages of a chat API.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a package as the model reads it, or with --json as it was returned."""
    path = f"/v1/contexts/{context}"
    with reach_compose() as web:
        whose = {"tenant_id": tenant, "user_id": user}
        package = web.get(path if as_json and not messages else f"{path}/messages", whose)
    if as_json:
        emit(package)
        return
    for each in package["messages"]:
        out.print(Text(f"[{each['role']}]\n", "bold cyan").append(Text(str(each["content"]), "default")))


def receipts(
    context: ContextId,
    user: User = "me",
    tenant: Tenant = "default",
    item: Annotated[str | None, typer.Option("--item", help="Only this memory, message or address.")] = None,
    lang: Annotated[Literal["zh", "en"], typer.Option("--lang", help="zh or en.")] = "en",
    internal: Annotated[bool, typer.Option("--internal", help="Include scores and rules, from the database.")] = False,
    again: Annotated[bool, typer.Option("--replay", help="Recompute and compare with plan and package.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show why each candidate is in a package or not."""
    if internal or again:
        recorded, stored = asyncio.run(_read(Subject(tenant, user), context))
        from services.compose.rules.packing.receipts import check_receipts

        replayed = check_receipts(recorded.retrieval, recorded.injection, stored.package if stored else None)
        if as_json:
            emit({"retrieval": recorded.retrieval, "injection": recorded.injection, "problems": replayed.problems})
        else:
            _show_replay(replayed)
        if again and replayed.problems:
            raise typer.Exit(1)
        return
    with reach_compose() as web:
        query = {"tenant_id": tenant, "user_id": user, "lang": lang, "item": item}
        answer = web.get(f"/v1/receipts/{context}", query)
    if as_json:
        emit(answer)
    else:
        _show(answer)


def _show(found: dict[str, Any]) -> None:
    degraded = f", degraded: {', '.join(found['degraded_reason'])}" if found["degraded_reason"] else ""
    out.print(Text(f"{found['injected']} in, {found['rejected']} out{degraded}", "bold"))
    for each in found["items"]:
        style = "green" if each["decision"] == "injected" else "dim"
        used = {True: " used by the answer", False: " not used by the answer", None: ""}[each["utilized"]]
        heading = Text(f"{each['decision']:<15}{each['decision_reason']:<17}{each['id']}{used}\n", style)
        out.print(heading.append(Text(f"    {each['why']}", "default")))


def _show_replay(replayed: "ReplayCheck") -> None:
    for line in replayed.explained:
        out.print(Text(line))
    for line in replayed.problems:
        err.print(Text(line, "red"))
    if not replayed.problems:
        out.print(Text(f"{len(replayed.explained)} decisions: everything matches", "bold"))


async def _read(subject: Subject, context_id: UUID) -> tuple[Receipts, Stored | None]:
    async with Database(data_folder.database(settings.load()), size=1) as db, db.transaction(subject) as conn:
        recorded = await store.receipts(conn, subject, context_id)
        stored = await store.package(conn, subject, context_id)
    if recorded is None:
        raise RefusedError("not_found", f"no receipts of {context_id} for this user", status=404)
    return recorded, stored
