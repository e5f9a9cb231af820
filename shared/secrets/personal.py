"""Personal data in text: cards and accounts, identity documents, telephone numbers, email addresses.

Checksums are those of python-stdnum, which knows national formats.
"""

import re
from collections.abc import Callable, Iterator

from stdnum import iban, luhn
from stdnum.at import vnr
from stdnum.be import nn
from stdnum.bg import egn
from stdnum.cz import rc
from stdnum.de import idnr
from stdnum.dk import cpr
from stdnum.ee import ik
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.gb import nhs
from stdnum.gr import amka
from stdnum.hr import oib
from stdnum.ie import pps
from stdnum.iso7064 import mod_11_2
from stdnum.it import codicefiscale
from stdnum.lt import asmens
from stdnum.nl import bsn
from stdnum.pl import pesel
from stdnum.pt import nif
from stdnum.ro import cnp
from stdnum.se import personnummer
from stdnum.si import emso

from shared.language.patterns import to_pattern
from shared.secrets.model import SecretHit, SecretKind

_EMAIL = to_pattern(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,24}"
    r"(?![A-Za-z0-9])"
)
_DIGITS = to_pattern(r"(?<![\dA-Za-z._/=])(?:\+|00)?\d(?:[ -]{0,2}\d){6,22}[Xx]?(?![\dA-Za-z])")
_SEVEN_DIGITS = to_pattern(r"\d(?:[^\d\n]{0,3}\d){6}")
_US_PHONE = to_pattern(r"(?<![\dA-Za-z-])(?:\+?1[ .-]?)?(?:\(\d{3}\)\s?|\d{3}[.-])\d{3}[.-]\d{4}(?![\d-])")
_PHONE_OF_A_COUNTRY = to_pattern(
    r"(?<![\d+.,:/-])(?:07\d{3} \d{3} ?\d{3}|01\d{3} \d{3} ?\d{3}|01\d1 \d{3} \d{4}|02\d \d{4} \d{4}"
    r"|0[1-9](?: \d\d){4}|0[1-9](?:\.\d\d){4})(?![ .,:/-]?\d)"
)
_DOTTED_CARD = to_pattern(r"(?<![\d.])[2-6]\d{3}(?:\.\d{4}){3}(?![.]?\d)")
_MOBILE = to_pattern(r"(?:(?:\+|00)?86)?1[3-9]\d{9}")
_ID_CARD = to_pattern(r"[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX]")
_FORMER_ID_CARD = to_pattern(r"[1-9]\d{7}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}")
_DOCUMENT_SIGNS = (
    *("passport", "ssn", "social", "national insurance", "hkid", "hk id", "green card", "itin", "aadhaar"),
    *("licence", "license", "identity card", "personalausweis"),
)
_DOCUMENT_SIGNS_ZH = ("护照", "台胞证", "通行证", "身份证", "社安号", "社会安全", "回乡证", "居留", "驾照", "驾驶证")
_DOCUMENT = to_pattern(
    r"(?P<travel>passport|护照|通行证|台胞证|回乡证|居留许可|居留证|身份证|驾照|驾驶证|hk ?id|green card|aadhaar"
    r"|driv(?:er['’]?s?|ing) licen[cs]e|identity card|personalausweis)"
    r"|(?P<social>\bssn\b|\bsocial\b|\bitin\b|社安号|社会安全)|(?P<insured>national insurance|\bNI(?:NO| number))",
    re.I,
)
_TRAVEL = to_pattern(
    r"(?<![A-Za-z0-9])(?:[A-Z]{1,2} ?\d{6,9}(?:\(\d\)|（\d）)?|\d{8,9}|\d{2}[A-Z]{2}\d{5}|\d{4} ?\d{4} ?\d{4}|"
    r"[A-Z]\d[A-Z0-9]{7,8}|[A-Z9]{5}\d{6}[A-Z9]{2}[A-Z0-9]{3}|[A-Z]{3}\d{10})"
    r"(?![A-Za-z0-9]|[.-]\d)"
)
_DATE = to_pattern(r"(?:19|20)\d{6}")
_SOCIAL = to_pattern(r"(?<![\d-])\d{3}(?P<gap>[-. ]?)\d{2}(?P=gap)\d{4}(?![\d-])")
_INSURED = to_pattern(r"(?<![A-Za-z0-9])[A-Z]{2}(?: ?\d\d){3} ?[A-D](?![A-Za-z0-9])", re.I)
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
_PHONE_WORD = to_pattern(
    r"(?:电话|手机|座机|联系方式|热线|tel|phone|call|mobile|whatsapp|fax|cell|handy|num[eé]ro|\bring\b|\bdial\b"
    r"|\b(?:text|reach) (?:me|us|him|her|them)\b|\b(?:my|his|her|our|their) (?:new |old |work )?number\b)[^\n]{0,16}$",
    re.I,
)
_IDENTITY_WORD = to_pattern(r"(?:身份证|证件|identity|id card)[^\n]{0,16}$", re.I)
_ACCOUNT = to_pattern(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])", re.I)
_BANK_WORD = to_pattern(r"\b(?:sort ?code|routing|aba|ach|bank|swift|bic|wire)\b", re.I)
_ACCOUNT_OF_BANK = to_pattern(
    r"(?:\b(?:account|acct|a/c)\b\.?(?:[ .:#]{1,2}(?:numbers?|no|num|nr|is)\b){0,3}[ .:#]{0,3}"
    r"|\bsort ?code[ :]{1,2}(?:is )?)"
    r"(?P<number>\d(?:[ -]?\d){5,16})(?![\d-])",
    re.I,
)
_TAX_CODE = to_pattern(r"(?<![A-Za-z0-9])[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?![A-Za-z0-9])", re.I)
_NAMED_NUMBER = to_pattern(
    r"\b(?:(?P<es>DNI|NIE|NIF|contribuinte)|(?P<fr>NIR|INSEE|s[ée]cu(?:rit[ée] sociale)?|social security)"
    r"|(?P<nl>BSN|burgerservicenummer)|(?P<pl>PESEL)"
    r"|(?P<de>Steuer-?(?:ID|Identifikationsnummer|IdNr)|IdNr)|(?P<gb>NHS(?: number| no\.?)?)"
    r"|(?P<at>SVNR|Sozialversicherungsnummer)"
    r"|(?P<be>rijksregisternummer|num[ée]ro national|national (?:register )?number)"
    r"|(?P<se>personnummer)|(?P<ie>PPSN|PPS (?:number|no\.?))|(?P<dk>CPR(?:[- ]?nummer| number))"
    r"|(?P<fi>henkilötunnus|hetu)|(?P<cz>rodné číslo|rodného čísla)|(?P<ro>CNP)|(?P<bg>ЕГН|EGN)|(?P<gr>AMKA|ΑΜΚΑ)"
    r"|(?P<hr>OIB)|(?P<ee>isikukood)|(?P<lt>asmens kodas)|(?P<si>EMŠO|EMSO))(?![^\W_])",
    re.I,
)
Check = Callable[[str], bool]
_ELEVEN_DIGITS, _THIRTEEN_DIGITS = to_pattern(r"\b\d{11}\b"), to_pattern(r"\b\d{13}\b")
_NATIONAL: dict[str, tuple[re.Pattern[str], Check]] = {
    "es": (
        to_pattern(r"\b(?:(?:\d{8}|[XYZ]\d{7})[ -]?[A-Z]|\d{9})\b", re.I),
        lambda said: dni.is_valid(said) or nie.is_valid(said) or nif.is_valid(said),
    ),
    "fr": (to_pattern(r"\b[12](?:[ .]?\d){14}\b"), nir.is_valid),
    "nl": (to_pattern(r"\b\d(?:[ .]?\d){8}\b"), bsn.is_valid),
    "pl": (_ELEVEN_DIGITS, pesel.is_valid),
    "de": (to_pattern(r"\b\d(?: ?\d){10}\b"), idnr.is_valid),
    "gb": (to_pattern(r"\b\d{3}[ -]?\d{3}[ -]?\d{4}\b"), nhs.is_valid),
    "at": (to_pattern(r"\b\d{4} ?\d{6}\b"), vnr.is_valid),
    "be": (to_pattern(r"\b\d\d[. ]?\d\d[. ]?\d\d[- ]?\d{3}[. ]?\d\d\b"), nn.is_valid),
    "se": (to_pattern(r"\b(?:\d\d)?\d{6}[-+]?\d{4}\b"), personnummer.is_valid),
    "ie": (to_pattern(r"\b\d{7}[A-W][ABHTWX]?\b", re.I), pps.is_valid),
    "dk": (to_pattern(r"\b\d{6}[- ]?\d{4}\b"), cpr.is_valid),
    "fi": (to_pattern(r"\b\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]\b", re.I), hetu.is_valid),
    "cz": (to_pattern(r"\b\d{6}/?\d{3,4}\b"), rc.is_valid),
    "ro": (_THIRTEEN_DIGITS, cnp.is_valid),
    "bg": (to_pattern(r"\b\d{10}\b"), egn.is_valid),
    "gr": (_ELEVEN_DIGITS, amka.is_valid),
    "hr": (_ELEVEN_DIGITS, oib.is_valid),
    "ee": (_ELEVEN_DIGITS, ik.is_valid),
    "lt": (_ELEVEN_DIGITS, asmens.is_valid),
    "si": (_THIRTEEN_DIGITS, emso.is_valid),
}
"""The form of the number after its name, and its checksum function."""
_NEAR = 60
"""The maximum distance between the word for a document and its number."""


