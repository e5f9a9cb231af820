"""Reliability as a picture: SVG without a library, and bars for a console. Pure."""

from collections.abc import Sequence

from services.cli.evaluate.calibration import Bin, GroupComparison

SIDE, EDGE = 320, 48
BAR = 40
_COLOURS = {"as written": "#8a6d3b", "after receptions": "#2b6cb0"}


def bars(title: str, bins: Sequence[Bin]) -> list[str]:
    """A line a bin: how often it is so as a bar, with a mark at what was stated."""
    lines = [f"{title:<13} {'stated':>7} {'so':>6} {'n':>6}  # so, | stated"]
    for each in bins:
        line = list("#" * round(each.observed * BAR) + "." * (BAR - round(each.observed * BAR)))
        line[min(BAR - 1, round(each.stated * BAR))] = "|"
        figures = f"{each.stated:7.3f} {each.observed:6.3f} {each.n:6}"
        lines.append(f"{each.low:.1f} to {each.high:<6.1f} {figures} {''.join(line)}")
    return lines


def svg(measured: GroupComparison) -> str:
    """The diagram of a group, before and after: stated across, so up, and on the diagonal both are the same."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE + 2 * EDGE} {SIDE + 2 * EDGE}"'
        ' font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        *_axes(),
    ]
    series = (("as written", measured.before.bins), ("after receptions", measured.after.bins))
    for n, (name, bins) in enumerate(series):
        parts += _series(name, bins, EDGE + 16 + 16 * n)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _axes() -> list[str]:
    low, high = _at(0.0, 0.0), _at(1.0, 1.0)
    parts = [
        f'<rect x="{EDGE}" y="{EDGE}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#999"/>',
        f'<path d="M{low[0]} {low[1]} L{high[0]} {high[1]}" stroke="#bbb" stroke-dasharray="4 4"/>',
        f'<text x="{EDGE + SIDE / 2}" y="{SIDE + 2 * EDGE - 8}" text-anchor="middle">stated confidence</text>',
        f'<text x="14" y="{EDGE + SIDE / 2}" transform="rotate(-90 14 {EDGE + SIDE / 2})"'
        ' text-anchor="middle">share that is so</text>',
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        across, up = _at(tick, 0.0), _at(0.0, tick)
        parts.append(f'<text x="{across[0]}" y="{across[1] + 16}" text-anchor="middle">{tick:g}</text>')
        parts.append(f'<text x="{up[0] - 6}" y="{up[1] + 4}" text-anchor="end">{tick:g}</text>')
    return parts


def _series(name: str, bins: Sequence[Bin], y: float) -> list[str]:
    colour, total = _COLOURS[name], sum(each.n for each in bins) or 1
    places = [_at(each.stated, each.observed) for each in bins]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{3 + 14 * (each.n / total) ** 0.5:.1f}" fill="{colour}"'
        f' fill-opacity="0.6"><title>{each.n}: stated {each.stated:.3f}, so {each.observed:.3f}</title></circle>'
        for (x, y), each in zip(places, bins, strict=True)
    ]
    legend = f'<text x="{EDGE + 10}" y="{y}" fill="{colour}">{name}</text>'
    return [f'<polyline points="{line}" fill="none" stroke="{colour}"/>', *dots, legend]


def _at(stated: float, observed: float) -> tuple[float, float]:
    return EDGE + SIDE * stated, EDGE + SIDE * (1 - observed)
