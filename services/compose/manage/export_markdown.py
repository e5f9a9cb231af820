"""Exports a user's data as Markdown, grouped and dated, in Chinese or English, page by page."""

from collections.abc import AsyncGenerator, Callable, Mapping
from datetime import datetime
from typing import Literal

from schemas.memory_types import ROWS
from services.compose.manage.exporting import LoadPage, Page, PagedReader, load_conflicts, load_sessions
from shared import clock
from shared.db import Connection
from shared.domain.memories import Memory
from shared.domain.subjects import Subject
from shared.language.normalise import detect
from shared.runtime import Runtime
from shared.store import exporting, memory
from shared.store.exporting import PAGE, Row

Tongue = Literal["zh", "en"]
SURE, LIKELY = 0.8, 0.6
"""The least confidence of a sure and of a likely memory."""
SAY: Mapping[Tongue, Mapping[str, str]] = {
    "en": {
        "title": "What is remembered of me",
        "written": "Written on {day}.",
        "nothing": "Nothing is known yet.",
        "since": "since {day}",
        "span": "{day} to {end}",
        "until": "until {day}",
        "pinned": "pinned",
        "sure": "sure",
        "likely": "likely",
        "unsure": "not sure",
        "past": "What held once",
        "superseded": "replaced",
        "retracted": "taken back",
        "merged": "became one with another",
        "expired": "over",
        "candidate_evict": "put aside",
        "conflicts": "What does not fit together",
        "known": "Known: {text}",
        "said": "Said on {day}: {text}",
        "open": "still open",
        "kept": "the known was kept",
        "replaced": "what was said was taken",
        "talks": "Conversations",
        "summary": "In short",
        "user": "Me",
        "assistant": "Assistant",
    },
    "zh": {
        "title": "关于我的记忆",
        "written": "写于 {day}。",
        "nothing": "目前还没有记住任何内容。",
        "since": "自 {day} 起",
        "span": "{day} 至 {end}",
        "until": "有效期至 {day}",
        "pinned": "已置顶",
        "sure": "确定",
        "likely": "较可能",
        "unsure": "不确定",
        "past": "曾经如此",
        "superseded": "已被取代",
        "retracted": "已撤回",
        "merged": "已与其他记忆合并",
        "expired": "已过期",
        "candidate_evict": "已搁置",
        "conflicts": "互相矛盾之处",
        "known": "原有：{text}",
        "said": "{day} 说过：{text}",
        "open": "待定",
        "kept": "保留了原有的",
        "replaced": "采用了新说的",
        "talks": "对话",
        "summary": "摘要",
        "user": "我",
        "assistant": "助手",
    },
}


async def write_markdown(rt: Runtime, subject: Subject, tongue: Tongue | None) -> AsyncGenerator[bytes, None]:
    """The document in pieces: current facts by type, former ones, conflicts, and the turns."""
    reader = PagedReader(rt, subject)
    tongue = tongue or await _guess_tongue(reader)
    say = SAY[tongue]
    yield f"# {say['title']}\n\n{say['written'].format(day=_day(clock.now()))}\n".encode()
    is_empty = True
    for row in ROWS:
        title = row.title_zh if tongue == "zh" else row.title_en
        async for piece in _write_chapter(
            reader, _of_type(row.type), f"\n## {title}\n\n", lambda each: _line(each, say)
        ):
            is_empty = False
            yield piece
    if is_empty:
        yield f"\n{say['nothing']}\n".encode()
    async for piece in _write_chapter(reader, _load_ended, f"\n## {say['past']}\n\n", lambda each: _past(each, say)):
        yield piece
    async for piece in _write_chapter(
        reader, load_conflicts, f"\n## {say['conflicts']}\n\n", lambda each: _conflict(each, say)
    ):
        yield piece
    async for piece in _write_talks(reader, say):
        yield piece


async def _guess_tongue(reader: PagedReader) -> Tongue:
    async for page in reader.read_pages(_newest, 0):
        zh = sum(detect(each["memory"].content_text) == "zh" for each in page)
        return "zh" if zh * 2 > len(page) else "en"
    return "en"


