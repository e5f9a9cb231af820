"""Normal form, language, names, personal numbers and the cost in tokens."""

import pytest

from shared.language import names, normalise, tokens
from shared.language.detection import detect
from shared.secrets import redact


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
def test_normalise(text: str, expected: str) -> None:
    assert normalise.normalise(text) == expected


@pytest.mark.parametrize("text", ["word " * 400, "中文句子。" * 300, "x" * 2000])
@pytest.mark.parametrize("limit", [0, 1, 2, 80, 800])
def test_clip_never_exceeds_the_limit(text: str, limit: int) -> None:
    assert len(normalise.clip(text, limit)) <= limit


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
def test_names(text: str, expected: list[str]) -> None:
    assert names.names(text) == expected


@pytest.mark.parametrize(
    ("text", "label", "least"),
    [
        ("联系我 test@example.com", "[EMAIL]", 1),  # OC076
        ("身份证 110101199001011234", "[ID_CARD]", 1),  # OC077
        ("银行卡号 6222021234567890123", "[BANK_CARD]", 1),  # OC079
        ("我的邮箱 foo@bar.com 手机 13900001111", "[PHONE]", 2),  # OC080
        ("电话+86 138-1234-5678", "[PHONE]", 1),  # OC082
        ("版本 1.2.3, 2026-01-15 12:00, 订单 20260115", "", 0),
    ],
)
def test_redact(text: str, label: str, least: int) -> None:
    redacted, hits = redact(text)
    assert label in redacted
    assert len(hits) >= least
    assert least or redacted == text


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("I was thinking about what you said yesterday, and I agree.", 13),
        ("我喜欢简洁的回答，请用中文。", 14),
        ("def main() -> None:\n    return run(app)\n", 13),
        ("https://github.com/org/repo/issues/12?x=1", 21),
        ("0198c3a2-7b1e-7c3d-9a55-0242ac120002", 28),
        ("上周 deploy 了 v2 版本", 10),
    ],
)
def test_count_stays_near_real_tokenizers(text: str, true: int) -> None:
    assert true * 0.95 - 1 <= tokens.count(text) <= true * 1.35 + 2


def test_emoji_are_dear_and_nothing_is_free() -> None:
    assert tokens.count("👨\u200d👩\u200d👧") >= 9
    assert tokens.count("") == 0
    assert tokens.count(" a") >= 1


@pytest.mark.parametrize("text", ["word " * 1000, "中文" * 1000, "a1b2" * 1000])
def test_head_fits(text: str) -> None:
    short = tokens.head(text, 100)
    assert text.startswith(short)
    assert 80 <= tokens.count(short) <= 100
