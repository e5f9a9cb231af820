"""What was found, said and is known becomes a package; the message is held against the window before any search."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from secrets import token_hex

from schemas.compose import ComposeRequest
from schemas.content import ContentBlock
from schemas.experiment import ExperimentContext, GenerationMetadata
from schemas.turn_events import FieldProblem
from services.compose.context import experience, pending_turns
from services.compose.context.nearest import nearness_to
from services.compose.context.planner import ROUTING, Planner, PlanningResult
from services.compose.rules.candidates import CoreMemory, HeldBack, RecentTurn, TurnMessage
from services.compose.rules.packing.budget import (
    TokenLimitTooSmallError,
    UserMessageTooLongError,
    profile_for,
    slot_bounds,
)
from services.compose.rules.packing.conflict import ConflictResolution
from services.compose.rules.packing.pack import Decision, PackagedContext, PackInputs, PackPolicy, check, pack_context
from services.compose.rules.packing.render import MESSAGE_OVERHEAD
from services.compose.rules.packing.slots import held_back
from services.compose.rules.packing.spoken import UserMessageParts, list_withheld, split_message
from services.compose.rules.pending.pending_changes import PendingChanges
from services.compose.rules.planning.plan import points_back
from services.compose.rules.ranking.repeats import RepeatCandidate
from services.compose.rules.resolving.bygone import without_past
from services.compose.rules.resolving.needed import asks_for_all, place_of, select_needed
from services.compose.rules.resolving.outdated import OutdatedStatement
from services.compose.rules.resolving.scopes import core_of_scope
from shared import clock
from shared.domain import blocks
from shared.domain.subjects import Subject
from shared.domain.turns import Event, Turn
from shared.errors import RefusedError
from shared.extraction.turn_texts import SPOKEN
from shared.knowledge.port import Scope
from shared.language import tokens
from shared.language.normalise import clip
from shared.policy import ComposePolicy
from shared.runtime import Runtime
from shared.screening.sanitize import SanitizePolicy, Source, show
from shared.store.ended import EndedVersion
from shared.store.memory import CoreMemoryRow

NONCE_BYTES = 3
"""Nobody who wrote a text that is in the package could know them."""
RECENT_CHARS = 800
"""Of what was recognised in one media of an earlier turn, so much is shown."""
WINDOW_CHARS = 32_000
"""Of a message so much is looked at for the window: no package holds more."""


@dataclass(frozen=True)
class ComposeState:
    """What every package starts from; `hidden` names the core memories that what was said since ends.

    `message` is what is being answered, its media looked up and safe; `knowledge` the version of what is known in the
    scope.
    """

    core: list[CoreMemoryRow]
    summary: str
    names: list[str]
    window: list[Turn]
    overlay: PendingChanges
    hidden: list[str]
    message: tuple[ContentBlock, ...]
    scope: Scope
    knowledge: int
    epoch: int
    joined: list[tuple[str, str]]
    """Pairs of names that the user has said to be one's."""


def hold_message(asked: ComposeRequest, policy: ComposePolicy) -> None:
    """Raises RefusedError, naming the field, where the user's own words leave a package no room.

    It needs nothing but the request: a text that is too long is refused before anything is read, however busy it is.
    """
    _check(asked, UserMessageParts(asked.user_message.words), policy)


def read_message(asked: ComposeRequest, message: Sequence[ContentBlock], policy: ComposePolicy) -> UserMessageParts:
    """The message as the package carries it; of what was recognised in its media as much as there is room for.

    RefusedError names the field where there is no room even without that.
    """
    limit = asked.limit(policy.default_profile)
    most = slot_bounds(limit, policy.budget).message_room(0) - MESSAGE_OVERHEAD
    said = split_message(message, asked.model_modalities, limit, most, policy.sanitize)
    if not any(block.is_media for block in message):
        return said
    try:
        _check(asked, said, policy)
    except RefusedError:
        said = split_message(message, asked.model_modalities, limit, 0, policy.sanitize)
        _check(asked, said, policy)
    return said


def _check(asked: ComposeRequest, said: UserMessageParts, policy: ComposePolicy) -> None:
    request_id = asked.request_id or clock.uuid7().hex
    inputs = PackInputs(
        context_id=str(clock.uuid7()),
        session_id=asked.session_id,
        created_at=clock.now(),
        user_message=said.text,
        request_id=request_id,
        content_parts=said.parts,
        token_limit=asked.limit(policy.default_profile),
        nonce=token_hex(NONCE_BYTES),
        generation_metadata=_metadata(asked.experiment_context, "rules", (ROUTING,), request_id),
    )
    with refuse_what_does_not_fit(asked, policy):
        check(inputs, _limits(policy))


@contextmanager
def refuse_what_does_not_fit(asked: ComposeRequest, policy: ComposePolicy) -> Generator[None]:
    """What does not fit is refused, with the field that says too much or allows too little."""
    try:
        yield
    except UserMessageTooLongError as error:
        problem = FieldProblem(field="user_message", problem=str(error))
        raise RefusedError("user_message_too_long", str(error), (problem,)) from error
    except TokenLimitTooSmallError as error:
        limit = asked.limit(policy.default_profile)
        problem = FieldProblem(
            field="model_window" if limit == asked.model_window else "token_limit", problem=str(error)
        )
        raise RefusedError("token_limit_too_small", f"{problem.field}: {error}", (problem,)) from error


def _limits(policy: ComposePolicy) -> PackPolicy:
    return PackPolicy(
        budget=policy.budget,
        sanitize=policy.sanitize,
        recent_turns_max=policy.recent_turns_max,
        evidence_max_items=policy.evidence_max,
        max_snippet_chars=policy.snippet_max_chars,
    )


