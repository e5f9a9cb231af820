from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from schemas.compose import ComposeRequest
from schemas.envelope import Envelope
from schemas.generate import CONTRACTS
from schemas.memory_item import MemoryItem, WriteReceipt
from schemas.topics import PAYLOADS
from schemas.turn_events import TurnEvents
from tests.unit.schemas.examples import (
    CONTRACT_EXAMPLES,
    EVENT_EXAMPLES,
    EXAMPLES,
    contract_of,
    read,
    schema_of,
)


def test_every_contract_has_an_example() -> None:
    assert {contract_of(name) for name in CONTRACT_EXAMPLES} == set(CONTRACTS) - {"Envelope"}


def test_every_event_type_has_an_example_of_its_name() -> None:
    assert {name.removeprefix("events/") for name in EVENT_EXAMPLES} == set(PAYLOADS)
    for name in EVENT_EXAMPLES:
        assert EXAMPLES[name]["event_type"] == name.removeprefix("events/")


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_survives_serialisation(name: str) -> None:
    for model in read(name):
        kind = type(model)
        assert kind.model_validate_json(model.model_dump_json()) == model
        assert kind.model_validate_json(model.model_dump_json(by_alias=True)) == model
        assert kind.model_validate_json(model.model_dump_json(exclude_none=True)) == model


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_matches_its_json_schema(name: str) -> None:
    assert [error.message for error in Draft202012Validator(schema_of(name)).iter_errors(EXAMPLES[name])] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_serialised_examples_match_the_same_json_schema(name: str) -> None:
    model, *payload = read(name)
    written = model.model_dump(mode="json")
    if payload:
        written["payload"] = payload[0].model_dump(mode="json")
    assert [error.message for error in Draft202012Validator(schema_of(name)).iter_errors(written)] == []


def test_every_field_occurs_in_some_example() -> None:
    shown: set[str] = set()
    for name in EXAMPLES:
        for model in read(name):
            shown |= set(_list_fields(model))
    models = {*CONTRACTS.values(), *PAYLOADS.values()}
    everything = {name for model in models for name in _fields(model, set())}
    assert everything - shown == set()


def _owner(model: type[BaseModel], field: str) -> str:
    return next(f"{c.__name__}.{field}" for c in reversed(model.__mro__) if field in vars(c).get("__annotations__", {}))


def _list_fields(model: BaseModel) -> Iterator[str]:
    for name in model.model_fields_set:
        value = getattr(model, name)
        if value not in (None, (), [], {}):
            yield _owner(type(model), name)
        for inner in _models(value):
            yield from _list_fields(inner)


def _models(value: Any) -> Iterator[BaseModel]:
    if isinstance(value, BaseModel):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _models(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _models(each)


def _fields(kind: Any, seen: set[Any]) -> Iterator[str]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if kind in seen:
            return
        seen.add(kind)
        for name, field in kind.model_fields.items():
            yield _owner(kind, name)
            yield from _fields(field.annotation, seen)
    for part in getattr(kind, "__args__", ()):
        yield from _fields(part, seen)


@pytest.mark.parametrize("older", ["item_id", "memory_item_id"])
def test_older_names_of_a_memory_are_read_and_never_written(older: str) -> None:
    item = MemoryItem.model_validate(EXAMPLES[f"MemoryItem.{older}"])
    assert str(item.memory_id) == EXAMPLES[f"MemoryItem.{older}"][older]
    assert older not in item.model_dump()


def test_a_receipt_accepts_the_older_name_too() -> None:
    receipt = WriteReceipt.model_validate(EXAMPLES["WriteReceipt.item_id"])
    assert str(receipt.memory_id) == EXAMPLES["WriteReceipt.item_id"]["item_id"]


def test_an_erasure_request_accepts_the_older_name_of_memories_too() -> None:
    asked = CONTRACTS["ErasureRequest"].model_validate(EXAMPLES["ErasureRequest.items"])
    assert asked.model_dump(mode="json")["memory_ids"] == EXAMPLES["ErasureRequest.items"]["item_ids"]


def test_a_memory_without_any_of_its_names_does_not_match_the_json_schema() -> None:
    nameless = {name: value for name, value in EXAMPLES["MemoryItem"].items() if name != "memory_id"}
    assert not Draft202012Validator(schema_of("MemoryItem")).is_valid(nameless)


def test_nested_turn_events_equal_flat_ones() -> None:
    nested = EXAMPLES["TurnEvents.nested"]
    flat = {**nested["turn_events"], "user_id": nested["user_id"], "session_id": nested["session_id"]}
    assert TurnEvents.model_validate(nested) == TurnEvents.model_validate(flat)


def test_a_plain_text_is_a_user_message_and_token_budget_is_a_limit() -> None:
    asked = ComposeRequest.model_validate(EXAMPLES["ComposeRequest.text"])
    assert (asked.user_message.content, asked.token_limit) == ("周五几点见陈经理？", 4096)


def test_only_the_text_of_blocks_is_the_users_message() -> None:
    message = ComposeRequest.model_validate(EXAMPLES["ComposeRequest.blocks"]).user_message
    assert message.words == "Who is in this picture?"
    assert [block.type for block in message.blocks] == ["text", "image"]
    assert message.blocks[1].fallback == "两个人在西湖边喝茶"


def test_examples_exist_in_both_languages() -> None:
    for name in ("TurnEvents", "ComposeRequest", "ContextPackage", "EvidencePack", "RetrievalPlan", "RetrieveRequest"):
        text = str(EXAMPLES[name])
        assert any("\u4e00" <= char <= "\u9fff" for char in text), name
        assert any(char.isascii() and char.isalpha() for char in text), name


def test_the_key_of_an_event_is_its_user() -> None:
    envelope = Envelope.model_validate(EXAMPLES["events/turn.committed"])
    assert envelope.key == "acme:lin"


def test_a_deletion_event_is_written_as_from_and_to() -> None:
    _, payload = read("events/deletion_event")
    assert {"from", "to"} < set(payload.model_dump(mode="json"))
