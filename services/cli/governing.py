"""`smartbrain export` and `smartbrain import`: all data of a user as a file."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from schemas.exporting import IMPORT_MAX_BYTES
from services.cli.names import By, Tenant, User, Why, name_operator
from services.cli.output import AsJson, emit, fail, out
from services.cli.web import reach_compose


def export(
    to: Annotated[Path | None, typer.Argument(help="The file to write; by default standard output.")] = None,
    user: User = "me",
    tenant: Tenant = "default",
    format: Annotated[Literal["json", "markdown"], typer.Option("--format", help="json can be imported.")] = "json",
    lang: Annotated[Literal["zh", "en"] | None, typer.Option("--lang", help="Language of Markdown: zh, en.")] = None,
) -> None:
    """Export everything about a user: memories with all versions and sources, conversations, conflicts."""
    query = {"tenant_id": tenant, "user_id": user, "format": format, "lang": lang}
    with reach_compose(300) as web:
        if to is None:
            for piece in web.stream("/v1/export", query):
                sys.stdout.buffer.write(piece)
            sys.stdout.flush()
            return
        part = to.with_name(f"{to.name}.part")
        try:
            with part.open("wb") as file:
                for piece in web.stream("/v1/export", query):
                    file.write(piece)
            part.replace(to)
        finally:
            part.unlink(missing_ok=True)
    out.print(f"wrote {to}", markup=False)


def take_in(
    file: Annotated[Path, typer.Argument(help="A file from `smartbrain export`.", exists=True, dir_okay=False)],
    user: User = "me",
    tenant: Tenant = "default",
    reason: Why = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Import an export for this user, completely or not at all; existing memories stay."""
    if file.stat().st_size > IMPORT_MAX_BYTES:
        fail(f"{file}: {file.stat().st_size} bytes, at most {IMPORT_MAX_BYTES}")
        raise typer.Exit(1)
    whose = {"tenant_id": tenant, "user_id": user}
    with reach_compose(300) as web:
        receipt = web.send("/v1/import", whose | name_operator(by, reason), file.read_bytes())
        if receipt["turn_id"]:
            web.outcome(whose, receipt["turn_id"])
    if as_json:
        emit(receipt)
        return
    for name in ("sessions", "turns", "memories"):
        counts = receipt[name]
        out.print(f"{name}: {counts['written']} new, {counts['known']} known, {counts['erased']} erased here earlier")
    if receipt["redacted"]:
        out.print(f"blanked: {', '.join(each['field'] for each in receipt['redacted'])}", markup=False)
