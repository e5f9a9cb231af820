"""The names in a text."""

import pytest

from shared.language import names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did Caroline say about New York?", ["Caroline", "New York"]),
        ("张伟明在北京大学讲课", ["张伟明", "北京大学"]),
        ("我喜欢《三体》", ["三体"]),
        ("fix app.py in org/repo", ["app.py", "org/repo"]),
        ("帮我推荐一套今天穿的", []),
        ("What is this?", []),
    ],
)
def test_names_are_found(text: str, expected: list[str]) -> None:
    assert names.names(text) == expected
