"""The normal form of a text, and truncation to a length."""

import pytest

from shared.language import normalise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ＡＢＣ１２３", "ABC123"),
        ("a\u200b\u2060b", "ab"),
        (" a \t b \n\n c ", "a b\nc"),
        ("x\x00y", "xy"),
        ("你　好", "你 好"),
    ],
)
def test_text_is_normalised(text: str, expected: str) -> None:
    assert normalise.normalise(text) == expected


@pytest.mark.parametrize("text", ["word " * 400, "中文句子。" * 300, "x" * 2000])
@pytest.mark.parametrize("limit", [0, 1, 2, 80, 800])
def test_clip_never_exceeds_the_limit(text: str, limit: int) -> None:
    assert len(normalise.clip(text, limit)) <= limit
