"""The similarity of chunks to a question: pages, cosines and static vectors on one scale, with the
conversation around.
"""

import numpy as np
import pytest

from services.compose.rules.searching.bm25 import DEFAULT_CONTEXT, WINDOW, Ids
from services.compose.rules.searching.nearness import NOTHING_NEAR, Lifts, VectorIndex, to_lifts
from shared.domain import chunk_ids
from shared.domain.search_results import Compared
from shared.vectors import Reals, Scale, to_bytes, to_codes, to_units

ONE = Scale(0.0, 1.0)
DIMENSION = 64


def units(count: int, seed: int) -> Reals:
    """This many unit vectors."""
    return to_units(np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float16))


def ids_of(chunks: list[int]) -> bytes:
    """As the store returns them."""
    return b"".join(each.to_bytes(16) for each in chunks)


def said(session: str, seq: int, ordinal: int = 0) -> int:
    """The id of a message."""
    return chunk_ids.chunk_of(session, seq, ordinal).int


def remembered(n: int) -> int:
    """The id of a memory."""
    return (1 << 127) | (n << 64) | (0x7000 << 64) | n


def pairs_of(chunks: list[int]) -> Ids:
    """As scoring names them."""
    return np.array([(each >> 64, each & 0xFFFF_FFFF_FFFF_FFFF) for each in chunks], dtype=np.uint64)


def test_all_kinds_of_similarity_use_one_scale() -> None:
    rows, question = units(3, 1), units(1, 2)[0]
    cosines = rows @ question
    read = [
        Compared("static", ids_of([3]), statics=to_bytes(rows[0])),
        Compared("encoder", ids_of([1, 2]), cosines=cosines[1:].astype(">f4").tobytes()),
    ]
    found = to_lifts(read, {"static": question, "encoder": question}, {"static": Scale(0.1, 0.6), "encoder": ONE})
    assert [int.from_bytes(bytes(each)) for each in found.ids.view("V16").tolist()] == [1, 2, 3]
    assert found.lift.tolist() == pytest.approx([cosines[1], cosines[2], (cosines[0] - 0.1) / 0.5], abs=0.02)


def test_without_vectors_nothing_is_similar() -> None:
    assert to_lifts([], {}, {}) is NOTHING_NEAR
    index = VectorIndex(NOTHING_NEAR, DEFAULT_CONTEXT)
    assert [len(each) for each in index.list_best(50)] == [0, 0]
    assert index.score(pairs_of([said("s", 1)])).own.tolist() == [0]


def test_a_page_approximates_the_cosines() -> None:
    rows, question = units(3000, 3), units(1, 4)[0]
    chunks = sorted(remembered(n) for n in range(3000))
    exact = rows @ question
    by_page = to_lifts([Compared("m", ids_of(chunks), codes=to_codes(rows))], {"m": question}, {"m": ONE})
    cosines = Compared("m", ids_of(chunks), cosines=exact.astype(">f4").tobytes())
    by_cosines = to_lifts([cosines], {}, {"m": ONE})
    assert by_page.lift == pytest.approx(by_cosines.lift, abs=0.06)
    best = [VectorIndex(each, DEFAULT_CONTEXT).list_best(50)[0].tolist() for each in (by_page, by_cosines)]
    assert best[1] == pairs_of([chunks[n] for n in sorted(range(3000), key=lambda n: -exact[n])[:50]]).tolist()
    assert all(each in best[0] for each in best[1][:10])


def test_newer_values_replace_those_of_pages() -> None:
    page = sorted([said("a", 1), said("a", 2), said("b", 7), remembered(1)])
    newer = [said("b", 9), said("a", 3), remembered(2)]
    read = [
        Compared("m", ids_of(page), cosines=np.arange(4, dtype=">f4").tobytes()),
        Compared("m", ids_of(newer), cosines=np.arange(4, 7, dtype=">f4").tobytes()),
    ]
    found = to_lifts(read, {}, {"m": ONE})
    order = [int.from_bytes(bytes(each)) for each in found.ids.view("V16").tolist()]
    assert order == sorted([*page, *newer])
    assert dict(zip(order, found.lift.tolist(), strict=True)) == dict(zip([*page, *newer], range(7), strict=True))


