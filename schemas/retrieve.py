"""A retrieval plan on behalf of a user: the body of POST /v1/retrieve."""

from schemas.base import ExternalId
from schemas.retrieval_plan import RetrievalPlan


class RetrieveRequest(RetrievalPlan):
    """A plan, whose memory it searches, and whose knowledge: a tenant's, an organisation's, a profile's."""

    tenant_id: ExternalId = "default"
    user_id: ExternalId
    org_id: ExternalId | None = None
    profile_id: ExternalId | None = None
