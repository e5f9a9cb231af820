"""Registers media for the scanner, and checks the media of messages."""

import hashlib
from collections.abc import Iterable, Mapping

from schemas.compose import IncomingMessage
from schemas.content import ContentBlock, MediaState, MediaView, SecurityStatus
from schemas.turn_events import FieldProblem
from shared.domain.subjects import Subject
from shared.errors import RefusedError, refuse_field, refuse_fields
from shared.runtime import Runtime
from shared.secrets import kind_of_id, redact
from shared.store import media
from shared.store.operator_acts import note_act

BLOCKED = "media_security_blocked"
FINAL: frozenset[SecurityStatus] = frozenset({"rejected", "quarantined", "expired"})
"""States that a later report of the gateway cannot undo."""
Placed = Iterable[tuple[str, ContentBlock]]
"""Blocks, each with its field."""


async def register_media(rt: Runtime, media_id: str, state: MediaState) -> MediaView:
    """Registers the media with its scan result; secrets in its text are blanked.

    RefusedError `media_changed` if the id belongs to another type or content, `secret_refused` if it is a secret.
    """
    subject = Subject(state.tenant_id, state.user_id)
    rt = await rt.of(subject)
    if kind := kind_of_id(media_id):
        raise refuse_media("secret_refused", f"looks like a secret ({kind}); nothing was stored", 422)
    text = (
        None if state.recognized_text is None else redact(state.recognized_text, rt.policy.personal_data.kinds_kept)[0]
    )
    said = {"type": state.type, "status": state.security_status, "checksum": state.checksum, "text": text}
    async with rt.db.transaction(subject) as conn:
        registered = await media.put(conn, subject, media_id, said)
        if registered is None:
            raise refuse_media("media_changed", "is registered with another type or checksum", 409)
        about = f"media:{hashlib.sha256(media_id.encode()).hexdigest()}"
        await note_act(conn, subject, about, "media.registered", state, {"security_status": state.security_status})
    return registered


async def get_media(rt: Runtime, subject: Subject, media_id: str) -> MediaView:
    """The registered media; RefusedError `not_found` if this user has none with that id."""
    (found,) = await rt.db.read(subject, media.load_known(subject, [media_id]))
    if media_id not in found:
        raise refuse_media("not_found", "not found", 404)
    return found[media_id]


def refuse_media(code: str, problem: str, status: int) -> RefusedError:
    return refuse_field(code, "media_id", problem, status)


def get_status(block: ContentBlock, registered: MediaView | None) -> SecurityStatus:
    """The security status of a block: as registered, else as the gateway says, else `pending`."""
    told = block.security_status
    if registered is None:
        return told or "pending"
    return told if told in FINAL and registered.security_status == "safe" else registered.security_status


def list_problems(blocks: Placed, registry: Mapping[str, MediaView]) -> tuple[FieldProblem, ...]:
    """Why media may not be read, by field; one such medium refuses the whole message."""
    refused: list[FieldProblem] = []
    for field, block in blocks:
        if block.media_id is None:
            continue
        registered = registry.get(block.media_id)
        state = get_status(block, registered)
        if state != "safe":
            refused.append(FieldProblem(field=field, problem=f"{block.type} {block.media_id} is {state}, not safe"))
        elif registered and registered.type != block.type:
            problem = f"{block.media_id} is registered as {registered.type}, not {block.type}"
            refused.append(FieldProblem(field=field, problem=problem))
    return tuple(refused)


def admit_blocks(message: IncomingMessage, registry: Mapping[str, MediaView]) -> tuple[ContentBlock, ...]:
    """The blocks of a message being answered; RefusedError `media_security_blocked` names all unsafe media."""
    placed = [(f"user_message.{place}.media_id", block) for place, block in message.placed]
    if found := list_problems(placed, registry):
        raise refuse_unsafe(found)
    return tuple(settle_block(block, registry) for block in message.blocks)


def refuse_unsafe(problems: tuple[FieldProblem, ...]) -> RefusedError:
    return refuse_fields(BLOCKED, problems, 409)


def settle_block(block: ContentBlock, known: Mapping[str, MediaView]) -> ContentBlock:
    """A safe block as it is stored: with its status and, if only the registry has it, the recognised text."""
    registered = known.get(block.media_id) if block.media_id else None
    if not block.is_media:
        return block
    text = block.recognized_text or (registered.recognized_text if registered else None)
    return block.model_copy(update={"security_status": "safe", "recognized_text": text})
