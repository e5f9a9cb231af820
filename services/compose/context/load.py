"""What a request starts from: what is known of the user, what was said since, and the message, held to the window."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from secrets import token_hex

from schemas.compose import ComposeRequest
from schemas.content import ContentBlock
from schemas.experiment import ExperimentContext, GenerationMetadata
from schemas.retrieve import RetrieveRequest
from schemas.turn_events import FieldProblem
from services.compose.context import pending_turns
from services.compose.context.planner import scope_of
from services.compose.context.stages import ROUTING, Call, ComposeState, MemoryState, Planner
from services.compose.intake import media
from services.compose.rules.packing.budget import TokenLimitTooSmallError, UserMessageTooLongError, slot_bounds
from services.compose.rules.packing.draft import UserMessageParts, split_message
from services.compose.rules.packing.pack import PackInputs, PackPolicy, check
from services.compose.rules.packing.texts import MESSAGE_OVERHEAD
from services.compose.rules.pending.pending_changes import PendingChanges
from services.compose.rules.ranking.repeats import DiversityPolicy
from services.compose.rules.resolving.outdated import OutdatedStatement
from services.compose.rules.resolving.scopes import KEYS, PREFIXES
from shared import clock
from shared.domain import blocks
from shared.domain.turns import Turn
from shared.errors import RefusedError, TransientError
from shared.extraction import slash
from shared.extraction.relatives import tells_of_relative
from shared.extraction.turn_texts import only_commands
from shared.policy import ComposePolicy
from shared.runtime import Runtime
from shared.store import knowledge, shown_memory, summaries, turns
from shared.store.erasure import tombstones
from shared.store.media import load_known
from shared.store.shown_memory import EndedVersion

ASKED_CHARS = 2000
"""Of what was recognised in one media, so much is planned and searched with."""
ENDED_MOST = 200
"""So many of the versions that ended last are looked for in what is found."""
NONCE_BYTES = 3
"""Nobody who wrote a text that is in the package could know them."""


async def load(rt: Runtime, call: Call, request: ComposeRequest) -> tuple[Runtime, ComposeState]:
    """The runtime as the user's settings have it, and what a package starts from, read in one go within the deadline.

    TransientError: the deadline has passed.
    RefusedError `media_security_blocked` names all media of the message that is not safe, `user_message_too_long` the
    field that leaves the package no room.
    """
    # how much is read is no setting of users
    policy, subject, message = rt.policy.compose, call.subject, request.user_message
    scope, named, version = scope_of(rt, request), blocks.media_ids(message.blocks), 0
    reads = (
        shown_memory.core(subject, policy.core_limit, tuple(KEYS), tuple(PREFIXES)),
        summaries.load_standing(subject, request.session_id),
        turns.recent(subject, request.session_id, policy.recent_turns_max + 1, policy.pending_turns_max),
        tombstones.epoch(subject),
        shown_memory.versions(subject, ENDED_MOST),
        shown_memory.taken_back(subject, ENDED_MOST),
        shown_memory.load_joined(subject),
    )
    admitted = message.blocks
    async with _in_time(call.left_s()):
        if named or rt.knowledge.configured:
            reads = (*reads, load_known(subject, named), knowledge.version(scope))
        rt, core, summary, recent, epoch, gone, taken, joined, *of_knowledge = await rt.read_of(subject, *reads)
        if of_knowledge:
            registered, version = of_knowledge
            admitted = media.admit_blocks(message, registered)
        earlier = [t for t in pending_turns.list_turns_before(recent.window, message) if not only_commands(t)]
        now = pending_turns.message(message, request.session_id, call.at)
        changes = await _foresee(rt, call, recent.pending, epoch, now)
    changes = changes.with_ended(map(to_ended, gone), pending_turns.taken_back(earlier, now, taken))
    hidden = [f"memory:{m.memory_id}" for m in core if changes.hides(m.memory_id, m.source_turn_id, m.content_text)]
    names = [slot["name"] for slot in summaries.foremost(summary.entity_slots, rt.policy.session.entity_slots_max)]
    return rt, ComposeState(
        # what is known of a relative is no part of who the user is: it is found where it is asked about
        core=[
            m
            for m in core
            if f"memory:{m.memory_id}" not in hidden and (m.pinned or not tells_of_relative(m.content_text))
        ],
        summary=changes.summary(summary.text, summary.lines, summary.ended) if rt.policy.session.summaries else "",
        names=changes.names(names),
        window=recent.window,
        earlier=earlier,
        shown=pending_turns.list_shown_turns(recent.window, message, policy.recent_turns_max),
        memory=MemoryState(changes, scope, version, epoch),
        hidden=tuple(hidden),
        parts=read_message(request, admitted, policy),
        # a command asks memory nothing
        question="" if slash.commands(message.words) else blocks.to_question(admitted, ASKED_CHARS, policy.sanitize),
        joined=joined,
    )


async def load_memory(rt: Runtime, call: Call, request: RetrieveRequest) -> tuple[Runtime, MemoryState]:
    """What the search of a caller's plan starts from, as of a package."""
    subject, version, scope = call.subject, 0, scope_of(rt, request)
    reads = (
        turns.load_pending(subject, rt.policy.compose.pending_turns_max),
        tombstones.epoch(subject),
        shown_memory.versions(subject, ENDED_MOST),
        shown_memory.taken_back(subject, ENDED_MOST),
    )
    async with _in_time(call.left_s()):
        if rt.knowledge.configured:
            reads = (*reads, knowledge.version(scope))
        rt, pending, epoch, gone, taken, *versions = await rt.read_of(subject, *reads)
        version = versions[0] if versions else version
        changes = await _foresee(rt, call, pending, epoch, None)
    changes = changes.with_ended(map(to_ended, gone), pending_turns.taken_back((), None, taken))
    return rt, MemoryState(changes, scope, version, epoch)


