"""The language of a text."""

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
def test_the_language_is_detected(text: str, language: str) -> None:
    assert detect(text) == language
