"""The documents are consistent: links resolve, both READMEs match, and the names that they mention exist."""

import re
from pathlib import Path

import pytest

from shared.settings import PREFIX, SECRETS, Settings

ROOT = Path(__file__).parents[2]
SKIPPED = {".venv", ".git", ".pytest_cache", "node_modules", "build", "dist", ".smartbrain"}
PAGES = sorted(path for path in ROOT.rglob("*.md") if not SKIPPED & set(path.relative_to(ROOT).parts))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
TOOL_VARIABLES = {
    "URL",
    "API_KEY",
    "USER",
    "TENANT",
    "SESSION",
    "TRACEBACK",
    "KAFKA_CACHE",
    "NATURAL",
    "TEST_LONG",
    "TEST_RACE",
    "TEST_RACES",
    "TEST_INTERLEAVINGS",
}


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def prose_of(path: Path) -> str:
    """A page without its code blocks."""
    return FENCE.sub("", text_of(path))


def anchors_of(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub creates them."""
    anchors: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", prose_of(path), re.M):
        plain = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading).lower()
        anchors.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return anchors


def kinds_of(path: Path) -> list[str]:
    """The kind of each line of a page: a heading, a row, a fence, an empty line or text."""
    kinds = [re.match(r"#+ |\||```|$", line) for line in text_of(path).splitlines()]
    return [kind[0] if kind else "text" for kind in kinds]


def skeleton_of(code: str) -> list[str]:
    """The lines of a code block without comments and messages."""
    lines = [re.sub(r"\s+#.*$", "", line) for line in code.splitlines()]
    return [re.sub(r'("(?:content|user_message)": |user_message=)"[^"]*"', r"\1", line) for line in lines]


def named_in(pattern: str, *, code: bool) -> dict[str, str]:
    """The names in the documents, each with one page that contains it."""
    return {
        name: page.relative_to(ROOT).as_posix()
        for page in PAGES
        for text in ([block for _, block in FENCE.findall(text_of(page))] if code else [text_of(page)])
        for name in re.findall(pattern, text)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_resolves(page: Path) -> None:
    for link in LINK.findall(prose_of(page)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), link
        assert not anchor or anchor in anchors_of(path), link


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_a_readme_is_short(name: str) -> None:
    lines = text_of(ROOT / name).splitlines()
    assert len(lines) <= 130
    assert max(map(len, lines)) <= 120


def test_the_map_fits_a_page() -> None:
    assert len(text_of(ROOT / "services" / "README.md").splitlines()) <= 120


def test_both_readmes_have_the_same_structure_line_by_line() -> None:
    english, chinese = ROOT / "README.md", ROOT / "README.zh-CN.md"
    assert kinds_of(english) == kinds_of(chinese)


def test_both_readmes_have_the_same_code() -> None:
    blocks = [FENCE.findall(text_of(ROOT / name)) for name in ("README.md", "README.zh-CN.md")]
    assert len(blocks[0]) == len(blocks[1])
    for (kind, english), (other_kind, chinese) in zip(*blocks, strict=True):
        assert kind == other_kind
        assert len(english.splitlines()) == len(chinese.splitlines())
        if kind:  # a block without a language is a diagram
            assert skeleton_of(english) == skeleton_of(chinese)


def test_every_decision_has_a_date_and_a_condition_to_revisit_it() -> None:
    page = text_of(ROOT / "docs" / "decisions.md")
    decisions = re.findall(r"^\*\*.+(?:\n.+)*", page, re.M)
    assert decisions
    for decision in decisions:
        first, *rest = decision.splitlines()
        assert re.match(r"\*\*.+\*\* \(\d{4}-\d{2}-\d{2}\)\. ", first), first
        assert len(rest) == 2, first
        assert re.fullmatch(r"Revisit when .+\.", rest[-1]), first


def test_every_variable_in_a_document_exists() -> None:
    known = {name.upper() for name in Settings.model_fields} | TOOL_VARIABLES
    known |= {f"{name.upper()}_FILE" for name in SECRETS}
    named = named_in(rf"\b{PREFIX}([A-Z][A-Z_]*[A-Z])\b", code=False)
    assert named
    assert {name: page for name, page in named.items() if name not in known} == {}


def test_every_command_in_a_document_exists() -> None:
    known = set(re.findall(r"^## `smartbrain (.+)`$", text_of(ROOT / "docs" / "reference" / "commands.md"), re.M))
    named = named_in(r"^(?:\S*/)?smartbrain ([a-z]+)", code=True)
    named |= named_in(r"`smartbrain ([a-z]+)", code=False)
    assert named
    assert {name: page for name, page in named.items() if name not in known} == {}


def test_every_make_target_in_a_document_exists() -> None:
    known = set(re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), re.M))
    named = named_in(r"^(?:\w+=\S+ )?make ([a-z-]+)", code=True) | named_in(r"`make ([a-z-]+)", code=False)
    assert named
    assert {name: page for name, page in named.items() if name not in known} == {}


def test_every_threat_has_an_existing_test() -> None:
    rows = re.findall(r"^\| .+ \| .+ \| `(tests/[\w/]+\.py)(?:::(\w+))?` \|$", text_of(ROOT / "SECURITY.md"), re.M)
    assert len(rows) >= 15
    for path, name in rows:
        assert re.search(rf"def {name or 'test_'}", text_of(ROOT / path)), f"{path}::{name}"
