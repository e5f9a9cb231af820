"""A backup file as pg_restore reads it: its content, its integrity, and the entries to restore."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from shared.db import SCHEMA
from shared.embedded.postgres_programs import ProgramError, Programs
from shared.errors import ConfigurationError
from shared.language.patterns import to_pattern
from shared.store.schema import read_scripts, refuse_changed

_OF_SCHEMA = to_pattern(
    rf"\d+; \d+ \d+ (?:[A-Z ]+ {SCHEMA} |(?:SCHEMA|ACL - SCHEMA|COMMENT - SCHEMA) (?:- )?{SCHEMA} )"
)
_GATE = to_pattern(rf"\d+; \d+ \d+ TABLE DATA {SCHEMA} serving ")
_LEDGER = to_pattern(rf"\d+; \d+ \d+ TABLE {SCHEMA} tombstones ")
_MIGRATION = to_pattern(r"^(?P<name>\d\w+\.sql)\t[^\t\n]*(?:\t(?P<sha256>[0-9a-f]{64})?.*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Archive:
    """A restorable file: `entries` are those of our schema except the gate, `mark` identifies the file."""

    path: Path
    entries: tuple[str, ...]
    migrations: tuple[str, ...]
    mark: str

    @property
    def tables(self) -> int:
        """How many tables have rows in it."""
        return sum(" TABLE DATA " in each for each in self.entries)


def inspect(programs: Programs, path: Path) -> Archive:
    """Reads the whole backup file; ConfigurationError if it is not a backup of SmartBrain."""
    if not path.is_file():
        raise ConfigurationError(f"{path}: no such file")
    try:
        contents = programs.answer("pg_restore", "--list", path)
    except ProgramError as error:
        raise ConfigurationError(f"{path} is not a backup: {error}") from error
    lines = contents.splitlines()
    entries = tuple(line for line in lines if _OF_SCHEMA.match(line) and not _GATE.match(line))
    if not any(_LEDGER.match(line) for line in entries):
        raise ConfigurationError(f"{path} is not a backup of SmartBrain: it has no table {SCHEMA}.tombstones")
    try:
        programs.answer("pg_restore", "--file", "/dev/null", path)
        rows = programs.answer(
            "pg_restore", "--data-only", "--schema", SCHEMA, "--table", "migrations", "--file", "-", path
        )
    except ProgramError as error:
        raise ConfigurationError(f"{path} is damaged: {error}") from error
    applied = {row["name"]: row["sha256"] for row in _MIGRATION.finditer(rows)}
    scripts = read_scripts()
    newer = sorted(applied.keys() - {each.name for each in scripts})
    if newer:
        raise ConfigurationError(
            f"{path} was made by a newer SmartBrain with the migration {', '.join(newer)}: install that one first"
        )
    refuse_changed(applied, scripts)
    return Archive(path, entries, tuple(sorted(applied)), hashlib.sha256(contents.encode()).hexdigest())
