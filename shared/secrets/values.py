"""Whether a text can be the value of a secret, by its form alone."""

import itertools
import re
from typing import Literal

from shared.language.patterns import to_pattern

Look = Literal["digits", "mixed", "signed", "word"]
"""Digits alone; letters with digits; letters with signs; letters alone."""

_STANDS_FOR = to_pattern(
    r"[<{(\[].*[>})\]]|\$[A-Z_][A-Z0-9_]*|\$[({].*|%[sdv]|%\(.*|%[A-Za-z_]{2,}%|:[a-z_]+|@[a-z_]+@|\?+"
    r"|[*•●＊·.x_\-#?…]+|.*(?:\*{3}|•{2}|●{2}|…|\.{3}|x{4}|＊{2}).*|.*(?:\$\{|\{\{|<[A-Za-z_ -]+>).*"
    r"|(?:.*[_ -])?your[_ -].*|<?my[_-](?:secret|password|token|key|api).*|.*[_ -]here|(?:.*[_.@ -])?(?:example|"
    r"placeholder|redacted|dummy)(?![A-Za-z]).*"
    r"|change[_-]?(?:me|this|it)[!.]?|replace[_-]?(?:me|this|with).*|insert[_-].*|todo|tbd|n/?a|none|null|nil|undefined"
    r"|true|false|empty|foo(?:bar)?|bar|baz|test|string|str|secret|hidden|masked|password|passwd|pwd|pass|token|key|"
    r"value"
    r"|api[_-]?key|user(?:name)?|admin|abc|xyz|1password|0x|(?:[a-z]+_)+(?:password|passwd|pwd|pass|token|key|"
    r"secret|code|value)|(?:password|token|secret|key|code)(?:_[a-z]+)+|some[_-].*|sample[_-].*|fake[_-].*",
    re.I,
)
_LOOKUP = to_pattern(
    r"(?:os\.)?(?:environ|getenv)\b|process\.env|import\.meta|std::env|System\.getenv|ENV\[|env[.(\[]|"
    r"secrets?\.[A-Za-z_]"
    r"|config[.(\[]|settings\.|self\.|this\.|params[.\[]|request\.|req\.|args\.|vault:|!(?:Ref|Sub|vault)|ref\+|op://"
    r"|data\.|var\.|local\.|module\.|\$\.|\$_|process\.|st\.secrets|getpass|input\(|prompt\(|arn:"
)
_CALL = to_pattern(r"[A-Za-z_][\w.]*(?:\(|\[[\"'a-z])")
_HASH = to_pattern(
    r"\$(?:2[abxy]?|1|5|6|7|argon2\w*|pbkdf2\w*|scrypt)\$.*|\{S?SHA\w*\}.*|(?:pbkdf2|scrypt|argon2|bcrypt)[_:$].*"
    r"|(?:sha\d{0,3}|md5|blake2?\w?)[:=-].*|SHA256:.*",
    re.I,
)
_LOOK_ALIKE = to_pattern(
    r"#[0-9a-f]{3,8}|[vV]?\d+(?:\.\d+)+\S*|\d+(?:st|nd|rd|th|s|er)|[$£€¥]\d\S*|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|"
    r"\d{1,2}:\d{2}\S*"
    r"|\d+(?:[.,]\d+)?(?:%|px|ms|secs?|mins?|hrs?|h|d|days?|w|weeks?|months?|yrs?|years?|k|m|[kmgt]i?b|[mk]?g|"
    r"[cmk]?m|bits?"
    r"|bytes?|chars?|x|[ap]m|pt|fps|[gmk]?hz|v|mah|ft|lbs?|oz|c|f|usd|eur|rmb|cny)(?:/\w+)?"
    r"|(?:sha|md|utf|ipv|https?|oauth|base|aes|rsa|tls|ssl|wpa|win|windows|ec|rfc|iso|es|h|mp|usb|s|f|k|x|log4j|web|"
    r"wi-?fi"
    r"|iphone|ipad|ios|android|galaxy|pixel|mate|gpt|python|java|php|node|vue|ubuntu|office|level|step|line|v|p|t|q|"
    r"a|b|c"
    r"|arm|amd|i18n|l10n|a11y|k8s|argon|ed|secp|hs|rs|ps|pbkdf|mac|rtx|gtx|ps|col|row|no|top|day|week|"
    r"ch)[-_]?\d{1,5}\w?"
    r"|[a-zA-Z](?:-[a-zA-Z])?(?:[a-zA-Z]-[a-zA-Z])*(?:0-9|\d-\d)\S*|\[?[aA]-[zZ]\S*|\d-\d|2fa|mfa|3des|2sv|"
    r"1password|7-?zip|365|office365|o365"
    r"|(?:\.{0,2}|~)/\S+|[A-Za-z]:\\\S*|\S+/\S+/\S+|\S+\.(?:com|cn|org|net|io|dev|txt|docx?|pdf|xlsx?|csv|zip|rar|"
    r"7z|png|jpe?g"
    r"|py|js|ts|java|go|rs|md|json|ya?ml|toml|ini|sh|html?|php|sql|log|conf|pem|key|crt|env|lock)(?:/\S*)?|"
    r"\w+@\w[\w.-]*\.\w+"
    r"|\d+[x*×]\d+|\w+=|&&?|\d+/\d+|\d+-(?:character|digit|char|letter|day|step|minute|bit|word|factor|way)\w*|"
    r"(?-i:[A-Z]{2,5})-\d{1,5}|covid-\d\d",
    re.I,
)
_WORDS = to_pattern(r"[A-Za-z]+(?:[-'’./,&_+][A-Za-z]+)*[.,!?…]*")
_PLAIN_PIECE = to_pattern(r"[A-Za-z]?[a-z]{2,}|[A-Z]{2,8}|\d{1,4}|[a-z]|v\d+|[A-Za-z]{3,}\d{1,2}")
_SOUNDS = to_pattern(r"[aeiouyAEIOUY]")
GROUPED = to_pattern(r"\d{2,8}(?:[ -]\d{2,8}){1,7}(?![\d-])")
"""Digits in groups, as codes are read aloud."""


