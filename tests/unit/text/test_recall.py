"""What functions of texts keep in the process, and that it can be let go."""

from datetime import date

from services.compose.rules.norms import norms
from shared.reading import clauses, dates, related, replacement
from shared.text import recall, within

DAY = date(2026, 11, 25)


def test_no_text_is_kept_once_texts_are_forgotten() -> None:
    recall.forget_texts()
    assert recall.kept_texts() == 0
    related.about("My therapist is called Brunhilde.")
    dates.find("明天去看医生", DAY)
    within.has_word("Brunhilde called", "Brunhilde")
    norms("Employees must not wear hats.")
    clauses.split("My therapist is called Brunhilde.")
    replacement.estimate_repairing("It's Brunhilde, not Brigitte.")
    replacement.read_phrases("My therapist is called Brigitte.")
    assert recall.kept_texts() >= 7
    recall.forget_texts()
    assert recall.kept_texts() == 0
    assert related.about("My therapist is called Brunhilde.") == related.about("My therapist is called Brunhilde.")