def find_numbers(text: str, low: str) -> Iterator[SecretHit]:
    """Every personal number and email address; `low` is the text in lower case."""
    for match in _EMAIL.finditer(text) if "@" in text else ():
        yield SecretHit("email", match.start(), match.end())
    yield from _documents(text, low)
    if not _SEVEN_DIGITS.search(text):
        return
    yield from _find_checked(text)
    for match in _DIGITS.finditer(text):
        kind = _number(match.group(), text[max(0, match.start() - 40) : match.start()])
        if kind:
            yield SecretHit(kind, match.start(), match.end())
    for match in _US_PHONE.finditer(text):
        yield SecretHit("phone", match.start(), match.end())
    for match in _PHONE_OF_A_COUNTRY.finditer(text):
        if not _NOT_CARD_WORD.search(text[max(0, match.start() - 40) : match.start()]):
            yield SecretHit("phone", match.start(), match.end())
    for match in _DOTTED_CARD.finditer(text):
        if luhn.is_valid(match.group().replace(".", "")):
            yield SecretHit("bank_card", match.start(), match.end())
    if _BANK_WORD.search(text):
        for match in _ACCOUNT_OF_BANK.finditer(text):
            yield SecretHit("bank_card", match.start("number"), match.end("number"))


def _find_checked(text: str) -> Iterator[SecretHit]:
    """Numbers of the European Union and the United Kingdom that form and checksum identify.

    Most of them count only with their name, because one in ten random numbers has a valid check digit.
    """
    for match in _ACCOUNT.finditer(text):
        if iban.is_valid(match.group()):
            yield SecretHit("bank_card", match.start(), match.end())
    for match in _TAX_CODE.finditer(text):
        if codicefiscale.is_valid(match.group()):
            yield SecretHit("id_number", match.start(), match.end())
    for named in _NAMED_NUMBER.finditer(text):
        form, is_valid = _NATIONAL[next(name for name, written in named.groupdict().items() if written)]
        match = form.search(text, named.end(), named.end() + _NEAR)
        if match and is_valid(match.group()):
            yield SecretHit("id_number", match.start(), match.end())


