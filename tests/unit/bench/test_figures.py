"""The figures of the quality benches, on examples that can be verified by hand."""

import pytest

from tests.bench.figures import cut_figures, mean, percentile, rank_figures


def test_ranking_figures_depend_on_the_ranks_of_the_evidence() -> None:
    ranked = [*"axbcdefghij", "y"]
    found = rank_figures(ranked, {"x", "y", "z"})
    assert found["R@5"] == pytest.approx(1 / 3)
    assert found["R@10"] == pytest.approx(1 / 3)
    assert found["R@20"] == pytest.approx(2 / 3)
    assert found["hit@10"] == 1
    assert found["mrr"] == pytest.approx(1 / 2)
    # one of three, at rank two: 1/log2(3) of 1 + 1/log2(3) + 1/log2(4)
    assert found["nDCG@10"] == pytest.approx(0.6309 / (1 + 0.6309 + 0.5), abs=1e-4)
    assert found["all@50"] == 0


def test_complete_within_ten_requires_all_evidence() -> None:
    assert rank_figures([*"abc"], {"a", "c"})["all@10"] == 1
    assert rank_figures(["a", *"0123456789", "c"], {"a", "c"})["all@10"] == 0
    assert rank_figures(["a", *"0123456789", "c"], {"a", "c"})["all@50"] == 1
    assert rank_figures([*"ab"], {"a", "b"})["nDCG@10"] == pytest.approx(1)
    assert rank_figures([], {"a"})["mrr"] == 0


def test_precision_is_of_the_results_and_undefined_without_any() -> None:
    assert cut_figures(["a", "a", "b", ""], {"a", "c"}) == {
        "recall": 0.5,
        "precision": 0.5,
        "returned": 4.0,
        "empty": 0.0,
    }
    assert cut_figures([], {"a"}) == {"recall": 0.0, "returned": 0.0, "empty": 1.0}


def test_a_mean_covers_the_questions_with_the_figure() -> None:
    assert mean([{"recall": 1.0, "precision": 0.5}, {"recall": 0.0}]) == {"recall": 0.5, "precision": 0.5}
    assert mean([]) == {}


def test_percentiles_of_few_values_and_of_none() -> None:
    assert percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert percentile([3.0, 1.0, 2.0], 95) == 3.0
    assert percentile([], 95) == 0.0
