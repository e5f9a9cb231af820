"""`smartbrain status`: the addresses of the system on the data folder, and the probes of its services."""

import re
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import orjson
import typer
from rich.text import Text

from services.cli import data_folder
from services.cli.data_folder import Running
from services.cli.output import AsJson, emit, fail, out, to_table
from shared import settings

PROBE_S = 5.0
"""Longer than a probe waits for its own dependencies."""
Json = dict[str, Any]


def status(as_json: AsJson = False) -> None:
    """Show the addresses of SmartBrain and whether each service is ready; exit with 1 if one is not."""
    config = settings.load()
    running = data_folder.find(config.data)
    if running is None:
        if as_json:
            emit({"running": False, "data": str(config.data.absolute())})
        else:
            fail(f"no SmartBrain runs on {config.data.absolute()}; start one with `smartbrain up`")
        raise typer.Exit(1)
    report = _tell(running)
    if as_json:
        emit({"running": True, "data": str(config.data.absolute()), **report})
    else:
        _show(report)
    if not all(each["ready"] for each in report["services"]):
        raise typer.Exit(1)


def _tell(running: Running) -> Json:
    """Addresses, and every service with its probe; services that share a process share its probe, not its answer."""
    urls = sorted({url for url in running.services.values() if url})
    with ThreadPoolExecutor(max_workers=len(urls) or 1) as several:
        answers = dict(zip(urls, several.map(_ask, urls), strict=True))
    shared = {url: sum(each == url for each in running.services.values()) > 1 for url in urls}
    services = [
        _service(name, url, answers.get(url), shared=shared.get(url, False)) for name, url in running.services.items()
    ]
    return {
        "http": running.http,
        "kafka": running.kafka,
        "database": without_password(running.database),
        "pid": running.pid,
        "services": services,
    }


def _ask(url: str) -> Json | None:
    """The body of /ready, with any status; None without an answer."""
    try:
        with urlopen(f"{url}/ready", timeout=PROBE_S) as answer:  # noqa: S310 # our own loopback address
            return orjson.loads(answer.read())
    except HTTPError as error:
        try:
            return orjson.loads(error.read())
        except (OSError, orjson.JSONDecodeError):
            return None
    except (OSError, HTTPException, orjson.JSONDecodeError):
        return None


def _service(name: str, url: str, answer: Json | None, *, shared: bool) -> Json:
    if answer is None:
        return {"name": name, "url": url, "ready": False, "answers": False, "missing": []}
    own = {
        key.removeprefix(f"{name}."): usable
        for key, usable in answer.items()
        if key != "ready" and (not shared or key.startswith(f"{name}."))
    }
    missing = sorted(key for key, usable in own.items() if usable is False)
    return {"name": name, "url": url, "ready": not missing, "answers": True, "missing": missing}


def without_password(dsn: str) -> str:
    """The database's address, fit to be shown."""
    in_words = re.sub(r"(password\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&]+)", r"\1***", dsn)
    return re.sub(r"(://[^:/@]*:)[^@/]*@", r"\1***@", in_words)


def _show(report: Json) -> None:
    for name in ("http", "kafka", "database"):
        out.print(Text(f"{name:<9}", "bold").append(Text(report[name] or "-", "default")))
    rows = ((each["name"], _name_state(each), each["url"] or "-") for each in report["services"])
    out.print(to_table(("service", "state", "address"), rows))


def _name_state(service: Json) -> Text:
    if not service["answers"]:
        return Text("does not answer", "red")
    return Text("ready", "green") if service["ready"] else Text(f"not ready: {', '.join(service['missing'])}", "yellow")
