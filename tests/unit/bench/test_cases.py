"""Cases of package contents: their evaluation, and the consistency of their labels."""

from collections import Counter

import pytest

from tests.bench.cases import Case, figures, judge, read
from tests.bench.dialogues import Line

CASES = read()


def _case(must: tuple[str, ...], must_not: tuple[str, ...], may: tuple[str, ...] = ()) -> Case:
    return Case("one", "en", "dev", "chain", (), "?", CASES[0].ask_at, must, may, must_not)


def test_a_package_is_clean_if_it_contains_all_needs_and_nothing_forbidden() -> None:
    case = _case(("oat milk|oats",), ("soy",), ("breakfast",))
    good = judge(case, ["I have OATS now", "at breakfast"])
    assert (good.clean, good.helpful, good.shown) == (True, 2, 2)
    bad = judge(case, ["Soy it is", "nice weather"])
    assert (bad.clean, bad.helpful, bad.missing, bad.forbidden) == (False, 0, ("oat milk|oats",), ("soy",))


def test_figures_cover_all_texts_and_all_needs() -> None:
    case = _case(("a", "b"), ("x",))
    found = figures([judge(case, ["a", "c", "x"]), judge(case, ["a b"])])
    assert found["precision"] == pytest.approx(2 / 4)
    assert found["recall"] == pytest.approx(3 / 4)
    assert found["clean"] == pytest.approx(1 / 2)
    assert found["forbidden"] == pytest.approx(1 / 2)


def test_a_case_without_needs_is_clean_if_nothing_is_shown() -> None:
    found = figures([judge(_case((), ("x",)), [])])
    assert found == {"clean": 1.0, "forbidden": 0.0, "cases": 1.0}


def test_there_are_sixty_cases_of_every_kind_in_both_languages_and_halves() -> None:
    assert len(CASES) == 60
    assert Counter(case.language for case in CASES) == {"zh": 30, "en": 30}
    assert Counter(case.part for case in CASES) == {"dev": 30, "held": 30}
    kinds = Counter((case.kind, case.part) for case in CASES)
    for kind in {case.kind for case in CASES}:
        assert {part for each, part in kinds if each == kind} == {"dev", "held"}, kind


def test_needs_were_stated_and_no_line_that_states_them_is_forbidden() -> None:
    for case in CASES:
        said = [line.text.casefold() for line in case.lines]
        for need in (*case.must, *case.may):
            assert any(wording.casefold() in text for text in said for wording in need.split("|")), (case.id, need)
        for word in case.must_not:
            holding = [text for text in said if word.casefold() in text]
            assert holding, (case.id, word)
            for text in holding:
                assert judge(case, [text]).helpful == 0, (case.id, word, text)


def test_statements_are_committed_in_order_before_the_question() -> None:
    for case in CASES:
        moments = [line.said_at for line in case.lines]
        assert moments == sorted(moments)
        assert max(moments) < case.ask_at
        assert _roles(case.lines) == ["user", "assistant"] * (len(case.lines) // 2)


def _roles(lines: tuple[Line, ...]) -> list[str]:
    return [line.role for line in lines]
