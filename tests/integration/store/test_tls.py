"""PostgreSQL over TLS: with `sslmode=verify-full` in the DSN no other server is accepted."""

import os
import shutil
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from shared.embedded.postgres import EmbeddedPostgres
from shared.errors import TransientError
from shared.files import CACHE
from shared.runtime import open_runtime
from shared.store.schema import migrate
from tests.kafka.apache_kafka import free_ports
from tests.kafka.secure import make_authority, make_certificate
from tests.system.databases import rows
from tests.system.running import settings_for


@dataclass(frozen=True)
class Guarded:
    """A server with TLS."""

    local: str
    tcp: str
    ca: Path
    other_ca: Path

    def dsn(self, ca: Path | None = None, host: str = "localhost") -> str:
        """A DSN over TCP that trusts only this authority."""
        where = {"host": host, "hostaddr": "127.0.0.1", "sslmode": "verify-full", "sslrootcert": str(ca or self.ca)}
        return make_conninfo(self.tcp, **where)


class Listening(EmbeddedPostgres):
    """An embedded PostgreSQL that can be reached over TCP, with a password."""

    listens_on = "127.0.0.1"

    def __init__(self, data: Path, port: int) -> None:
        super().__init__(data, CACHE / "postgres", durable=False)
        self.port = port


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Generator[Guarded]:
    """An embedded PostgreSQL with a certificate of a temporary authority."""
    ours, others = tmp_path_factory.mktemp("ours"), tmp_path_factory.mktemp("others")
    make_authority(ours)
    make_certificate(ours, "server")
    make_authority(others)
    folder = tmp_path_factory.mktemp("pg") / "data"
    with Listening(folder, free_ports(1)[0]) as server:
        owner = folder.stat()
        for name in ("server.crt", "server.key"):
            shutil.copy(ours / name, folder / name)
            os.chown(folder / name, owner.st_uid, owner.st_gid)
            (folder / name).chmod(0o600)
        with psycopg.connect(server.dsn, autocommit=True) as conn:
            rules = folder / "pg_hba.conf"
            rules.write_text(rules.read_text().replace("reject", "scram-sha-256"))
            conn.execute("ALTER ROLE postgres PASSWORD 'of-this-test'")
            conn.execute("ALTER SYSTEM SET ssl = on")
            conn.execute("SELECT pg_reload_conf()")
        tcp = make_conninfo(server.dsn, host="127.0.0.1", password="of-this-test")
        yield Guarded(server.dsn, tcp, ours / "ca.crt", others / "ca.crt")


async def test_migrations_and_services_connect_over_tls_only(guarded: Guarded) -> None:
    dsn = guarded.dsn()
    await migrate(dsn)
    async with open_runtime(settings_for(dsn, "127.0.0.1:1"), "compose", models=False) as rt:
        assert await rt.db.ping()
        by_tcp = "FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_addr IS NOT NULL"
        (seen,) = rows(guarded.local, f"SELECT count(*) AS all, count(*) FILTER (WHERE ssl) AS safe {by_tcp}")
    assert seen["all"] == seen["safe"] > 0


@pytest.mark.parametrize("wrong", ["authority", "name"])
async def test_a_server_without_a_valid_certificate_is_refused(guarded: Guarded, wrong: str) -> None:
    dsn = guarded.dsn(ca=guarded.other_ca) if wrong == "authority" else guarded.dsn(host="database.example")
    said = "certificate verify failed" if wrong == "authority" else "does not match host name"
    with pytest.raises((psycopg.OperationalError, TransientError), match=said):
        await migrate(dsn)
