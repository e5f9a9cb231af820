"""What was found, said and is known becomes a package, within the limits of the request.

What the agent has learnt of its own tools is kept in the process, and never waited for.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import cast

from schemas.compose import ComposeRequest
from schemas.vocabulary import Intent, Language
from services.compose.context.load import NONCE_BYTES, make_metadata, pack_limits, refuse_what_does_not_fit
from services.compose.context.rank import inject_limit
from services.compose.context.stages import Call, ComposeState, PlanningResult, ResolutionResult
from services.compose.rules.candidates import HeldBack, RecentTurn, TurnMessage
from services.compose.rules.packing.conflict import attach_conflicts
from services.compose.rules.packing.draft import Decision, PackagedContext, PackInputs, list_withheld
from services.compose.rules.packing.pack import pack_context
from services.compose.rules.packing.slots import held_back
from services.compose.rules.packing.texts import Learnt, hints
from shared import clock
from shared.domain import blocks
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.extraction.turn_texts import SPOKEN
from shared.language.normalise import clip
from shared.metrics.packages import AGENT_HINTS
from shared.runtime import Runtime
from shared.screening.sanitize import SanitizePolicy, Source, show
from shared.store import experience

MOST_READ = 500


@dataclass(frozen=True, slots=True)
class Lines:
    """What is kept of a tenant's experience: by user, None for what all share; and the hints made of it so far."""

    learnt: Mapping[str | None, Sequence[Learnt]]
    made: dict[tuple[str | None, Intent, Language], tuple[str, ...]]

    def to_hints(self, user_id: str, intent: Intent, language: Language) -> tuple[str, ...]:
        """The hints for one user: from what is shared, and from that user's own receipts."""
        whose = user_id if user_id in self.learnt else None
        key = (whose, intent, language)
        if key not in self.made:
            own = self.learnt.get(whose, ()) if whose else ()
            self.made[key] = hints([*self.learnt.get(None, ()), *own], intent, language)
        return self.made[key]


def begin_hints(rt: Runtime, subject: Subject) -> None:
    """What is kept of the tenant's experience, if it is old, is read again beside what else is read."""
    if rt.policy.compose.agent_hints:
        rt.experience.get(subject.tenant_id, make_loader(rt, subject.tenant_id))


def get_known_hints(rt: Runtime, subject: Subject, intent: Intent, language: Language) -> tuple[str, ...]:
    """The hints for this intent, as far as experience is there by now."""
    if not rt.policy.compose.agent_hints:
        return ()
    lines = cast("Lines | None", rt.experience.get(subject.tenant_id, make_loader(rt, subject.tenant_id)))
    known = lines.to_hints(subject.user_id, intent, language) if lines else ()
    if known:
        AGENT_HINTS.inc()
    return known


def make_loader(rt: Runtime, tenant_id: str) -> Callable[[], Awaitable[Lines]]:
    async def read() -> Lines:
        async with rt.db.system() as conn:
            rows = await experience.of_tenant(conn, tenant_id, MOST_READ)
        learnt: dict[str | None, list[Learnt]] = {}
        for each in rows:
            learnt.setdefault(each.user_id, []).append(Learnt(each.key, each.figures))
        return Lines(learnt, {})

    return read


RECENT_CHARS = 800
"""Of what was recognised in one media of an earlier turn, so much is shown."""
WINDOW_CHARS = 32_000
"""Of a message so much is looked at for the window: no package holds more."""


def package(
    rt: Runtime,
    call: Call,
    request: ComposeRequest,
    state: ComposeState,
    planning: PlanningResult,
    resolution: ResolutionResult,
    degraded: Sequence[str],
) -> PackagedContext:
    """The package of what was found, in its order; `degraded` says what the stages before lacked."""
    policy, planned, parts = rt.policy.compose, planning.planned, state.parts
    language = planned.language if policy.language == "auto" else policy.language
    window = [_to_recent(turn, policy.sanitize) for turn in state.earlier]
    inputs = PackInputs(
        context_id=str(clock.uuid7()),
        session_id=request.session_id,
        created_at=call.at,
        user_message=parts.text,
        request_id=call.request_id,
        content_parts=parts.parts,
        token_limit=request.limit(policy.default_profile),
        intent=planned.intent,
        language=language,
        nonce=token_hex(NONCE_BYTES),
        core=resolution.core,
        working_summary=state.summary,
        entities=state.names,
        recent=[turn for turn, _, _ in window],
        hints=get_known_hints(rt, call.subject, planned.intent, language),
        evidence=resolution.evidence,
        degraded_reason=[*degraded, *parts.degraded],
        withheld=[*parts.withheld, *(each for _, more, _ in window for each in more)],
        held_back=[each for _, _, held in window for each in held],
        inject_limit=inject_limit(request, policy),
        generation_metadata=make_metadata(
            request.experiment_context, planning.planner, planning.report.ignored, call.request_id
        ),
    )
    with refuse_what_does_not_fit(request, policy):
        return attach_conflicts(pack_context(inputs, pack_limits(policy)), resolution.conflicts)


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

        rendered = blocks.render(event.blocks, event.unsafe, RECENT_CHARS, words, policy)
        blocked += rendered.blocked
        text = rendered.text if event.blocks else words(clip(event.content["text"], WINDOW_CHARS))
        messages.append(TurnMessage(event.role or "user", text, event.name))  # pyright: ignore[reportArgumentType] # the table's roles are the vocabulary's
    return RecentTurn(str(turn.turn_id), turn.seq, tuple(messages)), list_withheld(blocked), held
