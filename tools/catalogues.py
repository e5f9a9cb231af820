"""Generates the page of topics, and tables of topics and memory types within hand-written pages."""

from collections.abc import Iterator
from pathlib import Path

from schemas import topics
from schemas.memory_types import ROWS, TRAITS
from tools.markdown import table

ROOT = Path(__file__).parents[1]
PARTS = {
    "services/README.md": "topics",
    "docs/reference/memory_types.md": "memory types",
}
"""Hand-written pages and their generated tables."""


def build_parts() -> dict[str, str]:
    """Each page with its table generated from the code."""
    makers = {"topics": map_of_topics, "memory types": table_of_types}
    return {path: put_part((ROOT / path).read_text("utf-8"), of, makers[of]()) for path, of in PARTS.items()}


def put_part(page: str, of: str, lines: Iterator[str]) -> str:
    """The page with these lines between the two marks of the part; ValueError where it has no such marks."""
    begin, end = f"<!-- {of}: made from the code by `make docs` -->\n", f"<!-- end of {of} -->\n"
    before, mark, rest = page.partition(begin)
    _, last, after = rest.partition(end)
    if not mark or not last:
        raise ValueError(f"a page lacks the marks of its {of}")
    return before + begin + "\n" + "\n".join(lines).rstrip() + "\n\n" + end + after


def map_of_topics() -> Iterator[str]:
    """The producers and consumers of each topic, and the tables that consumers write; unused topics are left out.

    The topics that overtake others share one row.
    """
    rows = [
        (
            f"`{each.noun}`",
            each.producer.replace("users", "you"),
            ", ".join(each.readers).replace("users", "you"),
            "; ".join(consumer.writes for consumer in each.consumers if consumer.writes),
        )
        for each in topics.TOPICS
        if not (set(each.messages) <= topics.PLANNED.keys() or each.ahead_of)
    ]
    ahead = ", ".join(f"`{each.noun}`" for each in topics.AHEAD.values())
    past = (ahead, "as the topics that they overtake", "the same", "the same")
    dead = ("`<topic>.dlq`", "the consumer that gave up", "you", "")
    yield from table(("topic", "producer", "consumer", "what the consumer writes"), [*rows, past, dead])


def table_of_types() -> Iterator[str]:
    """How each type is treated."""
    rows = [
        (
            f"`{row.type}`",
            row.meaning,
            f"`{row.key_prefix}`" if row.key_prefix else "",
            row.v1,
            "" if row.core_order is None else str(row.core_order + 1),
            row.block,
            row.section or "",
            ", ".join(f"`{trait}`" for trait in TRAITS if trait in row.traits),
        )
        for row in ROWS
    ]
    yield from table(("type", "what", "keys begin", "v1", "core", "block", "summary", "traits"), rows)
    yield from table(("trait", "a memory with it"), [(f"`{trait}`", meaning) for trait, meaning in TRAITS.items()])


def topics_page() -> Iterator[str]:
    """Every topic: producers, consumers, retention."""
    yield from ["# Topics", ""]
    yield "Names are `smartbrain.<noun>.v1`. The messages are in"
    yield "[asyncapi.json](../../schemas/generated/asyncapi.json). `migrate` makes topics that are missing and leaves"
    yield from ["others as they are.", ""]
    rows = [
        (
            f"`{each.name}`",
            f"`{each.key}`",
            ", ".join(f"{name} (planned)" if name in topics.PLANNED else name for name in each.messages),
            each.producer,
            ", ".join(each.readers),
            str(each.partitions),
            shown_hours(each.retention_hours),
            "yes" if each.carries_text else "",
        )
        for each in topics.TOPICS
    ]
    head = ("topic", "key", "messages", "written by", "read by", "partitions", "kept", "carries text")
    yield from table(head, rows)
    yield f"Each topic has a dead-letter topic `<topic>.dlq`: {topics.DEAD_LETTER_PARTITIONS} partitions, kept for"
    kept, text = shown_hours(topics.DEAD_LETTER_HOURS), shown_hours(topics.DEAD_LETTER_TEXT_HOURS)
    yield from [f"{kept}, or {text} where the topic carries text.", "", "## Planned messages", ""]
    yield from ["Nobody writes these yet; their topics exist so that clients may subscribe.", ""]
    yield from table(("message", "why not"), [(f"`{name}`", why) for name, why in topics.PLANNED.items()])


def shown_hours(hours: int) -> str:
    """A time in the largest unit that fits."""
    return f"{hours // 24} days" if hours > 24 and hours % 24 == 0 else f"{hours} h"
