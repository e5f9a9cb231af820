"""Evaluates the screen on texts of authors outside the fit: `python -m tests.training.hostile.folds`."""

import argparse
from collections import defaultdict
from unittest import mock

from shared.screening import orders, sanitize
from tests.training import fit
from tests.training.hostile.rows import files, lexicon, made

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.985, 0.99, 0.993, 0.996, 0.998, 0.999)


def main() -> None:
    """For each file left out: the shares of detected attacks and altered benign texts, by threshold."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--misses", type=int, default=0)
    given = parser.parse_args()
    told = files()
    all_shares: dict[str, list[tuple[str, float]]] = {}
    for left in told:
        model = fit.fit(
            made([each for name, texts in told.items() if name != left for each in texts]),
            lexicon(),
            fit.HOW["hostile"],
        )
        with mock.patch.object(orders, "load", lambda _name, model=model: model):
            sanitize.forget()
            found = [(label, score_text(text)) for label, text in told[left]]
        all_shares[left] = found
        print(f"{left}: {figures(found)}")
        for (label, share), (_, text) in [*zip(found, told[left], strict=True)][: given.misses * 8]:
            if (label == orders.ORDER) != (share >= sanitize.LIKELY):
                print(f"  {label} {share:.3f} {text[:200]!r}")
    by_language = defaultdict[str, list[tuple[str, float]]](list)
    for name, found in all_shares.items():
        by_language[name.split("_")[1]] += found
    for language, found in by_language.items():
        print(f"{language}: {figures(found)}")


def score_text(text: str) -> float:
    """The likelihood that decides about the text; above 1 if patterns alone block or change it."""
    found: list[float] = []

    def noted(form: str, around: float | None = None) -> float:
        found.append(likelihood(form, around))
        return 0.0

    likelihood = orders.likelihood
    with mock.patch.object(orders, "likelihood", noted):
        screened = sanitize.screen(text)
    return 2.0 if screened.outcome != "pass" or screened.text != text else max(found, default=0.0)


def figures(found: list[tuple[str, float]]) -> str:
    """The shares at each threshold."""
    attacks = [share for label, share in found if label == orders.ORDER]
    benign = [share for label, share in found if label != orders.ORDER]
    patterns = f"patterns {_share(attacks, 2.0):.3f} {_share(benign, 2.0):.3f}"
    at = " | ".join(f"{least}: {_share(attacks, least):.3f} {_share(benign, least):.3f}" for least in LEVELS)
    return f"{patterns} | {at}"


def _share(shares: list[float], least: float) -> float:
    return sum(share >= least for share in shares) / max(len(shares), 1)


if __name__ == "__main__":
    main()
