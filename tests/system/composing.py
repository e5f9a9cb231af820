"""Packages and evidence packs alone, without the way they came about."""

from datetime import datetime

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.evidence_pack import EvidencePack
from schemas.retrieve import RetrieveRequest
from services.compose.context.pipeline import compose_context, execute_plan
from shared.runtime import Runtime


async def compose_package(request: ComposeRequest, rt: Runtime, *, now: datetime | None = None) -> ContextPackage:
    """As `compose_context`: the package alone."""
    return (await compose_context(request, rt, now=now)).package


async def retrieve(request: RetrieveRequest, rt: Runtime) -> EvidencePack:
    """As `execute_plan`: the pack alone."""
    return (await execute_plan(request, rt)).pack
