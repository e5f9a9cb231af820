"""`smartbrain memories`: lists memories now and in the past, shows their history, restores and judges versions."""

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.table import Table
from rich.text import Text

from schemas.memory_types import ROWS
from schemas.vocabulary import FeedbackVerdict, ListedStatus, MemoryType
from services.cli.compose import show_outcome
from services.cli.listing import LIST, ListingGroup
from services.cli.names import Limit, Tenant, User
from services.cli.output import AsJson, emit, out, refuse
from services.cli.texts import LanguageOption, choose_texts
from services.cli.web import Web, reach_compose
from shared.language.normalise import detect

Json = dict[str, Any]
group = typer.Typer(cls=ListingGroup, help="Show a user's memories and their history; restore, pin and merge them.")
Id = Annotated[UUID, typer.Argument(help="A version's id.")]


@group.command(LIST)
def list_memories(
    query: Annotated[str | None, typer.Argument(help="Words to search for.")] = None,
    user: User = "me",
    tenant: Tenant = "default",
    status: Annotated[
        ListedStatus, typer.Option("--status", help="active, superseded, retracted, ... or all.")
    ] = "active",
    type: Annotated[MemoryType | None, typer.Option("--type", help="preference, profile, task, ...")] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="The memories valid at this time: 2026-03-01, or with a time of day.")
    ] = None,
    limit: Limit = 50,
    ids: Annotated[bool, typer.Option("--ids", help="Show ids, versions and confidence too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a user's memories, now or at a past time."""
    asked: Json = {"tenant_id": tenant, "user_id": user, "limit": limit, "type": type, "query": query, "as_of": as_of}
    asked |= {"status": status}
    with reach_compose() as web:
        page = web.get("/v1/memories", {k: v for k, v in asked.items() if v is not None})
    if as_json:
        emit(page)
        return
    if page["as_of"]:
        out.print(Text(f"as of {page['as_of'][:19]}Z: {page['count']}", "bold"))
    show_memories(page["memories"], ids=ids)


def show_memories(memories: list[Json], *, ids: bool = False) -> None:
    """The memories, one per line, grouped by type; `ids` adds what other commands need."""
    if not memories:
        out.print("nothing is known")
        return
    zh = sum(detect(m["content"]) == "zh" for m in memories) * 2 > len(memories)
    groups: dict[str, list[Json]] = {}
    for m in memories:
        groups.setdefault(m["type"], []).append(m)
    titles = {str(row.type): row.title_zh if zh else row.title_en for row in ROWS}
    titles |= {kind: kind for kind in groups.keys() - titles.keys()}
    for kind, title in titles.items():
        if kind not in groups:
            continue
        out.print(Text(title, "bold"))
        for m in groups[kind]:
            line = Text(f"  {m['valid_at'][:10]}  ", "dim").append(m["content"], "default")
            if m["pinned"]:
                line.append("  (置顶)" if zh else "  (pinned)", "dim")
            if m["status"] != "active":
                line.append(f"  ({m['status']})", "dim")
            if ids:
                how = f"  {m['memory_id']} v{m['version']} {m['confidence']:.2f} {m['provenance']['class']}"
                line.append(how, "dim")
            out.print(line, soft_wrap=True)


@group.command("history")
def history(
    memory_id: Id,
    user: User = "me",
    tenant: Tenant = "default",
    lang: LanguageOption = None,
    as_json: AsJson = False,
) -> None:
    """Show every version of a memory, oldest first, with its evidence."""
    with reach_compose() as web:
        page = web.get(f"/v1/memories/{memory_id}/history", {"tenant_id": tenant, "user_id": user})
    if as_json:
        emit(page)
        return
    newest = page["memories"][-1]["content"]
    say = choose_texts("memories", lang, newest)
    for version in page["memories"]:
        _version(version, say)


def _version(version: Json, say: dict[str, str]) -> None:
    status = say.get(f"status {version['status']}", version["status"])
    until = moment(version["invalid_at"]) if version["invalid_at"] else say["now"]
    head = f"v{version['version']}  {status}  {say['from']} {moment(version['valid_at'])} - {until}  "
    standing = f"{version['confidence']:.2f} {version['provenance']['class']}, {version['epistemic_type']}"
    out.print(Text(head, "bold magenta").append(Text(f"{standing}  {version['memory_id']}", "dim")))
    out.print(Text(f"  {version['content']}", "default"))
    key = f"{version['key']} " if version["key"] else ""
    out.print(Text(f"  {say['value']}: ", "cyan").append(Text(f"{key}{to_text(version['value'])}", "dim")))
    for name in ("supersedes", "superseded_by"):
        ids: list[str] = version[name] if isinstance(version[name], list) else [version[name]] if version[name] else []
        if ids:
            out.print(Text(f"  {say[name]}: ", "cyan").append(Text(", ".join(ids), "dim")))
    _evidence(version["evidence"], say)
    for each in version["upkeep"]:
        line = f"{moment(each['at'])}  {each['job']}  {to_text(each['detail'])}"
        out.print(Text(f"  {say['upkeep']}: ", "cyan").append(Text(line, "default")))
    for each in version["conflicts"]:
        line = f"{moment(each['said_at'])}  {say.get(each['state'], each['state'])}  {each['said']}"
        out.print(Text(f"  {say['conflict']}: ", "yellow").append(Text(f"{line}  {each['conflict_id']}", "default")))


def to_text(value: Any) -> str:
    return ", ".join(f"{name}={part}" for name, part in value.items()) if isinstance(value, dict) else str(value)  # pyright: ignore[reportUnknownVariableType] # raw JSON


def _evidence(evidence: list[Json], say: dict[str, str]) -> None:
    if not evidence:
        return
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    for name in ("", say["when"], say["what"], say["who"], say["words"]):
        table.add_column(name, no_wrap=name != say["words"], overflow="fold")
    for each in evidence:
        who: str = each["name"] or each["role"] or each["source"]
        words: str = say["erased"] if each["erased"] else each["quote"] or say["panel"]
        where = f"{say['session']} {each['session_id']}, {say['turn']} {each['turn_id']}"
        action: str = each["action"]
        cells: tuple[str, ...] = ("", moment(each["said_at"]), say.get(action, action), say.get(who, who))
        quote = Text(words).append(Text(f"\n{where}, {each['detector']}/{each['pattern']}", "dim"))
        table.add_row(*(Text(cell) for cell in cells), quote)
    out.print(table, soft_wrap=False)


def moment(at: str) -> str:
    """The moment to the second, as people write it."""
    return at[:19].replace("T", " ")


@group.command("restore")
def restore(memory_id: Id, user: User = "me", tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Make the content of an older version the newest version; for a merged memory, undo the merge."""
    _act(lambda web, whose: web.post(f"/v1/memories/{memory_id}/restore", {}, whose), user, tenant, as_json=as_json)


@group.command("pin")
def pin(memory_id: Id, user: User = "me", tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Pin a memory: it leads every package, does not age, and upkeep does not change it."""
    _act(lambda web, whose: web.put(f"/v1/memories/{memory_id}/pin", {}, whose), user, tenant, as_json=as_json)


@group.command("unpin")
def unpin(memory_id: Id, user: User = "me", tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Unpin a memory."""
    _act(lambda web, whose: web.delete(f"/v1/memories/{memory_id}/pin", whose), user, tenant, as_json=as_json)


@group.command("merge")
def merge(
    keep: Annotated[UUID, typer.Argument(help="The memory whose text stays.")],
    others: Annotated[list[UUID], typer.Argument(help="The memories to merge into it.")],
    content: Annotated[str | None, typer.Option("--content", help="Text of the merged memory.")] = None,
    user: User = "me",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Merge several memories into one; `memories restore` of any of them undoes the merge."""
    asked = {"keep": str(keep), "others": [str(each) for each in others], "content": content}
    _act(lambda web, whose: web.post("/v1/memories/merge", asked, whose), user, tenant, as_json=as_json)


def forget(memory_id: Id, user: User = "me", tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Retract a memory: it is no longer used, but its history stays. `erase --memory` deletes it completely."""
    _act(lambda web, whose: web.delete(f"/v1/memories/{memory_id}", whose), user, tenant, as_json=as_json)


def _act(write: Callable[[Web, Json], Json], user: str, tenant: str, *, as_json: bool) -> None:
    """Makes the write, waits until it is settled, and prints the result."""
    whose = {"tenant_id": tenant, "user_id": user}
    with reach_compose() as web:
        receipt = write(web, whose)
        outcome = web.outcome(whose, receipt["turn_id"])
        receipt = web.get(f"/v1/writes/{receipt['receipt_id']}", whose)
    if as_json:
        emit({"receipt": receipt, "outcome": outcome})
        return
    reason = f"  ({receipt['reason']})" if receipt["reason"] else ""
    out.print(f"memory {receipt['memory_id']}{reason}", markup=False)
    show_outcome(outcome)


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