@asynccontextmanager
async def _in_time(left_s: float) -> AsyncGenerator[None, None]:
    """What has no substitute, within the time that is left; TransientError beyond it."""
    try:
        async with asyncio.timeout(left_s):
            yield
    except TimeoutError as error:
        raise TransientError("memory did not answer within the deadline") from error


async def _foresee(rt: Runtime, call: Call, pending: Sequence[Turn], epoch: int, now: Turn | None) -> PendingChanges:
    """What the turns without an outcome, and then the message being answered, will end."""
    learnt = pending if rt.policy.observer.learn else ()
    open_turns = pending_turns.OpenTurns(learnt, epoch, rt.read_turns)
    return await pending_turns.foresee(rt.db, call.subject, open_turns, now, rt.policy.confidence)


def to_ended(version: EndedVersion) -> OutdatedStatement:
    """The ended version as messages are compared with it."""
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
    """Raises RefusedError, naming the field, where the user's own words leave a package no room.

    It needs nothing but the request: a text that is too long is refused before anything is read, however busy it is.
    """
    _check(request, UserMessageParts(request.user_message.words), policy)


def read_message(request: ComposeRequest, message: Sequence[ContentBlock], policy: ComposePolicy) -> UserMessageParts:
    """The message as the package carries it; of what was recognised in its media as much as there is room for.

    RefusedError names the field where there is no room even without that.
    """
    limit = request.limit(policy.default_profile)
    most = slot_bounds(limit, policy.budget).message_room(0) - MESSAGE_OVERHEAD
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
    with refuse_what_does_not_fit(request, policy):
        check(inputs, pack_limits(policy))


@contextmanager
def refuse_what_does_not_fit(request: ComposeRequest, policy: ComposePolicy) -> Generator[None]:
    """What does not fit is refused, with the field that says too much or allows too little."""
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


def pack_limits(policy: ComposePolicy) -> PackPolicy:
    """The limits of a package, as policy has them."""
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
    """What a package says of the experiment that it belongs to, if it belongs to one."""
    if context is None:
        return None
    return GenerationMetadata(
        experiment_id=context.experiment_id,
        variant=context.variant,
        trace_id=request_id,
        planner=planner,
        ignored=ignored,
    )
