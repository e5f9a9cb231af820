"""The turn that ends a session, identical for every requester. Pure."""

import hashlib

from schemas.turn_events import TurnEvents
from shared.domain.subjects import Subject

MAX_NAME = 96
"""Longer session ids appear in the key as a hash."""


def make_session_end(subject: Subject, session_id: str, next_seq: int) -> TurnEvents:
    """A turn that only ends the session; two requests without a turn in between give the same one."""
    name = session_id if len(session_id) <= MAX_NAME else hashlib.sha256(session_id.encode()).hexdigest()
    return TurnEvents(
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        session_id=session_id,
        idempotency_key=f"end:{name}:{next_seq}",
        end_session=True,
    )
