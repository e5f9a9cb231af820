"""Samples for the fit of the ranking: questions of a dialogue, half of them without their answer."""

from datetime import UTC, datetime, timedelta

from tests.bench.dialogues import Line, Question, Talk
from tests.training.ranking import FEW_LINES, SAMPLE, samples

BEGAN = datetime(2026, 11, 18, 10, tzinfo=UTC)
LINES = tuple(Line("ann", "s1", f"D1:{n}", "Ann", f"line {n}", BEGAN + timedelta(minutes=n)) for n in range(60))
QUESTIONS = tuple(Question("ann", f"What was {n}?", "any", frozenset({f"D1:{n}"}), 60) for n in range(0, 60, 5))


def test_half_of_the_samples_contain_the_answer_and_none_uses_later_lines() -> None:
    made = samples(Talk("some", LINES, QUESTIONS))
    assert len(made.questions) == len(QUESTIONS)
    for n, question in enumerate(made.questions):
        own = [line for line in made.lines if line.dialogue == question.dialogue]
        assert FEW_LINES[0] - 1 <= len(own) == question.earlier <= FEW_LINES[1] + 1
        assert [line.said_at for line in own] == sorted(line.said_at for line in own)
        assert question.dialogue.partition(SAMPLE)[0] == "ann"
        assert question.evidence == (frozenset() if n % 2 else QUESTIONS[n].evidence)
        assert question.evidence <= {line.id for line in own}
        assert QUESTIONS[n].evidence.isdisjoint({line.id for line in own}) == bool(n % 2)


def test_sampling_is_reproducible() -> None:
    assert samples(Talk("some", LINES, QUESTIONS)) == samples(Talk("some", LINES, QUESTIONS))
