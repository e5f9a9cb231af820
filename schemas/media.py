"""What is known of a media file that messages name: the scanner in front writes it, commit and compose ask it."""

from typing import Annotated

from pydantic import AliasChoices, Field, StringConstraints

from schemas.base import Contract, ExternalId, Instant, Reason
from schemas.content import MediaType, SecurityStatus, Text

Checksum = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
"""The hash of the content itself; an ETag is none."""


class MediaState(Contract):
    """The body of `PUT /v1/media/{media_id}`; a checksum or recognised text that is not given stays as it was.

    `requested_by` comes from the key; it is on record with `reason`.
    """

    tenant_id: ExternalId = "default"
    user_id: ExternalId
    type: MediaType
    security_status: SecurityStatus
    checksum: Checksum | None = None
    recognized_text: Annotated[
        Text | None, Field(validation_alias=AliasChoices("recognized_text", "recognised_text"))
    ] = None
    requested_by: ExternalId | None = None
    reason: Reason | None = None


class MediaView(Contract):
    """A registered media file."""

    media_id: str
    type: MediaType
    security_status: SecurityStatus
    checksum: str | None = None
    recognized_text: str | None = None
    created_at: Instant
    updated_at: Instant
