"""Every declared topic and message has the producers and consumers of `schemas.topics`, or is marked as planned."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from schemas import topics
from schemas.generate import CONTRACTS
from schemas.topics import PAYLOADS, PLANNED, TOPICS, Topic

ROOT = Path(__file__).parents[3]
NAMES = {topic.name: name for name, topic in vars(topics).items() if isinstance(topic, Topic)}
SERVICES = frozenset(path.parent.name for path in (ROOT / "services").glob("*/app.py"))
READ_BY = {"consume", "consume_raw", "Replier"}
"""What a service calls with the topic that it reads."""
MESSAGES = [(topic, message) for topic in TOPICS for message in topic.messages]


@dataclass(frozen=True)
class Code:
    """A module's imports, used names, created objects, raw fields that it reads, and calls."""

    imports: frozenset[str]
    used: frozenset[str]
    made: frozenset[str]
    validated: frozenset[str]
    calls: tuple[tuple[str, frozenset[str]], ...]


def _read(path: Path) -> Code:
    imports, used, made, validated = set[str](), set[str](), set[str](), set[str]()
    calls: list[tuple[str, frozenset[str]]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=aliases):
                imports |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=str(module), names=aliases):
                imports |= {module, *(f"{module}.{alias.name}" for alias in aliases)}
            case ast.Name(id=name):
                used.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr), args=given):
                validated |= {name} if attr == "model_validate" else set()
                calls.append((attr, _names(given)))
            case ast.Call(func=ast.Attribute(attr=attr), args=given):
                calls.append((attr, _names(given)))
            case ast.Call(func=ast.Name(id=name), args=given):
                made.add(name)
                calls.append((name, _names(given)))
            case ast.Tuple(elts=parts):  # the class of an event beside its topic
                made |= _names(parts)
            case ast.IfExp(body=one, orelse=other):
                made |= _names([one, other])
            case _:
                pass
    return Code(frozenset(imports), frozenset(used), frozenset(made), frozenset(validated), tuple(calls))


def _names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


@cache
def code() -> dict[str, Code]:
    """The services and their dependencies, by module."""
    files = [path for folder in ("services", "shared") for path in (ROOT / folder).rglob("*.py")]
    return {_module(path): _read(path) for path in files}


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def code_of(service: str) -> frozenset[str]:
    """The modules of a service, and those of shared that it uses."""
    found = {name for name in code() if name.startswith(f"services.{service}.")}
    fresh = set(found)
    while fresh:
        reached = {each for name in fresh for each in code()[name].imports & code().keys()}
        fresh = {each for each in reached if each.startswith("shared.")} - found
        found |= fresh
    return frozenset(found)


def made_in(name: str) -> frozenset[str]:
    """The modules that create something by this name."""
    return frozenset(module for module, each in code().items() if name in each.made)


def mentioned_in(name: str) -> frozenset[str]:
    """The modules that use this name, except in imports."""
    return frozenset(module for module, each in code().items() if name in each.used)


def reads(service: str, topic: Topic) -> bool:
    """Whether the service's wiring consumes the topic."""
    calls = code()[f"services.{service}.app"].calls
    return any(called in READ_BY and NAMES[topic.name] in given for called, given in calls)


def find_writers(topic: Topic, message: str) -> frozenset[str]:
    """The modules that create the message or, if it is no event, use its contract."""
    if message not in PAYLOADS:
        return mentioned_in(CONTRACTS[message].__name__)
    name = PAYLOADS[message].__name__
    return made_in(name) or frozenset(module for module, each in code().items() if name in each.validated)


def list_services(who: str) -> list[str]:
    """The services in a list of producers."""
    return sorted(SERVICES) if who == "every service" else [name for name in who.split(", ") if name in SERVICES]


@pytest.mark.parametrize(("topic", "message"), MESSAGES, ids=[f"{t.name}-{m}" for t, m in MESSAGES])
def test_every_message_is_written_or_planned(topic: Topic, message: str) -> None:
    makers = find_writers(topic, message)
    if message in PLANNED:
        assert not makers, f"{message} is written by now: take it out of PLANNED"
        return
    assert makers, f"nobody writes {message}: write it, or say in PLANNED why not yet"
    assert mentioned_in(NAMES[topic.name]), f"{message} is made and nothing is sent to {topic.name}"


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_every_declared_producer_can_write_its_topic(topic: Topic) -> None:
    if set(topic.messages) <= PLANNED.keys():
        return
    senders = {
        module for message in topic.messages if message not in PLANNED for module in find_writers(topic, message)
    }
    for service in list_services(topic.producer):
        assert senders & code_of(service), f"{service} makes nothing of {topic.name}"
    others = {module.split(".")[1] for module in senders if module.startswith("services.")} & SERVICES
    if set(topic.messages) <= PAYLOADS.keys():
        assert others <= set(list_services(topic.producer)), f"{topic.name} is written by {others}"


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_exactly_the_declared_consumers_read_a_topic(topic: Topic) -> None:
    assert {service for service in SERVICES if reads(service, topic)} == set(topic.readers) - {"users"}


def test_a_planned_topic_is_declared_with_a_reason() -> None:
    assert PLANNED.keys() <= {message for _, message in MESSAGES}
    assert all(len(reason) > 20 for reason in PLANNED.values())
