"""A policy override for one response: only compose settings, validated like the file."""

from typing import Any

import pytest

from services.compose.manage.explaining import PROTECTED, override
from shared.errors import RefusedError
from shared.policy import Policy


def test_an_overridden_value_applies_and_the_rest_stays() -> None:
    policy = override(Policy(), {"compose": {"evidence_max": 3, "weights": {"vector": 0.5}}, "knowledge": {"top_k": 4}})
    assert (policy.compose.evidence_max, policy.knowledge.top_k) == (3, 4)
    assert (policy.compose.weights.vector, policy.compose.weights.text) == (0.5, 1.0)
    assert policy.compose.sanitize == Policy().compose.sanitize
    assert policy.version != Policy().version


def test_a_limit_can_be_removed() -> None:
    limited = override(Policy(), {"compose": {"inject_limit": 4}})
    assert override(limited, {"compose": {"inject_limit": None}}).compose.inject_limit is None


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"observer": {}}, "policy.observer"),
        ({"compose": []}, "policy.compose"),
        ({"compose": {"evidence_max": "many"}}, "policy.compose.evidence_max"),
        ({"compose": {"deadline_ms": 60_000}}, "policy.compose"),
        ({"knowledge": {"send_user": False}}, "policy.knowledge.send_user"),
        *(({"compose": {name: None}}, f"policy.compose.{name}") for name in sorted(PROTECTED)),
    ],
)
def test_an_invalid_override_is_named(overrides: dict[str, Any], field: str) -> None:
    with pytest.raises(RefusedError) as refused:
        override(Policy(), overrides)
    assert refused.value.details[0].field == field
    assert refused.value.status == 422