def _brute(lifts: dict[int, float], chunk: int) -> tuple[float, float, float]:
    """The own, window and session similarity of each message, computed turn by turn."""
    first, last = chunk >> 64, chunk & 0xFFFF_FFFF_FFFF_FFFF
    seq = (last & ((1 << 62) - 1)) >> chunk_ids.ORDINAL_BITS
    turns: dict[int, list[float]] = {}
    for each, lift in lifts.items():
        if each >> 64 == first:
            turns.setdefault((each & ((1 << 62) - 1)) >> chunk_ids.ORDINAL_BITS, []).append(lift)
    around = [(share, turns[seq + step]) for step, share in WINDOW if seq + step in turns]
    window = sum(share * sum(of) / len(of) for share, of in around) / sum(share for share, _ in around)
    return lifts[chunk], window, max(0.0, *(lift for of in turns.values() for lift in of))


@pytest.mark.parametrize("seed", range(5))
def test_windows_and_sessions_match_the_conversation(seed: int) -> None:
    dice = np.random.default_rng(seed)
    chunks = sorted(
        {said(f"s{dice.integers(4)}", int(dice.integers(1, 12)), int(dice.integers(3))) for _ in range(40)}
        | {remembered(int(dice.integers(9))) for _ in range(5)}
    )
    lifts = dict(zip(chunks, dice.normal(size=len(chunks)).astype(np.float32).tolist(), strict=True))
    read = Compared("m", ids_of(chunks), cosines=np.array(list(lifts.values()), dtype=">f4").tobytes())
    index = VectorIndex(to_lifts([read], {}, {"m": ONE}), DEFAULT_CONTEXT)
    scored, lifts = index.score(pairs_of(chunks)), dict(zip(chunks, index.lift.tolist(), strict=True))
    for n, chunk in enumerate(chunks):
        alone = chunk >> 127
        told = (lifts[chunk],) * 3 if alone else _brute(lifts, chunk)
        assert (scored.own[n], scored.window[n], scored.session[n]) == pytest.approx(told, abs=1e-5)
    windows = {turn: _brute(lifts, chunk)[1] for chunk in chunks if not chunk >> 127 for turn in [chunk >> 30]}
    assert sorted(index.windows().tolist()) == pytest.approx(sorted(windows.values()), abs=1e-5)


def test_outliers_are_the_same_for_every_model() -> None:
    dice = np.random.default_rng(3)
    lifts = dice.normal(size=400)
    chunks = sorted(remembered(n) for n in range(400))

    def index(scale: float, offset: float) -> list[float]:
        read = Compared("m", ids_of(chunks), cosines=(lifts * scale + offset).astype(">f4").tobytes())
        return VectorIndex(to_lifts([read], {}, {"m": ONE}), DEFAULT_CONTEXT).score(pairs_of(chunks)).own.tolist()

    low, high = index(0.25, 0.0), index(0.5, 0.3)
    assert low == pytest.approx(high, abs=0.12)
    assert np.corrcoef(low, lifts)[0, 1] > 0.999


def test_the_best_are_the_nearest_and_those_with_near_neighbours() -> None:
    near = {said("a", 1): 0.9, said("a", 2): 0.8, said("a", 3): -0.2, said("b", 1): 0.1, remembered(1): 0.5}
    read = Compared("m", ids_of(sorted(near)), cosines=np.array([near[c] for c in sorted(near)], ">f4").tobytes())
    index = VectorIndex(to_lifts([read], {}, {"m": ONE}), DEFAULT_CONTEXT)
    memories, turns = index.list_best(6)
    assert memories.tolist() == pairs_of([remembered(1)]).tolist()
    a, b = chunk_ids.session_half("a"), chunk_ids.session_half("b")
    assert sorted(turns.tolist()) == sorted([[a, 1], [a, 2], [a, 3], [b, 1]])


def test_lifts_keep_their_components() -> None:
    lifts = Lifts(np.frombuffer(ids_of([5, 6]), dtype="S16"), np.zeros(2, dtype=np.float32))
    assert lifts.pairs().tolist() == [[0, 5], [0, 6]]
