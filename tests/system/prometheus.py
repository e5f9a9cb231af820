"""A real Prometheus that scrapes a system of this process, with the rules and jobs of deploy/."""

import asyncio
import math
import shutil
import socket
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shared.errors import TransientError
from tests.system.running import System
from tests.system.serving import serving
from tests.system.wait import wait_for

DEPLOYED = Path(__file__).parents[2] / "deploy" / "prometheus"
MISSING = "prometheus is not installed: no query is run (Debian: apt-get install --no-install-recommends prometheus)"
EVERY_S = 1
WINDOW = "5m"
"""The value for `$__rate_interval`, which Grafana derives from the visible time range."""


def find_program(name: str) -> str | None:
    """The path of prometheus or promtool."""
    return shutil.which(name)


@dataclass(frozen=True)
class Prometheus:
    """A running Prometheus."""

    http: httpx.AsyncClient

    async def query(self, expression: str) -> list[float]:
        """The current result of the expression, without values that are not numbers."""
        asked = {"query": expression.replace("$__rate_interval", WINDOW)}
        answer = await self.http.get("/api/v1/query", params=asked)
        assert answer.status_code == 200, f"{expression}\n{answer.text}"
        values = [float(each["value"][1]) for each in answer.json()["data"]["result"]]
        return [value for value in values if not math.isnan(value)]

    async def rules(self) -> list[dict[str, Any]]:
        """Every rule with its state and the error of its last evaluation."""
        groups = (await self.http.get("/api/v1/rules")).json()["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]

    async def scrape(self) -> None:
        """Waits until every job has scraped the current values twice."""
        before = await self._count_scrapes()
        await wait_for(lambda: self._is_past(before + 2), "everything is scraped")

    async def _count_scrapes(self) -> float:
        return min(await self.query(f"count_over_time(up[{WINDOW}])"), default=0.0)

    async def _is_past(self, wanted: float) -> bool:
        return await self._count_scrapes() >= wanted


@asynccontextmanager
async def watching(system: System, folder: Path) -> AsyncGenerator[Prometheus]:
    """Prometheus scrapes the metrics of this process, each job of deploy/ separately."""

    async def show(request: Request) -> Response:
        del request
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    async def measure() -> None:
        while True:
            for each in system.running:
                with suppress(TransientError):  # a busy database is retried
                    await each.service.measure()
            await asyncio.sleep(EVERY_S)

    program = find_program("prometheus")
    assert program, MISSING
    async with serving(Starlette(routes=[Route("/metrics", show)])) as url:
        config = _write_config(folder, url.removeprefix("http://"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        places = [f"--storage.tsdb.path={folder / 'tsdb'}", f"--web.listen-address={address}"]
        with (folder / "log").open("wb") as log:
            child = await asyncio.create_subprocess_exec(
                program, f"--config.file={config}", *places, stdout=log, stderr=log, cwd=folder
            )
        measuring = asyncio.create_task(measure())
        try:
            async with httpx.AsyncClient(base_url=f"http://{address}", timeout=30, trust_env=False) as http:
                prometheus = Prometheus(http)
                await wait_for(lambda: _is_ready(http, child, folder), "prometheus is ready")
                await prometheus.scrape()
                yield prometheus
        finally:
            measuring.cancel()
            await asyncio.gather(measuring, return_exceptions=True)
            child.terminate()
            await child.wait()


def _write_config(folder: Path, address: str) -> Path:
    """The configuration of deploy/ with other targets and another interval."""
    config: dict[str, Any] = yaml.safe_load((DEPLOYED / "prometheus.yml").read_text("utf-8"))
    jobs = [each["job_name"] for each in config["scrape_configs"]]
    often = dict.fromkeys(("scrape_interval", "scrape_timeout", "evaluation_interval"), f"{EVERY_S}s")
    found = [{"job_name": job, "static_configs": [{"targets": [address]}]} for job in jobs]
    rules = [str(DEPLOYED / name) for name in config["rule_files"]]
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump({"global": often, "rule_files": rules, "scrape_configs": found}))
    return path


async def _is_ready(http: httpx.AsyncClient, child: Process, folder: Path) -> bool:
    assert child.returncode is None, (folder / "log").read_text()[-2000:]
    try:
        return (await http.get("/-/ready")).status_code == 200
    except httpx.TransportError:
        return False
