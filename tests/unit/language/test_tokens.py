"""Token estimates: near the highest count of real vocabularies, never far above; texts are truncated to a count."""

import json
from pathlib import Path
from typing import Any

import pytest

from shared.language import tokens

COUNTED: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "counted.jsonl").read_text("utf-8").splitlines()
]
"""Texts with their token counts in vocabularies of OpenAI (two), Qwen, DeepSeek, Mistral, and BERT
if it has the script.
"""


@pytest.mark.parametrize("row", COUNTED, ids=[row["kind"] for row in COUNTED])
def test_the_estimate_is_never_far_below_any_vocabulary_nor_far_above_the_highest(row: dict[str, Any]) -> None:
    dearest = max(row["tokens"].values())
    assert dearest * 0.95 <= tokens.count_fresh(row["text"]) <= dearest * 1.45


def test_the_estimate_for_all_texts_together_is_accurate() -> None:
    whole = "\n".join(row["text"] for row in COUNTED)
    dearest = max(sum(row["tokens"].get(name, 0) for row in COUNTED) for name in COUNTED[0]["tokens"])
    assert dearest * 0.95 <= tokens.count_fresh(whole) <= dearest * 1.45


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("I was thinking about what you said yesterday, and I agree.", 13),
        ("我喜欢简洁的回答，请用中文。", 14),
        ("def main() -> None:\n    return run(app)\n", 13),
        ("https://github.com/org/repo/issues/12?x=1", 21),
        ("0198c3a2-7b1e-7c3d-9a55-0242ac120002", 28),
        ("上周 deploy 了 v2 版本", 10),
    ],
)
def test_count_stays_near_real_tokenizers(text: str, true: int) -> None:
    assert true * 0.95 - 1 <= tokens.count(text) <= true * 1.35 + 2


def test_emoji_cost_more_and_nothing_is_free() -> None:
    assert tokens.count("👨\u200d👩\u200d👧") >= 9
    assert tokens.count("") == 0
    assert tokens.count(" a") >= 1


@pytest.mark.parametrize("text", ["word " * 1000, "中文" * 1000, "a1b2" * 1000])
def test_a_truncated_text_fits(text: str) -> None:
    short = tokens.head(text, 100)
    assert text.startswith(short)
    assert 80 <= tokens.count(short) <= 100
