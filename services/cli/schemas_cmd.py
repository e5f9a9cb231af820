"""Generates schemas/generated from the code: JSON Schema, AsyncAPI and OpenAPI."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from schemas import generate
from services.cli import output
from services.cli.output import AsJson

GENERATED = Path(generate.__file__).parent / "generated"


def schemas(
    out: Annotated[Path, typer.Option("--out", help="Folder of the generated files.")] = GENERATED,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a file differs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write JSON Schema, AsyncAPI and OpenAPI."""
    wanted = documents()
    changed = list_differences(out, wanted)
    if not check:
        _write(out, wanted, changed)
    if as_json:
        output.emit({"folder": str(out), "files": len(wanted), "changed": changed, "written": not check})
    else:
        _show(changed, len(wanted), check=check)
    if check and changed:
        raise typer.Exit(1)


def documents() -> dict[str, str]:
    """Every generated file by its path within the folder; opens no connections."""
    from services.compose.routes.server import create_app  # only this command needs the web framework

    app = create_app(cast("Any", None), cast("Any", None), cast("Any", None))
    return {**generate.documents(), "openapi.json": generate.render(app.openapi())}


def list_differences(folder: Path, wanted: dict[str, str]) -> list[str]:
    """The paths whose file is missing, different or superfluous."""
    there = {path.relative_to(folder).as_posix() for path in folder.glob("json/**/*.schema.json")}
    changed = {path for path, content in wanted.items() if _read(folder / path) != content}
    return sorted(changed | (there - set(wanted)))


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None


def _write(folder: Path, wanted: dict[str, str], changed: list[str]) -> None:
    for path in changed:
        if path not in wanted:
            (folder / path).unlink()
            continue
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(wanted[path].encode())


def _show(changed: list[str], files: int, *, check: bool) -> None:
    if not changed:
        output.out.print(f"{files} files are up to date", markup=False)
        return
    for path in changed:
        output.out.print(f"{'differs' if check else 'written'}: {path}", markup=False)
    if check:
        output.fail("generated files differ from the code; run: smartbrain schemas")
