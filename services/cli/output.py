"""Output for people, and `--json` for programs: results on standard output, everything else on standard error."""

import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 240)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def emit(value: Any) -> None:
    """The value as JSON on standard output."""
    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")
    sys.stdout.flush()


def fail(message: str) -> None:
    """One line of error."""
    err.print("error:", message, style="red", markup=False)


def refuse(message: str) -> typer.Exit:
    """Prints the error; raised, it ends the command like a wrong argument."""
    fail(message)
    return typer.Exit(2)


def to_table(heads: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> Table:
    """A line for each row below the heads; cells are shown as they are, none as markup."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(head, no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table
