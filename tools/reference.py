"""Generates docs/reference and the monitoring of deploy/ from the code: `make docs`; --check fails if a file differs.

Each file or table has one source: the command line, the OpenAPI document, the settings, the policy, the topics, the
types of memory, the metrics with their alerts and panels. The text about a key is beside it in the code.
"""

import argparse
import inspect
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from services.cli import app as command_line
from services.cli.schemas_cmd import documents
from shared.policy import Policy
from shared.settings import SECRETS, Settings, name_of
from tools.catalogues import build_parts, topics_page
from tools.markdown import MADE, table
from tools.monitoring import metrics_page, render_dashboards, render_rules, render_runbook

ROOT = Path(__file__).parents[1]
READ_ON = {
    "confidence": "[how memories change](../discussions/change.md)",
    "observer": "[what is kept](../discussions/learning.md)",
    "analysis": "[how a statement becomes memory](../discussions/design.md#how-a-statement-becomes-memory)",
    "compose": "[packages and their tokens](../discussions/packages.md)",
    "compose.diversity": "[packages](../discussions/packages.md)",
    "compose.ranking": "[packages](../discussions/packages.md)",
    "compose.budget": "[packages and their tokens](../discussions/packages.md#tokens)",
    "knowledge": "[SmartRAG](../howto/knowledge.md)",
    "feedback": "[feedback](../discussions/change.md#feedback)",
    "evolution": "[upkeep](../discussions/change.md#upkeep)",
    "evolution.calibration": "[upkeep](../discussions/change.md#upkeep)",
    "evolution.promotion": "[promotion](../discussions/change.md#promotion)",
    "evolution.experience": "[agents](../discussions/change.md#what-agents-learn-about-themselves)",
    "erasure": "[erase](../howto/erase.md)",
    "access": "[keys](../howto/keys.md)",
    "limits": "[limits over HTTP](../operations.md#limits-over-http)",
    "settings": "[settings](../howto/settings.md)",
    "session": "[sessions](../discussions/learning.md#sessions)",
    "delivery": "[delivery](../decisions.md#delivery)",
    "gate": "[the labelled sets](../../tests/eval/README.md)",
}
"""The page that explains a part of the policy in detail."""
PAGES = ("commands", "metrics", "policy", "routes", "settings", "topics")


def main() -> int:
    """Writes the files, or compares them; 1 if one differs from the code."""
    parser = argparse.ArgumentParser(prog="python -m tools.reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file differs")
    check: bool = parser.parse_args().check
    wanted = build_files()
    changed = [name for name, content in wanted.items() if read_file(ROOT / name) != content]
    for name in changed:
        if not check:
            (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / name).write_text(wanted[name], encoding="utf-8")
        sys.stdout.write(f"{'differs' if check else 'written'}: {name}\n")
    if check and changed:
        sys.stderr.write("these files differ from the code; run: make docs\n")
        return 1
    if not changed:
        sys.stdout.write(f"{len(wanted)} files that are generated from the code are up to date\n")
    return 0


def read_file(path: Path) -> str | None:
    """The text of a file, if it exists."""
    return path.read_text(encoding="utf-8") if path.exists() else None


def build_files() -> dict[str, str]:
    """Every generated file, by its path in the repository."""
    pages = {f"docs/reference/{name}.md": page for name, page in build_pages().items()}
    return (
        pages
        | build_parts()
        | {
            "deploy/prometheus/alerts.yml": render_rules(),
            "deploy/runbook.md": render_runbook(),
        }
        | {f"deploy/grafana/dashboards/{name}.json": board for name, board in render_dashboards().items()}
    )


def build_pages() -> dict[str, str]:
    """Every page by its name."""
    makers = {
        "commands": commands_page,
        "metrics": metrics_page,
        "policy": policy_page,
        "routes": routes_page,
        "settings": settings_page,
        "topics": topics_page,
    }
    return {name: "\n".join([MADE, "", *makers[name]()]).rstrip() + "\n" for name in PAGES}


# Commands


def commands_page() -> Iterator[str]:
    """Every command with its arguments and options, as in its `--help`."""
    yield from ["# Commands", ""]
    yield "Run `smartbrain` in the folder in which `smartbrain up` runs, or set `SMARTBRAIN_DATA` or `SMARTBRAIN_URL`."
    yield from ["Exit codes: 0 success; 1 the command failed, or a check found a difference; 2 wrong usage.", ""]
    group = typer.main.get_command(command_line)
    context = typer.Context(group, info_name="smartbrain")
    yield from describe_group(group, context)


