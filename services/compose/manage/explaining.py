"""Composes packages for inspection, and lists those in which a memory was used.

A package is composed for a message under a policy with overridden keys, or again for a stored package.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from pydantic import ValidationError

from schemas.compose import ComposeRequest, IncomingMessage
from schemas.context_package import ContextPackage
from schemas.explanation import ChangedItem, ExplainRequest, Explanation, Replay, ReplayedItem
from schemas.receipts import MemoryUses
from schemas.turn_events import FieldProblem
from services.compose.context.explain import explain_composition
from services.compose.context.pipeline import compose_unrecorded
from services.compose.manage.memories import refuse_missing
from services.compose.receipts import packages
from services.compose.rules.packing.receipts import Told
from shared import clock
from shared.domain.subjects import Subject
from shared.errors import RefusedError, refuse_fields
from shared.policy import ComposePolicy, Policy
from shared.runtime import Runtime
from shared.store import contexts, memory, uses, versions

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
        return Policy.model_validate(_merge_keys(policy.model_dump(), overrides))
    except ValidationError as error:
        raise _refuse_overrides([(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]) from error


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
        raise _refuse_overrides(problems)


def _merge_keys(whole: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(whole)
    for name, value in changed.items():
        here = merged.get(name)
        both = isinstance(here, Mapping) and isinstance(value, Mapping)
        merged[name] = _merge_keys(cast("Mapping[str, Any]", here), cast("Mapping[str, Any]", value)) if both else value
    return merged


def _refuse_overrides(problems: list[tuple[str, str]]) -> RefusedError:
    told = tuple(FieldProblem(field=f"policy.{name}", problem=problem) for name, problem in problems)
    return refuse_fields("invalid_request", told)


async def list_uses(rt: Runtime, subject: Subject, memory_id: UUID, limit: int, offset: int) -> MemoryUses:
    """When the memory, in any version, was used, for which message, and its reception; newest first. RefusedError 404:
    the user has no such memory."""
    async with rt.db.transaction(subject) as conn:
        line = await versions.line(conn, subject, memory_id)
        if not line:
            raise refuse_missing("memory_id")
        ids = [each.memory_id for each in line]
        return MemoryUses(uses=tuple(await uses.load_uses(conn, subject, ids, limit, offset)))


MEMORY = "memory:"
_FENCE = re.compile(r"\A<[a-z_]+ nonce=[^>]*>|</[a-z_]+>\Z")
"""The tags around texts; their nonce differs in each package."""


async def explain(rt: Runtime, request: ExplainRequest, ignored: Sequence[str], language: Told) -> Explanation:
    """The package of the message under the requested policy, with its full explanation; nothing is recorded."""
    own = await with_overrides(rt, Subject(request.tenant_id, request.user_id), request.policy)
    plain = ComposeRequest.model_construct(**{name: getattr(request, name) for name in ComposeRequest.model_fields})
    composition = await compose_unrecorded(plain, own)
    told = explain_composition(composition, own.version, ignored, language)
    return told.model_copy(update={"policy": request.policy})


async def replay(rt: Runtime, subject: Subject, context_id: UUID, language: Told) -> Replay:
    """What the request of a stored package returns now, and the difference; 404 and 410 as for packages."""
    before = await packages.load_package(rt, subject, context_id)
    async with rt.db.transaction(subject) as conn:
        receipts = await contexts.receipts(conn, subject, context_id)
    request = _rebuild_request(subject, before, receipts.retrieval.get("asked", {}) if receipts else {})
    explanation = await explain(rt, request, (), language)
    was, now = _list_items(before), _list_items(explanation.package)
    gone, new = [was[key] for key in was if key not in now], [now[key] for key in now if key not in was]
    changed = [(was[key], now[key]) for key in was if key in now and was[key].text != now[key].text]
    same = sum(key in now for key in was) - len(changed)
    versions = await _pair_versions(rt, subject, gone, new)
    replaced = {each.id for pair in versions for each in pair}
    return Replay(
        context_id=before.context_id,
        created_at=before.created_at,
        replayed_at=clock.now(),
        gone=[each for each in gone if each.id not in replaced],
        new=[each for each in new if each.id not in replaced],
        changed=[ChangedItem(before=old, now=one) for old, one in (*changed, *versions)],
        same=same,
        before=before,
        explanation=explanation,
    )


def _rebuild_request(subject: Subject, package: ContextPackage, more: Mapping[str, object]) -> ExplainRequest:
    """The request, restored from the package and its receipts; secrets in the message are blanked there."""
    media = [part for part in package.user_message.content_parts if part.get("type") != "text"]
    content: object = package.user_message.content
    if media:
        content = package.user_message.content_parts
    return ExplainRequest.model_validate(
        {
            **more,
            "tenant_id": subject.tenant_id,
            "user_id": subject.user_id,
            "session_id": package.session_id,
            "user_message": IncomingMessage.model_validate({"content": content}),
            "token_limit": package.constraints.token_budget.limit,
        }
    )


def _list_items(package: ContextPackage) -> dict[str, ReplayedItem]:
    """The memories and resources in the package, by key."""
    items: dict[str, ReplayedItem] = {}
    for block in package.system_blocks:
        if block.source.memory_item_id:
            key = f"{MEMORY}{block.source.memory_item_id}"
            items[key] = ReplayedItem(id=key, slot="core", text=_FENCE.sub("", block.text))
    for each in package.evidence:
        items.setdefault(each.id, ReplayedItem(id=each.id, slot="evidence", text=_FENCE.sub("", each.snippet)))
    return items


async def _pair_versions(
    rt: Runtime, subject: Subject, gone: Iterable[ReplayedItem], new: Iterable[ReplayedItem]
) -> list[tuple[ReplayedItem, ReplayedItem]]:
    """Pairs of a memory that is gone and the newer version that replaced it."""
    old, fresh = _index_memories(gone), _index_memories(new)
    if not (old and fresh):
        return []
    async with rt.db.transaction(subject) as conn:
        found = await memory.by_ids(conn, subject, {*old, *fresh})
    roots = {each.memory_id: each.root_id for each in found}
    by_root = {roots[memory_id]: item for memory_id, item in fresh.items() if memory_id in roots}
    return [(item, by_root[roots[memory_id]]) for memory_id, item in old.items() if roots.get(memory_id) in by_root]


def _index_memories(items: Iterable[ReplayedItem]) -> dict[UUID, ReplayedItem]:
    return {UUID(each.id.removeprefix(MEMORY)): each for each in items if each.id.startswith(MEMORY)}
