"""Credentials are refused, personal numbers blanked, similar text unchanged; all values are invented."""

import pytest

from shared.secrets import find_secrets, redact, refuses

REFUSED = [
    "AIzaSyA1234567890",
    "我的密码是 hunter2hunter2hunter2hunter2",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "sk-proj-abcdEFGH1234567890abcd",
    "sk-1234567890abcdef",
    "密码：abc123",
    "my password is Tr0ub4dor&3",
    "password: hunter2",
    "password=letmein123",
    "the wifi password is sunflower88",
    "验证码 482913",
    "验证码是 4829",
    "postgres://user:secret@host:5432/db",
    "Authorization: Bearer abcdef1234567890abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc123def456",
    "-----BEGIN RSA PRIVATE KEY-----",
    'api_key = "9f8e7d6c5b4a39281706"',
    "xoxb-123456789012-abcdefghijkl",
    "token: 9f8e7d6c5b4a3928abcdzz",
    "口令是 open sesame123",
    "登录密码设成了qwerty2024",
    "My PIN is 4821",
    "wifi密码 sunny2020",
    "OPENAI_API_KEY=sk-abcdefghijklmnop1234",
    "aws secret access key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "my password is correcthorsebatterystaple",
    "银行卡密码是123456",
    "令牌是 a8f5f167f44f4964e6c998dee827110c",
    "passwd for the server is Qw3rty!!",
    "密码改成了 Xy9#kk21",
    "mongodb+srv://admin:p4ss@cluster0.mongodb.net/test",
    "DB_PASSWORD=s3cr3tpw",
    "My bank pin code: 9921",
    "secret: 3f9a8b7c6d5e4f3a2b1c",
    "password is swordfish",
]
KEPT = [
    "sk-short",
    "token",
    "my password manager is 1Password",
    "commit 3f2a9c8d7e6b5a4f3e2d1c0b9a8f7e6d5c4b3a2f",
    "uuid 550e8400-e29b-41d4-a716-446655440000",
    "ISBN 978-7-111-12345-6",
    "订单号 202401151234567890",
    "version 2.14.3-rc1",
    "令牌桶算法",
    "token budget 8000",
    "the token limit is 8000",
    "密码学很有趣",
    "我忘记密码了",
    "reset my password please",
    "password must be at least 12 characters",
    "please remember to change the password tomorrow",
    "key insight: use caching",
    "sk-learn is a library",
    "The API key is stored in the vault",
    "public key cryptography",
    "请用令牌桶限流",
    "验证码功能要重做",
    "这个token太长了",
    "Bearer authentication is used",
    "I forgot my password, how to reset?",
    "密码长度是 8 位以上",
    "Error code: 404",
    "my zip code is 94110",
    "the code is ready",
    "login page is slow",
    "pin the message",
    "key: value",
    "error code 500",
    "密码是什么",
    "password is required",
    "token count is 12345678",
    "api key rotation every 90 days",
    "我的口令红包抢到了",
    "使用 access token 刷新",
    "timestamp 1700000000000",
    "order number 4111-2222",
    "访问 https://example.com/path?id=123",
    "the key is on the table",
    "secret santa party",
    "The password is wrong",
    "port: 5432",
    "基金密码箱",
    "promo code: SAVE20",
]
REDACTED = [
    ("联系我 test@example.com", "联系我 [EMAIL]"),  # OC076
    ("身份证 110101199001011234", "身份证 [ID_NUMBER]"),  # OC077
    ("银行卡号 6222021234567890123", "银行卡号 [BANK_CARD]"),  # OC079
    ("我的邮箱 foo@bar.com 手机 13900001111", "我的邮箱 [EMAIL] 手机 [PHONE]"),  # OC080
    ("电话+86 138-1234-5678", "电话[PHONE]"),  # OC082
    ("手机号 13812345678", "手机号 [PHONE]"),  # OC067
    ("4111 1111 1111 1111", "[BANK_CARD]"),
    ("call me at (415) 555-2671", "call me at [PHONE]"),
    ("2024-01-15 12:30:45", "2024-01-15 12:30:45"),
]


@pytest.mark.parametrize("text", REFUSED)
def test_credentials_are_refused_and_blanked(text: str) -> None:  # OC058-OC062
    assert refuses(text) is not None
    assert "[SECRET]" in redact(text)[0]


@pytest.mark.parametrize("text", KEPT)
def test_similar_text_is_unchanged(text: str) -> None:  # OC064, OC065
    assert find_secrets(text) == ()


@pytest.mark.parametrize(("text", "expected"), REDACTED)
def test_personal_numbers_are_blanked_not_refused(text: str, expected: str) -> None:
    assert redact(text, frozenset())[0] == expected
    assert refuses(text) is None
