"""brain.yml: the deployed copy, and what is said of a bad one."""

from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from schemas.vocabulary import Assertion
from shared.errors import ConfigurationError
from shared.policy import Policy, load

DEPLOYED = Path(__file__).parents[2] / "deploy" / "brain.yml"


def places(value: Any, at: str = "") -> set[str]:
    """Every place of a document that holds a value."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    if not isinstance(value, dict):
        return {at}
    return {place for name, inner in value.items() for place in places(inner, f"{at}.{name}".lstrip("."))}


def written(folder: Path, text: str) -> Path:
    """A policy file with this text."""
    path = folder / "brain.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_deployed_policy_is_the_default() -> None:
    assert load(DEPLOYED) == load(None) == Policy()


def test_the_deployed_policy_names_every_value() -> None:
    assert places(yaml.safe_load(DEPLOYED.read_text(encoding="utf-8"))) == places(Policy())


def test_every_assertion_has_a_standing() -> None:
    assert set(Policy().confidence.standings) == set(get_args(Assertion))
    assert all(each.initial <= each.cap for each in Policy().confidence.standings.values())


def test_a_claim_for_oneself_is_worth_less_however_it_is_made() -> None:
    policy = Policy().confidence
    assert policy.standing("directive", ("self_benefit",)) == policy.self_benefit
    assert policy.standing("directive").initial > policy.self_benefit.cap


def test_what_is_left_out_keeps_its_default(tmp_path: Path) -> None:
    policy = load(written(tmp_path, "compose: {evidence_max: 3}\n"))
    assert (policy.compose.evidence_max, policy.compose.recent_turns_max) == (3, Policy().compose.recent_turns_max)
    assert load(written(tmp_path, "# nothing\n")) == Policy()


def test_the_version_follows_the_values(tmp_path: Path) -> None:
    changed = load(written(tmp_path, "compose: {evidence_max: 3}\n"))
    assert changed.version != Policy().version == load(DEPLOYED).version


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
        ("- compose", ""),
        ("compose: {", ""),
    ],
)
def test_a_bad_value_is_refused_with_its_place(tmp_path: Path, text: str, place: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigurationError) as refused:
        load(path)
    assert str(refused.value).startswith(f"{path}: {place}")


def test_a_missing_file_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.yml"):
        load(tmp_path / "none.yml")


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
def test_a_budget_that_cannot_hold_what_is_never_cut_stops_the_start(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(written(tmp_path, f"compose: {{budget: {{{text}}}}}\n"))
    assert "compose.budget" in str(caught.value)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("slot", "size", "named"),
    [
        ("generation", 100, "profiles.8k.generation: 100 is less than"),
        ("knowledge", 4000, "profiles.8k: its slots need"),
    ],
)
def test_a_profile_holds_its_minima_within_its_window(tmp_path: Path, slot: str, size: int, named: str) -> None:
    profiles = {name: each.model_dump() for name, each in Policy().compose.budget.profiles.items()}
    profiles["8k"][slot] = size
    with pytest.raises(ConfigurationError, match=named):
        load(written(tmp_path, yaml.safe_dump({"compose": {"budget": {"profiles": profiles}}})))
