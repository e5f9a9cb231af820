"""Owners of knowledge: who may see it, and for whom a promotion is written. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from schemas.promotion import Visibility
from shared.knowledge.port import Scope

OF_AN_ORGANISATION: Final[frozenset[Visibility]] = frozenset({"store", "region"})
"""SmartBrain does not know the organisations of a region, so only the named one can see it."""
OWN_ADDRESS: Final = "smartbrain:"
MAX_NAME = 512


@dataclass(frozen=True, slots=True)
class KnowledgeOwner:
    """The owner of a section: a user in an organisation, an organisation, or the tenant if both are empty."""

    tenant_id: str = ""
    org_id: str = ""
    user_id: str = ""


def owner_of(scope: Scope) -> dict[str, str]:
    """The owner of an offered document, as fields that may be empty."""
    return {"tenant_id": scope.tenant_id, "org_id": scope.org_id, "user_id": scope.user_id}


def read_owner(item: Mapping[str, Any], source_uri: str) -> KnowledgeOwner | None:
    """The owner that the server names; None if it is unreadable. An item without an owner belongs to the tenant, unless
    its address shows that it came from a user.
    """
    metadata: Any = item.get("metadata")
    claimed: Any = item.get("owner")
    if claimed is None and isinstance(metadata, dict):
        claimed = cast("dict[str, Any]", metadata).get("owner")
    if claimed is None:
        return None if source_uri.lower().startswith(OWN_ADDRESS) else KnowledgeOwner()
    if not isinstance(claimed, dict):
        return None
    names = [cast("dict[str, Any]", claimed).get(name) for name in ("tenant_id", "org_id", "user_id")]
    if not all(name is None or (isinstance(name, str) and len(name) <= MAX_NAME) for name in names):
        return None
    return KnowledgeOwner(*(cast("str | None", name) or "" for name in names))


def may_see(scope: Scope, owner: KnowledgeOwner | None) -> bool:
    """Whether the requester is the owner, or belongs to the owning organisation or tenant."""
    return (
        owner is not None
        and owner.tenant_id in ("", scope.tenant_id)
        and owner.org_id in ("", scope.org_id)
        and owner.user_id in ("", scope.user_id)
    )


def find_audience(visibility: Visibility, org_id: str) -> str | None:
    """The organisation for which a promotion is written, empty for the whole tenant; None if none is named.

    Without an organisation, a promotion for one would be visible to all, so it is not written.
    """
    if visibility not in OF_AN_ORGANISATION:
        return ""
    return org_id or None
