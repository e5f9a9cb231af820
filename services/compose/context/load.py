"""Loads memory, settings and pending turns of the user, and checks that the message fits the window."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from secrets import token_hex
from typing import Any

from schemas.compose import ComposeRequest
from schemas.content import BlockType, ContentBlock
from schemas.experiment import ExperimentContext, GenerationMetadata
from schemas.retrieval_plan import RetrieveRequest
from schemas.turn_events import FieldProblem
from services.compose.context.changes import (
    OpenTurns,
    list_retractions,
    list_shown_turns,
    list_turns_before,
    predict_changes,
    to_turn,
)
from services.compose.context.planner import make_scope
from services.compose.context.stages import ROUTING, Call, ComposeState, MemoryState, Planner
from services.compose.intake import media
from services.compose.rules.candidates import HeldBack, RecentTurn, TurnMessage
from services.compose.rules.packing.draft import (
    UNSUPPORTED,
    Decision,
    PackInputs,
    PackPolicy,
    TokenLimitTooSmallError,
    UserMessageParts,
    UserMessageTooLongError,
)
from services.compose.rules.packing.pack import check_size
from services.compose.rules.packing.sizes import compute_slot_bounds, list_withheld
from services.compose.rules.packing.slots import list_held_back
from services.compose.rules.packing.texts import MESSAGE_OVERHEAD
from services.compose.rules.pending.pending_changes import PendingChanges
from services.compose.rules.ranking.repeats import DiversityPolicy
from services.compose.rules.resolving.outdated import OutdatedStatement
from services.compose.rules.resolving.scopes import KEYS, PREFIXES
from shared import clock
from shared.domain import blocks
from shared.domain.blocks import fit_blocks
from shared.domain.turns import Turn
from shared.errors import RefusedError, TransientError
from shared.extraction import slash
from shared.extraction.relatives import tells_of_relative
from shared.extraction.turn_texts import SPOKEN, only_commands
from shared.language import tokens
from shared.language.normalise import clip
from shared.policy import ComposePolicy
from shared.runtime import Runtime
from shared.screening.sanitize import SanitizePolicy, Source, show
from shared.store import knowledge, turns, user_state
from shared.store.media import load_known
from shared.store.user_state import EndedVersion

RECOGNISED_CHARS = 2000
"""How many characters of the text recognised in one medium are used for planning and search."""
MOST_ENDED = 200
"""How many of the most recently ended versions are compared with search results."""
RECENT_CHARS = 800
"""How many characters of the text recognised in one medium of an earlier turn are shown."""
WINDOW_CHARS = 32_000
"""How many characters of a message are read for the window; no package holds more."""
SHARE_FOR_MEDIA = 0.5
"""The share of the token limit for a message with the text recognised in its media."""
HANDED_ON = {"type", "media_id", "text_fallback", "security_status", "metadata"}
"""The status of a media block whose recognised text has been screened and is in the message."""
NONCE_BYTES = 3
"""Long enough that no author of a text in the package can guess it."""


async def load(rt: Runtime, call: Call, request: ComposeRequest) -> tuple[Runtime, ComposeState]:
    """The runtime under the user's settings and the initial state of a package, read in one round trip.

    TransientError: the deadline has passed.

    RefusedError: `media_security_blocked` names all unsafe media of the message; `user_message_too_long` names the
    field that leaves the package no room.
    """
    # users cannot change how much is read
    policy, subject, message = rt.policy.compose, call.subject, request.user_message
    scope, named, version = make_scope(rt, request), blocks.media_ids(message.blocks), 0
    reads = (
        user_state.core(subject, policy.core_limit, tuple(KEYS), tuple(PREFIXES)),
        user_state.load_standing(subject, request.session_id),
        turns.recent(subject, request.session_id, policy.recent_turns_max + 1, policy.pending_turns_max),
        user_state.epoch(subject),
        user_state.versions(subject, MOST_ENDED),
        user_state.taken_back(subject, MOST_ENDED),
        user_state.load_joined(subject),
    )
    admitted = message.blocks
    async with _limit_time(call.left_s()):
        if named or rt.knowledge.configured:
            reads = (*reads, load_known(subject, named), knowledge.version(scope))
        rt, core, summary, recent, epoch, gone, taken, joined, *of_knowledge = await rt.read_of(subject, *reads)
        if of_knowledge:
            registered, version = of_knowledge
            admitted = media.admit_blocks(message, registered)
        earlier = [t for t in list_turns_before(recent.window, message) if not only_commands(t)]
        now = to_turn(message, request.session_id, call.at)
        changes = await _predict_changes(rt, call, recent.pending, epoch, now)
    changes = changes.with_ended(map(to_outdated_statement, gone), list_retractions(earlier, now, taken))
    hidden = [f"memory:{m.memory_id}" for m in core if changes.hides(m.memory_id, m.source_turn_id, m.content_text)]
    names = [slot["name"] for slot in user_state.foremost(summary.entity_slots, rt.policy.session.entity_slots_max)]
    return rt, ComposeState(
        # facts about a relative are not core memory; search finds them
        core=[
            m
            for m in core
            if f"memory:{m.memory_id}" not in hidden and (m.pinned or not tells_of_relative(m.content_text))
        ],
        summary=changes.summary(summary.text, summary.lines, summary.ended) if rt.policy.session.summaries else "",
        names=changes.names(names),
        window=recent.window,
        earlier=earlier,
        shown=list_shown_turns(recent.window, message, policy.recent_turns_max),
        memory=MemoryState(changes, scope, version, epoch),
        hidden=tuple(hidden),
        parts=read_message(request, admitted, policy),
        # a command needs no memory
        question=""
        if slash.is_command(message.words)
        else blocks.to_question(admitted, RECOGNISED_CHARS, policy.sanitize),
        joined=joined,
    )


async def load_memory(rt: Runtime, call: Call, request: RetrieveRequest) -> tuple[Runtime, MemoryState]:
    """What the search of a given plan needs, as `load` for a package."""
    subject, version, scope = call.subject, 0, make_scope(rt, request)
    reads = (
        turns.load_pending(subject, rt.policy.compose.pending_turns_max),
        user_state.epoch(subject),
        user_state.versions(subject, MOST_ENDED),
        user_state.taken_back(subject, MOST_ENDED),
    )
    async with _limit_time(call.left_s()):
        if rt.knowledge.configured:
            reads = (*reads, knowledge.version(scope))
        rt, pending, epoch, gone, taken, *versions = await rt.read_of(subject, *reads)
        version = versions[0] if versions else version
        changes = await _predict_changes(rt, call, pending, epoch, None)
    changes = changes.with_ended(map(to_outdated_statement, gone), list_retractions((), None, taken))
    return rt, MemoryState(changes, scope, version, epoch)


@asynccontextmanager
async def _limit_time(left_s: float) -> AsyncGenerator[None, None]:
    """Runs what has no fallback within the time left; raises TransientError when it is over."""
    try:
        async with asyncio.timeout(left_s):
            yield
    except TimeoutError as error:
        raise TransientError("memory did not answer within the deadline") from error


async def _predict_changes(
    rt: Runtime, call: Call, pending: Sequence[Turn], epoch: int, now: Turn | None
) -> PendingChanges:
    """The changes that pending turns, and then the message being answered, will make."""
    learnt = pending if rt.policy.observer.learn else ()
    open_turns = OpenTurns(learnt, epoch, rt.read_turns)
    return await predict_changes(rt.db, call.subject, open_turns, now, rt.policy.confidence)


def to_outdated_statement(version: EndedVersion) -> OutdatedStatement:
    """The ended version in the form that messages are compared with."""
    return OutdatedStatement(
        version.until,
        version.text.removeprefix(f"{version.speaker}: ") if version.speaker else version.text,
        version.quote,
        version.value,
        version.instead,
        frozenset(version.turns),
        version.speaker,
        version.ender,
        version.same_key or version.instead is None,
    )


def check_message(request: ComposeRequest, policy: ComposePolicy) -> None:
    """Raises RefusedError, naming the field, if the user's own words leave a package no room.

    It needs only the request, so that a text that is too long is refused before anything is read.
    """
    _check(request, UserMessageParts(request.user_message.words), policy)


def read_message(request: ComposeRequest, message: Sequence[ContentBlock], policy: ComposePolicy) -> UserMessageParts:
    """The message as the package carries it, with as much of the text recognised in its media as fits.

    RefusedError names the field if the message does not fit even without that text.
    """
    limit = request.limit(policy.default_profile)
    most = compute_slot_bounds(limit, policy.budget).message_room(0) - MESSAGE_OVERHEAD
    parts = split_message(message, request.model_modalities, limit, most, policy.sanitize)
    if not any(block.is_media for block in message):
        return parts
    try:
        _check(request, parts, policy)
    except RefusedError:
        parts = split_message(message, request.model_modalities, limit, 0, policy.sanitize)
        _check(request, parts, policy)
    return parts


def _check(request: ComposeRequest, parts: UserMessageParts, policy: ComposePolicy) -> None:
    request_id = request.request_id or clock.uuid7().hex
    inputs = PackInputs(
        context_id=str(clock.uuid7()),
        session_id=request.session_id,
        created_at=clock.now(),
        user_message=parts.text,
        request_id=request_id,
        content_parts=parts.parts,
        token_limit=request.limit(policy.default_profile),
        nonce=token_hex(NONCE_BYTES),
        generation_metadata=make_metadata(request.experiment_context, "rules", (ROUTING,), request_id),
    )
    with refuse_oversize(request, policy):
        check_size(inputs, to_pack_policy(policy))


def split_message(
    blocks: Sequence[ContentBlock], modalities: Sequence[BlockType], limit: int, most: int, policy: SanitizePolicy
) -> UserMessageParts:
    """Splits the message for a model with these modalities; cuts recognised text to `most` and about half the limit."""
    media = [block for block in blocks if block.is_media]
    fitted = fit_blocks(blocks, min(most, int(limit * SHARE_FOR_MEDIA)), tokens.count, policy)
    readable = [block for block in media if block.type in modalities]
    parts = (
        [_part(block, piece, modalities) for block, piece in zip(blocks, fitted.pieces, strict=True)]
        if readable
        else []
    )
    degraded = (UNSUPPORTED,) if len(readable) < len(media) else ()
    return UserMessageParts(fitted.text, tuple(parts), list_withheld(fitted.blocked), degraded)


def _part(block: ContentBlock, piece: str, modalities: Sequence[BlockType]) -> dict[str, Any]:
    if block.is_media and block.type in modalities:
        return block.model_dump(mode="json", include=HANDED_ON, exclude_none=True)
    return {"type": "text", "text": piece}


@contextmanager
def refuse_oversize(request: ComposeRequest, policy: ComposePolicy) -> Generator[None]:
    """Turns a size error into a refusal that names the field that is too long or the limit that is too small."""
    try:
        yield
    except UserMessageTooLongError as error:
        problem = FieldProblem(field="user_message", problem=str(error))
        raise RefusedError("user_message_too_long", str(error), (problem,)) from error
    except TokenLimitTooSmallError as error:
        limit = request.limit(policy.default_profile)
        problem = FieldProblem(
            field="model_window" if limit == request.model_window else "token_limit", problem=str(error)
        )
        raise RefusedError("token_limit_too_small", f"{problem.field}: {error}", (problem,)) from error


def to_pack_policy(policy: ComposePolicy) -> PackPolicy:
    """The limits of a package from the policy."""
    return PackPolicy(
        budget=policy.budget,
        sanitize=policy.sanitize,
        diversity=DiversityPolicy.of(policy.diversity),
        memory_ratio=policy.diversity.memory_share,
        recent_turns_max=policy.recent_turns_max,
        evidence_max_items=policy.evidence_max,
        max_snippet_chars=policy.snippet_max_chars,
    )


def make_metadata(
    context: ExperimentContext | None, planner: Planner, ignored: tuple[str, ...], request_id: str
) -> GenerationMetadata | None:
    """The experiment that a package belongs to, if any."""
    if context is None:
        return None
    return GenerationMetadata(
        experiment_id=context.experiment_id,
        variant=context.variant,
        trace_id=request_id,
        planner=planner,
        ignored=ignored,
    )


def to_recent_turn(turn: Turn, policy: SanitizePolicy) -> tuple[RecentTurn, tuple[Decision, ...], list[HeldBack]]:
    """The turn as the window shows it, the media whose recognised text gives orders, and all that is held back."""
    messages: list[TurnMessage] = []
    blocked: list[blocks.Blocked] = []
    held: list[HeldBack] = []
    for event in turn.events:
        if event.event_type not in SPOKEN or not event.content:
            continue
        source: Source = "foreign" if event.role == "tool" else "own"

        def words(text: str, key: str = f"turn:{turn.turn_id}:{event.ordinal}", source: Source = source) -> str:
            clean = show(text, source, policy)
            held.extend(list_held_back(key, source, clean))
            return clean.text

        rendered = blocks.render(event.blocks, event.unsafe, RECENT_CHARS, words, policy)
        blocked += rendered.blocked
        text = rendered.text if event.blocks else words(clip(event.content["text"], WINDOW_CHARS))
        messages.append(TurnMessage(event.role or "user", text, event.name))  # pyright: ignore[reportArgumentType] # the table's roles are the vocabulary's
    return RecentTurn(str(turn.turn_id), turn.seq, tuple(messages)), list_withheld(blocked), held
