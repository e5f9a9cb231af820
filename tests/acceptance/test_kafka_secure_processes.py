"""`smartbrain up` and the Python client connect to a secured Kafka with settings from the environment."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shared.bus.acls import list_grants
from shared.client import SmartBrain
from shared.settings import name_of
from tests.kafka.secure import Doors
from tests.system.databases import Databases
from tests.system.guarded import give, need_doors
from tests.system.person import UNHURRIED, shown, somebody
from tests.system.processes import command, found
from tests.system.running import rest
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka
ALONE = "smartbrain-alone"


@pytest.fixture(scope="module")
def doors() -> Doors:
    """The secured listeners of this run's broker."""
    return need_doors()


@pytest.fixture
def environment(doors: Doors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Environment variables with one user for all services and its password in a file."""
    given = doors.settings(ALONE)
    (tmp_path / "password").write_text(given.pop("kafka_password"))
    variables = {name_of(field): value for field, value in given.items()}
    variables |= {f"{name_of('kafka_password')}_FILE": str(tmp_path / "password")}
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    return variables


async def test_all_processes_and_the_client_use_sasl_and_tls(
    databases: Databases, kafka: str, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "dsn").write_text(databases.fresh())
    environment |= {f"{name_of('database_url')}_FILE": str(tmp_path / "dsn")}
    give(kafka, list_grants(), f"User:{ALONE}")
    await rest(kafka)
    data, who = tmp_path / "data", {"user_id": somebody(), "session_id": "s1"}
    with command(data, environment) as process:
        machine = await found(data, process)
        async with SmartBrain() as brain:
            said = [{"role": "user", "content": "I prefer green tea."}]
            result = await brain.commit(**who, messages=said, timeout_s=60)
            derived = "SELECT count(*) FROM turns WHERE turn_id = %(turn)s AND outcome_at IS NOT NULL"
            await wait_for(lambda: machine.number(derived, turn=str(result.turn_id)), "the outcome")
            package = await brain.compose(**who, user_message="Which tea do I prefer?", **UNHURRIED)
        assert "green tea" in shown(package)
        await machine.http.aclose()


@pytest.mark.usefixtures("environment")
async def test_a_wrong_password_stops_the_start_with_one_line(doors: Doors, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("wrong")
    asked = [sys.executable, "-m", "services.cli", "up", "--port", "0", "--data", str(tmp_path / "data")]
    ran = await asyncio.to_thread(subprocess.run, asked, capture_output=True, text=True, env={**os.environ})
    assert ran.returncode == 1
    (line,) = [each for each in ran.stderr.splitlines() if each.startswith("error:")]
    assert line.startswith(f"error: {name_of('kafka_password')}: Kafka at {doors.sasl}: user or password refused")
    assert "Traceback" not in ran.stderr + ran.stdout
