"""Every command, run by another user against a running system, shows nothing and changes nothing."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.core import TyperGroup
from typer.testing import CliRunner

from services.cli import app, upkeep
from services.cli.rebuild import command as rebuild
from tests.system.databases import Databases
from tests.system.known import MEDIA, SESSION, Known, known, strangers
from tests.system.person import Person
from tests.system.running import System, listening, policy_file, running, settings_for

EXPORTED = Path(__file__).parents[2] / "schemas" / "examples" / "ExportDocument.json"
OF_NOBODY = {"up", "status", "serve", "migrate", "demo", "observe", "eval", "schemas", "topics", "backup", "restore"}
"""Commands that name no user: they run the system, or read their input."""
OF_KEYS = {"keys create", "keys list", "keys revoke", "keys rotate"}
"""Commands with direct database access, which test_keys_command.py covers; they show no user data."""
OF_AGENTS = {"mcp"}
"""A server for the user of its key, which test_mcp.py covers."""
MISSING = ("not found", "no package", "no receipts", "no summary", "no such")
"""How commands report that the user has no such object."""


@dataclass(frozen=True)
class Case:
    """The words of a command; `fails` if the object does not exist; `tells` if the owner is shown text of it."""

    words: str
    fails: bool = False
    tells: bool = True
    of_tenant: bool = False

    @property
    def name(self) -> str:
        """The command without its arguments."""
        words = self.words.split()
        return " ".join(words[:2] if words[0] in GROUPS else words[:1])


DECIDED = {"memories merge", "promotions reject", "promotions retry", "dlq drop", "quarantine redrive"}
"""Refused to the owner too: it was decided before, or would change nothing."""
_GROUPS = "memories conflicts sessions settings contexts media promotions knowledge dlq quarantine"
GROUPS = frozenset(_GROUPS.split())
CASES = (
    Case("memories list"),
    Case("memories list --status all --json"),
    Case("memories list tea --json"),
    Case("memories history {memory_id}", fails=True),
    Case("memories history {memory_id} --json", fails=True),
    Case("conflicts list"),
    Case("settings show --json", tells=False),
    Case("settings set learning=false --json", tells=False),
    Case("settings reset all --json", tells=False),
    Case("sessions list", tells=False),
    Case("sessions show {session}", fails=True),
    Case("contexts list --json", tells=False),
    Case("contexts show {context_id}", fails=True),
    Case("contexts show {context_id} --json", fails=True),
    Case("receipts {context_id}", fails=True, tells=False),
    Case("receipts {context_id} --internal --json", fails=True, tells=False),
    Case("receipts {context_id} --replay", fails=True, tells=False),
    Case("media show {media}", fails=True),
    Case("answers", tells=True),
    Case("experience"),
    Case("promotions list"),
    Case("knowledge resources"),
    Case("dlq list --json", tells=False),
    Case("dlq show {letter_id} --raw", fails=True, tells=False),
    Case("dlq redrive {letter_id} --reason again", fails=True, tells=False),
    Case("dlq drop {letter_id} --reason again", fails=True, tells=False),
    Case("quarantine list", tells=False),
    Case("quarantine show {quarantine_id}", fails=True),
    Case("quarantine redrive {quarantine_id} --reason again", fails=True, tells=False),
    Case("quarantine drop {quarantine_id} --reason again", fails=True, tells=False),
    Case("compose tea --explain --session {session}"),
    Case("compose tea --json --session {session}"),
    Case("rebuild --json", tells=False),
    Case("rebuild --verify", tells=False),
    Case("rebuild --apply", tells=False),
    Case("upkeep --now --json", tells=False),
    Case("memories restore {ended_id}", fails=True),
    Case("memories pin {memory_id}", fails=True, tells=False),
    Case("memories unpin {memory_id}", fails=True, tells=False),
    Case("memories merge {memory_id} {ended_id}", fails=True, tells=False),
    Case("export"),
    Case("export --format markdown"),
    Case("import {exported}", tells=False),
    Case("conflicts settle {conflict_id} --keep said", fails=True, tells=False),
    Case("promotions approve {proposal_id} --consent --visibility brand", fails=True),
    Case("promotions reject {proposal_id}", fails=True, tells=False),
    Case("promotions retry {proposal_id}", fails=True, tells=False),
    Case("sessions remember {session}", tells=False),
    Case("sessions archive {session}", fails=True, tells=False),
    Case("knowledge changed", tells=False, of_tenant=True),
    Case("media set {media} --type image --status safe", tells=False),
    Case("remember the_bike_is_blue", tells=False),
    Case("commit I_like_skating --session {session}", tells=False),
    Case("say /memory --session {session}"),
    Case("erase --list --json", tells=False),
    Case("erase --verify {tombstone_id}", fails=True, tells=False),
    Case("feedback {memory_id} not_useful", fails=True, tells=False),
    Case("forget {memory_id}", fails=True, tells=False),
    Case("erase --memory {memory_id} --yes --no-wait", fails=True, tells=False),
)


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, on its own database; no timer changes memories."""
    policy = policy_file(tmp_path_factory.mktemp("policy"), evolution={"every_s": 3600})
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


