"""The language of a page."""

from collections.abc import Collection
from typing import Literal, get_args

Spoken = Literal["en", "zh"]
LANGUAGES: tuple[Spoken, ...] = get_args(Spoken)


def choose_language(chosen: str | None, setting: str | None, accepted: str) -> Spoken:
    """The chosen language, else that of the user's settings, else the browser's first choice, else English."""
    for named in (chosen, setting, *_list_accepted(accepted)):
        for language in LANGUAGES:
            if named and named.lower().partition("-")[0] == language:
                return language
    return "en"


def _list_accepted(accepted: str) -> Collection[str]:
    """The languages of the header, the most preferred first; none for an invalid header."""
    wanted: list[tuple[float, str]] = []
    for part in accepted[:1000].split(","):
        name, _, weight = part.strip().partition(";q=")
        try:
            wanted.append((-float(weight or 1), name.strip()))
        except ValueError:
            continue
    return [name for _, name in sorted(wanted, key=lambda each: each[0])]
