"""Words and n-grams of a text, as `network` reads them: characters of Chinese, words and stems of the rest."""

from shared.language.patterns import to_pattern

_PIECE = to_pattern(r"[a-z][a-z']*|[0-9]+|[\u3400-\u9fff]+|[^\s\w]")
_LONG = 5


def grams(text: str) -> list[str]:
    """Every n-gram, with repetitions: 1 to 4 characters of Chinese; words, pairs, stems and endings of the rest."""
    pieces: list[str] = []
    add = pieces.append
    last = "^"
    for piece in _PIECE.findall(text.lower()):
        if piece[0] >= "\u3400":
            end = len(piece)
            pieces.extend(piece)
            pieces.extend([piece[at : at + 2] for at in range(end - 1)])
            pieces.extend([piece[at : at + 3] for at in range(end - 2)])
            pieces.extend([piece[at : at + 4] for at in range(end - 3)])
            add(f"{last}|{piece[:2]}")
            last = piece[-2:]
            continue
        if piece[0].isdigit():
            piece = "#" * min(len(piece), 4)
        add(f" {piece}")
        add(f"{last}_{piece}")
        if len(piece) > _LONG:
            add(f"{piece[:_LONG]}-")
            add(f"-{piece[-3:]}")
        last = piece
    add(f"{last}_$")
    return pieces
