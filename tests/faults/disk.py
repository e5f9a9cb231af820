"""A small disk that can be filled: a tmpfs in a mount namespace, which ends with the process."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

DISK_MB = 640
_MINE = "FAULTS_OWN_MOUNTS"


def enter_own_mounts() -> None:
    """Moves this process to its own mount namespace, if the system allows it; root is not required."""
    if os.environ.get(_MINE):
        return
    tool = shutil.which("unshare")
    how = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    if not tool or subprocess.run([tool, *how, "--mount", "true"], capture_output=True, check=False).returncode:
        return
    os.environ[_MINE] = "yes"
    os.execv(tool, [tool, *how, "--mount", sys.executable, "-m", "tests.faults", *sys.argv[1:]])  # noqa: S606


def mount(folder: Path) -> str:
    """The reason why the folder has no disk of its own; empty if it has one now."""
    folder.mkdir(parents=True)
    if not os.environ.get(_MINE):
        return "no mount of its own is allowed here (`unshare --mount` as this user)"
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=0755", "faults", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def fill(folder: Path) -> Path:
    """A file that fills the disk."""
    filler = folder / "filler"
    block = bytes(os.statvfs(folder).f_bsize)
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(block)
    return filler


def unmount(folder: Path) -> None:
    """Unmounts the disk."""
    subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)
