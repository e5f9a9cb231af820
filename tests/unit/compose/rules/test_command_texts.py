"""Texts about commands exist in both languages with the same placeholders."""

from string import Formatter
from uuid import UUID

import pytest

from schemas.commands import CommandItem
from services.compose.rules.command_texts import SAY, Lang, explain_refusal, list_items, list_texts
from shared.language.normalise import detect

MEMORY = UUID(int=1)
TEA = CommandItem(kind="fact", number=1, memory_id=MEMORY, type="preference", text="tea")
CODE = CommandItem(kind="note", number=1, memory_id=MEMORY, type="note", text="42")


def parts(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_texts_with_the_same_placeholders() -> None:
    assert {key: parts(text) for key, text in SAY["en"].items()} == {
        key: parts(text) for key, text in SAY["zh"].items()
    }
    assert {detect(text) for key, text in SAY["zh"].items() if key != "more"} == {"zh"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_list_has_numbers_and_their_usage(language: Lang) -> None:
    told = list_items([TEA, CODE], 3, language).splitlines()
    assert told[2] == "1. tea"
    assert told[4] == "1. 42"
    assert "3" in told[5]
    assert "/forget fact 1" in told[6]
    assert list_items([], 0, language) == SAY[language]["nothing"]
    assert list_texts([], language) == SAY[language]["search_nothing"]
    assert list_texts(["tea"], language).endswith("- tea")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_refusal_says_why(language: Lang) -> None:
    assert SAY[language]["wish"] in explain_refusal("wish:person", language)
    assert SAY[language]["secret"] in explain_refusal("secret:api_key", language)
    assert "weaker_than_known" in explain_refusal("weaker_than_known", language)
