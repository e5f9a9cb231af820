"""A relative's fact does not answer a question about the user."""

from datetime import UTC, datetime

import pytest

from schemas.vocabulary import Intent
from services.compose.rules.candidates import Candidate, Factors, RankedCandidate
from services.compose.rules.ranking.fuse import FusionResult
from services.compose.rules.resolving.scopes import OF_RELATIVE, drop_relatives

NOW = datetime(2026, 11, 18, tzinfo=UTC)
TOM, OWN = ("My brother Tom hates mushrooms.", "I could live on mushroom risotto.")
SHE, ME = ("我老婆在银行做柜员。", "我在物流公司跑调度。")
ILL = "My father was diagnosed with diabetes."


def _fused(*texts: tuple[str, float]) -> FusionResult:
    ranked = tuple(
        RankedCandidate(Candidate("turn", text, NOW, turn_id=f"t{n}", role="user", probability=p), p, 0.0, Factors(p))
        for n, (text, p) in enumerate(texts)
    )
    return FusionResult(ranked, (), len(ranked))


@pytest.mark.parametrize(
    ("texts", "message", "intent", "left"),
    [
        (((TOM, 0.8), (OWN, 0.7)), "Do I like mushrooms?", "preference_check", [OWN]),
        (((SHE, 0.3), (ME, 0.1)), "我是做什么工作的？", "preference_check", [ME]),
        (((TOM, 0.8), (OWN, 0.7)), "Does my brother like mushrooms?", "preference_check", [TOM, OWN]),
        (((TOM, 0.8), (OWN, 0.1)), "Who do I know that hates mushrooms?", "preference_check", [TOM, OWN]),
        (((TOM, 0.8), (OWN, 0.7)), "What should I cook with mushrooms?", "recommend", [TOM, OWN]),
        (((ILL, 0.8),), "Do I have any illness?", "preference_check", []),
        (((ILL, 0.8),), "Good morning!", "small_talk", []),
    ],
)
def test_a_relatives_fact_is_shown_unless_a_question_about_the_user_has_another_answer(
    texts: tuple[tuple[str, float], ...], message: str, intent: Intent, left: list[str]
) -> None:
    made = drop_relatives(_fused(*texts), message, intent)
    assert [each.candidate.text for each in made.ranked] == left
    assert {each.rule for each in made.dropped} <= {OF_RELATIVE}
    assert len(made.dropped) == len(texts) - len(left)
