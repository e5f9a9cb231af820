"""pg_dump and pg_restore: of the embedded PostgreSQL or from PATH, never older than the server."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from shared.embedded.account import Account, private_folder, server_account
from shared.embedded.postgres_files import WHEEL, EmbeddedPostgresError, environment, installation
from shared.embedded.process import spawn
from shared.errors import ConfigurationError, SmartBrainError
from shared.language.patterns import to_pattern

NEEDED = ("pg_dump", "pg_restore")
LAST = 20
"""The number of a failed program's last lines in the error."""
_VERSION = to_pattern(r"\(PostgreSQL\) (\d+)")


class ProgramError(SmartBrainError):
    """A PostgreSQL program failed; the message ends with its own output."""


@dataclass(frozen=True)
class Programs:
    """A folder with PostgreSQL's programs, their major version, and their environment."""

    folder: Path
    version: int
    environment: dict[str, str]

    def answer(self, name: str, *arguments: str | Path) -> str:
        """The output of a short run of the program; ProgramError if it fails."""
        done = subprocess.run(  # noqa: S603 # the command is ours
            [self.folder / name, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=self.environment,
        )
        if done.returncode:
            raise ProgramError(f"{name}: {_end(done.stderr.decode(errors='replace').splitlines())}")
        return done.stdout.decode(errors="replace")

    async def run(
        self, name: str, arguments: Sequence[str | Path], secret: dict[str, str], hear: Callable[[str], None]
    ) -> None:
        """Runs the program, passes each line to `hear`, and ends it with this process; ProgramError if it fails."""
        tail: deque[str] = deque(maxlen=LAST)
        reading, writing = os.pipe()
        with os.fdopen(writing, "wb") as log:
            child = spawn(
                [self.folder / name, *arguments],
                death_signal=signal.SIGKILL,
                env={**self.environment, **secret},
                log=log,
            )

        def listen() -> int:
            with os.fdopen(reading, errors="replace") as lines:
                for line in lines:
                    tail.append(line.rstrip())
                    hear(tail[-1])
            return child.wait()

        try:
            code = await asyncio.to_thread(listen)
        finally:
            if child.poll() is None:
                child.kill()
        if code:
            raise ProgramError(f"{name}: {_end(tail)}")


def _end(lines: Iterable[str]) -> str:
    """The errors in the program's output, or else its last lines."""
    told = [line for line in lines if line.strip()]
    errors = [line for line in told if "error:" in line or "ERROR:" in line or "DETAIL:" in line]
    return " | ".join((errors or told)[-3:]) or "no word"


def find(cache: Path, server: int) -> Programs:
    """Programs compatible with a server of this major version; ConfigurationError without any."""
    tried: list[str] = []
    for programs in find_programs(cache):
        if programs.version >= server:
            return programs
        tried.append(f"{programs.folder} has PostgreSQL {programs.version}")
    raise ConfigurationError(
        f"the server is PostgreSQL {server}, and pg_dump and pg_restore must not be older: put those of PostgreSQL"
        f" {server} on the PATH ({'; '.join(tried) or 'none were found'})"
    )


def find_programs(cache: Path) -> Iterable[Programs]:
    """The unpacked embedded ones, those from PATH, and the embedded ones unpacked now."""
    account = server_account(cache)
    folders = [cache, Path("/var/cache/smartbrain")] if account.drop else [cache]
    name = f"postgresql-{version(WHEEL)}"
    there = next((each / name for each in folders if (each / name / "bin" / "pg_dump").exists()), None)
    if there:
        yield from list_embedded(there)
    if all(shutil.which(each) for each in NEEDED):
        folder = Path(str(shutil.which(NEEDED[0]))).parent
        yield from _of(folder, {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"})
    if there is None:
        try:
            yield from list_embedded(unpack_programs(cache, account))
        except EmbeddedPostgresError:
            return


def unpack_programs(cache: Path, account: Account) -> Path:
    try:
        return installation(cache, account)
    except OSError:  # an account without a home folder, as in a container
        return installation(private_folder("cache", account, 0o755), account)


def list_embedded(installed: Path) -> Iterable[Programs]:
    yield from _of(installed / "bin", environment(installed, Path("/")))


def _of(folder: Path, env: dict[str, str]) -> Iterable[Programs]:
    told = Programs(folder, 0, env).answer("pg_dump", "--version")
    if known := _VERSION.search(told):
        yield Programs(folder, int(known[1]), env)
