"""`smartbrain`: one file a group of commands; only this package knows all services.

A command's module is imported when the command is called: what reads language takes seconds to import, and most
commands only ask a service.
"""

import ast
import os
import sys
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from services.cli.output import err, fail, out
from shared.errors import SmartBrainError

TRACEBACK = "SMARTBRAIN_TRACEBACK"
COMMANDS = MappingProxyType(
    {
        "up": "machine:up",
        "status": "status:status",
        "serve": "machine:serve",
        "migrate": "machine:migrate",
        "keys": "keys:app",
        "backup": "backup.command:backup",
        "restore": "backup.command:restore",
        "demo": "demo:demo",
        "commit": "compose:commit",
        "say": "compose:say",
        "compose": "compose:compose",
        "remember": "compose:remember",
        "mcp": "mcp:mcp",
        "memories": "memories:group",
        "forget": "memories:forget",
        "export": "governing:export",
        "import": "governing:take_in",
        "feedback": "memories:feedback",
        "erase": "erase:erase",
        "conflicts": "conflicts:group",
        "sessions": "sessions:app",
        "settings": "settings:app",
        "contexts": "receipts:contexts",
        "receipts": "receipts:receipts",
        "media": "media:app",
        "answers": "answers:answers",
        "experience": "experience:experience",
        "promotions": "promotions:app",
        "knowledge": "knowledge:app",
        "dlq": "dead_letters:app",
        "quarantine": "quarantine:app",
        "upkeep": "upkeep:upkeep",
        "observe": "dry_run:observe",
        "rebuild": "rebuild.command:rebuild",
        "eval": "evaluate.command:evaluate",
        "topics": "topics:topics",
        "schemas": "schemas_cmd:schemas",
    }
)
"""Each command, in the order of the help: its module below this package and its name there."""


class _OnDemand(TyperGroup):
    """A group of `COMMANDS`, each imported when it is called and only described where all are listed."""

    listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        return [*COMMANDS]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.listing = True
        super().format_help(ctx, formatter)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            self.commands.update({name: _describe(name) for name in COMMANDS})  # what was meant is to be guessed
        else:
            self.commands[cmd_name] = _describe(cmd_name) if self.listing else import_command(cmd_name)
        return super().get_command(ctx, cmd_name)


def _describe(name: str) -> TyperCommand:
    """The command as the help of all lists it, read from its source: a function's docstring, or a group's `help`."""
    module, _, attribute = COMMANDS[name].partition(":")
    source = Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".py").read_text("utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == attribute:
            return TyperCommand(name, help=ast.get_docstring(node))
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == attribute
            and isinstance(node.value, ast.Call)
        ):
            (told,) = (each.value for each in node.value.keywords if each.arg == "help")
            return TyperCommand(name, help=ast.literal_eval(told))
    raise AttributeError(f"{COMMANDS[name]} is no command")


def import_command(name: str) -> Any:
    module, _, attribute = COMMANDS[name].partition(":")
    command = getattr(import_module(f"{__name__}.{module}"), attribute)
    if isinstance(command, typer.Typer):
        group = get_group(command)
        group.name = name
        return group
    single = typer.Typer(add_completion=False)
    single.command(name)(command)
    return get_command(single)


app = typer.Typer(
    name="smartbrain",
    cls=_OnDemand,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        out.print(f"smartbrain {version('smartbrain')}", markup=False)
        raise typer.Exit


@app.callback()
def smartbrain(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Agent memory runtime and context composer."""
    del version


def main() -> None:
    """The entry point of the command; an error is one line and exit code 1 or 2, never a traceback unless asked for."""
    try:
        app()
    except SmartBrainError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        fail(f"{type(error).__name__}: {error}")
        err.print(f"this is a defect; {TRACEBACK}=1 shows the traceback", markup=False)
    else:
        return
    sys.exit(1)


if __name__ == "__main__":
    main()
