"""Postal addresses: a street with a house number, and the adjacent town, flat and postcode."""

# ruff: noqa: E501 - one form of a country per line

from collections.abc import Iterator

from shared.language.patterns import to_pattern
from shared.secrets.model import SecretHit

_CHINA = to_pattern(
    r"[^\W\d_a-zA-Z住在到是去往从给的我你他她们寄送了]{1,24}(?:(?<!里)路|街|大道|巷|胡同)(?:[东西南北中]段)?\s?\d{1,5}(?:[-—]\d{1,4})?\s?(?:号|弄)(?!线)(?:院|楼|大厦)?"
    r"(?:\s?[\dA-Za-z一二三四五六七八九十]{1,4}\s?(?:号楼|栋|幢|座|单元|层|室|号房?)){0,4}"
    r"|[^\W\d_a-zA-Z住在到是去往从给的我你他她们寄送了]{1,12}(?:小区|花园|公寓|家园|苑)\s?(?:[\dA-Za-z]{1,4}\s?(?:号楼|栋|幢|座|单元|室)){1,4}(?:\d{2,4}室?)?"
)
_ENGLISH = to_pattern(
    r"\b(?:(?:apt|flat|unit|suite)\.? ?\w{1,5},? )?\d{1,5}[A-Za-z]?(?: [NSEW]\.?)?(?: (?:[A-Z][\w'’.]{1,20}|\d{1,3}(?:st|nd|rd|th))){1,4} "
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Ct|Place|Pl|Square|Sq|Terrace|Close|Crescent|Highway|Hwy|Mews|Yard|Row|Grove|Gardens)\b\.?"
    r"(?:,? (?:apt|flat|unit|suite|#)\.? ?\w{1,5})?(?:,(?: [A-Z][a-z'’.]{1,20}){1,3}){0,2}"
    r"(?:,? (?:[A-Z]{2} \d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}))?"
)
_EUROPE = to_pattern(
    r"\b[A-ZÄÖÜ][\wäöüß-]{1,30}(?:straße|strasse|str\.|gasse|weg|allee|platz|straat|laan|plein)\s\d{1,4}\s?[a-z]?\b(?:, \d{4,5} ?(?:[A-Z]{2} )?[A-ZÄÖÜ][\wäöüß-]{1,30})?"
    r"|\b\d{1,4}(?: ?bis)?,? (?:rue|avenue|boulevard|place|quai|impasse|allée)(?: (?:de|du|des|la|le|les)| [dl]['’])*(?: ?[\w'’-]{2,20}){1,3}(?:, \d{5} [A-Z][\wé-]{1,30})?"
    r"|\b(?:[Vv]ia|[Vv]iale|[Pp]iazza|[Cc]orso|[Cc]alle|[Aa]venida|[Pp]laza|ul\.|[Uu]lica)(?: (?:de|del|della|di|la|el|los))*(?: [A-Z][\w'’-]{1,20}){1,3},? \d{1,4}\b"
)


def find_addresses(text: str) -> Iterator[SecretHit]:
    """Every postal address in the forms of China, of English-speaking countries and of the European Union."""
    if any(map(str.isdigit, text)):
        for form in (_CHINA, _ENGLISH, _EUROPE):
            for match in form.finditer(text):
                yield SecretHit("address", match.start(), match.end())
