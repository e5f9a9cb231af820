"""The resources of a turn for the knowledge side, and their description; chat text is never included."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from shared.domain.turns import Event, Turn
from shared.knowledge.citations import LEAST_PRODUCT, Kind, list_cited, resource_of
from shared.secrets import PLACEHOLDER

NOW = datetime(2026, 7, 1, tzinfo=UTC)
TURN = UUID(int=7)
ALL: tuple[Kind, ...] = ("url", "file", "artifact", "tool")
LONG = {"zh": "第一章 概述：系统由三个部分组成。" * 20, "en": "Chapter one: the system has three parts. " * 10}
SECRET = "sk-proj-9f8e7d6c5b4a39281706f5e4d3c2b1a0"


def turn(*events: tuple[str, str | None, dict[str, Any] | None]) -> Turn:
    made = tuple(
        Event(UUID(int=100 + n), TURN, n, kind, None, name, content, NOW)
        for n, (kind, name, content) in enumerate(events)
    )
    return Turn(TURN, "s", 1, UUID(int=1), "t", "p", NOW, NOW, False, made)


def ref(uri: str, kind: str = "url", **more: Any) -> tuple[str, None, dict[str, Any]]:
    return ("ref", None, {"ref_type": kind, "ref_uri": uri, **more})


def tool(name: str, args: Any, result: Any, status: str = "ok") -> tuple[tuple[str, str, dict[str, Any]], ...]:
    return (("tool_call", name, {"args": args}), ("tool_result", name, {"result": result, "status": status}))


@pytest.mark.parametrize(
    ("uri", "kind", "reason"),
    [
        ("https://docs.example.org/spec", "url", None),
        ("https://wiki.corp.internal/规范", "url", None),
        ("file:///srv/plan.md", "file", None),
        ("docs/plan.md", "file", None),
        ("artifact://build/7", "artifact", None),
        ("http://localhost:8080/x", "url", "local_address"),
        ("http://127.0.0.1/x", "url", "local_address"),
        ("http://169.254.169.254/latest/meta-data", "url", "local_address"),
        ("https://www.google.com/search?q=tea", "url", "search_page"),
        ("https://www.baidu.com/s?wd=茶", "url", "search_page"),
        ("ftp://x.example/y", "url", "no_address"),
        ("example.org", "url", "no_address"),
        ("/srv/tmp/a.txt", "file", "passing_file"),
        ("build/app.log", "file", "passing_file"),
        ("smartbrain://turn/1", "url", "own_conversation"),
        (f"https://x.example/?token={SECRET}", "url", "holds_a_secret"),
        (f"https://x.example/{PLACEHOLDER}", "url", "holds_a_secret"),
    ],
)
def test_a_reference_is_offered_unless_there_is_a_reason(uri: str, kind: str, reason: str | None) -> None:
    (found,) = list_cited(turn(ref(uri, kind)), ALL)
    assert (found.kind, found.reason) == (kind, reason)


def test_the_caller_can_exclude_a_reference() -> None:
    (found,) = list_cited(turn(ref("https://x.example/a", meta={"ingest": False})), ALL)
    assert found.reason == "not_wanted"


@pytest.mark.parametrize("language", LONG)
@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("write_file", True),
        ("generate_report", True),
        ("createDocument", True),
        ("docs.export", True),
        ("生成文档", True),
        ("get_weather", False),
        ("search_docs", False),
        ("fetch_url", False),
        ("create_event", False),
        ("save_memory", False),
        ("write_message", False),
        ("send_email", False),
        ("保存对话", False),
    ],
)
def test_products_of_tools_are_offered_and_their_output_is_not(name: str, made: bool, language: str) -> None:
    found = list_cited(turn(*tool(name, {"path": "a.md", "content": LONG[language]}, "ok")), ALL)
    assert [each.kind for each in found] == (["tool"] if made else [])


def test_a_failed_or_short_product_is_not_offered() -> None:
    text = LONG["en"]
    assert list_cited(turn(*tool("write_file", {"content": text}, "no", status="error")), ALL) == []
    assert list_cited(turn(*tool("write_file", {"content": text[: LEAST_PRODUCT - 1]}, "ok")), ALL) == []


@pytest.mark.parametrize("kind", ["user_message", "assistant_message", "system", "item", "feedback", "session_end"])
def test_chat_text_is_never_offered(kind: str) -> None:
    assert list_cited(turn((kind, None, {"text": "see https://x.example/a " + LONG["en"]})), ALL) == []


def test_policy_selects_the_kinds() -> None:
    of = turn(ref("https://x.example/a"), ref("a.md", "file"), *tool("write_file", {"content": LONG["en"]}, "ok"))
    assert [each.kind for each in list_cited(of, ALL)] == ["url", "file", "tool"]
    assert [each.kind for each in list_cited(of, ("file",))] == ["file"]
    assert list_cited(of, ()) == []


def test_an_address_cited_twice_is_one_resource() -> None:
    assert len(list_cited(turn(ref("https://x.example/a"), ref("https://x.example/a")), ALL)) == 1


def test_erased_references_are_not_offered() -> None:
    assert list_cited(turn(("ref", None, None)), ALL) == []
    assert resource_of(turn(("ref", None, None)), 0, 100) is None
    assert resource_of(turn(), 3, 100) is None


@pytest.mark.parametrize("language", LONG)
def test_a_page_has_the_content_that_a_tool_of_the_turn_fetched(language: str) -> None:
    uri = "https://x.example/a"
    of = turn(
        ref(uri, title="A page", meta={"author": f"me {SECRET}", "pages": 3, "deep": {"a": 1}}),
        *tool("fetch_url", {"url": uri}, {"content": f"{LONG[language]} {SECRET} 13812345678"}),
        *tool("fetch_url", {"url": "https://x.example/b"}, "another"),
    )
    found = resource_of(of, 0, 10_000)
    assert found
    assert (found.source_type, found.source_uri, found.title, found.language) == ("url", uri, "A page", language)
    assert found.content
    assert found.content.startswith(LONG[language])
    assert SECRET not in str(found)
    assert "13812345678" not in str(found)
    assert set(found.meta) == {"author", "pages"}


def test_an_unfetched_page_is_offered_by_its_description() -> None:
    found = resource_of(turn(ref("https://x.example/a/spec.pdf")), 0, 100)
    assert found
    assert (found.content, found.title) == (None, "spec.pdf")


@pytest.mark.parametrize(
    ("given", "uri"),
    [
        ("/srv/a b.md", "file:///srv/a%20b.md"),
        ("docs/plan.md", f"smartbrain://turn/{TURN}#0"),
        ("C:\\docs\\plan.md", f"smartbrain://turn/{TURN}#0"),
        ("s3://bucket/plan.md", "s3://bucket/plan.md"),
    ],
)
def test_an_address_identifies_its_turn(given: str, uri: str) -> None:
    found = resource_of(turn(ref(given, "file")), 0, 100)
    assert found
    assert found.source_uri == uri
    assert found.meta.get("path") == (None if uri == given else given)


def test_long_content_is_truncated_as_policy_says() -> None:
    found = resource_of(turn(*tool("write_file", {"path": "a.md", "content": "x y " * 1000}, "ok")), 1, 500)
    assert found
    assert found.content
    assert len(found.content) <= 500
    assert (found.source_type, found.title) == ("memory_snapshot", "a.md")
