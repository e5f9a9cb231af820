"""Runs a command in this process; the cost of a process is measured once, in test_commands."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

from typer.testing import CliRunner

from services.cli import app
from shared.errors import SmartBrainError


def call(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """The exit code and output of the command; only the given settings are set."""
    clean = {name: None for name in os.environ if name.startswith("SMARTBRAIN_")}
    with ThreadPoolExecutor(1) as aside:  # a command has an event loop of its own
        done = aside.submit(CliRunner().invoke, app, args, env={**clean, **env}).result()
    unexpected = done.exception and not isinstance(done.exception, (SmartBrainError, SystemExit))
    if unexpected:
        raise done.exception
    told = f"error: {done.exception}\n" if isinstance(done.exception, SmartBrainError) else ""
    return subprocess.CompletedProcess(args, done.exit_code, done.stdout, done.stderr + told)
