"""Finds a running SmartBrain by `run.json` in its data folder."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson
from pydantic import SecretStr

from shared.errors import ConfigurationError
from shared.settings import URL, Settings, load

RUN_FILE = "run.json"


@dataclass(frozen=True)
class Running:
    """The addresses of a running SmartBrain."""

    http: str
    kafka: str
    database: str
    pid: int
    services: dict[str, str]


def write(data: Path, running: Running) -> None:
    """Others can find it from now on."""
    temporary = data / f"{RUN_FILE}.new"
    temporary.write_bytes(orjson.dumps(asdict(running), option=orjson.OPT_INDENT_2))
    temporary.replace(data / RUN_FILE)


def forget(data: Path) -> None:
    """Nothing runs here any more."""
    (data / RUN_FILE).unlink(missing_ok=True)


def find(data: Path) -> Running | None:
    """What runs on this data folder, if it does."""
    try:
        running = Running(**orjson.loads((data / RUN_FILE).read_bytes()))
        os.kill(running.pid, 0)
    except (OSError, ValueError, TypeError):
        return None
    return running


def url(settings: Settings | None = None) -> str:
    """The base URL of compose: SMARTBRAIN_URL, or that of the system on the data folder; ConfigurationError if neither
    exists."""
    given = os.environ.get(URL)
    if given:
        return given.rstrip("/")
    settings = settings or load()
    running = find(settings.data)
    if running is None:
        raise ConfigurationError(
            f"no SmartBrain runs on {settings.data.absolute()}; start one with `smartbrain up`, or set SMARTBRAIN_URL"
        )
    return running.http


def complete(settings: Settings) -> Settings:
    """The settings, completed by the addresses of the system on the data folder, if one runs there."""
    running = find(settings.data)
    if running is None:
        return settings
    database = settings.database_url or SecretStr(running.database)
    kafka = settings.kafka_bootstrap or running.kafka
    return settings.model_copy(update={"database_url": database, "kafka_bootstrap": kafka})


def database(settings: Settings) -> str:
    """The DSN of the settings, or of the system on the data folder; ConfigurationError if neither exists."""
    if url := complete(settings).database_url:
        return url.get_secret_value()
    raise ConfigurationError(f"SMARTBRAIN_DATABASE_URL is not set and no SmartBrain runs on {settings.data.absolute()}")
