"""The committed examples, each with its model."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import schemas
from schemas.envelope import Envelope
from schemas.generate import CONTRACTS
from schemas.topics import PAYLOADS

ROOT = Path(schemas.__file__).parent
GENERATED = ROOT / "generated"
EXAMPLES: dict[str, Any] = {
    path.relative_to(ROOT / "examples").with_suffix("").as_posix(): json.loads(path.read_bytes())
    for path in sorted((ROOT / "examples").rglob("*.json"))
}
CONTRACT_EXAMPLES = sorted(name for name in EXAMPLES if not name.startswith("events/"))
EVENT_EXAMPLES = sorted(name for name in EXAMPLES if name.startswith("events/"))


def contract_of(name: str) -> str:
    """`MemoryItem.item_id` is an example of MemoryItem."""
    return name.partition(".")[0]


def read(name: str) -> list[BaseModel]:
    """The example parsed as its model: a contract, or an envelope and its payload."""
    if name in CONTRACT_EXAMPLES:
        return [CONTRACTS[contract_of(name)].model_validate(EXAMPLES[name])]
    envelope = Envelope.model_validate(EXAMPLES[name])
    return [envelope, PAYLOADS[envelope.event_type].model_validate(envelope.payload)]


def schema_of(name: str) -> dict[str, Any]:
    """The committed JSON Schema of an example."""
    place = f"json/{name if name in EVENT_EXAMPLES else contract_of(name)}.schema.json"
    return json.loads((GENERATED / place).read_bytes())
