import json
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from services.cli import app, schemas_cmd
from services.cli.schemas_cmd import documents
from tests.unit.schemas.examples import GENERATED

PATHS = {
    "/v1/turns": {"post"},
    "/v1/turns/{turn_id}/outcome": {"get"},
    "/v1/context": {"post"},
    "/v1/retrieve": {"post"},
    "/v1/memories": {"get", "post"},
    "/v1/memories/{memory_id}": {"get", "delete"},
    "/v1/sessions/{session_id}/summary": {"get", "delete"},
}
"""The paths of the interface of decision 10 that exist."""


def _run(*words: str) -> Result:
    return CliRunner().invoke(app, ["schemas", *words])


@pytest.fixture(scope="module", autouse=True)
def _made_once() -> Generator[None]:
    """The documents generated from the code, which does not change during the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schemas_cmd, "documents", cache(documents))
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert _run("--out", str(tmp_path)).exit_code == 0
    return tmp_path


def test_the_committed_files_pass_the_check() -> None:
    result = _run("--check")
    assert result.exit_code == 0, result.output


def test_all_documents_are_written(folder: Path) -> None:
    written = {p.relative_to(folder).as_posix(): p.read_bytes().decode() for p in folder.rglob("*.json")}
    assert written == documents()
    assert {p.relative_to(GENERATED).as_posix() for p in GENERATED.rglob("*.json")} == set(written)


def test_a_second_run_changes_nothing(folder: Path) -> None:
    assert "up to date" in _run("--out", str(folder)).output


def test_the_check_names_differences_and_writes_nothing(folder: Path) -> None:
    (folder / "asyncapi.json").write_text("{}")
    (folder / "json" / "Gone.schema.json").write_text("{}")
    (folder / "openapi.json").unlink()
    result = _run("--out", str(folder), "--check")
    assert result.exit_code == 1
    for name in ("asyncapi.json", "json/Gone.schema.json", "openapi.json"):
        assert f"differs: {name}" in result.output
    assert (folder / "asyncapi.json").read_text() == "{}"
    assert not (folder / "openapi.json").exists()


def test_a_run_updates_differing_files_and_removes_obsolete_ones(folder: Path) -> None:
    (folder / "asyncapi.json").write_text("{}")
    (folder / "json" / "Gone.schema.json").write_text("{}")
    (folder / "notes.txt").write_text("mine")
    assert _run("--out", str(folder)).exit_code == 0
    assert not (folder / "json" / "Gone.schema.json").exists()
    assert (folder / "notes.txt").exists()
    assert _run("--out", str(folder), "--check").exit_code == 0


def test_json_lists_the_changes(folder: Path) -> None:
    (folder / "openapi.json").unlink()
    result = _run("--out", str(folder), "--check", "--json")
    assert result.exit_code == 1
    said = json.loads(result.stdout)
    assert (said["changed"], said["written"], said["files"]) == (["openapi.json"], False, len(documents()))


def test_openapi_has_every_path_of_the_interface() -> None:
    paths = json.loads(documents()["openapi.json"])["paths"]
    assert {path: methods & set(paths.get(path, {})) for path, methods in PATHS.items()} == PATHS


def test_openapi_describes_bodies_and_the_common_error() -> None:
    openapi = json.loads(documents()["openapi.json"])
    bodies = {"/v1/turns": "TurnEvents", "/v1/context": "ComposeRequest", "/v1/retrieve": "RetrieveRequest"}
    for path, model in bodies.items():
        operation = openapi["paths"][path]["post"]
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        refusal = operation["responses"]["default"]["content"]["application/json"]["schema"]
        assert (body["$ref"].rpartition("/")[2], refusal["$ref"].rpartition("/")[2]) == (model, "ErrorReply")
        assert model in openapi["components"]["schemas"]


def test_openapi_separates_the_references_of_a_turn_from_those_of_evidence() -> None:
    models = json.loads(documents()["openapi.json"])["components"]["schemas"]
    assert "ref_uri" in models["TurnRef"]["properties"]
    assert "document_id" in models["Ref"]["properties"]