def is_placeholder(value: str) -> bool:
    """Whether the value is a placeholder: masked, in brackets, a variable, a sample word, a lookup."""
    return bool(_STANDS_FOR.fullmatch(value) or _LOOKUP.match(value))


def is_call(value: str) -> bool:
    """Whether the value is code that obtains the secret elsewhere."""
    return bool(_LOOKUP.search(value) or _CALL.match(value))


def is_hash(value: str) -> bool:
    """Whether the value is marked as a hash."""
    return bool(_HASH.fullmatch(value))


def look_alike(value: str) -> bool:
    """Whether the value is a version, date, size, file, model or similar."""
    return bool(_LOOK_ALIKE.fullmatch(value))


def look(value: str) -> Look | None:
    """The form of the value, or None without letters and digits."""
    digit = any(char.isdigit() for char in value)
    letter = any(char.isalpha() for char in value)
    if digit and not letter:
        return "digits" if re.fullmatch(r"[\d #*-]+", value) else "mixed"
    if digit:
        return "mixed"
    if not letter:
        return None
    return (
        "word" if _WORDS.fullmatch(value) and "_" not in value and "&" not in value and "+" not in value else "signed"
    )


def looks_generated(value: str, least: int) -> bool:
    """Whether the value looks generated: long enough, letters and digits, not composed of words."""
    if len(value) < least or not any(c.isdigit() for c in value):
        return False
    if not any(c.isalpha() for c in value):
        return len(value) >= max(least, 16)
    pieces = [piece for piece in re.split(r"[^A-Za-z0-9]+", value) if piece]
    plain = sum(
        len(piece)
        for piece in pieces
        if _PLAIN_PIECE.fullmatch(piece) and (piece.isdigit() or len(piece) < 3 or _SOUNDS.search(piece))
    )
    return plain < 0.7 * sum(map(len, pieces))


def is_varied(value: str) -> bool:
    """Whether case and digits change often, as in random text."""
    classes = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "o" for c in value]
    changes = sum(a != b for a, b in itertools.pairwise(classes))
    return {"d", "u", "l"} <= set(classes) and changes >= len(value) * 0.3 and len(set(value)) >= len(value) * 0.4
