"""The figures of retrieval, for one question and for many. Pure."""

import math
from collections.abc import Collection, Mapping, Sequence

CUTS = (5, 10, 20, 50)
Figures = dict[str, float]


def rank_figures(ranked: Sequence[str], evidence: Collection[str]) -> Figures:
    """The rank of the evidence: recall at each cut-off, completeness within 10, 20 and 50, hit rate, nDCG and MRR."""
    at = [rank for rank, each in enumerate(ranked, 1) if each in evidence]
    gain = sum(1 / math.log2(rank + 1) for rank in at if rank <= 10)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(evidence), 10) + 1))
    recall = {f"R@{k}": sum(rank <= k for rank in at) / len(evidence) for k in CUTS}
    whole = {f"all@{k}": float(sum(rank <= k for rank in at) == len(evidence)) for k in (10, 20, 50)}
    hit = float(any(rank <= 10 for rank in at))
    return {**recall, "hit@10": hit, "nDCG@10": gain / ideal, "mrr": 1 / at[0] if at else 0.0, **whole}


def cut_figures(returned: Sequence[str], evidence: Collection[str]) -> Figures:
    """For results whose number the product decides: the share of the evidence, the share of other results, their
    number.

    Precision is of the results; without results there is none.
    """
    found = evidence and len(set(returned) & set(evidence)) / len(evidence)
    relevant = sum(each in evidence for each in returned)
    precision = {"precision": relevant / len(returned)} if returned else {}
    return {"recall": float(found or 0.0), **precision, "returned": float(len(returned)), "empty": float(not returned)}


def mean(figures: Sequence[Mapping[str, float]]) -> Figures:
    """The mean of each figure over the questions that have it."""
    names = dict.fromkeys(name for each in figures for name in each)
    values = {name: [each[name] for each in figures if name in each] for name in names}
    return {name: round(sum(of) / len(of), 4) for name, of in values.items()}


def percentile(times: Sequence[float], q: int) -> float:
    """The q-th percentile; 0 without values."""
    ordered = sorted(times)
    return round(ordered[min(len(ordered) - 1, len(ordered) * q // 100)], 2) if ordered else 0.0
