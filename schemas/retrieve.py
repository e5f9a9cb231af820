"""A retrieval plan on behalf of a user: the body of POST /v1/retrieve."""

from schemas.base import ExternalId
from schemas.retrieval_plan import RetrievalPlan


class RetrieveRequest(RetrievalPlan):
    """A plan, and whose memory it searches."""

    tenant_id: ExternalId = "default"
    user_id: ExternalId
