"""The account of the embedded PostgreSQL, and the folders that it can access."""

import os
import pwd
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

SYSTEM_CACHE = Path("/var/cache/smartbrain")


@dataclass(frozen=True)
class Account:
    """The uid and gid of a server process; `drop` means that we are root and must switch to them first."""

    uid: int
    gid: int
    drop: bool

    def can_traverse(self, folder: Path) -> bool:
        """Whether this account can traverse every folder from the root to `folder`; always true without a drop."""
        if not self.drop:
            return True
        resolved = folder.resolve()
        return all(self._may_enter(part) for part in (*resolved.parents, resolved) if part.exists())

    def own_folder(self, folder: Path, mode: int) -> None:
        """Creates `folder` for this account with exactly `mode`."""
        folder.mkdir(parents=True, exist_ok=True)
        if self.drop:
            os.chown(folder, self.uid, self.gid)
        if stat.S_IMODE(folder.stat().st_mode) != mode:
            folder.chmod(mode)

    def _may_enter(self, folder: Path) -> bool:
        status = folder.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        return bool(status.st_mode & (stat.S_IXGRP if status.st_gid == self.gid else stat.S_IXOTH))


def server_account(data: Path) -> Account:
    """The current account; for root, which PostgreSQL refuses, the owner of `data`, or else `postgres` or `nobody`."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), drop=False)
    if data.exists() and data.stat().st_uid != 0:
        return Account(data.stat().st_uid, data.stat().st_gid, drop=True)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid, drop=True)
    raise LookupError("root may not run PostgreSQL and neither account 'postgres' nor 'nobody' exists")


def reachable_cache(wanted: Path, account: Account) -> Path:
    """The `wanted` folder, created if necessary, if the account can access it; otherwise a system folder that only root
    can create.
    """
    wanted.mkdir(mode=0o755, parents=True, exist_ok=True)
    if account.can_traverse(wanted):
        return wanted
    try:
        SYSTEM_CACHE.mkdir(parents=True, exist_ok=True)
        SYSTEM_CACHE.chmod(0o755)
    except OSError:  # on a read-only system: the temporary folder is the last resort
        return private_folder("cache", account, 0o755)
    return SYSTEM_CACHE


def private_folder(name: str, account: Account, mode: int) -> Path:
    """A folder with a short path that belongs to the account and was not created by anybody else."""
    folder = Path("/tmp") / f"smartbrain-{account.uid}-{name}"  # noqa: S108 (ownership is checked below)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid not in {account.uid, os.geteuid()}:
            folder = Path(tempfile.mkdtemp(prefix="smartbrain-"))
    account.own_folder(folder, mode)
    return folder
