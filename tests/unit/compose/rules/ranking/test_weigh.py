"""The signals that raise a candidate, one at a time, on a small conversation of two people."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import pytest

from services.compose.rules.planning import cues
from services.compose.rules.ranking.weigh import MOST_MEMORIES, MOST_TURNS, make_shortlist, score_candidates
from services.compose.rules.searching.bm25 import DEFAULT_CONTEXT, NO_IDS, LexicalIndex, find_preceding
from services.compose.rules.searching.nearness import VectorIndex, to_lifts
from shared.domain import chunk_ids
from shared.domain.search_results import Compared
from shared.language import segment
from shared.vectors import Scale

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)
HEADER = b"\0" * 20


@dataclass(frozen=True)
class Line:
    """One message as scoring reads it."""

    text: str
    name: str | None = None
    session: str = "s1"
    seq: int = 1
    role: str | None = "user"
    said_at: datetime = NOW

    @property
    def term_count(self) -> int:
        return len(segment.terms(self.text))

    @property
    def id(self) -> int:
        return chunk_ids.chunk_of(self.session, self.seq, 0).int


def _ids(lines: list[Line]) -> bytes:
    return HEADER + b"".join((16).to_bytes(4) + line.id.to_bytes(16) for line in lines)


def _words(lines: list[Line]) -> LexicalIndex:
    """The index as PostgreSQL returns it."""
    posted: dict[str, list[tuple[Line, int]]] = {}
    for line in lines:
        for term, tf in Counter(segment.terms(line.text)).items():
            posted.setdefault(term, []).append((line, tf))
    packed = {
        term: (
            _ids([line for line, _ in found]),
            HEADER + b"".join((4).to_bytes(4) + (tf << 16 | line.term_count).to_bytes(4) for line, tf in found),
        )
        for term, found in posted.items()
    }
    return LexicalIndex(packed, len(lines), sum(line.term_count for line in lines), DEFAULT_CONTEXT)


def _near(lines: list[Line], lifts: list[float]) -> VectorIndex:
    ids = b"".join(line.id.to_bytes(16) for line in lines)
    read = Compared("m", ids, cosines=np.array(lifts, dtype=">f4").tobytes())
    return VectorIndex(to_lifts([read], {}, {"m": Scale(0.0, 1.0)}), DEFAULT_CONTEXT)


def _best(question: str, lines: list[Line], near: list[float] | None = None) -> str:
    """The text with the best score, each in its own session unless it names one."""
    placed = [line if line.seq > 1 else replace(line, session=f"{line.session}-{n}") for n, line in enumerate(lines)]
    asked = cues.read_cues(question, sorted({line.name for line in lines if line.name}), NOW)
    of = np.array([(line.id >> 64, line.id & 0xFFFF_FFFF_FFFF_FFFF) for line in placed], dtype=np.uint64)
    scored = score_candidates(asked, placed, of, _words(placed), _near(placed, near) if near else None)
    return placed[int(np.argmax(scored.total))].text


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        (
            "Where did the picnic take place?",
            "The picnic by Loch Ness was lovely",
            "The picnic by the water was lovely",
        ),
        ("How many dogs came?", "Then three dogs came", "Then some dogs came"),
        ("Why was the picnic moved?", "The picnic was moved because of it", "The picnic was moved and so on"),
        ("When was the picnic?", "The picnic was last week really", "The picnic was a joy really"),
        ("Which movie was it?", "We saw some film there", "We saw some tree there"),
        ("搬到哪里了？", "我们已经搬到杭州了呢", "我们已经搬到新家了呢"),
        ("买了几只猫？", "后来买了三只猫", "后来买了些猫粮"),
        ("为什么辞职？", "因为太远我辞职了", "反正后来我辞职了"),
        ("喜欢什么茶？", "平时喝茶比较多的", "平时喝汤比较多的"),
        ("工资多少？", "薪水大概就是两万", "门票大概就是两万"),
    ],
)
def test_an_answer_scores_higher(question: str, better: str, worse: str) -> None:
    assert _best(question, [Line(better), Line(worse)]) == better
    assert _best(question, [Line(worse), Line(better)]) == better


@pytest.mark.parametrize("question", ["What cake did Gina bake for Jon?", "What cake did Gina bake?"])
def test_the_first_person_named_is_the_expected_speaker(question: str) -> None:
    lines = [Line("The lemon cake I bake", "Jon"), Line("A lemon cake I bake", "Gina")]
    assert _best(question, lines) == lines[1].text


def test_a_session_is_as_similar_as_its_most_similar_message() -> None:
    lines = [
        Line("one", session="near", seq=2),
        Line("two", session="near", seq=12),
        Line("three", session="far", seq=2),
        Line("four", session="far", seq=12),
    ]
    assert _best("zebra", lines, [0.4, 0.9, 0.4, 0.3]) == "two"
    assert _best("zebra", [*lines[:1], *lines[1:2], *lines[2:]], [0.4, 0.3, 0.4, 0.9]) == "four"
    asked = cues.read_cues("zebra", (), NOW)
    of = np.array([(line.id >> 64, line.id & 0xFFFF_FFFF_FFFF_FFFF) for line in lines], dtype=np.uint64)
    signal = score_candidates(asked, lines, of, None, _near(lines, [0.4, 0.9, 0.4, 0.3])).signals["meaning_session"]
    assert signal[0] == signal[1] > signal[2] == signal[3] > 0


def test_a_session_shares_the_best_words_of_its_messages() -> None:
    lines = [Line("tea", seq=2), Line("something else", seq=12), Line("tea and cake", session="s2", seq=2)]
    of = np.array([(line.id >> 64, line.id & 0xFFFF_FFFF_FFFF_FFFF) for line in lines], dtype=np.uint64)
    asked = cues.read_cues("tea", (), NOW)
    alone = score_candidates(asked, lines, of, _words(lines), None).signals
    assert alone["session"][0] == alone["session"][1] == alone["own"][0] > 0


@pytest.mark.parametrize(
    ("question", "asks", "answers", "goes_on"),
    [
        ("Which colour is the boat?", "Which colour has your boat?", "Blue, as ever", "And mine leaks"),
        ("船是什么颜色的？", "你的船是什么颜色？", "还是蓝的", "我的那艘漏水"),
    ],
)
def test_an_answer_is_scored_by_the_question_before_it(question: str, asks: str, answers: str, goes_on: str) -> None:
    lines = [Line(asks, "Ann", seq=4), Line(answers, "Bob", seq=5), Line(goes_on, "Bob", seq=6)]
    asked = cues.read_cues(question, (), NOW)
    of = np.array([(line.id >> 64, line.id & 0xFFFF_FFFF_FFFF_FFFF) for line in lines], dtype=np.uint64)

    def signal(said: list[Line]) -> list[bool]:
        return (score_candidates(asked, said, of, _words(said), None).signals["answers"] > 0).tolist()

    assert signal(lines) == [False, True, False]
    assert signal([lines[0], replace(lines[1], name="Ann"), lines[2]]) == [False, False, False]
    assert signal([replace(lines[0], text=asks.rstrip("?？") + "."), *lines[1:]]) == [False, False, False]


def test_the_preceding_message_is_the_last_of_its_turn_or_of_the_previous_turn() -> None:
    places = [("a", 2, 1), ("a", 1, 0), ("a", 2, 0), ("a", 4, 0), ("b", 2, 0), ("a", 1, 1)]
    ids = [chunk_ids.chunk_of(*each).int for each in places] + [1 << 127]
    of = np.array([(each >> 64, each & 0xFFFF_FFFF_FFFF_FFFF) for each in ids], dtype=np.uint64)
    assert find_preceding(of).tolist() == [2, -1, 5, -1, -1, 1, -1]
    assert find_preceding(NO_IDS).tolist() == []


def test_a_synonym_matches_in_part() -> None:
    lines = [Line("the film", session="a"), Line("the movie", session="b"), Line("the tree", session="c")]
    of = np.array([(line.id >> 64, line.id & 0xFFFF_FFFF_FFFF_FFFF) for line in lines], dtype=np.uint64)
    chances = score_candidates(cues.read_cues("movie", (), NOW), lines, of, _words(lines), None).probability
    assert 0 == chances[2] < chances[0] < chances[1] < 1


TOPICS = ["tea", "boat", "knee", "garden", "train", "invoice", "piano", "rain", "pen", "kitchen", "harbour", "violin"]


def _conversation(seed: int, many: int) -> tuple[list[Line], list[float]]:
    """This many messages in sessions of 40 turns, with random similarity except for those that share a word."""
    dice = np.random.default_rng(seed)
    lines = [
        Line(" ".join(dice.choice(TOPICS, 3).tolist()), session=f"s{n // 40}", seq=n % 40 + 1) for n in range(many)
    ]
    lines = sorted(lines, key=lambda line: line.id)
    return lines, [float(dice.normal() / 6 + ("boat" in line.text) / 4) for line in lines]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("by", ["both", "words", "meaning"])
def test_the_shortlist_contains_every_high_scoring_candidate(seed: int, by: str) -> None:
    lines, lifts = _conversation(seed, 600)
    words = _words(lines) if by != "meaning" else None
    near = _near(lines, lifts) if by != "words" else None
    asked = cues.read_cues("a boat for the piano and the violin", (), NOW)
    of = np.array([(line.id >> 64, line.id & 0xFFFF_FFFF_FFFF_FFFF) for line in lines], dtype=np.uint64)
    turns = np.array([(line.id >> 64, line.seq) for line in lines], dtype=np.uint64)
    read = make_shortlist(asked, [(NO_IDS, turns)], words, near)
    assert len(read.turns) == MOST_TURNS
    assert read.share == pytest.approx(MOST_TURNS / len(lines))
    total = score_candidates(asked, lines, of, words, near).total
    best = [lines[at] for at in np.argsort(-total, kind="stable")[:50].tolist()]
    assert sum((line.id >> 64, line.seq) in read.turns for line in best) >= 48
    assert all((line.id >> 64, line.seq) in read.turns for line in best[:20])


def test_of_many_memories_the_nearest_are_scored() -> None:
    of = np.array([((1 << 63) | (n << 16) | 0x7000, n) for n in range(3 * MOST_MEMORIES)], dtype=np.uint64)
    cosines = np.linspace(0.0, 1.0, len(of), dtype=">f4").tobytes()
    compared = Compared("m", of.astype(">u8").tobytes(), cosines=cosines)
    near = VectorIndex(to_lifts([compared], {}, {"m": Scale(0.0, 1.0)}), DEFAULT_CONTEXT)
    read = make_shortlist(cues.read_cues("zebra", (), NOW), [(of, NO_IDS)], None, near)
    assert {n for _, n in read.memories} == set(range(2 * MOST_MEMORIES, 3 * MOST_MEMORIES))


def test_a_small_conversation_or_time_range_is_scored_completely() -> None:
    lines, lifts = _conversation(1, 300)
    turns = np.array([(line.id >> 64, line.seq) for line in lines], dtype=np.uint64)
    few = turns[:MOST_TURNS]
    asked = cues.read_cues("a boat for the piano", (), NOW)
    assert len(make_shortlist(asked, [(NO_IDS, few), (NO_IDS, few)], _words(lines), None).turns) == MOST_TURNS
    timed = cues.read_cues("what of the boat last Tuesday?", (), NOW)
    read = make_shortlist(timed, [(NO_IDS, turns)], _words(lines), _near(lines, lifts))
    assert (len(read.turns), read.share) == (len(lines), 1.0)


@pytest.mark.parametrize(
    ("question", "text", "quoted"),
    [
        ("How about two water and one food?", "how about two water and one food", True),
        ("周边有哪些酒店呢？", "周边有哪些酒店呢", True),
        ("好的，谢谢！", "好的 谢谢", True),
        ("You too!", "You too", True),
        ("If", "different", False),
        ("green tea", "I had green tea today", False),
        ("kayak trip river bend", "The kayak trip, river bend: it was fun", True),
        ("kayak trip river bend", "At the bend of the river our kayak trip ended", False),
    ],
)
def test_a_text_that_contains_the_whole_question_is_first(question: str, text: str, quoted: bool) -> None:
    lines = [
        Line(text, seq=3),
        Line("Is there tea, water, food, a river, a kayak, a hotel?", seq=9),
        Line("酒店在周边哪里呢？", seq=12),
    ]
    asked = cues.read_cues(question, [], NOW)
    words = _words(lines)
    of = np.array([(line.id >> 64, line.id & (1 << 64) - 1) for line in lines], dtype=np.uint64)
    scored = score_candidates(asked, lines, of, words, None)
    assert list(scored.quoted) == [quoted, False, False]
    if quoted:
        assert int(np.argmax(scored.total)) == 0
