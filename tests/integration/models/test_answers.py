"""Parsing of model answers."""

import pytest

from shared.models.answers import UnreadableError, parse
from tests.integration.models.conftest import Likes


@pytest.mark.parametrize(
    "raw",
    [
        '{"items": ["茶"]}',
        '["茶"]',
        '```json\n{"items": ["茶"]}\n```',
        'Here is [the] answer: {"items": ["茶"]} I hope it helps.',
        '<think>{"items": []}</think>{"items": ["茶"]}',
        'I think so.</think>\n{"items": ["茶"]}',
        '<think>a</think><thinking>b <think> c</thinking>{"items": ["茶"]}<think>d',
        '好的，结果如下：\n{"items": ["茶"], "note": "x"}',
    ],
)
def test_the_answer_is_extracted(raw: str) -> None:
    assert parse(raw, Likes).items == ["茶"]


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "茶",
        "<think>{}",
        '<think>{"items": ["茶"]}',
        '{"items": ["茶"',
        '{"items": [{"entities": []}, oops',
        '{"items": "茶"}',
        "{}",
        '{"likes": ["茶"]}',
        "null",
        "[" * 5000,
        "<think>" * 20_000,
        '{"items": ["茶"]}' + " " * 200_000,
    ],
)
def test_any_other_output_is_refused(raw: str) -> None:
    with pytest.raises(UnreadableError):
        parse(raw, Likes)


def test_the_problem_names_the_field_without_quoting() -> None:
    with pytest.raises(UnreadableError, match="items: list_type") as caught:
        parse('{"items": "我的密码"}', Likes)
    assert "密码" not in str(caught.value)
