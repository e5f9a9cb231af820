"""The language of a page, and times and confidences in its everyday words."""

import re
from collections.abc import Collection
from datetime import datetime, timedelta, tzinfo
from typing import Literal, get_args

Spoken = Literal["en", "zh"]
LANGUAGES: tuple[Spoken, ...] = get_args(Spoken)
_MONTHS_WORDS = "January February March April May June July August September October November December"
MONTHS = tuple(_MONTHS_WORDS.split())
DEGREES: tuple[tuple[float, str], ...] = (
    (0.85, "sure.very"),
    (0.65, "sure.quite"),
    (0.45, "sure.rather"),
    (0.25, "sure.little"),
    (0.0, "sure.hardly"),
)
"""The message for each lower bound of confidence."""


def read_moment(told: str) -> datetime:
    """Parses a time from compose."""
    return datetime.fromisoformat(told)


def tell_day(moment: datetime, now: datetime, zone: tzinfo, language: Spoken) -> str:
    """The day: today and yesterday by name, the year only if it differs."""
    day, today = moment.astimezone(zone).date(), now.astimezone(zone).date()
    if day == today:
        return "today" if language == "en" else "今天"
    if day == today - timedelta(days=1):
        return "yesterday" if language == "en" else "昨天"
    if language == "zh":
        return f"{day.month}月{day.day}日" if day.year == today.year else f"{day.year}年{day.month}月{day.day}日"
    written = f"{day.day} {MONTHS[day.month - 1]}"
    return written if day.year == today.year else f"{written} {day.year}"


def tell_moment(moment: datetime, now: datetime, zone: tzinfo, language: Spoken) -> str:
    """The time: minutes and hours ago, then the day with the time, after a week only the day."""
    seconds = (now - moment).total_seconds()
    if 0 <= seconds < 60:
        return "just now" if language == "en" else "刚刚"
    if 0 <= seconds < 3600:
        return _count(int(seconds // 60), "minute", "分钟", language)
    if 0 <= seconds < 6 * 3600:
        return _count(int(seconds // 3600), "hour", "小时", language)
    day = tell_day(moment, now, zone, language)
    if abs(seconds) > 7 * 24 * 3600:
        return day
    clock = moment.astimezone(zone).strftime("%H:%M")
    return f"{day}, {clock}" if language == "en" else f"{day} {clock}"


def _count(number: int, english: str, chinese: str, language: Spoken) -> str:
    if language == "zh":
        return f"{number} {chinese}前"
    return f"{number} {english}{'' if number == 1 else 's'} ago"


def name_degree(confidence: float) -> str:
    """The message for the confidence."""
    return next(name for least, name in DEGREES if confidence >= least)


_FENCE = re.compile(r"<([a-z_]+) nonce=[^>]*>|</[a-z_]+>")


def strip_fences(text: str) -> str:
    """The text of a snippet without the tags for the model."""
    return _FENCE.sub("", text).strip()


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
