"""brain.yml: the deployed copy, and the errors of an invalid one."""

from datetime import date
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from schemas.vocabulary import Assertion
from shared.errors import ConfigurationError
from shared.policy import Policy
from shared.policy_file import load_policy

DEPLOYED = Path(__file__).parents[2] / "deploy" / "brain.yml"


def places(value: Any, at: str = "") -> set[str]:
    """The path of every value of a document."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    if not isinstance(value, dict):
        return {at}
    return {place for name, inner in value.items() for place in places(inner, f"{at}.{name}".lstrip("."))}


def write_policy(folder: Path, text: str) -> Path:
    """A policy file with this text."""
    path = folder / "brain.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_deployed_policy_is_the_default() -> None:
    assert load_policy(DEPLOYED) == load_policy(None) == Policy()


def test_the_deployed_policy_names_every_value() -> None:
    assert places(yaml.safe_load(DEPLOYED.read_text(encoding="utf-8"))) == places(Policy())


def test_every_assertion_has_a_provenance() -> None:
    assert set(Policy().confidence.standings) == set(get_args(Assertion))
    assert all(each.initial <= each.cap for each in Policy().confidence.standings.values())


def test_a_self_serving_claim_has_lower_confidence_in_every_form() -> None:
    policy = Policy().confidence
    assert policy.level_of("directive", ("self_benefit",)) == policy.self_benefit
    assert policy.level_of("directive").initial > policy.self_benefit.cap


def test_an_omitted_value_keeps_its_default(tmp_path: Path) -> None:
    policy = load_policy(write_policy(tmp_path, "compose: {evidence_max: 3}\n"))
    assert (policy.compose.evidence_max, policy.compose.recent_turns_max) == (3, Policy().compose.recent_turns_max)
    assert load_policy(write_policy(tmp_path, "# nothing\n")) == Policy()


def test_the_version_depends_on_the_values(tmp_path: Path) -> None:
    changed = load_policy(write_policy(tmp_path, "compose: {evidence_max: 3}\n"))
    assert changed.version != Policy().version == load_policy(DEPLOYED).version


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("obsrver: {}", "obsrver"),
        ("observer: {use_modle: true}", "observer.use_modle"),
        ("observer: {entity_min_mentions: many}", "observer.entity_min_mentions"),
        ("compose: {default_profile: 64k}", "compose.default_profile"),
        ("compose: {deadline_ms: 0}", "compose.deadline_ms"),
        (
            "confidence: {self_benefit: {provenance: observation, initial: 2, cap: 1}}",
            "confidence.self_benefit.initial",
        ),
        ("confidence: {standings: {guess: {provenance: tool, initial: 1, cap: 1}}}", "confidence.standings.guess"),
        ("delivery: {fuse_share: 0}", "delivery.fuse_share"),
        ("delivery: {retry_delays_ms: [100, soon]}", "delivery.retry_delays_ms.1"),
        ("delivery: 3", "delivery"),
        ("erasure: {profiles: {DEFAULT: {days: 15}}}", "erasure.profiles.DEFAULT.type"),
        ("erasure: {profiles: {DEFAULT: {days: 0, type: business}}}", "erasure.profiles.DEFAULT.days"),
        ("erasure: {profiles: {DEFAULT: {days: 15, type: weekly}}}", "erasure.profiles.DEFAULT.type"),
        ("erasure: {profiles: {DEFAULT: {days: 15, type: business, warn: 5}}}", "erasure.profiles.DEFAULT.warn"),
        (
            "erasure: {profiles: {DEFAULT: {days: 9, type: calendar, warn_pct: 100}}}",
            "erasure.profiles.DEFAULT.warn_pct",
        ),
        ("erasure: {holidays: [tomorrow]}", "erasure.holidays.0"),
        ("erasure: {batch_rows: 0}", "erasure.batch_rows"),
        ("erasure: {attempts_max: -1}", "erasure.attempts_max"),
        ("erasure: {retry_after_s: []}", "erasure.retry_after_s"),
        ("erasure: {retry_after_s: [1, 0]}", "erasure.retry_after_s.1"),
        ("erasure: {check_every_s: 0}", "erasure.check_every_s"),
        ("retention: {proofs_years: 2}", "retention.proofs_years"),
        ("settings: {user_may: [colour]}", "settings.user_may.0"),
        ("settings: {user_may: [users_may]}", "settings: Value error, user_may"),
        ("settings: {retention_days_least: 9, retention_days_most: 8}", "settings: Value error, retention_days_least"),
        ("confidence: {decay: [[1, 1.0]]}", "confidence: Value error, decay"),
        ("compose: {ranking: {recency: [[0, 1], [0, 2]]}}", "compose.ranking: Value error, recency"),
        ("observer: {kinds: [hobby]}", "observer.kinds.0"),
        ("retention: {receipts_days: 1095}", "retention.receipts_days"),
        ("retention: {claims_days: 7}", "retention: Value error, claims_days"),
        ("retention: {packages_days: 2000}", "retention: Value error, packages_days"),
        ("evolution: {experience: {days: 31}}", ""),
        ("retention: {window_turns: -1}", "retention.window_turns"),
        ("retention: {window_turns: many}", "retention.window_turns"),
        ("retention: {turns: 8}", "retention.turns"),
        ("retention: 8", "retention"),
        ("{retention: {window_turns: 8}, compose: 8}", "compose"),
        ("access: {sign_in: {issuer: nobody, client_id: a, authorize: 'https://a', token: 'https://a'}}", "access"),
        ("access: {sign_in: {issuer: a, client_id: a, authorize: 'http://a', token: 'https://a'}}", "access.sign_in"),
        ("access: {sign_in: {issuer: a, authorize: 'https://a', token: 'https://a'}}", "access.sign_in"),
        (
            "access: {sign_in: {issuer: a, client_id: a, authorize: 'https://a', token: 'https://a', scopes: [read]}}",
            "access.sign_in",
        ),
        ("models: {prices: {qwen3: {read: -1, written: 1}}}", "models.prices.qwen3.read"),
        ("- compose", ""),
        ("compose: {", ""),
    ],
)
def test_an_invalid_value_is_refused_with_its_path(tmp_path: Path, text: str, place: str) -> None:
    path = write_policy(tmp_path, text)
    with pytest.raises(ConfigurationError) as refused:
        load_policy(path)
    assert str(refused.value).startswith(f"{path}: {place}")


@pytest.mark.parametrize(
    "text",
    [
        "retention: {window_turns: 3}",
        "{retention: {window_turns: 3}, compose: null}",
        "{retention: {window_turns: 3}, compose: {recent_turns_max: 3}}",
    ],
)
def test_the_older_name_of_the_window_is_accepted(tmp_path: Path, text: str) -> None:
    read = load_policy(write_policy(tmp_path, text))
    assert read.compose.recent_turns_max == 3
    assert read.version == load_policy(write_policy(tmp_path, "compose: {recent_turns_max: 3}")).version


def test_older_names_of_periods_are_accepted(tmp_path: Path) -> None:
    older = "{observability: {contexts_keep_days: 3, receipts_keep_days: 1200}, erasure: {keep_years: 5}}"
    read = load_policy(write_policy(tmp_path, older)).retention
    assert (read.packages_days, read.receipts_days, read.proofs_years) == (3, 1200, 5)


def test_two_names_with_different_values_are_refused(tmp_path: Path) -> None:
    path = write_policy(tmp_path, "{retention: {window_turns: 3}, compose: {recent_turns_max: 4}}")
    with pytest.raises(ConfigurationError, match=r"retention\.window_turns: 3 is not compose\.recent_turns_max, 4"):
        load_policy(path)


def test_a_missing_file_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.yml"):
        load_policy(tmp_path / "none.yml")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("minima: {generation: 6000}", "minima: system, user_turn and generation need 8500"),
        ("margin_min: 4000", "minima: system, user_turn and generation need 4500"),
        ("minima: {summary: 6000}", "minima.summary: 6000 is more than maxima.summary, 5000"),
        ("margin_share: 1.5", "compose.budget.margin_share"),
        ("order: knowledge_last", "compose.budget.order"),
        ("ceilings: {chat: 1}", "compose.budget.ceilings.chat"),
        ("profiles: {8k: {system: 1500}}", "compose.budget.profiles.8k.user_turn"),
    ],
)
def test_a_budget_too_small_for_the_fixed_parts_prevents_the_start(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_policy(write_policy(tmp_path, f"compose: {{budget: {{{text}}}}}\n"))
    assert "compose.budget" in str(caught.value)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("slot", "size", "named"),
    [
        ("generation", 100, "profiles.8k.generation: 100 is less than"),
        ("knowledge", 4000, "profiles.8k: its slots need"),
    ],
)
def test_the_minimums_of_a_profile_fit_its_window(tmp_path: Path, slot: str, size: int, named: str) -> None:
    profiles = {name: each.model_dump() for name, each in Policy().compose.budget.profiles.items()}
    profiles["8k"][slot] = size
    with pytest.raises(ConfigurationError, match=named):
        load_policy(write_policy(tmp_path, yaml.safe_dump({"compose": {"budget": {"profiles": profiles}}})))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{profile: LGPD}", "erasure: Value error, profile: 'LGPD' is none of DEFAULT, PIPL, GDPR, CCPA"),
        (
            "{profiles: {PIPL: {days: 15, type: business}}}",
            "erasure: Value error, profile: 'DEFAULT' is none of PIPL",
        ),
        (
            "{profiles: {DEFAULT: {days: 15, type: business, warn_pct: 10, critical_pct: 25}}}",
            "erasure.profiles.DEFAULT: Value error, critical_pct: 25 is not less than warn_pct, 10",
        ),
        (
            "{profiles: {DEFAULT: {days: 15, type: business, warn_pct: 10}}}",
            "erasure.profiles.DEFAULT: Value error, critical_pct: 10 is not less than warn_pct, 10",
        ),
    ],
)
def test_an_erasure_needs_a_profile_with_ordered_thresholds(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_policy(write_policy(tmp_path, f"erasure: {text}\n"))
    assert named in str(refused.value)


@pytest.mark.parametrize("calendar", ["XX", "cn", "China", "CN-ZZ", "CN-", "-CN", "US-", "NYSE", "HolidayBase"])
def test_an_unknown_calendar_prevents_the_start(tmp_path: Path, calendar: str) -> None:
    text = f"erasure: {{profiles: {{DEFAULT: {{days: 15, type: business, calendar: {calendar!r}}}}}}}\n"
    with pytest.raises(ConfigurationError, match=r"erasure\.profiles\.DEFAULT\.calendar: .*unknown calendar"):
        load_policy(write_policy(tmp_path, text))


@pytest.mark.parametrize("calendar", ["", "CN", "HK", "US", "US-CA", "DE-BY"])
def test_a_profile_can_name_a_country_or_a_region(tmp_path: Path, calendar: str) -> None:
    text = f"erasure: {{profiles: {{DEFAULT: {{days: 15, type: business, calendar: {calendar!r}}}}}}}\n"
    assert load_policy(write_policy(tmp_path, text)).erasure.profiles["DEFAULT"].calendar == calendar


def test_the_legal_profiles_are_the_seeds() -> None:
    profiles = Policy().erasure.profiles
    assert {name: (each.days, each.type) for name, each in profiles.items()} == {
        "DEFAULT": (15, "business"),
        "PIPL": (15, "business"),
        "GDPR": (30, "calendar"),
        "CCPA": (45, "calendar"),
    }
    assert {(each.calendar, each.warn_pct, each.critical_pct) for each in profiles.values()} == {("", 25, 10)}
    assert all(each.source for each in profiles.values())


def test_holidays_of_an_erasure_are_dates(tmp_path: Path) -> None:
    read = load_policy(write_policy(tmp_path, 'erasure: {holidays: [2026-12-24, "2026-12-31"]}\n')).erasure.holidays
    assert read == (date(2026, 12, 24), date(2026, 12, 31))
