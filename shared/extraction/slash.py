"""Parses commands in both languages: slash commands, and sentences that ask the agent to remember something.

The slash commands are /memory (/mem), /summary (/sum), /forget (/del), /remember and /help.
"""

import re
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from shared.extraction.clauses import blank
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

    `kind` and `id` are set if /forget gives a number, `memory_id` if it names a memory, `action` if there is a verb.
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
        """Whether the command dictates something to remember, in the user's own words."""
        return self.cmd == "remember"

    @property
    def rest(self) -> str:
        """The arguments after the verb."""
        return self.args.partition(" ")[2].strip() if " " in self.args else ""


def parse_command(text: str) -> SlashCommand | None:
    """The command in the text; None for anything else, also for unknown commands and paths."""
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


def is_command(text: str) -> bool:
    """Whether the text is a command and states nothing: such a message is not learnt from or searched."""
    command = parse_command(text)
    return command is not None and not command.is_dictated


def find_unknown(text: str) -> str | None:
    """The word of a text that looks like a command but is an unknown one."""
    match = _SLASH.match(text)
    unknown = match is not None and match[1].lower() not in _ALIASES and _LATIN.fullmatch(match[1])
    return match[1] if match and unknown else None


def read_dictated(text: str) -> str | None:
    """What `记住: …` or `/remember …` dictates; None for any other message."""
    command = parse_command(text)
    if command is not None:
        return command.args if command.is_dictated else None
    match = _DICTATED.match(text)
    return match[1].strip() if match else None


_ZH = to_pattern(
    (
        r"(?:^|[。！？!?；;\n，,\s])(?:(?:好的?|嗯|对了|另外|还有|顺便|那|哦|你|麻烦你?|帮忙|请你?"
        r"|请帮我|帮我|帮忙|给我|替我|一定要|务必|千万|要|可以)[，, ]?){0,8}(?P<verb>记住|记一下|记下来?"
        r"|记着|记得(?=我[^吗]*|[:：])|记录一下|记录下来|备注一下|别忘(?:了|记)?(?=[:：，, ]*我(?!们?"
        r"(?:上次|刚才|之前|要|得)))|不要忘记?了?(?=[:：，, ]*我(?!们?(?:上次|刚才|之前|要|得))))"
        r"(?P<tail>了?哦?啊?哈?[:：，,\s]*)(?P<body>[^\n]{0,2000})"
    ),
)
_EN = to_pattern(
    (
        r"(?:^|[.!?;\n,]\s*|\b(?:please|also|and|so|ok|hey|btw|can you|could you|would you)[,:]?\s+)"
        r"(?:please\s+)?(?P<verb>remember(?:\s+(?:that|this))?(?=\s*[:,]|\s+(?:that|this|i|i'm|my"
        r"|we|our|the|to|me|for|it|he|she|[A-Z\u3400-\u9fff]))|(?:make|take)\s+(?:a\s+)?note(?:\s+"
        r"(?:that|of(?:\s+this)?))?|note\s+(?:that|down|this)(?:\s+that)?|keep in mind(?:\s+that)?"
        r"|don't forget(?:\s+that)?(?=\s*:|\s+(?:that|i\b|i'm|my|we|our))|do not forget(?:\s+that)?"
        r"(?=\s*:|\s+(?:that|i\b|i'm|my)))(?P<tail>\s*[:,\s]\s*)(?P<body>[^\n]{0,2000})"
    ),
    re.I,
)
_ASKED_ZH = to_pattern(
    r"(?:你|还|能|能不能|会|会不会|是否|有没有|可以|怎么|如何|没|没有|不|别|不用|不必|无需|忘了|为什么|都|我|已经|曾|也|才|他|她|自己)+$"
)
_ASKED_EN = to_pattern(
    (
        r"\b(?:do|did|can|could|would|will|does) (?:you|i|we|they)(?: still| even)?$|\b(?:i|you|"
        r"we|he|she|they|don't|can't|cannot|didn't|couldn't|to|always|never|if|not|should|must|will"
        r"|still)$"
    ),
    re.I,
)
_DONE = to_pattern(r"[，,。.！!\s]*(?:$|[，,。.！!])")
"""Follows 了 if nobody is addressed: 记下了 says that the speaker has done it."""
_TO_SOMEBODY = to_pattern(r"[你请帮给替]|麻烦|务必|一定|千万|要$")
_END_ASKED = to_pattern(r"(?:吗|么|没有|了没|不)\s*[?？]?\s*$|[?？]\s*$")
_RECALL = to_pattern(
    (
        r"^(?:when|what|how|where|who|why|which|the (?:time|day|first|last)|me\??$|to\b|it\b|this\??$"
        r"|that\??$|我(?:的|说的|这句)话)"
    ),
    re.I,
)
_SENTENCE_END = to_pattern(r"[。！？!?](?=\s*\S)|(?<!\d)\.(?=['\"’”]?\s+[A-Z\u3400-\u9fff])")
_OPENED = ("'", '"', "‘", "“", "「", "『")
"""Before the word, this quotes somebody."""
_EMPTY = to_pattern(
    r"^(?:提醒(?:一下)?我|了|哦|啊|哈|谢谢你?(?:的?服务)?|多谢|这个|这点|它|这些|一下|下来|以上|this|that|it|吧|好|就好|就行|没|[\s，。！!.,]*)+$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class RememberCommand:
    """What to remember, its place, the words that ask for it and where these begin."""

    text: str
    start: int
    end: int
    pattern: str
    lead: int


def find_remembered(text: str) -> tuple[RememberCommand, ...]:
    """All that the message asks to remember, each up to the end of its sentence; the whole text of a command."""
    command = parse_command(text)
    if command is not None:
        if command.cmd != "remember" or not command.args:
            return ()
        end = command.start + len(command.args)
        return (RememberCommand(command.args, command.start, end, "/remember", 0),)
    commands: list[RememberCommand] = []
    own = blank(text)
    for pattern, questions in ((_ZH, _ASKED_ZH), (_EN, _ASKED_EN)):
        position = 0
        while match := pattern.search(text, position):
            position = max(match.end("verb"), match.start() + 1)
            before = text[max(0, match.start("verb") - 14) : match.start("verb")].rstrip()
            if before.endswith(_OPENED):
                continue
            body = match["body"].strip()
            if end := _SENTENCE_END.search(body):
                body = body[: end.end()]
            if own[match.start("verb")] == " " or not _tells(before, body, questions) or _is_done(match, before):
                continue
            start = match.start("body") + len(match["body"]) - len(match["body"].lstrip())
            commands.append(
                RememberCommand(body.rstrip("。.!！?？ "), start, start + len(body), match["verb"], match.start("verb"))
            )
            position = start + len(body)
    return tuple(commands)


def _is_done(match: re.Match[str], before: str) -> bool:
    """Whether the speaker says that they themselves have noted something."""
    tail = match["tail"].rstrip()
    return (
        "下" in match["verb"]
        and tail[:1] == "了"
        and _DONE.fullmatch(tail[1:]) is not None
        and not _TO_SOMEBODY.search(before)
    )


def _tells(before: str, body: str, questions: re.Pattern[str]) -> bool:
    if not body or _EMPTY.match(body):
        return False
    polite = re.search(r"(?:can|could|would|will) you$|(?:能不能|可以|能)(?:请?你|帮我|请|给我)*$", before, re.I)
    if questions.search(before) and not polite and not re.search(r"(?:请你?|麻烦你?|要你|帮我|[，,。]你)$", before):
        return False
    return not ((_END_ASKED.search(body) and not polite) or _RECALL.match(body))
