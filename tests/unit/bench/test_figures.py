"""The figures of the benches of quality, on orders and texts whose figures can be worked out by hand."""

import pytest

from tests.bench.figures import cut_figures, mean, percentile, rank_figures


def test_the_order_of_the_best_is_judged_by_where_the_evidence_stands() -> None:
    ranked = [*"axbcdefghij", "y"]
    found = rank_figures(ranked, {"x", "y", "z"})
    assert found["R@5"] == pytest.approx(1 / 3)
    assert found["R@10"] == pytest.approx(1 / 3)
    assert found["R@20"] == pytest.approx(2 / 3)
    assert found["hit@10"] == 1
    assert found["mrr"] == pytest.approx(1 / 2)
    # one of three at the second place: 1/log2(3) of 1 + 1/log2(3) + 1/log2(4)
    assert found["nDCG@10"] == pytest.approx(0.6309 / (1 + 0.6309 + 0.5), abs=1e-4)
    assert found["all@50"] == 0


def test_all_evidence_within_ten_counts_only_when_it_is_all() -> None:
    assert rank_figures([*"abc"], {"a", "c"})["all@10"] == 1
    assert rank_figures(["a", *"0123456789", "c"], {"a", "c"})["all@10"] == 0
    assert rank_figures(["a", *"0123456789", "c"], {"a", "c"})["all@50"] == 1
    assert rank_figures([*"ab"], {"a", "b"})["nDCG@10"] == pytest.approx(1)
    assert rank_figures([], {"a"})["mrr"] == 0


def test_precision_is_of_what_came_back_and_there_is_none_where_nothing_did() -> None:
    assert cut_figures(["a", "a", "b", ""], {"a", "c"}) == {
        "recall": 0.5,
        "precision": 0.5,
        "returned": 4.0,
        "empty": 0.0,
    }
    assert cut_figures([], {"a"}) == {"recall": 0.0, "returned": 0.0, "empty": 1.0}


def test_a_mean_is_over_those_that_have_the_figure() -> None:
    assert mean([{"recall": 1.0, "precision": 0.5}, {"recall": 0.0}]) == {"recall": 0.5, "precision": 0.5}
    assert mean([]) == {}


def test_percentiles_of_few_and_of_none() -> None:
    assert percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert percentile([3.0, 1.0, 2.0], 95) == 3.0
    assert percentile([], 95) == 0.0
