"""The servers that a command works on when no service has to run."""

from collections.abc import Generator
from contextlib import contextmanager
from getpass import getuser

from services.cli import data_folder
from services.cli.progress import show_work
from services.cli.supervisor import Supervisor
from shared.settings import Settings
from shared.store.operator_acts import Operator


@contextmanager
def reach_servers(config: Settings, *, broker: bool) -> Generator[tuple[str, str | None]]:
    """The addresses of database and broker: as configured, of the running system, else embedded ones started for this
    command. A broker that has never run here is not started, because it has no data.
    """
    reached = data_folder.complete(config)
    bootstrap = reached.kafka_bootstrap
    wanted = broker and bootstrap is None and (config.data / "broker").exists()
    if reached.database_url and not wanted:
        yield reached.database_url.get_secret_value(), bootstrap
        return
    with Supervisor(config, services=()) as machine:
        with show_work("starting the database", quiet=False):
            machine.start()
        yield machine.dsn, bootstrap or (machine.bootstrap if wanted else None)


def find_operator(by: str | None, reason: str | None) -> Operator:
    """Who acts on the database itself, and why; no key says who that is."""
    return Operator(by or getuser(), reason)
