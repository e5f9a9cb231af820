"""The language that a text is written in."""

import pytest

from shared.language.normalise import detect


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("hello", "en"),
        ("帮我 review 这个 PR", "zh"),
        ("use 微信 to pay", "en"),
        ("123", "other"),
        ("こんにちは世界", "other"),
    ],
)
def test_detect(text: str, language: str) -> None:
    assert detect(text) == language
