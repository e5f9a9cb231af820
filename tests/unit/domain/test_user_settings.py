"""Effective settings of a user: policy, tenant and user in turn, each within the limits of the level above."""

from typing import Any

import pytest

from shared.domain.user_settings import SETTINGS, find_allowed, hold_settings
from shared.policy import ObserverPolicy, PersonalDataPolicy, Policy, SettingsPolicy

POLICY = Policy()


def test_without_choices_the_policy_is_unchanged() -> None:
    held = hold_settings(POLICY, {}, {})
    assert held.policy is POLICY
    assert {each.source for each in held.settings.values()} == {"policy"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("summary_enabled", False),
        ("inject_limit", 0),
        ("llm_rerank", True),
        ("auto_remember", False),
        ("auto_mode", "rules"),
        ("language", "zh"),
        ("learning", False),
        ("retention_days", 30),
        ("personal_phone", "redact"),
        ("personal_email", "refuse"),
        ("personal_id_number", "refuse"),
        ("personal_bank_card", "refuse"),
        ("personal_address", "redact"),
    ],
)
def test_each_choice_changes_the_policy_of_its_user(name: Any, value: Any) -> None:
    assert SETTINGS[name].of(POLICY) != value
    held = hold_settings(POLICY, {}, {name: value})
    assert SETTINGS[name].of(held.policy) == value
    assert held.settings[name].source == "user"
    of_tenant = hold_settings(POLICY, {name: value}, {})
    assert (of_tenant.settings[name].value, of_tenant.settings[name].source) == (value, "tenant")


@pytest.mark.parametrize(
    ("policy", "tenant", "user", "name", "value", "source"),
    [
        (POLICY, {"personal_phone": "redact"}, {"personal_phone": "keep"}, "personal_phone", "redact", "tenant"),
        (POLICY, {"personal_phone": "redact"}, {"personal_phone": "refuse"}, "personal_phone", "refuse", "user"),
        (
            Policy(personal_data=PersonalDataPolicy(phone="refuse")),
            {"personal_phone": "redact"},
            {},
            "personal_phone",
            "refuse",
            "policy",
        ),
        (POLICY, {"learning": False}, {"learning": True}, "learning", False, "tenant"),
        (
            Policy(observer=ObserverPolicy(learn=False)),
            {"learning": True},
            {"learning": False},
            "learning",
            False,
            "user",
        ),
        (POLICY, {"retention_days": 30}, {"retention_days": 60}, "retention_days", 30, "tenant"),
        (POLICY, {"retention_days": 30}, {"retention_days": 7}, "retention_days", 7, "user"),
        (POLICY, {"users_may": ["language"]}, {"learning": False}, "learning", True, "policy"),
        (POLICY, {"users_may": ["language"]}, {"language": "zh"}, "language", "zh", "user"),
        (
            Policy(settings=SettingsPolicy(tenant_may=(), user_may=("learning",))),
            {"inject_limit": 3},
            {"inject_limit": 4},
            "inject_limit",
            None,
            "policy",
        ),
        (
            Policy(observer=ObserverPolicy(use_model=False)),
            {"auto_mode": "llm"},
            {"auto_mode": "llm"},
            "auto_mode",
            "rules",
            "policy",
        ),
    ],
)
def test_a_forbidden_choice_is_ignored(
    policy: Policy, tenant: Any, user: Any, name: Any, value: Any, source: str
) -> None:
    held = hold_settings(policy, tenant, user).settings[name]
    assert (held.value, held.source) == (value, source)


def test_limits_are_those_of_the_level() -> None:
    of_tenant = hold_settings(POLICY, {"retention_days": 90}, {}).policy
    assert find_allowed(POLICY, POLICY, "retention_days", "tenant").most == 3650
    assert find_allowed(POLICY, of_tenant, "retention_days", "user").most == 90
    assert find_allowed(POLICY, POLICY, "personal_id_number", "user").values == ("redact", "refuse")
