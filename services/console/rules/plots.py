"""Data for plots: points of lines, segments of bars. Pure; templates draw them as SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 720, 180, 44, 22, 10
NICE = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its points as SVG coordinates, split where there are no measurements."""

    label: str
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over time on one scale: grid lines with their values, and positions of the time labels."""

    lines: tuple[Line, ...]
    rules: tuple[tuple[float, str], ...]
    times: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment of a bar: its start and width in percent."""

    name: str
    value: float
    at: float
    width: float


def draw(series: Mapping[str, Sequence[float | None]], times: Sequence[str]) -> Plot:
    """The lines of these values, all on one scale that begins at 0."""
    most = round_up(max((value for values in series.values() for value in values if value is not None), default=0.0))
    across = (WIDTH - LEFT) / max(len(times) - 1, 1)
    lines = tuple(Line(label, _cut(values, most, across)) for label, values in series.items())
    rules = tuple((_height(most * part, most), f"{most * part:g}") for part in (0.0, 0.5, 1.0))
    step = max(1, len(times) // 6)
    shown = tuple((LEFT + n * across, time) for n, time in enumerate(times) if n % step == 0)
    return Plot(lines, rules, shown)


def _cut(values: Sequence[float | None], most: float, across: float) -> tuple[str, ...]:
    pieces: list[list[str]] = [[]]
    for n, value in enumerate(values):
        if value is None:
            pieces.append([])
        else:
            pieces[-1].append(f"{LEFT + n * across:.1f},{_height(value, most):.1f}")
    # one point alone is drawn as a short stroke
    return tuple(" ".join(piece * 2 if len(piece) == 1 else piece) for piece in pieces if piece)


def _height(value: float, most: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most)


def round_up(value: float) -> float:
    """The next round number."""
    if value <= 0:
        return 1.0
    size = 1.0
    while size * 10 <= value:
        size *= 10
    while size > value:
        size /= 10
    return next(size * step for step in NICE if size * step >= value)


def divide(values: Mapping[str, float], whole: float) -> tuple[Piece, ...]:
    """The values as adjacent segments of a bar; its length is `whole` or their sum, whichever is larger."""
    total, at = max(whole, sum(values.values())) or 1.0, 0.0
    pieces: list[Piece] = []
    for name, value in values.items():
        width = value / total * 100
        if width > 0:
            pieces.append(Piece(name, value, round(at, 3), round(width, 3)))
        at += width
    return tuple(pieces)
