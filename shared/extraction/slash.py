"""Slash commands (seed 002 section 6.2; X43), in either language: what a message commands, and what it only looks like.

/memory (/mem), /summary (/sum), /forget (/del), /remember, /help.
"""

import re
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from shared.language.patterns import to_pattern

Command = Literal["memory", "summary", "forget", "remember", "help"]
Kind = Literal["note", "fact"]
_ALIASES: dict[str, Command] = {
    "memory": "memory",
    "mem": "memory",
    "记忆": "memory",
    "summary": "summary",
    "sum": "summary",
    "摘要": "summary",
    "forget": "forget",
    "del": "forget",
    "忘记": "forget",
    "remember": "remember",
    "记住": "remember",
    "help": "help",
    "帮助": "help",
}
_VERBS: dict[Command, dict[str, str]] = {
    "memory": {"search": "search", "搜索": "search", "clear": "clear", "清空": "clear"},
    "summary": {"clear": "clear", "清空": "clear"},
}
_KINDS: dict[str, Kind] = {"note": "note", "笔记": "note", "fact": "fact", "事实": "fact"}
_SLASH = to_pattern(r"\s*[/／]([A-Za-z]+|[\u4e00-\u9fff]{2})(?:[\s:：]+(.*))?\Z", re.S)
_LATIN = to_pattern(r"[A-Za-z]+")
_TARGET = to_pattern(r"(note|fact|笔记|事实)\s*#?(\d{1,9})\Z", re.I)
_NAMED = to_pattern(
    r"(?:(?:note|fact|笔记|事实)\s*)?#?([0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})\Z", re.I
)
_DICTATED = to_pattern(r"\s*(?:记住|remember)\s*[:：]\s*(\S.*)\Z", re.S | re.I)


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command with its arguments, which begin at `start` of the text.

    `kind` and `id` are set where /forget gives a number, `memory_id` where it names a memory, `action` for a verb.
    """

    cmd: Command
    args: str = ""
    action: str | None = None
    kind: Kind | None = None
    id: int | None = None
    memory_id: UUID | None = None
    start: int = 0

    @property
    def is_dictated(self) -> bool:
        """Whether something is to be remembered: its words are the user's own, and read as such."""
        return self.cmd == "remember"

    @property
    def rest(self) -> str:
        """The arguments behind the verb."""
        return self.args.partition(" ")[2].strip() if " " in self.args else ""


def parse(text: str) -> SlashCommand | None:
    """The command that the text is; none for anything else, also for unknown commands and paths."""
    match = _SLASH.match(text)
    command = _ALIASES.get(match[1].lower()) if match else None
    if match is None or command is None:
        return None
    args = (match[2] or "").strip()
    start = match.start(2) + len(match[2]) - len(match[2].lstrip()) if args else len(text)
    if command == "forget" and (target := _TARGET.match(args)):
        return SlashCommand(command, args, None, _KINDS[target[1].lower()], int(target[2]), start=start)
    if command == "forget" and (named := _NAMED.match(args)):
        return SlashCommand(command, args, memory_id=UUID(named[1]), start=start)
    first = args.split(maxsplit=1)[0].lower() if args else ""
    return SlashCommand(command, args, _VERBS.get(command, {}).get(first), start=start)


def commands(text: str) -> bool:
    """Whether the text is a command and nothing that the user tells: such a message is not learnt from or searched."""
    command = parse(text)
    return command is not None and not command.is_dictated


def find_unknown(text: str) -> str | None:
    """The word of a text that has the form of a command and is none that there is."""
    match = _SLASH.match(text)
    unknown = match is not None and match[1].lower() not in _ALIASES and _LATIN.fullmatch(match[1])
    return match[1] if match and unknown else None


def read_dictated(text: str) -> str | None:
    """What `记住: …` or `/remember …` dictates; None where the message is neither."""
    command = parse(text)
    if command is not None:
        return command.args if command.is_dictated else None
    match = _DICTATED.match(text)
    return match[1].strip() if match else None
