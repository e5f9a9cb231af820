"""AsyncAPI 3.0 of every topic: who sends what where, keyed how, kept how long, and where the answer comes."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from schemas.events import Payload
from schemas.topics import (
    COMPOSE_REPLY,
    COMPOSE_REQUEST,
    DEAD_LETTER_HOURS,
    DEAD_LETTER_PARTITIONS,
    DEAD_LETTER_TEXT_HOURS,
    PLANNED,
    TOPICS,
    TURN_COMMIT,
    Topic,
    times,
)

BINDING = "0.5.0"
REF = "#/components/schemas/{model}"
USERS = "users"
REPLY = "reply"
DEAD_LETTER = "DeadLetter"
ANSWERS: dict[str, tuple[str, ...]] = {
    COMPOSE_REQUEST.name: ("ContextPackage", "ErrorReply"),
    TURN_COMMIT.name: ("CommitResult", "ErrorReply"),
}
"""What comes back to `reply_to`, by the topic that was asked."""
_REPLY_TO = {
    COMPOSE_REQUEST.name: f"Topic of the answer; {COMPOSE_REPLY.name} where absent",
    TURN_COMMIT.name: "Topic of the answer; without it there is none",
}

Json = dict[str, Any]


def document(
    contracts: Mapping[str, type[BaseModel]], payloads: Mapping[str, type[Payload]], generator: type[GenerateJsonSchema]
) -> Json:
    """The whole interface over Kafka."""
    messages = {name: _message(topic, name, contracts, payloads) for topic in TOPICS for name in topic.messages}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "SmartBrain",
            "version": "1",
            "description": "Agent-memory runtime: publish turns, ask for context, follow what is learnt. "
            "Delivery is at least once and in order per key; unknown fields are ignored.",
        },
        "defaultContentType": "application/json",
        "servers": {"kafka": _server()},
        "channels": {**_channels(), REPLY: _reply_channel()},
        "operations": _operations(),
        "components": {
            "messages": {**messages, DEAD_LETTER: _dead_letter()},
            "schemas": _schemas(contracts, payloads, generator),
        },
    }


def _server() -> Json:
    variable = {"description": "Host and port of a broker, SMARTBRAIN_KAFKA_BOOTSTRAP", "default": "localhost:9092"}
    return {"host": "{bootstrap}", "protocol": "kafka", "variables": {"bootstrap": variable}}


def _channels() -> Json:
    channels: Json = {}
    for topic in TOPICS:
        channels[topic.noun] = {
            "address": topic.name,
            "description": _about(topic),
            "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in topic.messages},
            "bindings": {"kafka": _kafka(topic.name, topic.partitions, topic.retention_hours, text=topic.carries_text)},
        }
        if topic.ahead_of:
            continue
        hours = DEAD_LETTER_TEXT_HOURS if topic.carries_text else DEAD_LETTER_HOURS
        channels[f"{topic.noun}.dlq"] = {
            "address": topic.dead_letter,
            "description": f"What of {topic.name} nobody could handle, with its key. Kept {hours} h.",
            "messages": {DEAD_LETTER: {"$ref": f"#/components/messages/{DEAD_LETTER}"}},
            "bindings": {"kafka": _kafka(topic.dead_letter, DEAD_LETTER_PARTITIONS, hours, text=topic.carries_text)},
        }
    return channels


def _about(topic: Topic) -> str:
    text = "carries the user's text" if topic.carries_text else "ids and numbers, never the user's text"
    return (
        f"{describe_planned(topic)}Producer: {topic.producer}. Consumers: {', '.join(topic.readers) or 'none'}. "
        f"Key: {topic.key}. {topic.partitions} partitions, kept {topic.retention_hours} h; {text}."
    )


def describe_planned(topic: Topic) -> str:
    """What of the topic nobody writes yet."""
    silent = [message for message in topic.messages if message in PLANNED]
    return f"Planned, nobody writes it yet: {', '.join(silent)}. " if silent else ""


def _kafka(name: str, partitions: int, hours: int, *, text: bool) -> Json:
    return {
        "topic": name,
        "partitions": partitions,
        "topicConfiguration": {
            "cleanup.policy": ["delete"],
            "retention.ms": times(hours, carries_text=text)["retention.ms"],
        },
        "bindingVersion": BINDING,
    }


def _reply_channel() -> Json:
    answers = sorted({name for names in ANSWERS.values() for name in names})
    return {
        "address": None,
        "description": "The topic that the request's header `reply_to` names",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in answers},
    }


def _operations() -> Json:
    operations: Json = {}
    for topic in TOPICS:
        if topic.producer != USERS and not set(topic.messages) <= PLANNED.keys():
            operations[f"{topic.noun}.send"] = _operation(topic, "send", f"Sent by {topic.producer}.")
        readers = [name for name in topic.readers if name != USERS]
        if readers:
            operations[f"{topic.noun}.receive"] = _operation(topic, "receive", f"Handled by {', '.join(readers)}.")
    return operations


def _operation(topic: Topic, action: str, summary: str) -> Json:
    channel = f"#/channels/{topic.noun}"
    operation: Json = {
        "action": action,
        "summary": summary,
        "channel": {"$ref": channel},
        "messages": [{"$ref": f"{channel}/messages/{name}"} for name in topic.messages],
    }
    if action == "receive" and topic.name in ANSWERS:
        operation["reply"] = {
            "address": {
                "location": "$message.header#/reply_to",
                "description": _REPLY_TO[topic.name],
            },
            "channel": {"$ref": f"#/channels/{REPLY}"},
            "messages": [{"$ref": f"#/channels/{REPLY}/messages/{name}"} for name in ANSWERS[topic.name]],
        }
    return operation


def _message(
    topic: Topic, name: str, contracts: Mapping[str, type[BaseModel]], payloads: Mapping[str, type[Payload]]
) -> Json:
    model = payloads[name] if name in payloads else contracts[name]
    key = {"type": "string", "description": topic.key}
    message: Json = {
        "name": name,
        "title": model.__name__,
        "summary": _first_line(model),
        "payload": {"$ref": REF.format(model=f"event.{name}" if name in payloads else name)},
        "bindings": {"kafka": {"key": key, "bindingVersion": BINDING}},
    }
    if name in PLANNED:
        message |= {"description": f"Planned, nobody writes it yet. {PLANNED[name]}", "tags": [{"name": "planned"}]}
    correlation = {"correlationId": {"location": "$message.header#/correlation_id"}}
    if topic.name in ANSWERS:
        return {**message, **correlation, "headers": _request_headers(topic)}
    if topic is COMPOSE_REPLY:
        return {**message, **correlation, "headers": _reply_headers()}
    return message


def _first_line(model: type[BaseModel]) -> str:
    return (model.__doc__ or "").strip().partition("\n")[0]


def _text(description: str, **more: str) -> Json:
    return {"type": "string", "description": description, **more}


def _request_headers(topic: Topic) -> Json:
    headers: Json = {
        "reply_to": _text(_REPLY_TO[topic.name]),
        "correlation_id": _text("Comes back with the answer, and is its key"),
        "deadline_ms": _text("Unix time in milliseconds after which nobody waits", pattern="^[0-9]+$"),
        "reply_partition": _text("Partition of the answer; absent: by key", pattern="^[0-9]+$"),
        "key_id": _text("Id of the key that signs the record; needed once there is a key"),
        "signed_ms": _text("Unix time in milliseconds at which it was signed", pattern="^[0-9]+$"),
        "signature": _text("HMAC-SHA256 over topic, key, headers and value, in hexadecimal", pattern="^[0-9a-f]{64}$"),
    }
    return {"type": "object", "properties": headers, "required": ["correlation_id"] if topic is COMPOSE_REQUEST else []}


def _reply_headers() -> Json:
    headers = {"correlation_id": _text("That of the request")}
    return {"type": "object", "properties": headers, "required": ["correlation_id"]}


def _dead_letter() -> Json:
    headers = {
        "x-error": _text("Why nobody could handle it, without its values"),
        "x-origin": _text("Where it came from: topic/partition/offset"),
        "x-sent-at": _text("When it was put there, in ms since the epoch"),
    }
    batch = {"x-batch": _text("Offsets of what was not handled of a batch that cannot be read: first-last")}
    return {
        "name": DEAD_LETTER,
        "title": DEAD_LETTER,
        "summary": "A record that no retry could mend, byte for byte.",
        "contentType": "application/octet-stream",
        "headers": {"type": "object", "properties": {**headers, **batch}, "required": list(headers)},
        "payload": {"description": "The record's value as it came, JSON or not; with x-batch the whole record batch"},
    }


def _schemas(
    contracts: Mapping[str, type[BaseModel]], payloads: Mapping[str, type[Payload]], generator: type[GenerateJsonSchema]
) -> Json:
    on_topics = {name for topic in TOPICS for name in topic.messages}
    wanted = [model for name, model in contracts.items() if name in on_topics or name == "Envelope"]
    models = [(model, "validation") for model in (*wanted, *payloads.values())]
    _, made = models_json_schema(models, ref_template=REF, schema_generator=generator)  # pyright: ignore[reportArgumentType] # a list of literal pairs
    return {**made["$defs"], **{f"event.{name}": _event(name, model) for name, model in payloads.items()}}


def _event(name: str, payload: type[Payload]) -> Json:
    own = {"event_type": {"const": name}, "payload": {"$ref": REF.format(model=payload.__name__)}}
    part = {"type": "object", "properties": own, "required": ["payload"]}
    return {"description": _first_line(payload), "allOf": [{"$ref": REF.format(model="Envelope")}, part]}
