"""Packages and evidence packs without their intermediate results."""

from datetime import datetime

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.evidence_pack import EvidencePack
from schemas.retrieval_plan import RetrieveRequest
from services.compose.context.pipeline import compose_context, execute_plan
from shared.runtime import Runtime


async def compose_package(request: ComposeRequest, rt: Runtime, *, now: datetime | None = None) -> ContextPackage:
    """Like `compose_context`, but returns only the package."""
    return (await compose_context(request, rt, now=now)).package


async def retrieve(request: RetrieveRequest, rt: Runtime) -> EvidencePack:
    """Like `execute_plan`, but returns only the pack."""
    return (await execute_plan(request, rt)).pack
