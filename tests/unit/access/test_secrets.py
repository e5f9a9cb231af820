"""The text of a key: generated, parsed, hashed and compared."""

import pytest

from shared.access.secrets import KeyText, fits, hash_secret, make_key_id, make_secret, parse_key
from shared.secrets import find_secrets

KEY = KeyText("abc123def456", "A" * 41 + "-_")


def test_a_generated_key_can_be_parsed() -> None:
    for _ in range(200):
        key = KeyText(make_key_id(), make_secret())
        assert parse_key(str(key)) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sb_",
        str(KEY)[:-1],
        f"{KEY}A",
        f" {KEY}",
        f"{KEY}\n",
        str(KEY).replace("sb_", "SB_"),
        str(KEY).replace("abc", "ABC"),
        str(KEY).replace("AAA", "A A", 1),
        "eyJhbGciOiJub25lIn0.e30.",
    ],
)
def test_text_of_another_form_is_no_key(text: str) -> None:
    assert parse_key(text) is None


def test_only_the_secret_itself_matches_its_hash() -> None:
    kept = hash_secret(KEY.secret)
    assert fits(KEY.secret, kept)
    assert not fits(KEY.secret[:-1] + "A", kept)
    assert not fits("", kept)
    assert KEY.secret not in kept
    assert len(kept) == 64


@pytest.mark.parametrize("said", ["the key is {}", "密钥是 {}", "Authorization: Bearer {}", "use {} please"])
def test_a_key_in_a_message_is_detected_as_a_secret(said: str) -> None:
    text = said.format(KeyText(make_key_id(), make_secret()))
    assert find_secrets(text)
