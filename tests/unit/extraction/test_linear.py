"""Extraction takes linear time: no pattern grows more than linearly with the length of the text."""

import re
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from shared.extraction import MessageText, ObserveContext, ObservePolicy, TurnText, observe, recalled, wishes
from shared.extraction.clauses import LONGEST, split
from shared.extraction.observe import TOO_LONG, cut_to_stretches
from shared.language import fingerprint, segment, tokens
from shared.language.normalise import normalise
from shared.screening import sanitize
from shared.secrets import find_secrets, kind_of_field
from tests.long import often
from tests.system.looking import SHAPES, costs, quadratic, said, superlinear

AT = datetime(2026, 11, 25, 9, 0, tzinfo=UTC)
WHOLE = ObservePolicy(max_message_chars=10**7, max_turn_chars=10**7)
TALK = "I like tea. 我喜欢茶，不过现在不喜欢了。My budget is 500 euros. Remember that I live in Oslo. 记住我住在上海。"
SPOKEN = (
    *SHAPES.values(),
    *("记住我喜欢茶。", "忘掉我喜欢茶。", "remember that I like tea. ", "ok, ", "好的，", "http://a.b/"),
)
CLAUSES = 2 * LONGEST + 10
"""Twice the maximum length of a clause; code that reads at most this has bounded cost."""


def turn(text: str) -> TurnText:
    """The user sends the text, and the assistant repeats it."""
    return TurnText((MessageText("user", text, None, 0, AT), MessageText("assistant", text, None, 1, AT)))


def read(text: str) -> None:
    """All code that reads the text of a turn before it is learnt and shown, over its full length."""
    observe(turn(text), ObserveContext(AT, answer_before="?"), WHOLE)
    for look in (
        find_secrets,
        segment.terms,
        normalise,
        recalled.keep_own,
        sanitize.screen,
        tokens.count,
        wishes.find_wishes,
    ):
        look(text)
    list(fingerprint.prints(text))
    kind_of_field(text, text)


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    read(TALK)


@pytest.mark.parametrize("piece", SPOKEN[:: len(SPOKEN) // often(len(SPOKEN), short=10)])
def test_no_pattern_grows_more_than_linearly_with_the_text(piece: str) -> None:
    assert superlinear(read, piece, 2000) == []


def test_code_that_reads_whole_texts_is_linear_on_its_worst_cases() -> None:
    longest = costs(read, TALK * 40).longest
    for piece in SPOKEN:
        for key, length in costs(read, said(piece, CLAUSES + 200) + TALK).longest.items():
            longest[key] = max(longest.get(key, 0), length)
    whole = sorted(key for key, length in longest.items() if length > CLAUSES)
    assert len(whole) > 50
    few = whole[:: max(1, len(whole) // often(len(whole), short=8))]
    assert [(key[2], key[0][:80], found) for key in few if (found := quadratic(*key, 4000))] == []


@pytest.mark.parametrize("piece", SPOKEN)
def test_no_clause_exceeds_the_limit_of_patterns(piece: str) -> None:
    text = said(piece, 3000)
    clauses = split(text)
    assert all(len(each.text) <= LONGEST and text[each.start : each.end] for each in clauses)
    assert all(one.end <= other.start for one, other in pairwise(clauses))


def test_a_long_clause_is_split_at_a_space_without_loss() -> None:
    words = [f"word{n}" for n in range(200)]
    assert " ".join(each.text for each in split(" ".join(words))).split() == words


def test_of_many_long_messages_a_limited_part_is_read_the_users_first() -> None:
    texts = [("assistant", 9000), ("user", 30), ("user", 12_000), ("user", 9000), ("assistant", 40)]
    messages = tuple(MessageText(role, "x" * size, None, n, AT) for n, (role, size) in enumerate(texts))
    cut, unread = cut_to_stretches(TurnText(messages), ObservePolicy())
    assert [len(each.text) for each in cut.messages] == [0, 30, 10_000, 4970, 0]
    assert [(each.ordinal, each.text_span, each.reason) for each in unread] == [
        (2, (10_000, 12_000), TOO_LONG),
        (3, (4970, 9000), TOO_LONG),
    ]


def test_a_pattern_of_quadratic_time_is_named() -> None:
    assert any("a*b" in each for _ in range(5) for each in superlinear(lambda text: re.search("a*b", text), "a", 4000))
    assert any("「" in quadratic("「[^」]{4,}」", 0, "search", 8000) for _ in range(5))
    assert quadratic("「[^」]{4,300}」", 0, "search", 4000) == []
