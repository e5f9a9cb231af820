"""`smartbrain status` shows all addresses and the probes of the services."""

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from services.cli import data_folder
from services.cli.data_folder import Running
from shared.service import Service, probes, run_together
from tests.integration.cli.called import call
from tests.system.running import System
from tests.system.serving import serving


async def _list_unreachable() -> dict[str, bool]:
    return {"database": False, "smartbrain.turn.committed.v1": True}


async def run_status(data: Path) -> tuple[int, dict[str, Any], str]:
    """The exit code, the JSON output and the text output."""
    programs = await asyncio.to_thread(call, "status", "--json", SMARTBRAIN_DATA=str(data))
    people = await asyncio.to_thread(call, "status", SMARTBRAIN_DATA=str(data))
    assert programs.returncode == people.returncode
    return programs.returncode, json.loads(programs.stdout), people.stdout


def write_addresses(system: System, data: Path, services: dict[str, str]) -> None:
    data_folder.write(data, Running(services["compose"], system.bootstrap, system.dsn, os.getpid(), services))


async def test_running_services_are_shown_with_addresses_and_probes(system: System, tmp_path: Path) -> None:
    both = [system["relay"].service, system["governor"].service]
    async with (
        serving(probes(Starlette(), system["compose"].service, lambda: True)) as compose,
        serving(probes(Starlette(), run_together(both), lambda: True)) as light,
    ):
        write_addresses(system, tmp_path, {"compose": compose, "relay": light, "governor": light})
        code, answer, shown = await run_status(tmp_path)
    assert (code, answer["http"], answer["kafka"]) == (0, compose, system.bootstrap)
    assert {each["name"]: each["ready"] for each in answer["services"]} == {
        "compose": True,
        "relay": True,
        "governor": True,
    }
    assert all(part in shown for part in (compose, light, system.bootstrap, "governor", "ready"))


async def test_an_unready_service_is_named_and_the_command_exits_with_1(system: System, tmp_path: Path) -> None:
    relay = replace(system["relay"].service, ready=_list_unreachable)
    observer = Service("observer", run=relay.run, ready=_list_unreachable)
    async with serving(probes(Starlette(), run_together([relay, system["governor"].service]), lambda: True)) as light:
        services = {"compose": "http://127.0.0.1:9", "relay": light, "governor": light}
        async with serving(probes(Starlette(), observer, lambda: True)) as alone:
            write_addresses(system, tmp_path, {**services, "observer": alone})
            code, answer, shown = await run_status(tmp_path)
    states = {each["name"]: (each["answers"], each["missing"]) for each in answer["services"]}
    assert code == 1
    assert states == {
        "compose": (False, []),
        "relay": (True, ["database"]),
        "governor": (True, []),
        "observer": (True, ["database"]),
    }
    assert "does not answer" in shown
    assert "not ready: database" in shown


@pytest.mark.parametrize(
    ("dsn", "shown"),
    [
        ("postgresql://brain:s3cret@db:5432/x?sslmode=require", "postgresql://brain:***@db:5432/x?sslmode=require"),
        ("postgresql://brain@db/x", "postgresql://brain@db/x"),
        ("host=db user=brain password=s3cret", "host=db user=brain password=***"),
        ("postgresql://db/x?password=s3cret&user=b", "postgresql://db/x?password=***&user=b"),
    ],
)
def test_a_password_is_not_shown(dsn: str, shown: str) -> None:
    from services.cli.status import without_password

    assert without_password(dsn) == shown
