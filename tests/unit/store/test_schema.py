"""Schema scripts: released ones never change, and their names say when they run."""

import re
from collections.abc import Sequence

import pytest

from shared.errors import ConfigurationError
from shared.store.schema import Script, before_start, every, read_scripts, refuse_changed

RELEASED = {
    "0001_initial.sql": "f0cadd6d74ab75d7d8885ce78a4024d30732b2c0feadbea97af7bc9cf53a0796",
    "0002_metadata.sql": "1bf8e24d11524b1d06f69e7b7eacad21587839f6338eaafee9802c96c9ee37a5",
    "0003_wishes.sql": "284df3da6b65a2b4ff5d18d4b612db2d9ccfd478dee20a5e44fc3217f961fdcf",
    "0004_static_vectors.sql": "9fac9913a9447c38f13c1de10acf080d2e2f438ea9433b339a789200c8dcbd2a",
    "0005_ended.sql": "10254aaa8459bd6a8e35d61a1bc19b5e002909dc119353587c2edd2319df74ce",
    "0006_also.sql": "8053fe7648199429ee90b1ad1aa4ac1c0d9f487fa87e3869bac31158adede0f2",
    "0007_pre_joined.sql": "e67e1968a7a594debe1878318847a8b0493b7c5bfe72fd1e72c2aad63d26eecf",
    "0008_pre_api_keys.sql": "592be1dfd11a8993fc7743ae788510ff2c4c54f7dfa58f2ad1cccbdc48b69f93",
    "0009_pre_operator_acts.sql": "819411f89a5daded8a8841e006dc72b413c9f0bfeba2ae4d984fbe72185acef3",
    "0010_pre_promotions_written.sql": "9e1ce7b00420672f95e375810e3992bb17a1da5ad955d7eec42eff4e6a7e8667",
    "0011_pre_house_secret.sql": "869801d1a04d4355ec85ac146acc01529f4bb91cf310bb90dd308f1e254371d6",
    "0012_pre_turns_under_way.sql": "51473ef925d13a334da4bad5cb2650c309a87a5e3cbdf4f1b63290f73baa2de0",
    "0013_pre_topics_made.sql": "d9c6e7018e2a4bbac54ef4624819e7db216a7ac75c6d0b1059a1f768eb7bba79",
    "0014_pre_settings.sql": "9402120bb5764487c56f3511bcf884143d4500cb0e11ddac7ee2b192194248f9",
    "0015_pre_governing.sql": "64d3fb0d3d9ef16888330453ac450ece0fd8362f67b5d77d8dd584327d92e265",
    "0016_pre_commands.sql": "b366202b8b54e2aa3a0b65ac7084f79f491cde8be0041214fa8ebe769898bd41",
    "0017_pre_operations.sql": "35abdf23df74bbe99f724a393224768ff4e8178aa1521a2926f9811ce84a0526",
    "0018_pre_figures_in_indexes.sql": "599b15de5a552da256fa4dce6d2a685a5d0ea74a0826ccbfafd41d5eb14a6557",
    "0019_pre_learning_in_words.sql": "7c9617b9529cc0f760050b27e79f7c0e2ae77d7d33f6bf4009d738e627eeadfb",
    "0020_pre_verdicts.sql": "7189f2b4be9c182214eba4699aa619bd4dc05a08c8013bbac232d115d4953e78",
    "0021_post_learning_in_words.sql": "881bfd60ed77ef8b6ee9b4ac55c01418d5ca95c3e6d9a212a17fc381cffa22bb",
    "0022_pre_turns_ahead.sql": "f6f265cc29c390c96021a6a4ec69b129832bd7690586d8bfcdea4bc4312c4385",
}
"""The hash of each script; add a line for a new one (`sha256sum shared/migrations/*.sql`) and never change an existing
line, because databases were created with that text and refuse another.
"""
OF_BEFORE = frozenset(name for name in RELEASED if name < "0007")
"""Scripts from before names said when they run."""
NAME = re.compile(r"\d{4}_(?:pre|post)_[a-z0-9_]+\.sql")


def find_misnamed(names: Sequence[str]) -> list[str]:
    """The names without the time of the run, or with a wrong number."""
    return [
        name
        for n, name in enumerate(names, 1)
        if not name.startswith(f"{n:04}_") or not (name in OF_BEFORE or NAME.fullmatch(name))
    ]


def test_every_script_has_its_released_text() -> None:
    assert {each.name: each.sha256 for each in read_scripts()} == RELEASED


def test_every_script_name_says_when_it_runs() -> None:
    assert find_misnamed([each.name for each in read_scripts()]) == []


@pytest.mark.parametrize(
    ("later", "fits"),
    [
        ("0007_pre_origin.sql", True),
        ("0007_post_origin.sql", True),
        ("0007_origin.sql", False),
        ("0007_Post_origin.sql", False),
        ("0007_pre_.sql", False),
        ("0008_pre_origin.sql", False),
        ("7_pre_origin.sql", False),
    ],
)
def test_an_invalid_or_misnumbered_name_is_detected(later: str, fits: bool) -> None:
    assert find_misnamed([*sorted(OF_BEFORE), later]) == ([] if fits else [later])


def test_the_name_alone_decides_whether_a_script_waits() -> None:
    names = [*OF_BEFORE, "0007_pre_origin.sql", "0008_post_origin.sql", "0009_pre_post_box.sql"]
    assert [name for name in names if not before_start(name)] == ["0008_post_origin.sql"]
    assert all(map(every, names))


def test_an_applied_script_with_another_text_is_named() -> None:
    one, two = Script("0001_a.sql", "SELECT 1"), Script("0002_b.sql", "SELECT 2")
    refuse_changed({one.name: one.sha256, two.name: None}, [one, two])
    refuse_changed({}, [one, two])
    with pytest.raises(ConfigurationError, match=r"^0002_b\.sql was applied with another text.* new script$"):
        refuse_changed({one.name: one.sha256, two.name: one.sha256}, [one, two])
