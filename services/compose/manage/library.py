"""Documents that went to knowledge, and the agent's experience with its tools.

A change of knowledge is recorded, so that cached answers are not used again.
"""

from uuid import UUID

from schemas.evidence_pack import turn_uri
from schemas.experience import ExperiencePage, ExperienceView
from schemas.resources import KnowledgeChanged, KnowledgeVersion, ResourcePage, ResourceView
from shared.domain.subjects import Subject
from shared.knowledge.port import Scope
from shared.runtime import Runtime
from shared.store import experience, knowledge, resources
from shared.store.experience import Experience
from shared.store.operator_acts import note_act
from shared.store.resources import ListedResource

MOST_SHOWN = 1000


async def load_page(
    rt: Runtime, subject: Subject, *, state: str | None, turn_id: UUID | None, limit: int
) -> ResourcePage:
    async with rt.db.transaction(subject) as conn:
        listed = await resources.page(conn, subject, state=state, turn_id=turn_id, limit=limit)
    return ResourcePage(resources=tuple(_view(each) for each in listed))


async def note_change(rt: Runtime, report: KnowledgeChanged) -> KnowledgeVersion:
    """Invalidates the cached answers of knowledge."""
    scope = Scope(report.tenant_id, report.org_id or "", report.profile_id or "")
    house = Subject(report.tenant_id, "")
    async with rt.db.transaction(house) as conn:
        changed = {"org_id": report.org_id, "profile_id": report.profile_id}
        await note_act(conn, house, "knowledge", "knowledge.changed", report, changed)
        return KnowledgeVersion(version=await knowledge.note_change(conn, scope))


def _view(resource: ListedResource) -> ResourceView:
    same = {name: getattr(resource, name) for name in ResourceView.model_fields if hasattr(resource, name)}
    made_at = f"{turn_uri(str(resource.turn_id))}#{resource.ordinal}"
    uri = made_at if resource.ref_type == "tool" else resource.ref_uri
    return ResourceView.model_validate({**same, "source_uri": uri, "title": resource.title or resource.name})


async def list_experience(rt: Runtime, subject: Subject) -> ExperiencePage:
    """The tenant's shared experience, and that of this user's receipts."""
    (experiences,) = await rt.db.read(subject, experience.of(subject, MOST_SHOWN))
    return ExperiencePage(experience=tuple(_view_experience(each) for each in experiences))


def _view_experience(each: Experience) -> ExperienceView:
    return ExperienceView.model_validate(
        {
            "experience_id": each.experience_id,
            "key": each.key,
            "shared": each.user_id is None,
            "figures": each.figures,
            "confidence": round(each.confidence, 4),
            "updated_at": each.updated_at,
        }
    )
