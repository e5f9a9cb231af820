"""`smartbrain rebuild` beside a running system: the log alone gives what is known, while everything else goes on."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from shared.settings import Settings
from tests.long import often
from tests.system.databases import rows
from tests.system.load import Load
from tests.system.processes import Machine, supervised
from tests.system.wait import wait_for

SCRATCH = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'smart\\_brain\\_rebuild\\_%%'"
SAID = (
    ("s1", "我喜欢喝龙井茶，我住在杭州。"),
    ("s1", "I like jazz, and I work at Initech."),
    ("s2", "不是龙井，我现在喜欢喝碧螺春。"),
    ("s2", "I no longer like jazz."),
    ("s2", "我搬到苏州了，不住杭州了。"),
    ("s1", "I left Initech, I work at Globex now."),
    ("s1", "请记住：停车位是 B2-117。"),
    ("s2", "Remember that the spare key is with Marta."),
)


@pytest.fixture(scope="module")
async def machine(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[tuple[Path, Machine]]:
    """A system of processes and its data folder."""
    data = tmp_path_factory.mktemp("rebuild") / "data"
    settings = Settings(data=data, http_port=0, kafka_bootstrap=os.environ.get("SMARTBRAIN_KAFKA_BOOTSTRAP"))
    async with supervised(settings) as (_, running):
        yield data, running


async def begun(data: Path, *options: str) -> Process:
    """The command as a person starts it."""
    asked = (sys.executable, "-m", "services.cli", "rebuild", "-u", "lin", *options)
    environment = {**os.environ, "SMARTBRAIN_DATA": str(data)}
    # a shell's background jobs ignore Ctrl-C, and so would this child of one
    return await asyncio.create_subprocess_exec(
        *asked,
        env=environment,
        stdout=PIPE,
        stderr=PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # nothing else runs here
    )


async def rebuilt(data: Path, *options: str) -> tuple[int | None, str]:
    """How the command ended, and what it said."""
    process = await begun(data, *options)
    out, err = await process.communicate()
    return process.returncode, out.decode() + err.decode()


async def said(running: Machine, times: int = 1) -> None:
    """Lin has said all of it, and it is settled."""
    for n in range(times):
        for session, text in SAID:
            body: dict[str, Any] = {"user_id": "lin", "session_id": f"{session}-{n}"}
            answer = await running.http.post(
                "/v1/turns", json={**body, "messages": [{"role": "user", "content": text}]}
            )
            assert answer.status_code == 201, answer.text
    await running.settled()


async def test_the_log_alone_gives_what_is_known_while_others_go_on(machine: tuple[Path, Machine]) -> None:
    data, running = machine
    await said(running)
    load = Load(running, users=2)
    await load.reach(20)
    code, told = await rebuilt(data, "--verify", "--json")
    assert code == 0, told
    report = json.loads(told)
    assert (report["turns"], report["differences"], report["open_turns"]) == (len(SAID), [], 0)
    versions = "SELECT count(*) FROM memory_items WHERE user_id = 'lin'"
    assert report["memories"] == running.number(versions) > len(SAID)
    await load.reach(20)
    await load.stop()
    await running.settled()
    code, told = await rebuilt(data)
    assert (code, "no difference" in told) == (0, True), told


async def test_a_difference_is_shown_and_mended(machine: tuple[Path, Machine]) -> None:
    data, running = machine
    await said(running)
    changed = (
        "UPDATE memory_items SET content_text = '喜欢喝酒' WHERE user_id = 'lin' AND content_text LIKE '%%碧螺春%%'"
    )
    rows(running.dsn, f"{changed} AND status = 'active'")
    code, told = await rebuilt(data, "--verify")
    assert code == 1
    assert "content_text" in told
    assert "喜欢喝酒" in told
    code, told = await rebuilt(data, "--apply")
    assert (code, "as derived now" in told) == (0, True), told
    code, told = await rebuilt(data, "--verify")
    assert (code, "no difference" in told) == (0, True), told


async def test_ctrl_c_leaves_nothing_behind(machine: tuple[Path, Machine]) -> None:
    data, running = machine
    await said(running, often(12, short=6))
    process = await begun(data)
    await wait_for(lambda: running.number(SCRATCH), "the scratch schema stands")
    process.send_signal(signal.SIGINT)
    assert await asyncio.wait_for(process.wait(), 60) != 0
    assert running.number(SCRATCH) == 0
    killed = await begun(data)
    await wait_for(lambda: running.number(SCRATCH), "the scratch schema stands")
    killed.kill()
    await killed.wait()
    assert running.number(SCRATCH) == 1
    code, told = await rebuilt(data, "--verify")
    assert code == 0, told
    assert running.number(SCRATCH) == 0
