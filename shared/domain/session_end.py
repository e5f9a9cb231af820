"""The turn that ends a session, identical for everybody who asks for it. Pure."""

import hashlib

from schemas.turn_events import TurnEvents
from shared.domain.subjects import Subject

MAX_NAME = 96
"""Longer session ids stand in the key by their hash."""


def make_session_end(subject: Subject, session_id: str, next_seq: int) -> TurnEvents:
    """Nothing but the end of the session; asked for twice before anybody speaks again it is one turn."""
    name = session_id if len(session_id) <= MAX_NAME else hashlib.sha256(session_id.encode()).hexdigest()
    return TurnEvents(
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        session_id=session_id,
        idempotency_key=f"end:{name}:{next_seq}",
        end_session=True,
    )
