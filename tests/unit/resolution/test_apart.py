"""Similar but different statements coexist with existing ones; a denial ends only what it means."""

from datetime import timedelta

import pytest

from services.cli.evaluate.world import AT, World


def told(*said: str) -> list[str]:
    world = World()
    for day, text in enumerate(said):
        world.hear(text, f"s{day}", AT + day * timedelta(days=20))
    return [memory.text for memory in world.active.values()]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I take 10 mg of lisinopril every day.", "I take 20 mg of lisinopril every day."),
        ("I run 5 km every morning.", "I run 10 km every morning."),
        ("I take vitamin c every morning.", "I take vitamin d every morning."),
        ("我每天6点起床。", "我每天8点起床。"),
        ("我每天吃10毫克降压药。", "我每天吃20毫克降压药。"),
        ("昨天我去爬山了。", "昨天我去爬山了。"),
    ],
)
def test_another_number_letter_or_day_is_a_different_statement(first: str, second: str) -> None:
    assert second.strip("。.") in " ".join(told(first, second))
    assert len(told(second)) < len(told(first, second)) or told(first, second) == told(second)


@pytest.mark.parametrize(
    ("known", "denied", "kept"),
    [
        ("I love steak.", "I don't like tea any more.", "steak"),
        ("I love hamburgers.", "I no longer like ham.", "hamburgers"),
        ("I use JavaScript.", "I no longer use Java.", "JavaScript"),
        ("我喜欢米粉。", "我现在不喜欢米了。", "米粉"),
    ],
)
def test_a_denial_ends_no_word_that_only_contains_its_letters(known: str, denied: str, kept: str) -> None:
    assert any(kept in text for text in told(known, denied))
