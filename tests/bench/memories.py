"""Memories provided by the caller, and cases of which of them a query must and must not return."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.turn_events import StructuredItem
from services.compose.manage import memories
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from tests.bench import store
from tests.bench.figures import Figures

USER = "memories"
OTHER = "somebody else"
TYPES = {"preference": "preference", "decision": "decision", "entity": "entity", "relation": "entity"}
"""The product's type for each type in the file; an open question is a note."""


@dataclass(frozen=True)
class Query:
    """A query: the memories that answer it, those that are allowed, and those that are forbidden."""

    text: str
    wanted: frozenset[str]
    allowed: frozenset[str]
    excluded: frozenset[str]


def is_memories(path: Path) -> bool:
    """Whether the file contains memories and cases instead of conversations."""
    return path.suffix == ".json" and isinstance(json.loads(path.read_text()), dict)


def read(path: Path) -> tuple[list[dict[str, Any]], list[Query]]:
    """The memories by age, and the cases with a meaningful query."""
    held = json.loads(path.read_text())
    queries = [_query(case) for case in held["cases"] if case["query"].strip()]
    return sorted(held["beliefs"], key=lambda each: each["created_at"]), queries


def _query(case: Mapping[str, Any]) -> Query:
    def named(*kinds: str) -> frozenset[str]:
        parts = (part for part in case["expect"].values() if isinstance(part, dict))
        return frozenset(id for part in parts for kind in kinds for id in part.get(kind) or ())

    wanted = frozenset(case["expect"].get("relevantBeliefs", {}).get("shouldOnlyInclude") or ())
    return Query(case["query"], wanted, named("mustInclude", "shouldOnlyInclude"), named("mustExclude"))


async def remember(rt: Runtime, beliefs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The memory's id in the file for each turn that provided one; a superseded memory is retracted by the next."""
    named: dict[str, str] = {}
    for each in beliefs:
        user = OTHER if each["canonical_name"] == "other_user_secret" else USER
        moment = datetime.fromisoformat(each["created_at"]).astimezone(UTC)
        named[await store.remember(rt, user, [_item(each)], moment)] = each["_id"]
        await store.settle(rt)
        for other in beliefs:
            if other["superseded_by"] == each["_id"]:
                await _retract(rt, _item(other).text or "")
    return named


def _item(belief: Mapping[str, Any]) -> StructuredItem:
    called = f" (also called {', '.join(belief['aliases'])})" if belief["aliases"] else ""
    kind: Any = TYPES.get(belief["type"], "note")
    return StructuredItem(type=kind, text=belief["content"] + called, confirmed=True)


async def _retract(rt: Runtime, text: str) -> None:
    subject = Subject(store.TENANT, USER)
    page = await memories.load_page(rt, subject, status="active", type=None, query=None, limit=200, offset=0)
    for known in page.memories:
        if known.content == text:
            await memories.retract(rt, subject, known.memory_id)
    await store.settle(rt)


async def measure(rt: Runtime, queries: Sequence[Query], named: Mapping[str, str]) -> dict[str, Figures]:
    """The figures of /v1/retrieve, of a package's evidence, and of evidence with core memory."""
    counted: dict[str, Counter[str]] = {"retrieve": Counter(), "evidence": Counter(), "evidence and core": Counter()}
    for query in queries:
        pack = await store.search(rt, USER, query.text)
        made = await store.package(rt, USER, query.text)
        evidence = [named.get(each.ref.turn_id or "", "") for each in made.evidence]
        core = [named.get(each.source.turn_id or "", "") for each in made.system_blocks if each.source.memory_item_id]
        counted["retrieve"] += judge(query, [named.get(each.ref.turn_id or "", "") for each in pack.evidences])
        counted["evidence"] += judge(query, evidence)
        counted["evidence and core"] += judge(query, [*evidence, *core])
    return {name: figures(each) for name, each in counted.items()}


def judge(query: Query, returned: Sequence[str]) -> Counter[str]:
    """The numbers of results, correct results, needed memories, found ones, and so on."""
    came = set(returned)
    wrong = came & query.excluded
    return Counter(
        returned=len(came),
        right=len(came & (query.wanted | query.allowed)),
        wanted=len(query.wanted),
        there=len(came & query.wanted),
        excluded=len(wrong),
        clean=int(query.wanted <= came <= query.wanted | query.allowed),
        queries=1,
    )


def figures(counted: Counter[str]) -> Figures:
    """Precision and recall over all results and all needed memories, and the share of queries without a fault."""
    return {
        "precision": round(counted["right"] / max(1, counted["returned"]), 4),
        "recall": round(counted["there"] / max(1, counted["wanted"]), 4),
        "clean": round(counted["clean"] / max(1, counted["queries"]), 4),
        "excluded shown": float(counted["excluded"]),
    }
