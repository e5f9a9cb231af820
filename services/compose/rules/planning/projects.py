"""Repositories, projects and files that a question names: entities to follow, and hints for the executor (R070)."""

# ruff: noqa: E501, SIM905 - one family of cues per line, lists of words

import re

from shared.language.patterns import to_pattern

_NAME = r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)?"
_REPO = to_pattern(
    rf"(?P<a>{_NAME})[\s'’s]*(?:仓库|代码库|\b(?:git )?repo(?:sitory)?\b|\bcodebase\b)|(?:仓库|代码库|\brepo(?:sitory)?)\s*[:：]?\s*(?P<b>{_NAME})(?![\w.-])|\b(?:github|gitlab|gitee)\.com/(?P<c>[\w.-]+/[\w.-]+)",
    re.IGNORECASE,
)
_PROJECT = to_pattern(
    rf"(?P<a>{_NAME})\s*(?:项目|工程|\bproject\b)|(?:\bproject\s+|项目\s*[:：「“]\s*)(?P<b>{_NAME})|[「“《](?P<c>[^「」“”《》\n]{{2,20}})[」”》]\s*(?:项目|工程)|(?:[在把给对从跟和的，,、]|^)(?P<d>[\u4e00-\u9fff]{{2,4}})(?:项目|工程)(?!经理|管理|进度|组)",
    re.IGNORECASE,
)
_FILE = to_pattern(
    r"(?<![\w/@.-])(?P<a>[\w./-]*[\w-]\.(?:py|md|ts|tsx|js|jsx|rb|go|rs|java|kt|c|h|cpp|cs|sql|sh|ya?ml|json|toml|ini|txt|csv|docx?|xlsx?|pptx?|pdf|html?|css|ipynb|proto|lock|env))\b",
    re.IGNORECASE,
)
_NOT_NAMES = frozenset(
    "the this that our my your a an new old same other which what whose any each every in on of for from to git github current"
    " last next first second side open source monorepo whole main pet school it its their his her and or with".split()
)  # fmt: skip
_NOT_HAN = frozenset("这个 那个 哪个 当前 我们 上个 下个 新的 旧的 其他 什么 一个 整个 本期 这些 那些 所有 每个 你们 他们 多个".split())  # fmt: skip
KINDS = (("repo", _REPO), ("project", _PROJECT), ("file", _FILE))


def projects(text: str) -> dict[str, list[str]]:
    """By kind (repo, project, file) what the text names, each once, in its order."""
    found: dict[str, list[str]] = {}
    for kind, pattern in KINDS:
        named = [name for match in pattern.finditer(text[:2000]) for name in match.groupdict().values() if name]
        kept = dict.fromkeys(
            name.rstrip(".-") for name in named if name.lower() not in _NOT_NAMES and name not in _NOT_HAN
        )
        if kept:
            found[kind] = list(kept)
    return found
