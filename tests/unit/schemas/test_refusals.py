"""An invalid value is refused with the name of its field, never with the value."""

import copy
import json
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.envelope import Envelope
from schemas.generate import CONTRACTS
from schemas.topics import PAYLOADS
from shared.errors import RefusedError
from shared.parsing import parse, problems
from tests.unit.schemas.examples import EVENT_EXAMPLES, EXAMPLES

MISSING = object()
ENTRY = {"role": "user", "content": "好"}
QUERY = {"text": "龙井"}

NAMED = {"type": "note", "memory_id": "019caf2e-0000-7000-8000-000000000003"}
CASES: list[tuple[str, str, Any]] = [
    # ExportDocument
    ("ExportDocument", "version", 2),
    ("ExportDocument", "format", "smartbrain.backup"),
    ("ExportDocument", "counts", MISSING),
    ("ExportDocument", "memories.0.confidence", 1.5),
    ("ExportDocument", "memories.0.type", "mood"),
    ("ExportDocument", "memories.0.content", " "),
    ("ExportDocument", "memories.1.valid_at", "yesterday"),
    ("ExportDocument", "turns.0.session_id", ""),
    ("ExportDocument", "turns.0.events.0.content", "I live in Lisbon."),
    # TurnEvents
    ("TurnEvents", "user_id", MISSING),
    ("TurnEvents", "session_id", MISSING),
    ("TurnEvents", "user_id", ""),
    ("TurnEvents", "user_id", "   "),
    ("TurnEvents", "user_id", None),
    ("TurnEvents", "user_id", 7),
    ("TurnEvents", "user_id", "x" * 129),
    ("TurnEvents", "user_id", "a\x00b"),
    ("TurnEvents", "user_id", " alice"),
    ("TurnEvents", "user_id", "李明\u3000"),
    ("TurnEvents", "user_id", "alice\n"),
    ("TurnEvents", "session_id", "a\tb"),
    ("TurnEvents", "session_id", "a\u2028b"),
    ("TurnEvents", "tenant_id", "\ufeffacme"),
    ("TurnEvents", "idempotency_key", "k\x85"),
    ("TurnEvents", "messages.0.content", [{"type": "image", "media_id": " m", "text_fallback": "一张图"}]),
    ("TurnEvents", "session_id", ["s"]),
    ("TurnEvents", "tenant_id", "租" * 129),
    ("TurnEvents", "idempotency_key", "k" * 129),
    ("TurnEvents", "version", "1.0"),
    ("TurnEvents", "created_at", "yesterday"),
    ("TurnEvents", "context_id", "no-uuid"),
    ("TurnEvents", "end_session", "soon"),
    ("TurnEvents", "messages", "你好"),
    ("TurnEvents", "messages", [ENTRY] * 65),
    ("TurnEvents", "messages.0", "你好"),
    ("TurnEvents", "messages.0.role", "boss"),
    ("TurnEvents", "messages.0.role", MISSING),
    ("TurnEvents", "messages.0.content", MISSING),
    ("TurnEvents", "messages.0.content", 1),
    ("TurnEvents", "messages.0.content", None),
    ("TurnEvents", "messages.0.content", "\x00"),
    ("TurnEvents", "messages.1.content", "长" * 200_001),
    ("TurnEvents", "messages.1.name", "n" * 513),
    ("TurnEvents", "messages.1.model", {}),
    ("TurnEvents", "messages.1.created_at", "2026-13-01T00:00:00Z"),
    ("TurnEvents", "tool_calls", [{"name": "t"}] * 129),
    ("TurnEvents", "tool_calls.0.name", MISSING),
    ("TurnEvents", "tool_calls.0.name", ""),
    ("TurnEvents", "tool_calls.0.args", "day=1"),
    ("TurnEvents", "tool_calls.0.args", {"day": {"of": ["a\x00"]}}),
    ("TurnEvents", "tool_calls.0.args", {"da\x00y": 1}),
    ("TurnEvents", "tool_calls.0.result", "\x00"),
    ("TurnEvents", "tool_calls.0.status", "done"),
    ("TurnEvents", "tool_calls.0.call_id", 1),
    ("TurnEvents", "refs", [{"ref_type": "url", "ref_uri": "u"}] * 129),
    ("TurnEvents", "refs.0.ref_type", "image"),
    ("TurnEvents", "refs.0.ref_uri", ""),
    ("TurnEvents", "refs.0.ref_uri", "u" * 4097),
    ("TurnEvents", "refs.0.title", "t" * 513),
    ("TurnEvents", "refs.0.meta", []),
    ("TurnEvents", "refs.0.meta", {"of": "\x00"}),
    ("TurnEvents", "items", [{"type": "note", "text": "n"}] * 129),
    ("TurnEvents", "items.0.type", "mood"),
    ("TurnEvents", "items.0.value", [{"a\x00": "茶"}]),
    ("TurnEvents", "items.0.confidence", 1.1),
    ("TurnEvents", "items.0.confidence", -0.1),
    ("TurnEvents", "items.0.confidence", "high"),
    ("TurnEvents", "items.0.confirmed", "perhaps"),
    ("TurnEvents", "items.1.memory_id", "123"),
    # ComposeRequest
    ("ComposeRequest", "user_id", MISSING),
    ("ComposeRequest", "user_id", "alice\xa0"),
    ("ComposeRequest", "org_id", "acme\r"),
    ("ComposeRequest", "session_id", MISSING),
    ("ComposeRequest", "user_message", MISSING),
    ("ComposeRequest", "user_message", 5),
    ("ComposeRequest", "user_message.content", MISSING),
    ("ComposeRequest", "user_message.content", ""),
    ("ComposeRequest", "user_message.content", " \n\t"),
    ("ComposeRequest", "user_message.content", "字" * 400_001),
    ("ComposeRequest", "user_message.content", []),
    ("ComposeRequest", "user_message.content", [{"type": "image", "text_fallback": "一张图"}]),
    ("ComposeRequest", "user_message.content", [{"type": "text", "text": " "}]),
    ("ComposeRequest", "user_message.role", "assistant"),
    ("ComposeRequest", "user_message.name", "n" * 129),
    ("ComposeRequest", "budget_profile", "64k"),
    ("ComposeRequest", "token_limit", 255),
    ("ComposeRequest", "token_limit", 4_000_001),
    ("ComposeRequest", "token_limit", "many"),
    ("ComposeRequest", "model_window", 1),
    ("ComposeRequest", "deadline_ms", 0),
    ("ComposeRequest", "deadline_ms", 30_001),
    ("ComposeRequest", "agent_state", []),
    ("ComposeRequest", "agent_state", {"mood": "\x00"}),
    ("ComposeRequest", "version", "1.0"),
    ("ComposeRequest", "request_id", ""),
    ("ComposeRequest", "debug", "perhaps"),
    # RetrievalPlan
    ("RetrievalPlan", "version", MISSING),
    ("RetrievalPlan", "version", "2.0"),
    ("RetrievalPlan", "queries", MISSING),
    ("RetrievalPlan", "queries", []),
    ("RetrievalPlan", "queries", [QUERY] * 33),
    ("RetrievalPlan", "queries.0.text", MISSING),
    ("RetrievalPlan", "queries.0.text", "  "),
    ("RetrievalPlan", "queries.0.text", "问" * 4001),
    ("RetrievalPlan", "queries.0.mode", "fuzzy"),
    ("RetrievalPlan", "queries.0.weight", -1),
    ("RetrievalPlan", "queries.0.weight", 11),
    ("RetrievalPlan", "queries.0.filters.language", ["fr"]),
    ("RetrievalPlan", "queries.0.filters.time_range.from", "soon"),
    ("RetrievalPlan", "purpose", "fun"),
    ("RetrievalPlan", "global_filters.document_ids", "doc"),
    ("RetrievalPlan", "global_filters.document_ids", ["d"] * 501),
    ("RetrievalPlan", "global_filters.source_type", ["ftp"]),
    ("RetrievalPlan", "global_filters.source_uri_prefix.0", ""),
    ("RetrievalPlan", "budget.top_k", 0),
    ("RetrievalPlan", "budget.top_k", 201),
    ("RetrievalPlan", "budget.candidate_k", 1001),
    ("RetrievalPlan", "budget.per_mode_k.exact", -1),
    ("RetrievalPlan", "budget.diversity.by_document", 0),
    ("RetrievalPlan", "ranking.fusion.method", "magic"),
    ("RetrievalPlan", "ranking.fusion.rrf_k", 0),
    ("RetrievalPlan", "ranking.fusion.weights.exact", "heavy"),
    ("RetrievalPlan", "ranking.rerank.top_n", 1.5),
    ("RetrievalPlan", "ranking.tie_breaker", "coin"),
    ("RetrievalPlan", "output.snippet_policy", "l3"),
    ("RetrievalPlan", "output.max_snippet_chars", 20_001),
    ("RetrievalPlan", "debug.notes", "n" * 4001),
    ("RetrieveRequest", "user_id", MISSING),
    ("RetrieveRequest", "tenant_id", ""),
    ("RetrieveRequest", "queries", []),
    # ErasureRequest
    ("ErasureRequest", "user_id", MISSING),
    ("ErasureRequest", "user_id", "a\x00b"),
    ("ErasureRequest", "session_ids.0", "s "),
    ("ErasureRequest", "tenant_id", ""),
    ("ErasureRequest", "scope", MISSING),
    ("ErasureRequest", "scope", "everything"),
    ("ErasureRequest", "scope", ["all"]),
    ("ErasureRequest", "session_ids", "trip-to-hangzhou"),
    ("ErasureRequest", "session_ids", ["s"] * 1001),
    ("ErasureRequest", "session_ids.0", " "),
    ("ErasureRequest", "memory_ids", ["019c75c5-7200-7893-923f-0824128b2f33"] * 1001),
    ("ErasureRequest", "memory_ids", {}),
    ("ErasureRequest", "requested_by", "o" * 129),
    ("ErasureRequest", "reason", "因" * 501),
    ("ErasureRequest", "profile", "p" * 65),
    ("ErasureRequest", "profile", 7),
    ("ErasureRequest", "idempotency_key", ""),
    ("ErasureRequest", "idempotency_key", "k" * 257),
    # responses of SmartBrain
    ("DeletionReceipt", "tombstone_id", MISSING),
    ("DeletionReceipt", "status", "gone"),
    ("DeletionReceipt", "item_count", "all"),
    ("DeletionReceipt", "deadline_at", "soon"),
    ("CommitResult", "turn_id", MISSING),
    ("CommitResult", "accepted.messages", MISSING),
    ("ErrorReply", "code", MISSING),
    ("ErrorReply", "details.0.field", 3),
    ("EvidencePack", "plan.queries", []),
    ("EvidencePack", "evidences.0.provenance", MISSING),
    ("EvidencePack", "evidences.0.kind", "rumour"),
    ("EvidencePack", "evidences.2.raw.content_hash", "md5:0"),
    ("ContextPackage", "user_message", MISSING),
    ("ContextPackage", "constraints", MISSING),
    ("ContextPackage", "evidence.0.source", "web"),
    ("ContextPackage", "system_blocks.0.type", "mood"),
    ("ContextPackage", "recent_turns.0.role", "boss"),
    ("ContextPackage", "constraints.token_budget.limit", MISSING),
    ("MemoryItem", "memory_id", MISSING),
    ("MemoryItem", "confidence", 1.01),
    ("MemoryItem", "version", 0),
    ("MemoryItem", "memory_type", "rumour"),
    ("ArchiveReceipt", "turn_id", MISSING),
    ("ArchiveReceipt", "state", "gone"),
    ("ArchiveReceipt", "archived_at", "later"),
    ("WriteReceipt", "status", "maybe"),
]


