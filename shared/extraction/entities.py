"""Named things in both languages, and the gate that lets one become memory (docs: entity gate)."""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping

from schemas.vocabulary import EntityKind
from shared.extraction import entities_words as words
from shared.extraction.keys import fold, slug
from shared.extraction.model import Mention, MessageText
from shared.language.patterns import to_pattern
from shared.language.segment import tag_words
from shared.secrets import PLACEHOLDERS

_BLANKED = to_pattern("|".join(re.escape(each) for each in sorted(PLACEHOLDERS)))
"""What stands for a secret names nothing."""
_OF_REPOS = to_pattern(r"repo|仓库|代码库|github|gitlab|项目|branch|分支|issue|\bPR\b|clone|fork", re.I)
_BEFORE = 80
"""Characters in which a name's sentence begins, where it is its first word."""
_Add = Callable[[str, EntityKind, str, tuple[int, int]], None]


def mentions(message: MessageText) -> list[Mention]:
    """Every named thing of the message, longest reading first, none inside another."""
    text, named = message.text, list[Mention]()
    taken = [match.span() for match in _BLANKED.finditer(text)]

    def add(name: str, kind: EntityKind, canonical: str, span: tuple[int, int]) -> None:
        at = bisect_left(taken, span)
        free = (at == 0 or taken[at - 1][1] <= span[0]) and (at == len(taken) or taken[at][0] >= span[1])
        if canonical and free:
            taken.insert(at, span)
            named.append(Mention(name, kind, canonical, span, message.ordinal))

    for match in words.URL.finditer(text):
        name = match.group().rstrip(".,;:!?)")
        repo = re.match(r"https?://(?:www\.)?(?:github|gitlab|gitee)\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?$", name)
        span = (match.start(), match.start() + len(name))
        add(name, "repo" if repo else "url", (repo[1] if repo else re.sub(r"/$", "", name)).lower(), span)
    if "/" in text or "." in text:
        _add_paths(text, add)
    if re.search(r"[\u3400-\u9fff]", text):
        _add_chinese(text, add)
    _add_english(text, add)
    return sorted(named, key=lambda one: one.span)


def _add_paths(text: str, add: _Add) -> None:
    for match in words.PATH.finditer(text):
        name = match.group().rstrip(".")
        if len(name) > 3 and not re.fullmatch(r"[\d/.]+", name) and not re.fullmatch(r"/[A-Za-z]{1,12}", name):
            add(
                name, "file", name.lower() if name.isascii() else fold(name), (match.start(), match.start() + len(name))
            )
    of_repos = _OF_REPOS.search(text) is not None
    for match in words.REPO.finditer(text):
        name = match["repo"].rstrip(".")
        if not words.NOT_REPO.match(name) and (
            re.search(r"[-_.\d]", name) or of_repos or name == "org/repo" or (len(text) < 80 and name.islower())
        ):
            add(name, "repo", name.lower(), (match.start(), match.start() + len(name)))


def _add_chinese(text: str, add: _Add) -> None:
    position = 0
    for word, tag in tag_words(text):
        at, position = position, position + len(word)
        kind = words.ZH_KINDS.get(tag)
        if len(word) > 2 and word[-1] in words.ORG_ENDS and words.ORG.search(word):
            kind = "org"
        if kind is None or len(word) < 2 or word in words.NOT_PERSON_ZH or word[0] < "\u3400":
            continue
        if kind == "person" and (len(word) > 4 or words.NO_NAME_ZH.search(word)):
            continue
        add(word, kind, fold(word), (at, position))


def _add_english(text: str, add: _Add) -> None:
    for match in words.TICKET.finditer(text):
        if not words.NOT_TICKET.match(match.group()):
            add(match.group(), "other", match.group().lower(), match.span())
    for match in words.CAPITAL.finditer(text):
        words_said = match.group().removesuffix("'s")
        parts = words_said.split()
        while parts and (parts[0].lower() in words.COMMON or parts[0].lower() in words.CALENDAR):
            parts = parts[1:]
        while parts and (parts[-1].lower() in words.CALENDAR or _loose(parts)):
            parts = parts[:-1]
        if not parts:
            continue
        shown = " ".join(parts)
        start = match.start() + words_said.index(parts[0])
        if (len(shown) < 3 and shown.upper() != "C#") or shown.lower() in words.COMMON or "  " in words_said:
            continue
        kind = _kind(shown, text[max(0, start - 16) : start], text[start + len(shown) : start + len(shown) + 16])
        before = text[max(0, start - _BEFORE) : start].rstrip()
        first = not before or before[-1] in ".!?。！？\n:：*-(（\"'“"
        if kind == "other" and first and len(parts) == 1 and not re.search(r"[A-Za-z].*[A-Z]|\d", shown):
            continue
        add(shown, kind, fold(shown), (start, start + len(shown)))


def _loose(parts: list[str]) -> bool:
    """Whether the last part is a number that belongs to no name: of a day, a time, a count."""
    return parts[-1].isdigit() and (len(parts) == 1 or parts[-2].lower() in words.CALENDAR or parts[-2].isdigit())


def _kind(name: str, before: str, after: str) -> EntityKind:
    if words.PRODUCTS.match(name):
        return "product"
    if words.ORG.search(name):
        return "org"
    if name.lower() in words.PLACES:
        return "place"
    if words.NAME.match(name) and (words.PERSON_BEFORE.search(before) or words.PERSON_AFTER.match(after)):
        return "person"
    return "other"


def admit_mentions(
    candidates: Iterable[Mention],
    recent: Mapping[str, int],
    known_names: Collection[str],
    wanted: Iterable[tuple[int, int, int, str]],
    least: int,
) -> list[tuple[Mention, str]]:
    """Mentions that pass the gate, each canonical name once, with the reason that let it pass; a message counts once.

    A name in `known` has passed by its number already, and does not again.
    `wanted` holds ordinal, start, end and reason of stretches (a task, a decision, a remember) whose names always pass.
    """
    stretches = tuple(wanted)
    passed: dict[str, tuple[Mention, str]] = {}
    named: dict[str, set[int]] = {}
    for mention in candidates:
        named.setdefault(mention.canonical, set()).add(mention.message_ordinal)
        if mention.canonical in passed:
            continue
        total = len(named[mention.canonical]) + recent.get(mention.canonical, 0)
        reason = next(
            (
                why
                for ordinal, start, end, why in stretches
                if ordinal == mention.message_ordinal and start <= mention.span[0] < end
            ),
            None,
        )
        if mention.kind in words.STRUCTURAL:
            passed[mention.canonical] = (mention, "structural signal")
        elif reason:
            passed[mention.canonical] = (mention, reason)
        elif total >= least and mention.canonical not in known_names:
            passed[mention.canonical] = (mention, f"{total} mentions")
    return list(passed.values())


def key(mention: Mention) -> str:
    """The key of the entity that is mentioned."""
    name = mention.canonical if mention.kind in words.STRUCTURAL else slug(mention.canonical)
    return f"entity:{mention.kind}:{name[:120]}"
