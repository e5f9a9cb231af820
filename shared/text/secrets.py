"""Credentials and personal numbers in text: found, blanked, or a reason to refuse; linear in the text's length."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

SecretClass = Literal["credential", "pii"]
SecretKind = Literal[
    "provider_key",
    "jwt",
    "private_key",
    "bearer",
    "connection_string",
    "password",
    "code",
    "token",
    "email",
    "phone",
    "id_card",
    "bank_card",
]


@dataclass(frozen=True, slots=True)
class SecretHit:
    """One stretch of text that is a secret, with its kind."""

    kind: SecretKind
    start: int
    end: int

    @property
    def group(self) -> SecretClass:
        """Whether the hit is a credential or personal data."""
        return "pii" if self.kind in _PII else "credential"


@dataclass(frozen=True, slots=True)
class SecretRefusal:
    """Why a text is not written to memory."""

    reason: str
    kind: SecretKind
    start: int
    end: int


_PII: frozenset[SecretKind] = frozenset({"email", "phone", "id_card", "bank_card"})
_PLACEHOLDERS: dict[SecretKind, str] = {
    "email": "[EMAIL]",
    "phone": "[PHONE]",
    "id_card": "[ID_CARD]",
    "bank_card": "[BANK_CARD]",
}
_SHAPE_SIGNS: tuple[tuple[str, ...], ...] = (
    ("-----BEGIN",),
    ("-", "_", "AIza", "AKIA", "ASIA", "AROA", "AGPA", "AIDA", "SG.", "LTAI", "AKID", "ya29.", "EAACEdEose0cBA", ":AA"),
    ("eyJ",),
    ("earer", "EARER", "asic", "ASIC"),
    ("://",),
    ("=", "hooks.slack.com"),
)
_NAME_SIGNS = (
    "pass",
    "pwd",
    "key",
    "token",
    "secret",
    "auth",
    "code",
    "pin",
    "otp",
    "phrase",
    "cvv",
    "cvc",
    "mnemonic",
    "credential",
    "login",
    "密码",
    "密钥",
    "秘钥",
    "口令",
    "暗号",
    "验证码",
    "校验码",
    "动态码",
    "提取码",
    "安全码",
    "令牌",
    "助记词",
    "私钥",
)
_SHAPES: tuple[tuple[SecretKind, re.Pattern[str]], ...] = (
    (
        "private_key",
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,8000}?(?:-----END [A-Z0-9"
            r" ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)"
        ),
    ),
    (
        "provider_key",
        re.compile(
            r"(?<![A-Za-z0-9])(?:sk-(?:proj-|ant-|or-|live-|test-|svcacct-|admin-)?(?=[A-Za-z_-]{0,80}\d"
            r"|[A-Za-z0-9_-]{24})[A-Za-z0-9_-]{10,256}"
            r"|AIza[A-Za-z0-9_-]{10,64}|gh[pousr]_[A-Za-z0-9]{16,255}|github_pat_[A-Za-z0-9_]{20,255}"
            r"|glpat-[A-Za-z0-9_-]{16,64}"
            r"|(?:AKIA|ASIA|AROA|AGPA|AIDA)[A-Z0-9]{12,20}(?![A-Za-z0-9])|xox[abeoprs]-[A-Za-z0-9-]{10,255}"
            r"|xapp-[A-Za-z0-9-]{10,255}"
            r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,255}|whsec_[A-Za-z0-9]{16,255}|hf_[A-Za-z0-9]{20,64}"
            r"|gsk_[A-Za-z0-9]{20,64}|r8_[A-Za-z0-9]{20,64}"
            r"|npm_[A-Za-z0-9]{30,64}|pypi-[A-Za-z0-9_-]{30,512}|dop_v1_[a-f0-9]{40,80}|SG\.[A-Za-z0-9_-]{16,64}\."
            r"[A-Za-z0-9_-]{16,64}"
            r"|LTAI[A-Za-z0-9]{12,30}|AKID[A-Za-z0-9]{24,48}|ya29\.[A-Za-z0-9_-]{20,512}|GOCSPX-[A-Za-z0-9_-]{20,6"
            r"4}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{24,64}"
            r"|EAACEdEose0cBA[A-Za-z0-9]{1,255}|sq0(?:atp|csp)-[A-Za-z0-9_-]{20,64}|key-[0-9a-f]{32}"
            r"|AGE-SECRET-KEY-1[A-Z0-9]{40,64}|tvly-[A-Za-z0-9_-]{16,64}|xai-[A-Za-z0-9]{20,128}|lin_api_[A-Za-z0-"
            r"9]{20,64}|nvapi-[A-Za-z0-9_-]{20,128}"
            r"|\d{8,10}:AA[A-Za-z0-9_-]{32,36})"
        ),
    ),
    (
        "jwt",
        re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{6,4096}(?:\.[A-Za-z0-9_-]{0,1024})?"),
    ),
    (
        "bearer",
        re.compile(
            r"\b(?:bearer|basic)\s+(?=[A-Za-z._~+/=-]{0,200}\d|[A-Za-z0-9._~+/-]{24})[A-Za-z0-9._~+/-]{12,2048}={0,2}",
            re.I,
        ),
    ),
    (
        "connection_string",
        re.compile(r"\b[a-z][a-z0-9+.-]{1,24}://[^\s:/@'\"]{0,80}:[^\s/@'\"]{1,128}@[^\s'\"，。；]{1,300}", re.I),
    ),
    (
        "connection_string",
        re.compile(
            r"\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)=[A-Za-z0-9+/=%_-]{16,256}|https://hooks\.slac"
            r"k\.com/services/[A-Za-z0-9/]{20,120}|https://oapi\.dingtalk\.com/robot/send\?access_token=[0-9a-f]{1"
            r"6,80}|[?&](?:X-Amz-Signature|sig|access_token|api_key|apikey|token|secret)=[A-Za-z0-9%._-]{16,512}",
            re.I,
        ),
    ),
)
_KEYWORD = re.compile(
    r"(?<![A-Za-z])(?P<word>pass(?:word|wd|phrase|code)s?|pwd|api[ _-]?keys?|apikeys?|access["
    r" _-]?(?:key|token)s?(?:[ _-]?id)?|secret(?:[ _-]?(?:access[ _-]?)?key)?s?|client[ _-]?secret"
    r"|auth(?:orization)?[ _-]?(?:token|key|code)|private[ _-]?key|"
    r"refresh[ _-]?token|session[ _-]?token|(?:verification|otp|2fa|auth|security|login|sms|"
    r"one-time|backup|recovery)[ _-]?(?:code|pin|phrase)|otp|cvv|cvc|pin(?:[ _-]?(?:code|number))?"
    r"|token|seed phrase|mnemonic|credentials?|login|key)(?![A-Za-z])"
    r"|(?P<zh>(?:开机|登录|登陆|支付|银行卡?|取款|交易|账号|账户|邮箱|数据库|服务器|管理员|[Ww]i-?[Ff]i"
    r"|无线|root|锁屏|解锁|微信|后台|系统|初始|默认|门禁|门锁)?(?:密码|口令|密钥|秘钥|暗号)|"
    r"验证码|校验码|动态码|提取码|令牌|访问令牌|助记词|私钥|安全码|解压密码)",
    re.I,
)
_LINK = re.compile(
    r"(?:\s{0,3}[\"'`]?\s{0,2}(?:is\s*[:=]?|was|are|=>|:=|==?|[:：＝]|为|是|叫|设成了?|设为了?"
    r"|设置为|改成了?|改为了?|换成了?|就是|还是|set to|changed to|equals|->|→)\s{0,3}(?:\s*[:：]\s*)?"
    r"|\s{0,2}[（(]\s{0,2})[\"'`“‘「]?",
    re.I,
)
_FILLER = re.compile(
    r"(?:\s{1,3}(?:for|to|of|on|at)\s+(?:(?:my|the|our|this)\s+)?[\w.@-]{1,30}(?:\s+[\w.@-]{1,20}){0,2}?"
    r"|\s+of mine|(?:现在|目前|一直|暂时|都|已经|被|我)+)(?=\s*(?:is|was|=|[:：]|为|是|设|改"
    r"|换))",
    re.I,
)
_VALUE = re.compile(r"[A-Za-z0-9!@#$%^&*()_+\-=\[\]{}|\\:;\"'<>,.?/~`]{1,256}")
_WORDS_VALUE = re.compile(r"(?:[a-z]{3,8}\s+){5,23}[a-z]{3,8}")
_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z"
    r"]{2,24}(?![A-Za-z0-9])"
)
_DIGITS = re.compile(r"(?<![\dA-Za-z.])(?:\+|00)?\d(?:[ -]{0,2}\d){6,22}[Xx]?(?![\dA-Za-z])")
_SEVEN_DIGITS = re.compile(r"\d(?:[^\d\n]{0,3}\d){6}")
_US_PHONE = re.compile(r"(?<![\dA-Za-z-])(?:\+?1[ .-]?)?(?:\(\d{3}\)\s?|\d{3}[.-])\d{3}[.-]\d{4}(?![\d-])")
_MOBILE = re.compile(r"(?:(?:\+|00)?86)?1[3-9]\d{9}")
_ID_CARD = re.compile(r"[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX]")
_CARD_WORD = re.compile(
    r"(?:银行卡|卡号|信用卡|储蓄卡|借记卡|账号|账户|card|account|visa|mastercard|iban)[^\n]{0,24}$", re.I
)
_NOT_CARD_WORD = re.compile(
    r"(?:订单|单号|运单|快递|流水|ISBN|编号|order|tracking|invoice|serial|timestamp|时间戳|版本|id|uid|sku|ticket)[^\n]{0,16}$",
    re.I,
)
_PHONE_WORD = re.compile(r"(?:电话|手机|座机|联系方式|热线|tel|phone|call|mobile|whatsapp|fax|cell)[^\n]{0,16}$", re.I)


def find_secrets(text: str) -> tuple[SecretHit, ...]:
    """Every secret of the text in order, none overlapping; credentials win over personal numbers."""
    hits: list[SecretHit] = []
    for hit in (*_shaped(text), *_named(text), *_personal(text)):
        if all(hit.end <= other.start or hit.start >= other.end for other in hits):
            hits.append(hit)
    return tuple(sorted(hits, key=lambda hit: hit.start))


def redact(text: str, *, pii: bool = True) -> tuple[str, tuple[SecretHit, ...]]:
    """The text with a placeholder for every secret (for credentials only, if `pii` is off), and what was found."""
    hits = tuple(hit for hit in find_secrets(text) if pii or hit.group == "credential")
    for hit in reversed(hits):
        text = text[: hit.start] + _PLACEHOLDERS.get(hit.kind, "[SECRET]") + text[hit.end :]
    return text, hits


def refuses(text: str) -> SecretRefusal | None:
    """Why the text may not be remembered: it holds a credential. Personal data is redacted, not refused."""
    hit = next((hit for hit in find_secrets(text) if hit.group == "credential"), None)
    return SecretRefusal("looks like a password, key or token", hit.kind, hit.start, hit.end) if hit else None


def _shaped(text: str) -> Iterator[SecretHit]:
    for (kind, pattern), signs in zip(_SHAPES, _SHAPE_SIGNS, strict=True):
        if not any(sign in text for sign in signs):
            continue
        for match in pattern.finditer(text):
            yield SecretHit(kind, match.start(), match.end())


def _named(text: str) -> Iterator[SecretHit]:
    """Values that stand behind a word for a secret."""
    low = text.lower()
    if not any(sign in low for sign in _NAME_SIGNS):
        return
    for word in _KEYWORD.finditer(text):
        at = word.end()
        if filler := _FILLER.match(text, at):
            at = filler.end()
        link = _LINK.match(text, at)
        spaced = re.compile(r"\s{0,3}").match(text, at)
        start = link.end() if link else spaced.end() if spaced else at
        if (words := _WORDS_VALUE.match(text, start)) and re.search(r"phrase|mnemonic|助记词", word.group(), re.I):
            yield SecretHit("password", start, words.end())
            continue
        value = _VALUE.match(text, start)
        if not value:
            continue
        said = value.group().rstrip(".,;:!?)\"'`>]}")
        if (
            link
            and said.isalpha()
            and re.match(r"pass|pwd", word.group(), re.I)
            and re.match(r" [A-Za-z]", text[start + len(said) : start + len(said) + 2])
        ):
            continue
        if (
            link
            and said.isalpha()
            and word["zh"]
            and (second := re.compile(r" (?=[A-Za-z]*\d)[A-Za-z0-9]{4,32}").match(text, start + len(said)))
        ):
            yield SecretHit("password", start, second.end())
            continue
        if _is_value(said, word.group().lower(), bool(link), bool(word["zh"])):
            yield SecretHit(_kind(word.group().lower()), start, start + len(said))


def _kind(word: str) -> SecretKind:
    if re.search(r"code|otp|验证码|校验码|动态码|提取码|pin|cv[vc]|安全码", word):
        return "code"
    return "token" if re.search(r"token|key|令牌|密钥|秘钥", word) else "password"


_PLAIN = frozenset(
    [
        "required",
        "optional",
        "invalid",
        "incorrect",
        "wrong",
        "correct",
        "expired",
        "missing",
        "empty",
        "null",
        "none",
        "true",
        "false",
        "string",
        "str",
        "int",
        "weak",
        "strong",
        "safe",
        "secure",
        "reset",
        "changed",
        "not",
        "the",
        "a",
        "an",
        "my",
        "your",
        "in",
        "on",
        "at",
        "to",
        "for",
        "from",
        "by",
        "with",
        "too",
        "very",
        "long",
        "short",
        "same",
        "different",
        "what",
        "where",
        "when",
        "how",
        "why",
        "is",
        "was",
        "are",
        "be",
        "been",
        "stored",
        "saved",
        "hashed",
        "encrypted",
        "needed",
        "protected",
        "based",
        "manager",
        "field",
        "policy",
        "length",
        "form",
        "input",
        "hint",
        "type",
        "name",
        "id",
        "file",
        "value",
        "budget",
        "bucket",
        "count",
        "limit",
        "limits",
        "usage",
        "per",
        "used",
        "using",
        "ready",
        "here",
        "there",
        "it",
        "that",
        "this",
        "and",
        "or",
        "but",
        "if",
        "then",
        "also",
        "now",
        "always",
        "never",
        "only",
        "just",
        "being",
        "set",
        "get",
        "use",
        "like",
        "good",
        "bad",
        "new",
        "old",
        "lost",
        "forgotten",
        "shared",
        "leaked",
        "compromised",
        "todo",
        "tbd",
        "xxx",
        "xxxx",
        "****",
        "***",
        "n/a",
        "na",
        "unknown",
        "undefined",
        "process.env",
        "secure",
        "private",
        "secret",
        "visible",
        "mandatory",
        "confidential",
        "sensitive",
        "hidden",
        "blank",
        "broken",
        "random",
        "unique",
        "complex",
        "simple",
        "easy",
        "hard",
        "common",
        "similar",
        "identical",
        "fine",
        "okay",
        "correct",
        "outdated",
        "different",
        "crucial",
        "important",
    ]
)


_ADJECTIVES = ("ed", "ing", "able", "ible", "ive", "ly")


def _is_value(value: str, word: str, linked: bool, zh: bool) -> bool:
    """Whether what follows a word for a secret is one: mixed characters or enough of them, never a plain word."""
    low = value.lower()
    if (
        not value
        or low in _PLAIN
        or re.fullmatch(r"[*.x_\-<>{}\[\]()…]+", low)
        or re.match(r"[<{\[$]|process\.env|os\.environ|your[-_]|my[-_]|example", low)
    ):
        return False
    digit, letter = any(char.isdigit() for char in value), any(char.isalpha() for char in value)
    other = any(not char.isalnum() for char in value.strip(".,"))
    if re.search(r"code|otp|验证码|校验码|动态码|提取码|安全码|pin|cv[vc]", word):
        return (
            bool(re.fullmatch(r"[A-Za-z0-9]{3,10}(?:-[A-Za-z0-9]{3,10})?", value))
            and digit
            and (linked or zh or len(value) >= 4)
            and not re.fullmatch(r"(?:19|20)\d\d", value if not linked else "")
        )
    if word in ("key", "token", "tokens", "login", "令牌", "credential", "credentials", "secret", "secrets"):
        sha = word == "key" and re.fullmatch(r"[0-9a-f]{7,40}", low)
        mixed = digit and (letter or len(value) >= 16) and not low.startswith(("http", "v1.", "v2."))
        return linked and len(value) >= 8 and mixed and not sha
    if not linked and not zh:
        return len(value) >= 8 and digit and letter
    if digit or not linked:
        return digit and len(value) >= 4
    hyphened = re.fullmatch(r"[A-Za-z]+(?:[-'./,][A-Za-z]+)*", value)
    if (len(value) >= 5 and ((other and not hyphened) or zh)) or len(value) >= 20:
        return True
    return len(value) >= 6 and word.startswith(("pass", "pwd")) and not low.endswith(_ADJECTIVES)


def _personal(text: str) -> Iterator[SecretHit]:
    for match in _EMAIL.finditer(text) if "@" in text else ():
        yield SecretHit("email", match.start(), match.end())
    if not _SEVEN_DIGITS.search(text):
        return
    for match in _US_PHONE.finditer(text):
        yield SecretHit("phone", match.start(), match.end())
    for match in _DIGITS.finditer(text):
        kind = _number(match.group(), text[max(0, match.start() - 40) : match.start()])
        if kind:
            yield SecretHit(kind, match.start(), match.end())


def _number(shown: str, before: str) -> SecretKind | None:
    if re.match(r"(?:19|20)\d\d-\d{1,2}-\d{1,2}(?!\d)", shown):
        return None
    digits = re.sub(r"[ -]", "", shown).upper()
    if _ID_CARD.fullmatch(digits):
        return "id_card"
    if _MOBILE.fullmatch(digits.lstrip("+").removeprefix("00") if digits.startswith(("+", "00")) else digits):
        return "phone"
    plain = digits.lstrip("+")
    if shown.startswith("+") and 9 <= len(plain) <= 15:
        return "phone"
    if (
        plain.isdigit()
        and 13 <= len(plain) <= 19
        and (_CARD_WORD.search(before) or (_luhn(plain) and plain[0] in "3456" and not _NOT_CARD_WORD.search(before)))
    ):
        return "bank_card"
    if _PHONE_WORD.search(before) and 7 <= len(plain) <= 12:
        return "phone"
    return None


def _luhn(digits: str) -> bool:
    total = 0
    for index, char in enumerate(reversed(digits)):
        number = int(char) * (1 + index % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0
