"""What a body may say of whose data it is about and who asks, by the key of its sender: over HTTP and over Kafka."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from schemas.topics import Topic
from shared import parsing
from shared.access.refusals import refuse_denied
from shared.domain.requesters import (
    Denial,
    Requester,
    find_name_denial,
    find_owner_denial,
    find_scope_denial,
    find_tenant_denial,
    find_user_denial,
)
from shared.domain.subjects import Subject

Model = TypeVar("Model", bound=BaseModel)
CLAIMS: Mapping[str, Callable[[Requester, str], Denial | None]] = {
    "tenant_id": find_tenant_denial,
    "user_id": find_user_denial,
    "requested_by": find_name_denial,
}
"""What a body may say of whose data it is about and who asks, and what tells whether it may."""


def apply_key(requester: Requester, model: type[BaseModel], raw: dict[str, Any]) -> dict[str, Any]:
    """The body with the tenant and the name of the key where it says none; RefusedError 403 where it says another's."""
    body = parsing.unwrap_turn(raw)
    for name, find_denial in CLAIMS.items():
        if isinstance(claim := body.get(name), str) and (denial := find_denial(requester, claim)):
            raise refuse_denied(denial)
    of_key = {"tenant_id": requester.tenant_id, "requested_by": requester.name or None}
    missing = {name: value for name, value in of_key.items() if value and body.get(name) is None}
    return {**raw, **{name: value for name, value in missing.items() if name in model.model_fields}}


def find_owner(requester: Requester, message: BaseModel) -> Subject | None:
    """The user whom what was read is about, if it names one.

    RefusedError 403 where it is about somebody, or a whole tenant, that the requester may not act for.
    """
    tenant_id, user_id = getattr(message, "tenant_id", None), getattr(message, "user_id", None)
    if tenant_id is None:
        return None
    if denial := find_owner_denial(requester, tenant_id, user_id):
        raise refuse_denied(denial)
    return None if user_id is None else Subject(tenant_id, user_id)


def read_record(
    requester: Requester, topic: Topic, model: type[Model], body: bytes, *, limit: int = parsing.MAX_BODY_BYTES
) -> tuple[Model, tuple[str, ...]]:
    """The message of a record and the fields of it that were ignored; RefusedError 403 as over HTTP, 422 and 413.

    A record without a tenant is of the tenant `default`, whichever its key has: an erasure finds it by what it says.
    """
    if denial := find_scope_denial(requester, topic.scope_of(model)):
        raise refuse_denied(denial)
    raw = parsing.read_object(body, limit=limit)
    if requester.tenant_id is not None and parsing.unwrap_turn(raw).get("tenant_id") is None:
        raw = {**raw, "tenant_id": model.model_fields["tenant_id"].default}
    message, ignored = parsing.validate(model, apply_key(requester, model, raw))
    find_owner(requester, message)
    return message, ignored
