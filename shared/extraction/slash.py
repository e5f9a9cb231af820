"""Slash commands (seed 002 section 6.2; X43): /memory (/mem), /summary (/sum), /forget (/del), /remember."""

import re
from dataclasses import dataclass
from typing import Literal

from shared.language.patterns import to_pattern

Command = Literal["memory", "summary", "forget", "remember"]
_ALIASES: dict[str, Command] = {
    "memory": "memory",
    "mem": "memory",
    "summary": "summary",
    "sum": "summary",
    "forget": "forget",
    "del": "forget",
    "remember": "remember",
}
_SLASH = to_pattern(r"\s*[/／]([A-Za-z]+)(?:[\s:：]+(.*))?\Z", re.S)
_TARGET = to_pattern(r"(note|fact)\s+#?(\d+)\Z", re.I)


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command with its arguments; `kind` and `id` are set where /forget names one row, `action` for a known verb."""

    cmd: Command
    args: str = ""
    action: str | None = None
    kind: Literal["note", "fact"] | None = None
    id: int | None = None


def parse(text: str) -> SlashCommand | None:
    """The command that the text is; none for anything else, also for unknown commands and paths."""
    match = _SLASH.match(text)
    command = _ALIASES.get(match[1].lower()) if match else None
    if match is None or command is None:
        return None
    args = (match[2] or "").strip()
    if command == "forget" and (target := _TARGET.match(args)):
        return SlashCommand(command, args, None, "note" if target[1].lower() == "note" else "fact", int(target[2]))
    first = args.split(maxsplit=1)[0].lower() if args else ""
    verbs = {"memory": ("search", "clear"), "summary": ("clear",)}.get(command, ())
    return SlashCommand(command, args, first if first in verbs else None)