def _metadata(
    context: ExperimentContext | None, planner: Planner, ignored: tuple[str, ...], request_id: str
) -> GenerationMetadata | None:
    if context is None:
        return None
    return GenerationMetadata(
        experiment_id=context.experiment_id,
        variant=context.variant,
        trace_id=request_id,
        planner=planner,
        ignored=ignored,
    )


def package_context(
    asked: ComposeRequest,
    rt: Runtime,
    loaded: ComposeState,
    said: UserMessageParts,
    thought: PlanningResult,
    settled: ConflictResolution,
    degraded: Sequence[str],
    request_id: str,
    at: datetime,
) -> PackagedContext:
    """The package of what was found, in its order; `degraded` says what the search lacked."""
    policy, planned = rt.policy.compose, thought.planned
    window = [
        _to_recent(turn, policy.sanitize) for turn in pending_turns.list_turns_before(loaded.window, asked.user_message)
    ]
    inputs = PackInputs(
        context_id=str(clock.uuid7()),
        session_id=asked.session_id,
        created_at=at,
        user_message=said.text,
        request_id=request_id,
        content_parts=said.parts,
        token_limit=asked.limit(policy.default_profile),
        intent=planned.intent,
        language=planned.language,
        nonce=token_hex(NONCE_BYTES),
        core=settled.core,
        working_summary=loaded.summary,
        entities=loaded.names,
        recent=[turn for turn, _, _ in window],
        hints=experience.get_known_hints(rt, Subject(asked.tenant_id, asked.user_id), planned.intent, planned.language),
        evidence=settled.evidence,
        degraded_reason=[*degraded, *said.degraded],
        withheld=[*said.withheld, *(each for _, more, _ in window for each in more)],
        held_back=[each for _, _, held in window for each in held],
        inject_limit=inject_limit(asked, policy),
        generation_metadata=_metadata(asked.experiment_context, thought.planner, thought.ignored, request_id),
    )
    with refuse_what_does_not_fit(asked, policy):
        return pack_context(inputs, _limits(policy))


def to_core(known: CoreMemoryRow) -> CoreMemory:
    """The pinned memory as packing takes it."""
    return CoreMemory(
        type=known.type,
        text=known.content_text,
        updated_at=known.valid_at,
        memory_id=str(known.memory_id),
        turn_id=str(known.source_turn_id) if known.source_turn_id else None,
        confidence=known.confidence,
        provenance=known.provenance_class,
        epistemic=known.epistemic_type,
        valid_at=known.valid_at,
        last_validated_at=known.last_validated_at,
        category=known.key or known.type,
    )


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


def inject_limit(asked: ComposeRequest, policy: ComposePolicy) -> int | None:
    """How many notes about the user the package may hold, where the request or policy says so."""
    return policy.inject_limit if asked.inject_limit is None else asked.inject_limit


def select_core(loaded: ComposeState, thought: PlanningResult, message: str) -> list[CoreMemory]:
    """The core memory that the package carries whatever was found; all of it where the message asks what is known."""
    core = [to_core(known) for known in loaded.core]
    if asks_for_all(message, thought.planned.intent) and not points_back(message):
        return without_past(sorted(core, key=place_of))
    needed = select_needed(core, thought.planned.intent, nearness_to(thought.question(message)))
    return without_past(core_of_scope(needed, message))


def gather_beside(
    asked: ComposeRequest, rt: Runtime, loaded: ComposeState, core: Sequence[CoreMemory]
) -> RepeatCandidate:
    """What the package shows beside the evidence, as it may be shown: its core memory, and the summary and as many of
    the newest turns as their shares of the limit hold."""
    policy = rt.policy.compose
    limits, limit = _limits(policy), asked.limit(policy.default_profile)
    shares = profile_for(limit, policy.budget).slots
    shown: list[str] = []
    if tokens.count(loaded.summary) <= shares["summary"]:
        shown += show(loaded.summary, "own", policy.sanitize).text.splitlines()
    room = shares["window"]
    earlier = pending_turns.list_turns_before(loaded.window, asked.user_message)
    for turn in reversed(earlier[max(0, len(earlier) - policy.recent_turns_max) :]):
        texts = [_shown_of(event, limits, policy.sanitize) for event in turn.events if event.event_type in SPOKEN]
        room -= sum(map(tokens.count, texts))
        if room < 0:
            break
        shown += texts
    return RepeatCandidate(core, shown)


def _shown_of(event: Event, limits: PackPolicy, sanitize: SanitizePolicy) -> str:
    text = str((event.content or {}).get("text", ""))
    if event.role != "tool":
        return show(text, "own", sanitize).text
    return clip(show(text, "foreign", sanitize).text, limits.max_tool_chars)


def _to_recent(turn: Turn, policy: SanitizePolicy) -> tuple[RecentTurn, tuple[Decision, ...], list[HeldBack]]:
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
            held.extend(held_back(key, source, clean))
            return clean.text

        told = blocks.render(event.blocks, event.unsafe, RECENT_CHARS, words, policy)
        blocked += told.blocked
        text = told.text if event.blocks else words(clip(event.content["text"], WINDOW_CHARS))
        messages.append(TurnMessage(event.role or "user", text, event.name))  # pyright: ignore[reportArgumentType] # the table's roles are the vocabulary's
    return RecentTurn(str(turn.turn_id), turn.seq, tuple(messages)), list_withheld(blocked), held
