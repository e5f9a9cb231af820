"""Answers commands of a user, from the stored effect and the current state."""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from schemas.commands import CommandItem, CommandReply, CommandRequest
from schemas.compose import ComposeRequest, IncomingMessage
from schemas.turn_events import CommitResult, Message, TurnEvents
from services.compose.context.pipeline import compose_context
from services.compose.context.stages import Composition
from services.compose.intake.commit import commit_turn
from services.compose.intake.decisions import UNKNOWN, CommandEffect, decide_effect, find_command, may_change
from services.compose.manage import writes
from services.compose.manage.memories import to_item
from services.compose.rules.command_texts import Lang, explain_refusal, get_text, list_items, list_texts
from shared.domain.memories import Memory
from shared.domain.subjects import Subject
from shared.errors import RefusedError
from shared.extraction import slash
from shared.language.normalise import detect
from shared.runtime import Runtime
from shared.screening.sanitize import show, show_own
from shared.secrets import redact
from shared.store import memory, shown_lists, summaries, turns

MOST_LISTED = 20
"""How many facts, and how many notes, are listed with a number: the newest."""
LOOKED_AT = 200
SEARCH_SESSION = "memory-search"
"""An empty session for searches: texts of the user's own session would not be listed again."""
LANGUAGE_TURNS = 5
"""How many of the session's newest turns decide the language of a command without words."""


async def run_command(rt: Runtime, request: CommandRequest) -> CommandReply:
    """Runs the command. A command that changes something is committed as a turn; the same key returns its reply."""
    subject = Subject(request.tenant_id, request.user_id)
    effect = await decide_effect(rt, subject, request.session_id, request.text)
    if not effect.changes and not (request.idempotency_key and may_change(request.text)):
        return await answer(rt, subject, request.session_id, request.text, effect)
    turn = TurnEvents(
        tenant_id=request.tenant_id,
        user_id=request.user_id,
        session_id=request.session_id,
        idempotency_key=request.idempotency_key,
        messages=(Message(role="user", content=request.text),),
    )
    committed = await commit_turn(turn, rt, transport="http")
    return await answer(
        rt, subject, request.session_id, request.text, committed.effect or effect, committed.result.turn_id
    )


async def add_reply(rt: Runtime, turn: TurnEvents, effect: CommandEffect, result: CommitResult) -> CommitResult:
    """The result of the commit with the reply to the turn's command."""
    subject = Subject(turn.tenant_id, turn.user_id)
    reply = await answer(rt, subject, turn.session_id, find_command(turn) or "", effect, result.turn_id)
    return result.model_copy(update={"reply": reply})


async def answer(
    rt: Runtime, subject: Subject, session_id: str, text: str, effect: CommandEffect, turn_id: UUID | None = None
) -> CommandReply:
    """The reply to a command; a list that it shows assigns the numbers of this session."""
    rt = await rt.of(subject)
    language = await _choose_language(rt, subject, session_id, text)
    reply = CommandReply.model_validate(
        {"command": effect.command, "done": effect.done, "reason": effect.reason, "text": "", "language": language}
    )
    if effect.command == UNKNOWN:
        word = slash.find_unknown(text)
        sentence = get_text("unknown", language, word=word) if word else get_text("no_command", language)
    elif effect.command == "forget":
        sentence = await _report_forgotten(rt, subject, effect, language)
    elif effect.command == "remember" and effect.done and turn_id is not None:
        return await _report_remembered(rt, subject, reply, text, turn_id)
    elif not effect.done:
        sentence = get_text(
            "not_by_command" if effect.reason == "not_by_command" else f"{effect.command}_unclear", language
        )
    elif effect.command == "memory":
        return await _list_known(rt, subject, session_id, reply, text)
    elif effect.command == "summary":
        sentence = (
            get_text("cleared", language) if effect.clears else await _report_summary(rt, subject, session_id, language)
        )
    else:
        sentence = get_text("help", language)
    return reply.model_copy(update={"text": sentence})


async def _choose_language(rt: Runtime, subject: Subject, session_id: str, text: str) -> Lang:
    """The language of the user's settings, else of the command, else of the latest messages, else English."""
    if rt.policy.compose.language != "auto":
        return "zh" if rt.policy.compose.language == "zh" else "en"
    command = slash.parse_command(text)
    words = command.args if command and command.action != "clear" and command.kind is None else ""
    words = text if detect(text) == "zh" else words if command is None or words else ""
    if (language := detect(words)) != "other":
        return "zh" if language == "zh" else "en"
    after, before = -1, 2**31 - 1
    (recent,) = await rt.db.read(subject, turns.window(subject, session_id, LANGUAGE_TURNS, after=after, before=before))
    spoken = [each for turn in recent for each in turn.list_texts("user_message") if not slash.is_command(each)]
    return "zh" if spoken and detect(" ".join(spoken)) == "zh" else "en"


