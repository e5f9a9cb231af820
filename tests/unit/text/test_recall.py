"""What functions of texts keep in the process, and that it can be let go."""

from datetime import date

from services.compose.rules.packing.norms import norms
from shared import memo
from shared.extraction import clauses, dates, replacement
from shared.language import within
from shared.resolution import related

DAY = date(2026, 11, 25)


def test_no_text_is_kept_once_texts_are_forgotten() -> None:
    memo.forget_texts()
    assert memo.kept_texts() == 0
    related.about("My therapist is called Brunhilde.")
    dates.find("明天去看医生", DAY)
    within.has_word("Brunhilde called", "Brunhilde")
    norms("Employees must not wear hats.")
    clauses.split("My therapist is called Brunhilde.")
    replacement.estimate_repairing("It's Brunhilde, not Brigitte.")
    replacement.read_phrases("My therapist is called Brigitte.")
    assert memo.kept_texts() >= 7
    memo.forget_texts()
    assert memo.kept_texts() == 0
    assert related.about("My therapist is called Brunhilde.") == related.about("My therapist is called Brunhilde.")