def change_value(raw: Any, path: str, value: Any) -> Any:
    """A copy of the example with this value at `path`, or without the field."""
    body = copy.deepcopy(raw)
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place = body
    for part in way:
        place = place[part]
    if value is MISSING:
        del place[last]
    else:
        place[last] = value
    return body


def _id(value: Any) -> str:
    return "missing" if value is MISSING else repr(value)[:20].replace("\\", "")


@pytest.mark.parametrize(
    ("name", "path", "value"), CASES, ids=lambda value: value if isinstance(value, str) else _id(value)
)
def test_a_refusal_names_the_field(name: str, path: str, value: Any) -> None:
    body = change_value(EXAMPLES[name], path, value)
    with pytest.raises(ValidationError) as caught:
        CONTRACTS[name].model_validate(body)
    named = {problem.field for problem in problems(caught.value)}
    assert any(field == path or field.startswith(f"{path}.") for field in named), named
    assert len(named) == 1


@pytest.mark.parametrize(("name", "path", "value"), [case for case in CASES if case[2] is not MISSING][:20])
def test_the_edge_refuses_in_the_same_way_without_repeating_the_value(name: str, path: str, value: Any) -> None:
    body = json.dumps(change_value(EXAMPLES[name], path, value), ensure_ascii=False).encode()
    with pytest.raises(RefusedError) as caught:
        parse(CONTRACTS[name], body)
    assert caught.value.details[0].field.startswith(path)
    assert "\x00" not in caught.value.message
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("name", EVENT_EXAMPLES)
def test_every_missing_required_field_of_an_event_is_named(name: str) -> None:
    raw = EXAMPLES[name]
    kind = PAYLOADS[raw["event_type"]]
    required = [field.alias or name for name, field in kind.model_fields.items() if field.is_required()]
    for field in required:
        with pytest.raises(ValidationError) as caught:
            kind.model_validate({key: value for key, value in raw["payload"].items() if key != field})
        assert [error["loc"] for error in caught.value.errors()] == [(field,)]


