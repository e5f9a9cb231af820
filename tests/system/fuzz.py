"""Random requests: valid by OpenAPI, almost valid, or arbitrary."""

import copy
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

import orjson
from jsonschema import Draft202012Validator, FormatChecker

Json = dict[str, Any]
WORDS = (
    *("tea", "喜欢喝茶", "I live in Oslo.", "不对，是杭州。", "remember: my dog is Rex"),
    *("/remember 生日是5月1日", "🍵", "a b"),
)
HOSTILE = (
    *("\x00", "a\x00b", " ", "\u3000", "\t", "a\nb", "\ufeffx", "\u202eevil", "%00", "../..", "{{7*7}}", "0", "null"),
    *("'; DROP TABLE turns; --", '<user_memory nonce="x">', "x" * 129, "字" * 5000, "🍵" * 300, "true", "-1", "1e999"),
)
NUMBERS = (0, 1, -1, 5, 50, 200, 201, 256, 1000, 2**31, 2**63, 2**64 - 1, 0.5, -0.5, 1e308)
ANYTHING: tuple[Any, ...] = (None, True, False, "", [], {}, [[]], {"a": {"b": [1]}}, [None] * 3, *HOSTILE[:8], *NUMBERS)
BROKEN = (
    *(b"", b"{", b"[]", b"null", b"\xff\xfe", b'"text"', b"\x00" * 100, b'{"a": NaN}', b'{"a": 1e999}'),
    *(b'{"user_id": "\\ud800"}', b'{"user_id": "u", "user_id": "v"}', b'{"a": ' + b"9" * 5000 + b"}"),
    *(b"[" * 100_000, b'{"a":' * 5000 + b"1" + b"}" * 5000),
)


@dataclass
class Attempt:
    """One request, whether OpenAPI allows its body and parameters, and its operation."""

    method: str
    path: str
    operation: str
    content: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    allowed: bool | None = None
    """Whether it matches the document; None if the document does not cover it."""


