import copy
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from schemas.base import ignored_fields
from schemas.envelope import Envelope
from schemas.evidence_pack import EvidencePack
from schemas.generate import CONTRACTS
from schemas.topics import PAYLOADS
from schemas.turn_events import TurnEvents
from tests.unit.schemas.examples import CONTRACT_EXAMPLES, EVENT_EXAMPLES, EXAMPLES, contract_of, read

FLAT = [name for name in CONTRACT_EXAMPLES if "turn_events" not in EXAMPLES[name]]
FUTURE = "from_a_later_version"


def _objects(model: Any, raw: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the example that a contract parses, with its path."""
    if isinstance(model, BaseModel) and isinstance(raw, dict):
        yield path, raw
        for name, field in type(model).model_fields.items():
            key = field.alias or name
            if key in raw:
                yield from _objects(getattr(model, name), raw[key], f"{path}.{key}" if path else key)
    elif isinstance(model, list | tuple) and isinstance(raw, list):
        for i, (each, inner) in enumerate(zip(model, raw, strict=True)):
            yield from _objects(each, inner, f"{path}[{i}]")
    elif isinstance(model, dict) and isinstance(raw, dict):
        for key, each in model.items():
            yield from _objects(each, raw[key], f"{path}.{key}")


@pytest.mark.parametrize("name", FLAT)
def test_a_contract_ignores_unknown_fields_everywhere_and_names_each(name: str) -> None:
    kind, raw = CONTRACTS[contract_of(name)], copy.deepcopy(EXAMPLES[name])
    (known,) = read(name)
    places = list(_objects(known, raw))
    for _, place in places:
        place[FUTURE] = {"any": ["thing"]}
    assert kind.model_validate(raw) == known
    assert sorted(ignored_fields(kind, raw)) == sorted(f"{path}.{FUTURE}" if path else FUTURE for path, _ in places)


@pytest.mark.parametrize("name", EVENT_EXAMPLES)
def test_an_event_ignores_unknown_fields_of_envelope_and_payload(name: str) -> None:
    envelope, payload = read(name)
    raw = {**EXAMPLES[name], FUTURE: 1}
    assert Envelope.model_validate(raw) == envelope
    assert ignored_fields(Envelope, raw) == [FUTURE]
    inner = {**raw["payload"], FUTURE: None}
    kind = PAYLOADS[raw["event_type"]]
    assert kind.model_validate(inner) == payload
    assert ignored_fields(kind, inner) == [FUTURE]


@pytest.mark.parametrize("name", FLAT)
def test_an_example_has_no_ignored_field(name: str) -> None:
    assert ignored_fields(CONTRACTS[contract_of(name)], EXAMPLES[name]) == []


@pytest.mark.parametrize("name", EVENT_EXAMPLES)
def test_an_event_example_has_no_ignored_field(name: str) -> None:
    raw = EXAMPLES[name]
    assert ignored_fields(Envelope, raw) + ignored_fields(PAYLOADS[raw["event_type"]], raw["payload"]) == []


def test_fields_are_named_in_lists_and_maps() -> None:
    raw = {"stats": {"by_mode": {"exact": {"found": 1}}}, "evidences": [{}, {"ref": {"page": 2}}]}
    assert ignored_fields(EvidencePack, raw) == ["stats.by_mode.exact.found", "evidences[1].ref.page"]


def test_free_form_values_are_not_inspected() -> None:
    raw = {"tool_calls": [{"name": "x", "args": {"anything": {"goes": 1}}, "result": {"here": "too"}}]}
    assert ignored_fields(TurnEvents, raw) == []


@pytest.mark.parametrize("raw", [None, [], "text", 1, {"messages": "text"}, {"messages": [None, 1, "x"]}])
def test_values_of_the_wrong_type_are_left_to_validation(raw: Any) -> None:
    assert ignored_fields(TurnEvents, raw) == []


def test_an_invalid_field_name_is_named() -> None:
    assert ignored_fields(TurnEvents, {"": 1, "心情": 2}) == ["", "心情"]
