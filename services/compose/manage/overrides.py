"""A policy for one answer: brain.yml with some compose keys overridden, validated like the file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from pydantic import ValidationError

from schemas.turn_events import FieldProblem
from shared.domain.subjects import Subject
from shared.errors import RefusedError, refuse_fields
from shared.policy import ComposePolicy, Policy
from shared.runtime import Runtime

PROTECTED = frozenset({"sanitize", "deadline_max_ms"})
"""Keys of `compose` that protect what is shown and limit a request; they cannot be overridden."""
OPEN_KEYS: dict[str, frozenset[str]] = {
    "compose": frozenset(ComposePolicy.model_fields) - PROTECTED,
    "knowledge": frozenset({"ask", "deadline_ms", "top_k", "weight", "precedence"}),
}
"""The keys that can be overridden, by section of brain.yml."""


async def with_overrides(rt: Runtime, owner: Subject, overrides: Mapping[str, Any]) -> Runtime:
    """The runtime under the owner's settings and these overrides; itself without any.

    RefusedError names keys that cannot be overridden.
    """
    if not overrides:
        return rt
    policy = override((await rt.of(owner)).policy, overrides)
    return replace(rt, policy=policy, version=policy.version, user_settings=None)


def override(policy: Policy, overrides: Mapping[str, Any]) -> Policy:
    """The policy with these keys overridden; RefusedError if one is unknown, protected, or has an invalid value."""
    refuse_protected(overrides)
    try:
        return Policy.model_validate(_merge(policy.model_dump(), overrides))
    except ValidationError as error:
        raise _refuse([(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]) from error


def refuse_protected(overrides: Mapping[str, Any]) -> None:
    """RefusedError names every key that is not about composing."""
    problems: list[tuple[str, str]] = []
    for part, keys in overrides.items():
        if part not in OPEN_KEYS:
            problems.append((part, f"is not about composing; there are {', '.join(sorted(OPEN_KEYS))}"))
        elif not isinstance(keys, Mapping):
            problems.append((part, "has keys"))
        else:
            names = cast("Mapping[str, Any]", keys)
            problems += [(f"{part}.{name}", "may not be set here") for name in names if name not in OPEN_KEYS[part]]
    if problems:
        raise _refuse(problems)


def _merge(whole: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(whole)
    for name, value in changed.items():
        here = merged.get(name)
        both = isinstance(here, Mapping) and isinstance(value, Mapping)
        merged[name] = _merge(cast("Mapping[str, Any]", here), cast("Mapping[str, Any]", value)) if both else value
    return merged


def _refuse(problems: list[tuple[str, str]]) -> RefusedError:
    told = tuple(FieldProblem(field=f"policy.{name}", problem=problem) for name, problem in problems)
    return refuse_fields("invalid_request", told)
