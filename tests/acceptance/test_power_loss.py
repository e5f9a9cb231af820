"""All processes of a machine die at once: every acknowledged turn survives and is derived once."""

import asyncio
import time
from pathlib import Path

from services.cli.supervisor import STOP_S
from tests.system.load import SOON, Load, assert_everything_once
from tests.system.processes import command, found, kill_tree
from tests.system.running import policy_file


async def test_every_acknowledged_turn_is_derived_once_after_a_power_loss(tmp_path: Path) -> None:
    environment = {"SMARTBRAIN_POLICY": str(policy_file(tmp_path, delivery=SOON))}
    data = tmp_path / "data"
    with command(data, environment) as first:
        before = await found(data, first)
        load = Load(before.http)
        await load.reach(60)
        kill_tree(first.pid)
        await load.stop()
        await before.http.aclose()
    with command(data, environment) as second:
        after = await found(data, second)
        await assert_everything_once(after, load)
        more = Load(after.http)
        await more.reach(20)
        second.terminate()
        began = time.monotonic()
        assert await asyncio.to_thread(second.wait, 2 * STOP_S) == 0
        assert time.monotonic() - began < STOP_S
        await more.stop()
        await after.http.aclose()
