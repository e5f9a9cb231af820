"""The words of a question that are searched with spelling variants."""

import pytest

from services.compose.rules.planning.questions import list_doubtful_terms
from shared.language.segment import query_terms


@pytest.mark.parametrize(
    ("question", "known", "expected"),
    [
        ("Which dashboards did we build in Grafanna?", {"dashboard", "build"}, ["grafanna"]),
        ("kuberntes 集群在哪里", {"集群"}, ["kubernt"]),
        ("我们的 Postgrs 备份放在哪里", {"备份", "放在"}, ["postgr"]),
        ("what is in smart_ragg", {"smart"}, ["smart_ragg"]),
        ("Which tea do I prefer?", {"tea", "prefer"}, []),
        ("Can you recommend a good tea shop in town?", {"tea", "shop", "town"}, []),
        ("Who is Bob?", set[str](), []),
        ("茶叶店在哪里", set[str](), []),
    ],
)
def test_only_names_identifiers_and_lone_words_are_doubted(question: str, known: set[str], expected: list[str]) -> None:
    assert list_doubtful_terms(question, query_terms(question), known) == expected