def describe_group(group: Any, context: Any) -> Iterator[str]:
    """Each command of a group, and of its subgroups."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = typer.Context(command, info_name=name, parent=context)
        yield from [f"## `{inner.command_path}`", "", inspect.cleandoc(command.help or ""), ""]
        if hasattr(command, "list_commands"):
            if command.invoke_without_command:
                yield from describe_parameters(command, inner)
            yield from describe_group(command, inner)
        else:
            yield from describe_parameters(command, inner)


def describe_parameters(command: Any, context: Any) -> Iterator[str]:
    """The usage line, and the meaning of each argument and option."""
    yield from ["```", command.get_usage(context).removeprefix("Usage:").strip(), "```", ""]
    rows = [row for each in command.params if each.name != "help" and (row := parameter_row(each))]
    if rows:
        yield from table(("parameter", "meaning", "default"), rows)


def parameter_row(parameter: Any) -> tuple[str, str, str] | None:
    """The name of a parameter, its help and its default; None if it is hidden."""
    if getattr(parameter, "hidden", False):
        return None
    names = [*parameter.opts, *parameter.secondary_opts]
    shown = (
        ", ".join(f"`{name}`" for name in names) if parameter.param_type_name == "option" else parameter.name.upper()
    )
    kind = getattr(parameter, "type_descriptor", None) or getattr(
        parameter, "type", None
    )  # depends on the version of typer
    choices = getattr(kind, "choices", None)
    told = (parameter.help or "") + (f" One of: {', '.join(map(str, choices))}." if choices else "")
    default = parameter.default
    plain = default is None or default is False or callable(default) or default == () or isinstance(default, Path)
    return shown, told, "required" if parameter.required else "" if plain else f"`{default}`"


# Settings and policy


def settings_page() -> Iterator[str]:
    """The environment: each variable with its default."""
    yield from ["# Settings", "", "Settings are environment variables that say where things are."]
    yield from ["The [policy](policy.md) says how the system behaves.", ""]
    rows = [(f"`{name_of(name)}`", shown_default(each), shown_text(each)) for name, each in fields(Settings)]
    files = ", ".join(f"`{name_of(name)}_FILE`" for name in SECRETS)
    yield from table(("variable", "default", "meaning"), rows)
    yield from [
        "An empty value counts as unset. An invalid value stops the start with the name of the variable. A secret",
        f"may be in a file instead, named by a variable with the suffix `_FILE`: {files}.",
        "",
    ]
    yield from ["Tools also read:", ""]
    more = [
        ("`SMARTBRAIN_URL`", "HTTP address of compose for commands that call it"),
        ("`SMARTBRAIN_API_KEY`", "Key that the commands and the Python client send to compose"),
        ("`SMARTBRAIN_TENANT`", "Tenant of commands without `--tenant`; absent: `default`, for `mcp` that of the key"),
        ("`SMARTBRAIN_TRACEBACK`", "1: commands show errors with a traceback"),
        ("`SMARTBRAIN_KAFKA_CACHE`", "Folder for the jars of Apache Kafka, for `make test-kafka`"),
    ]
    yield from table(("variable", "meaning"), more)


def policy_page() -> Iterator[str]:
    """The policy: every key with its default and bounds, section by section."""
    yield from ["# Policy", ""]
    yield "One file, `brain.yml` (`SMARTBRAIN_POLICY`), defines how the system behaves. It is read at the start."
    yield "[deploy/brain.yml](../../deploy/brain.yml) has every key with its default. A missing key keeps its default;"
    yield "an unknown key stops the start with its name. The hash of the values is the `policy_version` of every turn"
    yield from ["and event.", "", "```yaml", "observer: {summarize_after_turns: 8}"]
    yield from ["compose: {evidence_max: 20, planner: model}", "```", ""]
    for name, each in fields(Policy):
        if not each.exclude:  # an older name of something else
            yield from policy_section(name, each.annotation)


def policy_section(path: str, model: Any) -> Iterator[str]:
    """One part of the policy: its purpose, its keys, and its subparts."""
    yield from [f"## `{path}`", "", inspect.cleandoc(model.__doc__ or ""), ""]
    if path in READ_ON:
        yield from [f"Read on: {READ_ON[path]}.", ""]
    yield from table(("key", "default", "may be", "meaning"), [policy_row(name, each) for name, each in fields(model)])
    for name, each in fields(model):
        inner = each.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel) and not is_row(inner):
            yield from policy_section(f"{path}.{name}", inner)
        elif record := record_of(inner):
            yield from record_section(f"{path}.{name}", record, each.get_default(call_default_factory=True))


def policy_row(name: str, each: FieldInfo) -> tuple[str, str, str, str]:
    """One key of the policy."""
    return f"`{name}`", shown_default(each), shown_bounds(each), shown_text(each)


def record_section(path: str, record: type[BaseModel], rows: Mapping[str, BaseModel]) -> Iterator[str]:
    """A part of the policy that contains records of one kind by name."""
    yield from [f"## `{path}.<name>`", "", inspect.cleandoc(record.__doc__ or ""), ""]
    told = [policy_row(name, each) for name, each in fields(record) if each.description]
    if told:
        yield from table(("key", "default", "may be", "meaning"), told)
    if not rows:
        return
    names = [name for name, _ in fields(record)]
    yield from table(
        ("", *names), [(f"`{at}`", *(shown_value(getattr(row, n)) for n in names)) for at, row in rows.items()]
    )


def record_of(annotation: Any) -> type[BaseModel] | None:
    """The model of the values of a mapping, if they have one."""
    values = get_args(annotation)[1:] if get_origin(annotation) is dict else ()
    return next((each for each in values if isinstance(each, type) and issubclass(each, BaseModel)), None)


def is_row(model: type[BaseModel]) -> bool:
    """Whether a part is shown as one value: its fields have no descriptions, or all of them are required."""
    return all(each.description is None or each.is_required() for _, each in fields(model))


def fields(model: type[BaseModel]) -> Iterable[tuple[str, FieldInfo]]:
    """The fields of a model, in order."""
    return model.model_fields.items()


def shown_text(each: FieldInfo) -> str:
    """The meaning of a field."""
    return each.description or ""


def shown_default(each: FieldInfo) -> str:
    """The default of a field, shortened."""
    value = each.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "required"
    nested = isinstance(value, BaseModel) and not is_row(type(value))
    return "below" if nested or isinstance(value, dict) else shown_value(value)


def shown_value(value: Any) -> str:
    """A value as in brain.yml."""
    if value is None or value == ():
        return "none"
    if isinstance(value, BaseModel):
        return ", ".join(f"`{name}` {shown_value(inner)}" for name, inner in value)
    if isinstance(value, tuple | list):
        return ", ".join(map(shown_value, cast("Sequence[Any]", value)))
    return f"`{json.dumps(value) if isinstance(value, bool | float | int) else value}`" if value != "" else "none"


def shown_bounds(each: FieldInfo) -> str:
    """The choices or bounds of a field."""
    inner = [arg for arg in get_args(each.annotation) if arg is not type(None)]
    kinds = inner if get_origin(each.annotation) in (Union, UnionType) else [each.annotation]
    for kind in kinds:
        if get_origin(kind) is Literal:
            return ", ".join(f"`{choice}`" for choice in get_args(kind))
    if each.annotation is bool:
        return "`true`, `false`"
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    bounds = [
        (sign, getattr(rule, name)) for rule in each.metadata for name, sign in signs.items() if hasattr(rule, name)
    ]
    return ", ".join(f"{sign} {bound:g}" if isinstance(bound, float) else f"{sign} {bound}" for sign, bound in bounds)


# Routes


def routes_page() -> Iterator[str]:
    """Every route of compose, by resource."""
    document: dict[str, Any] = json.loads(documents()["openapi.json"])
    yield from ["# Routes", ""]
    yield "What compose serves; `/docs` and `/openapi.json` of a running one have all fields, and"
    yield "[openapi.json](../../schemas/generated/openapi.json) the same. Every refusal is an ErrorReply:"
    yield "`{code, message, details, request_id, degraded_reason}`; `message` names the first field at fault, `details`"
    yield from [
        "all of them. Unknown fields of a body are ignored and named; unknown query parameters are refused. A"
        " [key](../howto/keys.md) needs the scope that is named.",
        "",
    ]
    by_tag: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            by_tag.setdefault(operation["tags"][0], []).append((method.upper(), path, operation))
    for tag, operations in by_tag.items():
        yield from [f"## {tag}", ""]
        heads = ("route", "does", "scope", "parameters", "body", "answers")
        yield from table(heads, [route_row(*each) for each in operations])


def route_row(method: str, path: str, operation: Mapping[str, Any]) -> tuple[str, str, str, str, str, str]:
    """One route."""
    given = [each for each in operation.get("parameters", ()) if each["in"] != "path"]
    names = ", ".join(f"`{each['name']}`" + ("" if each.get("required") else "?") for each in given)
    answers = [(code, model_name(each)) for code, each in operation["responses"].items() if code != "default"]
    answered = ", ".join(f"{code} {name}".strip() for code, name in answers)
    stated = [scope for each in operation.get("security", ()) for scopes in each.values() for scope in scopes]
    needed = ", ".join(f"`{scope}`" for scope in stated)
    body = model_name(operation.get("requestBody", {}))
    return f"`{method} {path}`", operation["summary"], needed, names, body, answered


def model_name(part: Mapping[str, Any]) -> str:
    """The contract of a request or response body."""
    schema = part.get("content", {}).get("application/json", {}).get("schema", {})
    if "items" in schema:
        return f"list of {schema['items'].get('$ref', 'values').rpartition('/')[2]}"
    return schema.get("$ref", "").rpartition("/")[2]


if __name__ == "__main__":
    raise SystemExit(main())
