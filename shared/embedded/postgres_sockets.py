"""The addresses of the embedded PostgreSQL."""

import os
import shutil
from pathlib import Path

from shared.embedded.account import Account, private_folder

LONGEST_FOLDER = 85  # bytes: sun_path holds 107, and "/.s.PGSQL.65535" follows


def socket_folder(data: Path, account: Account) -> Path:
    """The data folder itself, which is private; a short private folder if libpq could not use that path."""
    path = str(data)
    if len(os.fsencode(path)) <= LONGEST_FOLDER and not set(path) & set(",\n"):
        return data
    status = data.stat()
    return private_folder(f"{status.st_dev:x}-{status.st_ino:x}", account, 0o700)


def remove_left_sockets(folder: Path) -> None:
    """Removes the socket of a killed server and its lock with a possibly reused pid."""
    for left in folder.glob(".s.PGSQL.*"):
        left.unlink(missing_ok=True)


def remove_folder(folder: Path, data: Path) -> None:
    """Deletes the short folder, if there was one."""
    if folder != data:
        shutil.rmtree(folder, ignore_errors=True)


def connection_string(**fields: object) -> str:
    """libpq's `key='value'` form, quoted as it requires."""
    quoted = {key: str(value).replace("\\", "\\\\").replace("'", "\\'") for key, value in fields.items()}
    return " ".join(f"{key}='{value}'" for key, value in quoted.items())
