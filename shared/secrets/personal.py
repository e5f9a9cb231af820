"""Personal numbers in text: cards, identity documents, telephones, addresses of mail."""

import re
from collections.abc import Iterator

from shared.language.patterns import to_pattern
from shared.secrets.model import SecretHit, SecretKind

_EMAIL = to_pattern(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,24}"
    r"(?![A-Za-z0-9])"
)
_DIGITS = to_pattern(r"(?<![\dA-Za-z._/=])(?:\+|00)?\d(?:[ -]{0,2}\d){6,22}[Xx]?(?![\dA-Za-z])")
_SEVEN_DIGITS = to_pattern(r"\d(?:[^\d\n]{0,3}\d){6}")
_US_PHONE = to_pattern(r"(?<![\dA-Za-z-])(?:\+?1[ .-]?)?(?:\(\d{3}\)\s?|\d{3}[.-])\d{3}[.-]\d{4}(?![\d-])")
_MOBILE = to_pattern(r"(?:(?:\+|00)?86)?1[3-9]\d{9}")
_ID_CARD = to_pattern(r"[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX]")
_DOCUMENT_SIGNS = ("passport", "ssn", "social", "national insurance", "hkid", "hk id", "green card", "itin", "aadhaar")
_DOCUMENT_SIGNS_ZH = ("护照", "台胞证", "通行证", "身份证", "社安号", "社会安全", "回乡证", "居留")
_DOCUMENT = to_pattern(
    r"(?P<travel>passport|护照|通行证|台胞证|回乡证|居留许可|居留证|身份证|hk ?id|green card|aadhaar)"
    r"|(?P<social>\bssn\b|\bsocial\b|\bitin\b|社安号|社会安全)|(?P<insured>national insurance|\bNI(?:NO| number))",
    re.I,
)
_TRAVEL = to_pattern(
    r"(?<![A-Za-z0-9])(?:[A-Z]{1,2} ?\d{6,9}(?:\(\d\)|（\d）)?|\d{8,9}|\d{2}[A-Z]{2}\d{5}|\d{4} ?\d{4} ?\d{4}|"
    r"[A-Z]\d[A-Z0-9]{7})"
    r"(?![A-Za-z0-9]|[.-]\d)"
)
_DATE = to_pattern(r"(?:19|20)\d{6}")
_SOCIAL = to_pattern(r"(?<![\d-])\d{3}(?P<gap>[- ]?)\d{2}(?P=gap)\d{4}(?![\d-])")
_INSURED = to_pattern(r"(?<![A-Za-z0-9])[A-Z]{2}(?: ?\d\d){3} ?[A-D](?![A-Za-z0-9])")
_CARD_WORD = to_pattern(
    r"(?:银行卡|卡号|工资卡|工行|建行|农行|招行|交行|信用卡|储蓄卡|借记卡|账号|账户|card|account|visa|"
    r"mastercard|amex|iban)[^\n]{0,24}$",
    re.I,
)
_NOT_CARD_WORD = to_pattern(
    r"(?:订单|单号|运单|快递|流水|ISBN|编号|串号|序列号|发票|设备号|order|tracking|invoice|serial|timestamp|时间戳|版本"
    r"|id|uid|sku|ticket|imei|meid|iccid|barcode|条码|条形码|二维码|ean|upc|parcel|shipment|reference|ref)"
    r"(?:\s{0,2}(?:号码?|numbers?|no\.?|id|is|was|是|为|[:：#]))*\s{0,2}$",
    re.I,
)
_PHONE_WORD = to_pattern(r"(?:电话|手机|座机|联系方式|热线|tel|phone|call|mobile|whatsapp|fax|cell)[^\n]{0,16}$", re.I)
_IDENTITY_WORD = to_pattern(r"(?:身份证|证件|identity|id card)[^\n]{0,16}$", re.I)
_NEAR = 60
"""How far from the word for a document its number may stand."""


def numbers(text: str, low: str) -> Iterator[SecretHit]:
    """Every personal number and address of mail; `low` is the text in small letters."""
    for match in _EMAIL.finditer(text) if "@" in text else ():
        yield SecretHit("email", match.start(), match.end())
    yield from _documents(text, low)
    if not _SEVEN_DIGITS.search(text):
        return
    for match in _DIGITS.finditer(text):
        kind = _number(match.group(), text[max(0, match.start() - 40) : match.start()])
        if kind:
            yield SecretHit(kind, match.start(), match.end())
    for match in _US_PHONE.finditer(text):
        yield SecretHit("phone", match.start(), match.end())


def _documents(text: str, low: str) -> Iterator[SecretHit]:
    """Numbers of identity documents beside the word for one."""
    signs = _DOCUMENT_SIGNS if low.isascii() else (*_DOCUMENT_SIGNS, *_DOCUMENT_SIGNS_ZH)
    if not any([sign in low for sign in signs]) and "NI" not in text:  # noqa: C419 # a list is faster than a generator
        return
    for word in _DOCUMENT.finditer(text):
        pattern = _TRAVEL if word["travel"] else _SOCIAL if word["social"] else _INSURED
        near = pattern.search(text, word.end(), word.end() + _NEAR)
        if near is None:
            near = pattern.search(text, max(0, word.start() - _NEAR // 2), word.start())
        if near and not _DATE.fullmatch(near.group()):
            yield SecretHit("id_card", near.start(), near.end())


def _number(shown: str, before: str) -> SecretKind | None:
    if re.match(r"(?:19|20)\d\d-\d{1,2}-\d{1,2}(?!\d)", shown):
        return None
    digits = re.sub(r"[ -]", "", shown).upper()
    if _ID_CARD.fullmatch(digits) and (has_check_digit(digits) or _IDENTITY_WORD.search(before)):
        return "id_card"
    if _MOBILE.fullmatch(digits.lstrip("+").removeprefix("00") if digits.startswith(("+", "00")) else digits):
        return "phone"
    plain = digits.lstrip("+")
    if shown.startswith("+") and 9 <= len(plain) <= 15:
        return "phone"
    carded = plain.isdigit() and 13 <= len(plain) <= 19 and not _NOT_CARD_WORD.search(before)
    if carded and (_CARD_WORD.search(before) or (luhn(plain) and plain[0] in "23456")):
        return "bank_card"
    if _PHONE_WORD.search(before) and 7 <= len(plain) <= 12:
        return "phone"
    return None


def has_check_digit(digits: str) -> bool:
    """Whether the last sign of a Chinese identity number checks the others (GB 11643)."""
    total = sum(int(char) * pow(2, 17 - index, 11) for index, char in enumerate(digits[:17]))
    return "10X98765432"[total % 11] == digits[17]


def luhn(digits: str) -> bool:
    """Whether the last digit checks the others, as on every card."""
    total = 0
    for index, char in enumerate(reversed(digits)):
        number = int(char) * (1 + index % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0
