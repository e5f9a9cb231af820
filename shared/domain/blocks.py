"""The blocks of a message as text: for the window, for the current message and for search. Pure.

One line a media, `[image: <fallback>]`, and what was recognised in it in a fence, `<media type="image">...</media>`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from schemas.content import ContentBlock, MediaType
from shared.language.normalise import clip, visible
from shared.language.patterns import to_pattern
from shared.screening.sanitize import DEFAULT_SANITIZE, SanitizePolicy, Screened, screen

MAX_CHARS = 8_000
"""Of one media's recognised text at most so much is indexed, or shown with the message that brings it."""
CLOSE = "</media>"
_OPEN = to_pattern(r'<media type="(?:image|audio|video|document)">')


@dataclass(frozen=True, slots=True)
class Blocked:
    """A media whose recognised text gives orders to the agent: its fallback alone is shown."""

    media_id: str
    rule: str | None


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message as text, one piece a block, and the media whose recognised text was held back."""

    pieces: tuple[str, ...]
    blocked: tuple[Blocked, ...] = ()

    @property
    def text(self) -> str:
        """The whole message."""
        return "\n".join(self.pieces)


@dataclass(frozen=True, slots=True)
class Recognized:
    """Where in a message's searchable text stands what was read from a media; nowhere where `rule` blocked it."""

    media_id: str
    type: MediaType
    start: int
    end: int
    rule: str | None = None


def load_blocks(content: Mapping[str, Any] | None) -> tuple[ContentBlock, ...]:
    """The blocks of a stored message; none where it is a text alone (content_schema_version 0), or erased."""
    return tuple(ContentBlock.model_validate(block) for block in (content or {}).get("blocks", ()))


def media_ids(blocks: Iterable[ContentBlock]) -> tuple[str, ...]:
    """The media that the blocks name, each once, in order."""
    return tuple(dict.fromkeys(block.media_id for block in blocks if block.media_id))


def line(block: ContentBlock, policy: SanitizePolicy = DEFAULT_SANITIZE) -> str:
    """What stands for a media, on one line, without orders and anything that could open or close a tag."""
    said = screen(visible(" ".join(block.fallback.split())), policy)
    return f"[{block.type}]" if said.outcome == "blocked" else f"[{block.type}: {said.text}]"


def fence(kind: str, text: str) -> str:
    """Recognised text, which is screened and escaped already, marked as data that came with a media."""
    return f'<media type="{kind}">{text}{CLOSE}'


def fenced_within(text: str, limit: int) -> str:
    """At most `limit` characters of a text whose last fence is closed again where the cut opened it."""
    if len(text) <= limit:
        return text
    cut = clip(text, limit)
    return close_fence(clip(text, max(0, limit - len(CLOSE)))) if _open_end(cut) else cut


def close_fence(text: str) -> str:
    """The text with its last fence closed."""
    return text + CLOSE if _open_end(text) else text


def _open_end(text: str) -> bool:
    opened = [match.start() for match in _OPEN.finditer(text)]
    return bool(opened) and CLOSE not in text[opened[-1] :]


def read(block: ContentBlock, most: int = MAX_CHARS, policy: SanitizePolicy = DEFAULT_SANITIZE) -> Screened:
    """What may be shown of the text recognised in a media, at most `most` characters: screened as memory is."""
    clean = screen(clip((block.recognized_text or "")[: 2 * MAX_CHARS].strip(), MAX_CHARS), policy)
    return Screened(clean.outcome, clip(clean.text, most), clean.rule)


def render(
    blocks: Iterable[ContentBlock],
    unsafe: Collection[str] = (),
    most: int = MAX_CHARS,
    words: Callable[[str], str] = str,
    policy: SanitizePolicy = DEFAULT_SANITIZE,
) -> Rendered:
    """The whole message as text, in the order of its blocks; of `unsafe` media no more than the fallback.

    `words`: how the message's own words are shown.
    """
    pieces: list[str] = []
    blocked: list[Blocked] = []
    for block in blocks:
        if block.media_id is None:
            pieces.append(words(block.text or ""))
            continue
        clean = read(block, most, policy)
        if clean.outcome == "blocked":
            blocked.append(Blocked(block.media_id, clean.rule))
        shown = clean.text if block.media_id not in unsafe else ""
        pieces.append(f"{line(block, policy)}\n{fence(block.type, shown)}" if shown else line(block, policy))
    return Rendered(tuple(pieces), tuple(blocked))


def searchable(
    words: str, blocks: Iterable[ContentBlock], policy: SanitizePolicy = DEFAULT_SANITIZE
) -> tuple[str, tuple[Recognized, ...]]:
    """A message as search reads it, and where in it which media's recognised text stands.

    First the user's own words, so that a place in them is the same place here, then what stands for each media.
    """
    media = [block for block in blocks if block.is_media]
    text = "\n".join([*([words] if words else []), *(line(block, policy) for block in media)])
    recognised: list[Recognized] = []
    for block in media:
        clean = read(block, policy=policy)
        if block.type == "text" or block.media_id is None or not (clean.text or clean.rule):
            continue
        start = len(text) + 1
        if clean.text:
            text = f"{text}\n{clean.text}"
        rule = clean.rule if clean.outcome == "blocked" else None
        recognised.append(Recognized(block.media_id, block.type, min(start, len(text)), len(text), rule))
    return text, tuple(recognised)


def to_question(blocks: Iterable[ContentBlock], most: int, policy: SanitizePolicy = DEFAULT_SANITIZE) -> str:
    """What a message asks for, as planning and searching read it: own words, fallbacks, and what was recognised."""
    every = tuple(blocks)
    parts = [block.fallback for block in every] + [read(block, most, policy).text for block in every if block.is_media]
    return "\n".join(part for part in parts if part)


def fit_blocks(
    blocks: Iterable[ContentBlock], most: int, count: Callable[[str], int], policy: SanitizePolicy = DEFAULT_SANITIZE
) -> Rendered:
    """The whole message with as much of its recognised texts as `most` tokens hold; its own words are never cut."""
    every = tuple(blocks)
    rendered = render(every, policy=policy)
    for chars in (2_000, 800, 200, 0):
        if count(rendered.text) <= most:
            break
        rendered = render(every, most=chars, policy=policy)
    return rendered