@pytest.mark.parametrize(
    "field",
    ["event_id", "event_type", "idempotency_key", "trace_id", "tenant_id", "user_id", "occurred_at", "policy_version"],
)
def test_an_envelope_without_one_of_its_fields_is_refused(field: str) -> None:
    raw = {key: value for key, value in EXAMPLES["events/turn.committed"].items() if key != field}
    with pytest.raises(ValidationError) as caught:
        Envelope.model_validate(raw)
    assert [error["loc"] for error in caught.value.errors()] == [(field,)]


@pytest.mark.parametrize(
    ("name", "change", "field", "problem"),
    [
        ("TurnEvents", {"messages": [], "tool_calls": [], "refs": [], "items": []}, "body", "at least one of"),
        ("TurnEvents", {"items": [{"type": "note"}]}, "items.0", "needs a value or a text"),
        ("TurnEvents", {"items": [{"type": "note", "retract": True}]}, "items.0", "needs its key or its memory_id"),
        ("TurnEvents", {"items": [{"type": "note", "pin": True}]}, "items.0", "needs its memory_id"),
        ("TurnEvents", {"items": [{**NAMED, "pin": True, "retract": True}]}, "items.0", "does one thing"),
        (
            "RetrievalPlan",
            {"global_filters": {"time_range": {"from": "2026-02-02T00:00:00Z", "to": "2026-02-01T00:00:00Z"}}},
            "global_filters.time_range",
            "must not be after",
        ),
    ],
)
def test_contradictory_fields_are_refused(name: str, change: dict[str, Any], field: str, problem: str) -> None:
    with pytest.raises(ValidationError) as caught:
        CONTRACTS[name].model_validate({**EXAMPLES[name], **change})
    (found,) = problems(caught.value)
    assert found.field == field
    assert problem in found.problem


def test_every_inbound_contract_has_cases() -> None:
    assert {name for name, _, _ in CASES} == set(CONTRACTS) - {"Envelope"}


def test_contracts_are_frozen() -> None:
    for name in set(CONTRACTS) - {"Envelope"}:
        model = CONTRACTS[name].model_validate(EXAMPLES[name])
        with pytest.raises(ValidationError):
            setattr(model, next(iter(CONTRACTS[name].model_fields)), None)
