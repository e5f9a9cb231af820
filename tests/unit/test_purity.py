"""Pure code imports only what the lists below allow, reads no clock and no file, and keeps no state between calls.

A new module in a pure package needs no line here. An unused exception fails, so the lists shrink.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
_PURE = (
    "schemas shared.cache shared.classifiers shared.domain shared.errors shared.extraction shared.fronts.origins "
    "shared.knowledge.owners "
    "shared.knowledge.port "
    "shared.language shared.model_calls.budget shared.models.cost shared.models.prompt shared.policy shared.resolution "
    "shared.screening shared.secrets shared.vectors shared.workdays services.evolver.learnt "
    "services.evolver.promotable services.observer.feedback services.observer.ground "
    "services.observer.merge services.observer.summary_edits services.observer.summary"
)
PURE = frozenset(_PURE.split())
"""Pure packages and modules, besides the `rules` and `prompts` of every service."""
HANDLERS = {"services.observer.feedback.received": "the one module of its package that acts"}
_ALLOWED = (
    "base64 binascii bisect collections contextlib dataclasses datetime difflib functools hashlib html itertools json "
    "math re types typing unicodedata urllib uuid zlib numpy orjson pydantic pydantic_core rjieba snowballstemmer"
)
ALLOWED = frozenset(_ALLOWED.split())
IMPORTS = {
    "shared.cache": ("cachetools time", "how long an answer is kept is told by a clock that only runs on"),
    "shared.classifiers": (
        "importlib pathlib os shutil tempfile zipfile shared.files tokenizers",
        "reads weights once",
    ),
    "shared.domain.signatures": ("hmac", "the same in every process, and for the same record the same"),
    "shared.extraction.gates": ("importlib", "the library has no public name for its parser of patterns"),
    "shared.secrets.shapes": ("importlib pkgutil", "the forms of detect-secrets, loaded where one may be needed"),
    "shared.secrets.personal": ("stdnum", "check digits of the numbers of countries"),
    "shared.vectors": ("random", "a fixed seed gives the same numbers for ever"),
    "shared.workdays": ("holidays", "a table of the holidays of countries"),
}
"""Further imports of a package or module, with the reason."""
STATE = {
    "schemas.base": "names of the fields of contracts",
    "shared.classifiers": "weights, read once",
    "shared.extraction.gates": "the letters that open each pattern, worked out from the patterns",
    "shared.extraction.guards": "equal stances are one object, which holds no text",
    "shared.extraction.habits_kinds": "a table turned round",
    "shared.extraction.relatives": "by the hash of a text whether it tells of a relative",
    "shared.extraction.retractions": "by the hash of a text where it takes something back",
    "shared.resolution.roles": "a table turned round",
    "shared.language.replies": "by the hash of a text whether it asserts something",
    "shared.cache": "the mechanism: test_cached_texts.py shows that every text is let go",
    "shared.secrets.shapes": "the forms, loaded once",
    "shared.vectors": "one matrix a dimension",
    "shared.workdays": "the holidays of a country in a year",
}
"""Code that caches values or reads a file, with the reason. Caches of texts (`cache.of_texts`) are
in test_cached_texts.py.
"""
KEEPERS = frozenset(("cache", "lru_cache", "BoundedMemo", "open", "read_text", "read_bytes"))
CLOCKS = frozenset(("now", "utcnow", "today", "uuid1", "uuid4"))
GRAPH = grimp.build_graph("services", "shared", "schemas", include_external_packages=True, cache_dir=None)


def _owner(module: str, names: Iterator[str] | frozenset[str] | dict[str, object]) -> str | None:
    return next((name for name in names if module == name or module.startswith(f"{name}.")), None)


def _is_pure(module: str) -> bool:
    parts = module.split(".")
    in_service = parts[0] == "services" and len(parts) > 2 and parts[2] in ("rules", "prompts")
    return module not in HANDLERS and (in_service or _owner(module, PURE) is not None)


MODULES = sorted(module for module in GRAPH.modules if _is_pure(module))


def _file(module: str) -> Path:
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _imports(module: str) -> set[str]:
    """All imports of the module, including the parent packages, which Python runs first."""
    names = GRAPH.find_modules_directly_imported_by(module)
    ancestors = {name.rsplit(".", n)[0] for name in names for n in range(1, name.count(".") + 1)}
    return names | {name for name in ancestors if _file(name).read_text("utf-8").strip()}


def _used(tree: ast.AST, inside: bool = False) -> Iterator[str]:
    """Names that are called or decorate a function, and `global`; a cache that lives only during a
    call does not count.
    """
    for node in ast.iter_child_nodes(tree):
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        calls = node.decorator_list if function and not inside else [node.func] if isinstance(node, ast.Call) else []
        for each in calls:
            yield each.id if isinstance(each, ast.Name) else each.attr if isinstance(each, ast.Attribute) else ""
        if isinstance(node, ast.Global):
            yield "global"
        yield from _used(node, inside or function)


def test_pure_code_imports_only_what_is_allowed() -> None:
    beyond = {(module, name) for module in MODULES for name in _imports(module) if name not in ALLOWED}
    beyond = {(module, name) for module, name in beyond if not _is_pure(name)}
    excepted = {(owner, name) for owner, (names, _) in IMPORTS.items() for name in names.split()}
    assert {(_owner(module, IMPORTS) or module, name) for module, name in beyond} == excepted


def test_pure_code_keeps_nothing_and_reads_no_clock() -> None:
    used = {module: set(_used(ast.parse(_file(module).read_text("utf-8")))) for module in MODULES}
    assert [module for module in MODULES if used[module] & CLOCKS] == []
    keeping = {module for module in MODULES if used[module] & {*KEEPERS, "global"}}
    assert {_owner(module, STATE) or module for module in keeping} == set(STATE)


def test_only_address_functions_are_used_from_urllib() -> None:
    lines = [
        detail["line_contents"]
        for module in MODULES
        for detail in GRAPH.get_import_details(importer=module, imported="urllib")
    ]
    assert lines
    assert all("parse" in line for line in lines)


def test_every_pure_package_exists() -> None:
    assert [name for name in (*PURE, *HANDLERS) if name not in GRAPH.modules] == []
