"""What the agent has learnt of its own tools: kept in the process, never waited for."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from schemas.vocabulary import Intent, Language
from services.compose.rules.packing.texts import Learnt, hints
from shared.domain.subjects import Subject
from shared.metrics.packages import AGENT_HINTS
from shared.runtime import Runtime
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


def begin(rt: Runtime, subject: Subject) -> None:
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
