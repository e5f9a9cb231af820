"""Personal numbers are blanked, other numbers stay."""

import pytest

from shared.secrets import redact


@pytest.mark.parametrize(
    ("text", "label", "least"),
    [
        ("联系我 test@example.com", "[EMAIL]", 1),  # OC076
        ("身份证 110101199001011234", "[ID_NUMBER]", 1),  # OC077
        ("银行卡号 6222021234567890123", "[BANK_CARD]", 1),  # OC079
        ("我的邮箱 foo@bar.com 手机 13900001111", "[PHONE]", 2),  # OC080
        ("电话+86 138-1234-5678", "[PHONE]", 1),  # OC082
        ("版本 1.2.3, 2026-01-15 12:00, 订单 20260115", "", 0),
    ],
)
def test_personal_numbers_are_blanked(text: str, label: str, least: int) -> None:
    redacted, hits = redact(text, frozenset())
    assert label in redacted
    assert len(hits) >= least
    assert least or redacted == text