@pytest.fixture(scope="module")
async def anna(system: System) -> Known:
    """A user with data of every kind."""
    return await known(Person(system))


@pytest.fixture(scope="module")
async def reached(system: System, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[None]:
    """Commands find the running system; its log in this process is not redirected."""
    patch = pytest.MonkeyPatch()
    for module in (upkeep, rebuild):
        patch.setattr(module, "configure_logs", lambda *_: None)
    async with listening(system) as url:
        patch.setenv("SMARTBRAIN_URL", url)
        patch.setenv("SMARTBRAIN_DATABASE_URL", system.dsn)
        patch.setenv("SMARTBRAIN_KAFKA_BOOTSTRAP", system.bootstrap)
        patch.setenv("SMARTBRAIN_DATA", str(tmp_path_factory.mktemp("data")))
        yield
    patch.undo()


def commands(of: Any, path: tuple[str, ...] = ()) -> Generator[tuple[str, Any]]:
    """The words of every command."""
    if isinstance(of, TyperGroup):
        for name in of.list_commands(None):
            yield from commands(of.get_command(None, name), (*path, name))
    else:
        yield " ".join(path), of


async def run(case: Case, who: Person, of: Known) -> tuple[int, str]:
    """The exit code and the whole output, errors included."""
    words = [each.format(**vars(of), session=SESSION, media=MEDIA, exported=EXPORTED) for each in case.words.split()]
    whose = ["--tenant", who.tenant_id, *([] if case.of_tenant else ["--user", who.user_id])]
    done = await asyncio.to_thread(CliRunner().invoke, app, [*words, *whose])
    return done.exit_code, f"{done.output}\n{done.stderr}\n{done.exception}"


def find_leaks(of: Known, case: Case, told: str) -> list[str]:
    """Data of the user in the output that the command's words did not contain."""
    asked = case.words.format(**vars(of), session=SESSION, media=MEDIA, exported=EXPORTED)
    return [*of.shown_in(told), *(each for each in of.ids if each in told and each not in asked)]


def test_every_command_has_a_case() -> None:
    found = dict(commands(typer.main.get_command(app)))
    assert {case.name for case in CASES} | OF_NOBODY | OF_KEYS | OF_AGENTS == set(found)
    for name in OF_NOBODY:
        assert not {"user", "tenant"} & {each.name for each in found[name].params}, name


@pytest.mark.usefixtures("reached")
@pytest.mark.parametrize("name", ["of the same tenant", "of the same name"])
@pytest.mark.parametrize("case", CASES, ids=[case.words for case in CASES])
async def test_another_user_is_shown_and_changes_nothing(anna: Known, case: Case, name: str) -> None:
    before = anna.rows()
    code, told = await run(case, strangers(anna)[name], anna)
    await anna.person.system.settled()
    assert anna.rows() == before
    assert find_leaks(anna, case, told) == []
    assert (code != 0) == case.fails, told
    assert not case.fails or any(each in told for each in MISSING), told


@pytest.mark.usefixtures("reached")
async def test_the_owner_is_shown_the_data(anna: Known) -> None:
    for case in CASES:
        code, told = await run(case, anna.person, anna)
        assert code == 0 or case.name in DECIDED, told
        assert bool(anna.shown_in(told)) or not case.tells, (case, told)
