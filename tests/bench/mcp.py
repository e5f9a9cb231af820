"""The overhead of MCP: `recall` over both transports compared with `/v1/retrieve`, and the time to list the tools."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from statistics import median

import httpx
from mcp import Client

from services.cli.data_folder import Running
from shared.settings import ALL
from tests.bench import kit
from tests.bench.kit import Options, Report, Row
from tests.system.agents import Agent

CALLS, STARTS = 400, 9
ADDED_MS, LISTED_S = 5.0, 1.0
USER, QUESTION = "lin", "What is my cat called?"
PLAN = {"version": "0.1", "user_id": USER, "purpose": "qa", "queries": [{"text": QUESTION}]}


def run(options: Options) -> Report:
    """Milliseconds at p50, and seconds to the list of tools."""
    report = Report("mcp")
    with kit.machine(ALL) as machine:
        asyncio.run(_measure(machine.describe(), options, report))
    return report


async def _measure(place: Running, options: Options, report: Report) -> None:
    agent = Agent(place.http, place.services["mcp"], None, USER)
    async with httpx.AsyncClient(base_url=place.http, trust_env=False) as http:
        await http.post("/v1/memories", json={"user_id": USER, "text": "My cat is called Tom"})
        await asyncio.sleep(2)

        async def retrieve() -> object:
            return (await http.post("/v1/retrieve", json=PLAN)).raise_for_status()

        for transport in ("http", "stdio"):
            async with agent.connect(transport) as client:
                await _compare(f"recall over {transport}, p50", client, retrieve, options.some(CALLS), report)
    starts = [await _time_start(agent) for _ in range(STARTS)]
    report.rows.append(Row("tools listed after the start, over stdio, median", median(starts), "s", None, LISTED_S))


async def _compare(
    what: str, client: Client, retrieve: Callable[[], Awaitable[object]], calls: int, report: Report
) -> None:
    """Both alternate, so that other load on the machine affects both."""
    ours: list[float] = []
    bare: list[float] = []
    for n in range(calls + 20):
        took_bare = await _time(retrieve)
        took_ours = await _time(lambda: client.call_tool("recall", {"question": QUESTION}))
        if n >= 20:
            bare.append(took_bare)
            ours.append(took_ours)
    report.rows.append(Row(what, median(ours), "ms", median(bare)))
    report.rows.append(Row("  of which added", median(ours) - median(bare), "ms", None, ADDED_MS))


async def _time(call: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await call()
    return 1000 * (time.perf_counter() - began)


async def _time_start(agent: Agent) -> float:
    began = time.perf_counter()
    async with agent.connect("stdio") as client:
        await client.list_tools()
        return time.perf_counter() - began
