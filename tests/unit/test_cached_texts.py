"""Memoised functions of texts, and how their memos are cleared."""

import functools
import sys
from datetime import date
from importlib import import_module
from pathlib import Path

import services
import shared
from services.compose.rules.resolving.norms import read_rules
from shared import cache
from shared.extraction import clauses, dates, replacement, word_tags
from shared.language import names, segment
from shared.language.segment import has_word
from shared.resolution import related

DAY = date(2026, 11, 25)


def test_no_text_is_kept_after_clearing() -> None:
    cache.forget_texts()
    assert cache.kept_texts() == 0
    related.about("My therapist is called Brunhilde.")
    dates.find_date("明天去看医生", DAY)
    has_word("Brunhilde called", "Brunhilde")
    read_rules("Employees must not wear hats.")
    clauses.split("My therapist is called Brunhilde.")
    replacement.estimate_repairing("It's Brunhilde, not Brigitte.")
    replacement.read_phrases("My therapist is called Brigitte.")
    word_tags.tag_slips("My therapist is called Brigitte.")
    word_tags.describe_sentence("My therapist is called Brigitte.", 0, 32)
    names.labels("Brunhilde is in room 7.")
    segment.terms("Brunhilde 布伦希尔德")
    assert cache.kept_texts() >= 12
    cache.forget_texts()
    assert cache.kept_texts() == 0
    assert related.about("My therapist is called Brunhilde.") == related.about("My therapist is called Brunhilde.")


OF_NO_TEXT = {
    "schemas.base._names",
    "schemas.base.rename_fields",
    "services.console.page._list_zones",
    "services.console.rendering.find_newest_change",
    "services.console.rendering.make_templates",
    "shared.extraction.guards.Stance",
    "shared.extraction.habits._kinds_by_term",
    "shared.classifiers.judges.load_hidden_layer",
    "shared.classifiers.judges.load_class_sum",
    "shared.classifiers.tagger.find_seen",
    "shared.classifiers.tagger.load_tagger",
    "shared.classifiers.units._find_neighbours",
    "shared.classifiers.judges.load_trees",
    "shared.classifiers.pair_reader.load_pair_reader",
    "shared.classifiers.meanings._classes",
    "shared.classifiers.meanings._lexicon",
    "shared.classifiers.network.load",
    "shared.classifiers.static_encoder.load_static_encoder",
    "shared.classifiers.judges.load_text_sum",
    "shared.resolution.roles._roles_by_word",
    "shared.secrets.shapes._forms",
    "shared.tls.trust_store",
    "shared.vectors._turn",
    "shared.workdays._days",
    "urllib.parse.urlsplit",
}
"""Memoised functions of weights, types, numbers, calendars and files, which an erasure does not clear.

The cache of `urlsplit` has its own clearing function.
"""


def test_every_memoised_function_of_texts_is_cleared() -> None:
    for package in (shared, services):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*.py")):
            name = ".".join((package.__name__, *path.relative_to(root).with_suffix("").parts))
            if path.stem not in ("__init__", "__main__") and not name.startswith("services.cli"):
                import_module(name)
    found: dict[int, str] = {
        id(value): f"{value.__module__}.{value.__name__}"  # pyright: ignore[reportUnknownArgumentType] # any result
        for name, module in sorted(sys.modules.items())
        if name.split(".")[0] in ("shared", "services", "schemas") and not name.startswith("services.cli")
        for value in vars(module).values()
        if isinstance(value, functools._lru_cache_wrapper)  # pyright: ignore[reportPrivateUsage] # it has no other name
    }
    kept = {id(each) for each in cache._texts}  # pyright: ignore[reportPrivateUsage] # the subject of the test
    assert {name for at, name in found.items() if at not in kept} == OF_NO_TEXT