async def _list_known(rt: Runtime, subject: Subject, session_id: str, reply: CommandReply, text: str) -> CommandReply:
    """The newest memories with numbers; or, for a text, what a package for it would carry, without numbers."""
    command = slash.parse_command(text)
    if command is not None and command.action == "search":
        request = ComposeRequest(
            tenant_id=subject.tenant_id,
            user_id=subject.user_id,
            session_id=SEARCH_SESSION,
            user_message=IncomingMessage(content=command.rest),
        )
        texts = list_injected(rt, await compose_context(request, rt))
        return reply.model_copy(update={"text": list_texts(texts, reply.language)})
    async with rt.db.transaction(subject) as conn:
        newest, count = await memory.list_memories(conn, subject, limit=LOOKED_AT)
        notes, _ = await memory.list_memories(conn, subject, type="note", limit=MOST_LISTED)
        facts = [each for each in newest if each.type != "note"][:MOST_LISTED]
        await shown_lists.put(conn, subject, session_id, [m.memory_id for m in facts], [m.memory_id for m in notes])
    items = (
        *_number_memories(rt, subject, "fact", facts, reply.language),
        *_number_memories(rt, subject, "note", notes, reply.language),
    )
    return reply.model_copy(update={"items": items, "text": list_items(items, count - len(items), reply.language)})


def _number_memories(
    rt: Runtime, subject: Subject, kind: Literal["fact", "note"], memories: Sequence[Memory], language: Lang
) -> list[CommandItem]:
    """The memories with their numbers, as the policy shows them."""
    return [
        CommandItem(
            kind=kind,
            number=number,
            memory_id=each.memory_id,
            type=each.type,
            text=_show(each, rt, subject) + (f" ({get_text('silenced', language)})" if each.silenced_at else ""),
        )
        for number, each in enumerate(memories, 1)
    ]


def _show(each: Memory, rt: Runtime, subject: Subject) -> str:
    return " ".join(to_item(each, subject, rt).content.split())


def list_injected(rt: Runtime, composed: Composition) -> list[str]:
    """The texts of memory in the package: core memory, then evidence in order."""
    package, policy = composed.package, rt.policy.compose.sanitize
    blocks = "\n".join(block.text for block in (*package.system_blocks, *package.developer_blocks))
    core = [each.text for each in composed.resolution.core if each.text in blocks]
    packed = {each.id for each in package.evidence}
    candidates = [each.candidate for each in composed.resolution.evidence if each.key in packed]
    evidence = [show(each.text, each.comes_from, policy).text for each in candidates]
    return [" ".join(text.split()) for text in dict.fromkeys((*core, *evidence)) if text.strip()]


async def _report_forgotten(rt: Runtime, subject: Subject, effect: CommandEffect, language: Lang) -> str:
    async with rt.db.transaction(subject) as conn:
        named = await memory.by_ids(conn, subject, effect.memory_ids)
    texts = ", ".join(_show(each, rt, subject) for each in named if each.status != "erased")
    if effect.done:
        return get_text("forgotten", language, text=texts or "-")
    if effect.reason == "unclear":
        return get_text("forget_unclear", language)
    return get_text(effect.reason or "gone", language, n=effect.number, text=texts)


async def _report_summary(rt: Runtime, subject: Subject, session_id: str, language: Lang) -> str:
    (row,) = await rt.db.read(subject, summaries.latest(subject, session_id))
    text = show_own(row.text, rt.policy.compose.sanitize).text.strip() if row else ""
    return f"{get_text('summary', language)}\n{text}" if text else get_text("no_summary", language)


async def _report_remembered(
    rt: Runtime, subject: Subject, reply: CommandReply, text: str, turn_id: UUID
) -> CommandReply:
    """What happened to the note, or will."""
    try:
        receipt = await writes.load_receipt(rt, subject, turn_id)
    except RefusedError:  # it was erased meanwhile
        return reply.model_copy(update={"done": False, "text": get_text("gone", reply.language), "reason": "gone"})
    if receipt.status == "rejected":
        told = explain_refusal(receipt.reason, reply.language)
        return reply.model_copy(update={"done": False, "text": told, "reason": receipt.reason})
    words = show_own(redact(slash.read_dictated(text) or "")[0], rt.policy.compose.sanitize).text
    return reply.model_copy(update={"text": get_text(receipt.status, reply.language, text=words)})
