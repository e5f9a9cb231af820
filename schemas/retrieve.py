"""A retrieval plan on behalf of a user: the body of POST /v1/retrieve, and a plan that was kept."""

from uuid import UUID

from schemas.base import Contract, ExternalId, Instant
from schemas.retrieval_plan import RetrievalPlan


class RetrieveRequest(RetrievalPlan):
    """A plan, whose memory it searches, and whose knowledge: a tenant's, an organisation's, a profile's."""

    tenant_id: ExternalId = "default"
    user_id: ExternalId
    org_id: ExternalId | None = None
    profile_id: ExternalId | None = None


class PlanView(Contract):
    """A plan that was executed: given to /v1/retrieve, whose knowledge it asked too, or made for a package."""

    plan_id: UUID
    executed_at: Instant
    plan: RetrievalPlan
    org_id: str | None = None
    profile_id: str | None = None