def _documents(text: str, low: str) -> Iterator[SecretHit]:
    """Numbers of identity documents with a word for one."""
    signs = _DOCUMENT_SIGNS if low.isascii() else (*_DOCUMENT_SIGNS, *_DOCUMENT_SIGNS_ZH)
    if not any([sign in low for sign in signs]) and "NI" not in text:  # noqa: C419 # a list is faster than a generator
        return
    for word in _DOCUMENT.finditer(text):
        pattern = _TRAVEL if word["travel"] else _SOCIAL if word["social"] else _INSURED
        near = pattern.search(text, word.end(), word.end() + _NEAR)
        if near is None:
            near = pattern.search(text, max(0, word.start() - _NEAR // 2), word.start())
        if near and not _DATE.fullmatch(near.group()):
            yield SecretHit("id_number", near.start(), near.end())


def _number(shown: str, before: str) -> SecretKind | None:
    if re.match(r"(?:19|20)\d\d-\d{1,2}-\d{1,2}(?!\d)", shown):
        return None
    digits = re.sub(r"[ -]", "", shown).upper()
    if _ID_CARD.fullmatch(digits) and (mod_11_2.is_valid(digits) or _IDENTITY_WORD.search(before)):
        return "id_number"
    if _FORMER_ID_CARD.fullmatch(digits) and _IDENTITY_WORD.search(before):
        return "id_number"
    if _MOBILE.fullmatch(digits.lstrip("+").removeprefix("00") if digits.startswith(("+", "00")) else digits):
        return "phone"
    plain = digits.lstrip("+")
    if shown.startswith("+") and 9 <= len(plain) <= 15:
        return "phone"
    carded = plain.isdigit() and 13 <= len(plain) <= 19 and not _NOT_CARD_WORD.search(before)
    if carded and (_CARD_WORD.search(before) or (luhn.is_valid(plain) and plain[0] in "23456")):
        return "bank_card"
    if _PHONE_WORD.search(before) and 7 <= len(plain) <= 12:
        return "phone"
    return None
