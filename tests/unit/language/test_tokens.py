"""What real vocabularies make of texts of a package's size, counted once: the estimate stays near the dearest."""

import json
from pathlib import Path
from typing import Any

import pytest

from shared.language import tokens

COUNTED: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "counted.jsonl").read_text("utf-8").splitlines()
]
"""Texts and their tokens in vocabularies of OpenAI (two), Qwen, DeepSeek, Mistral; of BERT where it has the script."""


@pytest.mark.parametrize("row", COUNTED, ids=[row["kind"] for row in COUNTED])
def test_the_estimate_is_never_far_below_any_vocabulary_nor_far_above_the_dearest(row: dict[str, Any]) -> None:
    dearest = max(row["tokens"].values())
    assert dearest * 0.95 <= tokens.count_fresh(row["text"]) <= dearest * 1.45


def test_a_package_of_all_of_them_is_near_too() -> None:
    whole = "\n".join(row["text"] for row in COUNTED)
    dearest = max(sum(row["tokens"].get(name, 0) for row in COUNTED) for name in COUNTED[0]["tokens"])
    assert dearest * 0.95 <= tokens.count_fresh(whole) <= dearest * 1.45
