"""The effect of a user's verdict on the statistics of a memory."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from services.evolver.chosen import apply_judgement, bring_up_again, silence
from shared.extraction.turn_texts import BRING_UP_AGAIN, NEVER_AGAIN, NOT_USEFUL
from shared.policy import Policy
from tests.unit.evolver.rules.kept import kept

NOW = datetime(2026, 3, 1, tzinfo=UTC)
POLICY = Policy()


def test_a_suppressed_memory_is_hidden_and_restored_unchanged() -> None:
    memory = kept(confidence=0.7)
    silent = apply_judgement(memory, NEVER_AGAIN, NOW, POLICY)
    assert (silent.shown, silent.confidence, silent.silenced_at) == (False, 0.7, NOW)
    assert silence(silent, NOW + timedelta(days=1)) == silent
    assert apply_judgement(silent, BRING_UP_AGAIN, NOW, POLICY) == memory
    assert bring_up_again(memory) == memory


def test_a_memory_that_was_fused_before_stays_hidden() -> None:
    fused = replace(kept(confidence=0.1), fused_at=NOW - timedelta(days=1), fused_from=0.8)
    silent = silence(fused, NOW)
    assert (silent.fused_at, silent.fused_from) == (fused.fused_at, 0.8)
    assert bring_up_again(silent) == fused


def test_useless_counts_as_one_miss() -> None:
    memory = kept(miss_count=1)
    assert apply_judgement(memory, NOT_USEFUL, NOW, POLICY) == replace(memory, miss_count=2)
