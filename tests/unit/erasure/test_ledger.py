"""Erasures as lines of a file: an export is read back unchanged, and an invalid line is named."""

from typing import Any

import orjson
import pytest

from shared.erasure import ledger
from shared.errors import ConfigurationError


def test_a_file_of_erasures_is_read_to_its_last_line() -> None:
    row: dict[str, Any] = {
        "tenant_id": "t",
        "user_id": "用户",
        "tombstone_id": "01a20199-331d-7cc1-890d-118ef5a2a92f",
        "scope": "session",
        "session_ids": ["会话"],
        "memory_ids": [],
        "status": "completed",
        "requested_by": "u",
        "reason": None,
        "idempotency_key": "k",
        "profile": "GDPR",
        "epoch": 3,
        "item_count": 1,
        "row_count": 2,
        "attempts": 0,
        "error": None,
        "history": [],
        "proof": {"residue": {"rows_left": 0}},
        "requested_at": "2026-01-02T03:04:05.678901+00:00",
        "deadline_at": "2026-02-01T03:04:05.678901+00:00",
        "next_try_at": "2026-01-02T03:04:05.678901+00:00",
        "escalated_at": None,
        "completed_at": "2026-01-02T03:04:06+00:00",
    }
    (known,) = ledger.of_lines(ledger.as_line(row).decode() + "\n")
    assert known.subject == ("t", "用户")
    assert known.tombstone.session_ids == ("会话",)
    assert known.tombstone.requested_at.isoformat() == row["requested_at"]
    for wrong in ("[]", "{", orjson.dumps({**row, "scope": "some"}).decode(), orjson.dumps({"a": 1}).decode()):
        with pytest.raises(ConfigurationError, match="line 2"):
            ledger.of_lines(ledger.as_line(row).decode() + wrong)