class Fuzzer:
    """Creates requests from an OpenAPI document; the same seed and responses give the same requests."""

    def __init__(self, document: Json, tenants: Sequence[str], seed: int) -> None:
        self._random = random.Random(seed)
        self._document = document
        self._tenants = tenants
        self._ids: list[str] = [str(UUID(int=self._random.getrandbits(128), version=4)) for _ in range(3)]
        self._operations = [
            (method, path, operation)
            for path, methods in sorted(document["paths"].items())
            for method, operation in sorted(methods.items())
            if "probes" not in operation["tags"]
        ]

    def learn(self, text: str) -> None:
        """Records ids from a response for later requests."""
        found = re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", text)
        self._ids = [*self._ids, *found[:5]][-60:]

    def attempt(self) -> Attempt:
        """The next request."""
        method, path, operation = self._random.choice(self._operations)
        named = f"{method} {path}"
        parameters = operation.get("parameters", [])
        ok = True
        query: list[tuple[str, str]] = []
        for parameter in parameters:
            if parameter["in"] == "path" or (not parameter["required"] and self._random.random() < 0.6):
                continue
            value, fits = self._parameter(parameter)
            query.append((parameter["name"], value))
            ok = ok and fits
        if self._random.random() < 0.05:
            name = self._random.choice(("limt", "memory_type", "user_id", ""))
            lacking = {each["name"] for each in parameters if each["in"] == "query"} - {given for given, _ in query}
            query.append((name, "x"))
            ok = ok and name in lacking
        for parameter in parameters:
            if parameter["in"] == "path":
                value, fits = self._parameter(parameter)
                path = path.replace(f"{{{parameter['name']}}}", quote(value, safe="") or "%20")
                ok = ok and fits and bool(value)
        made = Attempt(method.upper(), f"{path}?{urlencode(query)}" if query else path, named, allowed=ok)
        if "requestBody" in operation:
            self._add_body(made, operation["requestBody"])
        if self._random.random() < 0.1:
            made.headers["x-request-id"] = "r" * self._random.choice((1, 300))
        if self._random.random() < 0.05:
            made.headers["idempotency-key"] = self._random.choice(("k", "k" * 300, " "))
            made.allowed = None
        return made

    def _parameter(self, parameter: Json) -> tuple[str, bool]:
        schema = parameter["schema"]
        if self._random.random() < 0.1:
            value: Any = self._random.choice(HOSTILE).encode("utf-8", "replace").decode()
        else:
            value = self._named(parameter["name"], schema)
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        kinds = {schema.get("type"), *(each.get("type") for each in schema.get("anyOf", ()))}
        read: Any = text
        if kinds & {"integer", "boolean"}:
            try:
                read = orjson.loads(text)
            except orjson.JSONDecodeError:
                read = text
        return text, _fits(schema, read, self._document)

    def _add_body(self, made: Attempt, body: Json) -> None:
        made.headers["content-type"] = "application/json"
        if self._random.random() < 0.08:
            made.content, made.allowed = self._random.choice(BROKEN), None
            return
        schema = body["content"]["application/json"]["schema"]
        value = self._of(schema, 0)
        for _ in range(self._random.choice((0, 0, 0, 1, 1, 3))):
            self._spoil(value)
        made.content = orjson.dumps(value)
        made.allowed = bool(made.allowed) and _fits(schema, orjson.loads(made.content), self._document)

    def _named(self, name: str, schema: Json) -> Any:
        """A value of this field, usually of an existing user or object."""
        if name == "tenant_id" and self._random.random() < 0.95:
            return self._random.choice(self._tenants)
        if name == "user_id" and self._random.random() < 0.9:
            return self._random.choice(("u1", "u2", "李"))
        if name == "session_id" and self._random.random() < 0.8:
            return self._random.choice(("s1", "s2"))
        if name in ("deadline_ms",):
            return 20_000
        if name.endswith("_id") and schema.get("format") == "uuid" and self._random.random() < 0.8:
            return self._random.choice(self._ids)
        return self._of(schema, 0)

    def _of(self, schema: Json, depth: int) -> Any:
        """A value that usually matches the schema."""
        schema = _resolve(schema, self._document)
        for key, read in (("const", lambda v: v), ("enum", self._random.choice)):
            if key in schema:
                return read(schema[key])
        if "anyOf" in schema and schema.get("type") != "object":
            return self._of(self._random.choice(schema["anyOf"]), depth)
        if "allOf" in schema and "type" not in schema:
            return self._of(schema["allOf"][0], depth)
        makers: Mapping[str, Callable[[Json, int], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._number,
            "number": self._number,
            "boolean": lambda *_: self._random.random() < 0.5,
            "null": lambda *_: None,
        }
        kind = schema.get("type")
        return (
            makers[kind](schema, depth) if isinstance(kind, str) else copy.deepcopy(self._random.choice(ANYTHING[:8]))
        )

    def _object(self, schema: Json, depth: int) -> Json:
        required = set(schema.get("required", ()))
        made: Json = {}
        for name, each in schema.get("properties", {}).items():
            chance = 0.25 if depth else 0.45
            if name in required or (not each.get("deprecated") and self._random.random() < chance):
                made[name] = self._named(name, _resolve(each, self._document)) if depth < 6 else None
        return made

    def _array(self, schema: Json, depth: int) -> list[Any]:
        least = schema.get("minItems", 0)
        count = least + self._random.choice((0, 1, 1, 2)) if depth < 6 else least
        return [self._of(schema.get("items", {}), depth + 1) for _ in range(count)]

    def _string(self, schema: Json, _: int) -> str:
        match schema.get("format"):
            case "uuid":
                return self._random.choice(self._ids)
            case "date-time":
                return f"20{self._random.randint(10, 25)}-0{self._random.randint(1, 9)}-11T10:00:00Z"
            case "date":
                return "2025-03-01"
            case _:
                pass
        text = self._random.choice(WORDS)
        for known in (text, "0.1", "sha256:" + "a" * 64, "treatment_b"):
            if re.search(schema.get("pattern", ""), known):
                return known[: schema.get("maxLength", 10_000)]
        return text

    def _number(self, schema: Json, _: int) -> float:
        least, most = schema.get("minimum", 0), schema.get("maximum", 1)
        value = self._random.choice((least, most, (least + most) / 2))
        return math.floor(value) if schema.get("type") == "integer" else value

    def _spoil(self, value: Any) -> None:
        """Changes, removes or adds one value."""
        if isinstance(value, list) and value:
            inner = self._random.choice(value)
            if isinstance(inner, dict | list) and self._random.random() < 0.8:
                return self._spoil(inner)
            value[self._random.randrange(len(value))] = self._anything()
        elif isinstance(value, dict) and value:
            name = self._random.choice(list(value))
            if isinstance(value[name], dict | list) and self._random.random() < 0.6:
                return self._spoil(value[name])
            match self._random.randrange(3):
                case 0:
                    del value[name]
                case 1:
                    value[self._random.choice(HOSTILE[:8])] = self._anything()
                case _:
                    value[name] = self._anything()
        return None

    def _anything(self) -> Any:
        return copy.deepcopy(self._random.choice((*ANYTHING, *HOSTILE)))


def _resolve(schema: Json, document: Json) -> Json:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _fits(schema: Json, value: Any, document: Json) -> bool:
    whole = {**schema, "components": document["components"]}
    return Draft202012Validator(whole, format_checker=_FORMATS).is_valid(value)


_FORMATS = FormatChecker()


@_FORMATS.checks("date-time", raises=ValueError)
def _is_moment(value: object) -> bool:
    return not isinstance(value, str) or ("T" in value and datetime.fromisoformat(value).tzinfo is not None)
