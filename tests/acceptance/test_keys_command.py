"""API keys on the command line: created, used, revoked, rotated; tokens of an issuer are accepted besides keys."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from services.cli import app, keys
from services.cli.machine import NO_KEY
from shared.client import SmartBrain
from shared.errors import RefusedError
from tests.system.databases import Databases, rows
from tests.system.issuer import AUDIENCE, URL, Issuer
from tests.system.keys import with_key
from tests.system.person import user
from tests.system.processes import command, found
from tests.system.running import System, listening, policy_file, running, settings_for
from tests.system.wait import wait_for

ROOT = Path(__file__).parents[2]
SAID = [user("I like mate tea.")]


@pytest.fixture
async def system(dsn: str, kafka: str) -> AsyncGenerator[System]:
    """Compose alone, on its own database."""
    async with running(settings_for(dsn, kafka), ("compose",)) as one:
        yield one


@pytest.fixture
async def url(system: System, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncGenerator[str]:
    """Its address, which commands know."""
    monkeypatch.setattr(keys, "configure_logs", lambda *_: None)
    async with listening(system) as address:
        monkeypatch.setenv("SMARTBRAIN_URL", address)
        monkeypatch.setenv("SMARTBRAIN_DATABASE_URL", system.dsn)
        monkeypatch.setenv("SMARTBRAIN_DATA", str(tmp_path))
        yield address


async def run(*words: str, fails: bool = False) -> str:
    """The output of the command."""
    done = await asyncio.to_thread(CliRunner().invoke, app, words)
    assert (done.exit_code != 0) == fails, f"{done.output} {done.stderr} {done.exception!r}"
    return f"{done.stdout}{done.stderr}{done.exception}" if fails else done.stdout


async def make(*words: str) -> dict[str, Any]:
    return json.loads(await run("keys", "create", *words, "--json"))


async def ask(url: str, key: str | None, **query: str) -> tuple[int, str]:
    """The status and the message of a list of memories."""
    headers = with_key(key) if key else {}
    async with httpx.AsyncClient(base_url=url) as http:
        answer = await http.get("/v1/memories", params={"user_id": "lin", **query}, headers=headers)
    return answer.status_code, answer.json().get("message", "")


async def test_a_key_is_made_used_rotated_and_revoked(system: System, url: str) -> None:
    async with SmartBrain(url, api_key="") as anybody:  # no key exists yet
        assert (await anybody.commit(user_id="lin", session_id="s", messages=SAID)).accepted.messages == 1
    shown = (await run("keys", "create", "--name", "app", "--tenant", "acme", "--scope", "read")).strip()
    listed = await run("keys")
    assert shown.split("_")[1] in listed
    assert shown not in listed
    secret = shown.split("_", 2)[2]
    assert not [
        row for row in rows(system.dsn, "SELECT to_jsonb(k)::text AS row FROM api_keys k") if secret in row["row"]
    ]

    assert await wait_for_status(url, shown, 200)
    with pytest.raises(RefusedError, match="authorization: is missing"):
        async with SmartBrain(url) as nobody:
            await nobody.commit(user_id="lin", session_id="s", messages=SAID)
    assert await ask(url, shown, tenant_id="default") == (403, "tenant_id: is not the tenant of the key")
    with pytest.raises(RefusedError, match="scope: this needs write, the key has read"):
        async with SmartBrain(url, api_key=shown) as reader:
            await reader.commit(user_id="lin", session_id="s", messages=SAID)

    rotated = json.loads(await run("keys", "rotate", "app", "--overlap", "5", "--json"))
    assert await wait_for_status(url, rotated["key"], 200)
    assert await ask(url, shown) == (200, "")
    again = (await run("keys", "rotate", rotated["key_id"])).strip()
    assert await wait_for_status(url, shown, 401)
    assert await ask(url, rotated["key"]) == (401, "authorization: the key is not known")
    assert await ask(url, again) == (200, "")

    assert "app" in await run("keys", "revoke", "app")
    assert await wait_for_status(url, again, 401)
    assert await ask(url, again) == (401, "authorization: the key was revoked")
    assert "revoked" in await run("keys", "list", "--tenant", "acme")
    assert await run("keys", "list", "--tenant", "other") == "no keys\n"


async def test_each_change_of_a_key_leaves_an_event_with_who_and_why(system: System, url: str) -> None:
    told = ("--by", "olga", "--reason", "an audit")
    key = await make("--name", "app", "--tenant", "acme", "--scope", "read", *told)
    for what in ("rotate", "revoke", "revoke"):
        await run("keys", what, "app", *told)
    acts = rows(system.dsn, "SELECT kind, about, details FROM audit_events WHERE tenant_id = 'acme' ORDER BY at")
    assert [each["kind"] for each in acts] == ["key.created", "key.rotated", "key.revoked"]
    assert {(each["details"]["requested_by"], each["details"]["reason"]) for each in acts} == {("olga", "an audit")}
    assert all(each["about"].startswith(f"key:{key['key_id']}:") for each in acts)


async def wait_for_status(url: str, key: str | None, status: int) -> bool:
    """Waits until the holder of the key gets this status."""

    async def is_so() -> bool:
        return (await ask(url, key))[0] == status

    return bool(await wait_for(is_so, f"the key is answered {status}"))


@pytest.mark.usefixtures("url")
async def test_commands_and_the_client_use_the_key_of_the_environment(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = (await make("--name", "lin", "--tenant", "acme", "--scope", "read", "--scope", "write", "--user", "lin"))[
        "key"
    ]
    mine = ("--tenant", "acme", "--user", "lin")
    assert "requires a key: set SMARTBRAIN_API_KEY" in await run("memories", "list", *mine, fails=True)
    monkeypatch.setenv("SMARTBRAIN_API_KEY", key)
    assert "nothing is known" in await run("memories", "list", *mine)
    monkeypatch.setenv("SMARTBRAIN_TENANT", "acme")
    assert "nothing is known" in await run("memories", "list", "--user", "lin")
    assert "user_id: is not the user of the key" in await run(
        "memories", "list", "--tenant", "acme", "--user", "eve", fails=True
    )
    async with SmartBrain(url) as brain:
        committed = await brain.commit(user_id="lin", session_id="s", messages=SAID)
        package = await brain.compose(user_id="lin", session_id="s", user_message="What do I like?", timeout_s=30)
        with pytest.raises(RefusedError, match="scope: this needs erase"):
            await brain.erase(user_id="lin", scope="all")
        with pytest.raises(RefusedError, match="user_id: is not the user of the key"):
            await brain.commit(user_id="eve", session_id="s", messages=SAID)
    assert committed.accepted.messages == 1
    assert [message.content for message in package.recent_turns] == ["I like mate tea."]
    async with SmartBrain(url, tenant_id="other") as elsewhere:
        with pytest.raises(RefusedError, match="tenant_id: is not the tenant of the key"):
            await elsewhere.commit(user_id="lin", session_id="s", messages=SAID)


@pytest.mark.usefixtures("url")
async def test_an_invalid_key_is_refused_by_field() -> None:
    create = ("keys", "create", "--name", "a")
    reading = (*create, "--scope", "read")
    assert "--scope" in await run(*create, fails=True)
    named = ("keys", "create", "--scope", "read", "--name")
    assert "65 characters, at most 64" in await run(*named, "x" * 65, fails=True)
    assert "root" in await run(*create, "--scope", "root", fails=True)
    assert "one of --user and --users-from" in await run(*reading, "--user", "lin", "--users-from", "l", fails=True)
    assert "one of --days and --until" in await run(*reading, "--days", "1", "--until", "2099-01-01", fails=True)
    assert "--until: 2020-01-01 is over" in await run(*reading, "--until", "2020-01-01", fails=True)
    made = await make("--name", "a", "--scope", "write", "--scope", "read", "--until", "2099-01-01")
    assert (made["scopes"], made["ends_at"][:10], made["tenant_id"]) == (["read", "write"], "2099-01-01", "default")
    assert "default has a key that is called a" in await run(*reading, fails=True)
    await make("--name", "a", "--scope", "read", "--tenant", "other")
    assert "several keys are called a" in await run("keys", "revoke", "a", fails=True)
    assert "no such key: b" in await run("keys", "rotate", "b", fails=True)
    await run("keys", "revoke", made["key_id"])
    assert "is revoked" in await run("keys", "rotate", made["key_id"], fails=True)
    assert (await make("--name", "a", "--scope", "read"))["key_id"] != made["key_id"]


async def test_tokens_of_an_issuer_are_accepted_besides_keys(databases: Databases, kafka: str, tmp_path: Path) -> None:
    issuer = Issuer(tmp_path / "jwks.json")
    issuer.add_key("first")
    named = {"issuer": URL, "audience": AUDIENCE, "jwks": str(issuer.shown_in), "tenant_claim": "org"}
    policy = policy_file(tmp_path, access={"issuers": {"staff": named}})
    async with running(settings_for(databases.fresh(), kafka, policy=policy), ("compose",)) as one:
        token = issuer.sign(org="acme", scope="read write")
        said = {"user_id": "lin", "session_id": "s", "messages": SAID}
        nobody = await one.http.get("/v1/memories", params={"user_id": "lin"})
        mine = await one.http.post("/v1/turns", json=said, headers=with_key(token))
        hers = await one.http.post("/v1/turns", json={**said, "user_id": "eve"}, headers=with_key(token))
        other = await one.http.post("/v1/turns", json={**said, "tenant_id": "other"}, headers=with_key(token))
        few = await one.http.request("DELETE", "/v1/memories", params={"user_id": "lin"}, headers=with_key(token))
    assert [each.status_code for each in (nobody, mine, hers, other, few)] == [401, 201, 403, 403, 403]
    assert one.rows("SELECT DISTINCT tenant_id, user_id FROM turns") == [{"tenant_id": "acme", "user_id": "lin"}]


async def test_up_needs_no_key_on_this_machine_until_the_first_is_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    monkeypatch.setattr(keys, "configure_logs", lambda *_: None)
    monkeypatch.setenv("SMARTBRAIN_DATA", str(data))
    with command(data, {}) as process:
        url = (machine := await found(data, process)).place.http
        await machine.http.aclose()
        assert NO_KEY in data.with_name("data.out").read_text()
        assert (await ask(url, None)) == (200, "")
        key = (await run("keys", "create", "--name", "app", "--scope", "read")).strip()
        assert await wait_for_status(url, None, 401)
        assert await ask(url, key) == (200, "")
        await run("keys", "revoke", "app")
        assert await wait_for_status(url, key, 401)
        process.terminate()
        assert await asyncio.to_thread(process.wait, 60) == 0
    with command(data, {}) as again:
        await (machine := await found(data, again)).http.aclose()
        assert data.with_name("data.out").read_text().count(NO_KEY) == 1
        assert (await ask(machine.place.http, None))[0] == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104 # refused, not bound
def test_no_service_is_reachable_from_other_machines_without_a_key(
    dsn: str, kafka: str, host: str, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
        "SMARTBRAIN_DATABASE_URL": dsn,
        "SMARTBRAIN_KAFKA_BOOTSTRAP": kafka,
        "SMARTBRAIN_DATA": str(tmp_path),
        "SMARTBRAIN_HTTP_HOST": host,
        "SMARTBRAIN_HTTP_PORT": "0",
    }
    for words in (("up",), ("serve", "compose")):
        done = subprocess.run(
            [sys.executable, "-m", "services.cli", *words], env=environment, capture_output=True, text=True, timeout=120
        )
        (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert done.returncode == 1
        assert line.startswith(f"error: compose would listen without a key on {host}: create a key with")
        assert "`smartbrain keys create`" in line