async def _write_chapter(
    reader: PagedReader, load: LoadPage, head: str, line: Callable[[Row], str]
) -> AsyncGenerator[bytes, None]:
    """A chapter, if it has any lines."""
    async for page in reader.read_pages(load, 0):
        yield (head + "".join(line(each) for each in page)).encode()
        head = ""


def _of_type(kind: str) -> LoadPage:
    async def load(conn: Connection, subject: Subject, after: int) -> tuple[Page, int | None]:
        return await _load(conn, subject, after, status="active", type=kind, statements=True)

    return load


async def _newest(conn: Connection, subject: Subject, after: int) -> tuple[Page, int | None]:
    return (await _load(conn, subject, after, status="active"))[0], None


async def _load_ended(conn: Connection, subject: Subject, after: int) -> tuple[Page, int | None]:
    page, place = await _load(conn, subject, after, status=None)
    return [each for each in page if each["memory"].status not in ("active", "erased")], place


async def _load(
    conn: Connection,
    subject: Subject,
    after: int,
    *,
    status: str | None,
    type: str | None = None,  # the column's own name
    statements: bool = False,
) -> tuple[Page, int | None]:
    found, _ = await memory.list_memories(conn, subject, status=status, type=type, limit=PAGE, offset=after)
    kept = [each for each in found if not (statements and each.type == "entity" and each.key)]
    return [{"memory": each} for each in kept], after + PAGE if len(found) == PAGE else None


def _line(row: Row, say: Mapping[str, str]) -> str:
    version: Memory = row["memory"]
    sure = "sure" if version.confidence >= SURE else "likely" if version.confidence >= LIKELY else "unsure"
    notes = [say["since"].format(day=_day(version.valid_at)), say[sure]]
    if version.valid_until:
        notes.append(say["until"].format(day=_day(version.valid_until)))
    if version.pinned:
        notes.append(say["pinned"])
    return f"- {_flat(version.content_text)} *({', '.join(notes)})*\n"


def _past(row: Row, say: Mapping[str, str]) -> str:
    version: Memory = row["memory"]
    span = say["span"].format(day=_day(version.valid_at), end=_day(version.invalid_at or version.valid_at))
    return f"- {_flat(version.content_text)} *({span}, {say.get(version.status, version.status)})*\n"


def _conflict(row: Row, say: Mapping[str, str]) -> str:
    said = say["said"].format(day=row["said_at"][:10], text=_flat(row["said"]))
    return f"- {say['known'].format(text=_flat(row['known']))}\n  {said} *({say[row['state']]})*\n"


async def _write_talks(reader: PagedReader, say: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
    head = f"\n## {say['talks']}\n"
    async for page in reader.read_pages(load_sessions, ""):
        for session in page:
            lines = [head, f"\n### {_flat(session['session_id'])}, {_day(session['created_at'])}\n\n"]
            head = ""
            if session["summaries"]:
                lines.append(f"*{say['summary']}: {_flat(session['summaries'][-1]['text'])}*\n\n")
            yield "".join(lines).encode()
            async for said in reader.read_pages(_said_in(session["session_id"]), 0):
                yield "".join(_write_utterance(each, say) for each in said).encode()


def _said_in(session_id: str) -> LoadPage:
    async def load(conn: Connection, subject: Subject, after: int) -> tuple[Page, int | None]:
        turns = await exporting.load_said(conn, subject, session_id, after)
        said = [{"created_at": turn["created_at"], **each} for turn in turns for each in turn["said"]]
        return said, turns[-1]["seq"] if len(turns) == PAGE else None

    return load


def _write_utterance(row: Row, say: Mapping[str, str]) -> str:
    who = _flat(row["name"]) if row["name"] else say.get(row["role"], row["role"])
    text = "\n  ".join(row["text"].splitlines())
    return f"- **{who}** ({row['created_at']:%Y-%m-%d %H:%M}): {text}\n"


def _flat(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"
