"""The caller, from the client's configuration, never from a model."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from schemas.base import ExternalId
from shared.fronts.problems import CallError

SESSION = "mcp"
"""The default session of a client."""
_ID: TypeAdapter[str] = TypeAdapter(ExternalId)


@dataclass(frozen=True, slots=True)
class AgentCaller:
    """The key or token, and the user if the key is not of one user."""

    bearer: str | None = None
    user_id: str | None = None
    tenant_id: str | None = None
    session_id: str = SESSION


def make_caller(bearer: str | None, named: Mapping[str, str | None]) -> AgentCaller:
    """The caller, from ids by the names of their fields; CallError if one is invalid."""
    ids: dict[str, str] = {}
    for field, value in named.items():
        if not value:
            continue
        try:
            ids[field] = _ID.validate_python(value)
        except ValidationError as error:
            raise CallError(
                "invalid_request", f"{field} of the client's settings: {error.errors()[0]['msg']}"
            ) from error
    return AgentCaller(bearer or None, ids.get("user_id"), ids.get("tenant_id"), ids.get("session_id", SESSION))
