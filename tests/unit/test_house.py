"""Counts what the style of the code forbids: functions without verbs, class names with several meanings, long files.

A test fails when a count exceeds its bound. Lower the bound when you lower a count; raise it only with a reason in the
commit.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("schemas", "services", "shared")
MOST_FILE_LINES = 350
MOST_FUNCTION_LINES = 60
BOUNDS = {
    "functions named by a bare participle": 0,
    "functions named by an adjective or adverb": 0,
    "class names with several meanings": 0,
    "locals with a vague name for more than three lines": 38,
    "files that are too long": 0,
    "functions that are too long": 0,
}
VAGUE = frozenset(("asked", "found", "got", "heard", "kept", "known", "made", "read", "said", "told"))
"""Names that do not say which value they hold; allowed for three lines."""
_IRREGULAR_WORDS = (
    "told known found said kept held left made given shown meant heard spent done gone seen taken brought "
    "thought sent built begun broken chosen written spoken understood lost sold drawn grown thrown worn hidden "
    "forgotten bought caught sought felt dealt learnt spelt laid paid led met slept lent struck eaten driven "
    "withheld unread undone"
)
IRREGULAR = frozenset(_IRREGULAR_WORDS.split())
_NOUNS_AND_VERBS_WORDS = "embed exceed feed need proceed seed speed string succeed thing bring ring during nothing"
NOUNS_AND_VERBS = frozenset(_NOUNS_AND_VERBS_WORDS.split())
_ADJECTIVES_WORDS = (
    "alike apart sure whole fit near alone due full empty late early plain same other own certain stale "
    "fresh safe able bare long short high low true false pure old new least most best worst last first right "
    "wrong better again still ever never always only also together whose beside behind ahead before after away "
    "back otherwise soon"
)
ADJECTIVES = frozenset(_ADJECTIVES_WORDS.split())


@cache
def _files() -> tuple[tuple[Path, str], ...]:
    return tuple(
        (path, path.read_text("utf-8")) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))
    )


@cache
def _trees() -> tuple[tuple[Path, ast.Module], ...]:
    return tuple((path, ast.parse(text)) for path, text in _files())


def _functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """All functions except dunder methods and properties, whose names are nouns."""
    for path, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
                decorators = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
                if not decorators & {"property", "cached_property"}:
                    yield path, node


def is_participle(word: str) -> bool:
    """Whether a one-word name is a participle instead of a verb."""
    regular = len(word) > 4 and "_" not in word and word.endswith(("ed", "ing"))
    return word in IRREGULAR or (regular and word not in NOUNS_AND_VERBS)


def _vague_locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The function's own parameters and variables with such names whose first and last use are far apart."""
    nodes = [*ast.walk(function.args)]
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        nodes.append(node := waiting.pop())
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for name in own & VAGUE:
        uses = [node for node in ast.walk(function) if name in (getattr(node, "id", None), getattr(node, "arg", None))]
        lines = [node.lineno for node in uses if isinstance(node, ast.Name | ast.arg)]
        if max(lines) - min(lines) > 3:
            yield name


def count_findings() -> dict[str, list[str]]:
    """The findings of each count, with their places."""
    functions = [(path.relative_to(ROOT), node) for path, node in _functions()]
    names = [(path, node, node.name.strip("_")) for path, node in functions]
    classes = Counter(node.name for _, tree in _trees() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    lengths = [(path, node, (node.end_lineno or node.lineno) - node.lineno + 1) for path, node in functions]
    return {
        "functions named by a bare participle": [f"{p}: {node.name}" for p, node, n in names if is_participle(n)],
        "functions named by an adjective or adverb": [f"{p}: {node.name}" for p, node, n in names if n in ADJECTIVES],
        "class names with several meanings": [name for name, count in classes.items() if count > 1],
        "locals with a vague name for more than three lines": [
            f"{path}: {node.name}: {name}" for path, node in functions for name in _vague_locals(node)
        ],
        "files that are too long": [str(p) for p, text in _files() if text.count("\n") > MOST_FILE_LINES],
        "functions that are too long": [f"{p}: {node.name}" for p, node, n in lengths if n > MOST_FUNCTION_LINES],
    }


@pytest.mark.parametrize("what", BOUNDS)
def test_a_count_never_rises(what: str) -> None:
    found = count_findings()[what]
    assert len(found) <= BOUNDS[what], "\n".join([f"{len(found)} {what}, at most {BOUNDS[what]}:", *found])


def test_participles_are_distinguished_from_verbs_and_nouns() -> None:
    assert [
        word
        for word in ("told", "merged", "waiting", "need", "embed", "string", "read", "list_ended")
        if is_participle(word)
    ] == [
        "told",
        "merged",
        "waiting",
    ]
