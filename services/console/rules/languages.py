"""In which language a page is written."""

from collections.abc import Collection
from typing import Literal, get_args

Spoken = Literal["en", "zh"]
LANGUAGES: tuple[Spoken, ...] = get_args(Spoken)


def choose_language(chosen: str | None, setting: str | None, accepted: str) -> Spoken:
    """What was switched to, else what the user's settings say, else what the browser asks for first, else English."""
    for named in (chosen, setting, *_list_accepted(accepted)):
        for language in LANGUAGES:
            if named and named.lower().partition("-")[0] == language:
                return language
    return "en"


def _list_accepted(accepted: str) -> Collection[str]:
    """The languages of the header, the most wanted first; what is no header names none."""
    wanted: list[tuple[float, str]] = []
    for part in accepted[:1000].split(","):
        name, _, weight = part.strip().partition(";q=")
        try:
            wanted.append((-float(weight or 1), name.strip()))
        except ValueError:
            continue
    return [name for _, name in sorted(wanted, key=lambda each: each[0])]
