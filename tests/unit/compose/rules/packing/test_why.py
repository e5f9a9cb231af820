"""Every decision has a sentence in both languages that names its reason and no score."""

import re
from typing import Any, get_args

import pytest

from schemas.receipts import DecisionReason
from services.compose.rules.packing.receipts import Told, explain_decision

REASONS = get_args(DecisionReason)


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_its_sentence(reason: str, language: Told) -> None:
    said = explain_decision({"decision": "rejected", "decision_reason": reason, "rule": "exfiltrate"}, language)
    assert said != reason
    assert bool(re.search("[\u4e00-\u9fff]", said)) is (language == "zh")
    assert not re.search(r"\d\.\d|\{", said)


INJECTED: dict[str, Any] = {
    "decision": "injected",
    "decision_reason": "relevance",
    "context_position": {"slot": "evidence", "index": 2, "zone": "middle"},
    "sanitization_result": "sanitized",
    "rule": "sql",
}


@pytest.mark.parametrize(
    ("language", "words"), [("zh", ("中间", "第 3 条", "sql")), ("en", ("middle", "number 3", "sql"))]
)
def test_what_is_injected_says_where_and_what_was_taken_out(language: Told, words: tuple[str, ...]) -> None:
    assert all(word in explain_decision(INJECTED, language) for word in words)
