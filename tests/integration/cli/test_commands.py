"""The commands of `smartbrain` all exist, and importing one does not load the others."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from services.cli import COMMANDS, app

LOADED = """
import sys
from services.cli import app
app(sys.argv[1:], standalone_mode=False)
heavy = ("shared.extraction", "faststream", "fastapi", "numpy")
print([name for name in heavy if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    done = CliRunner().invoke(app, [name, "--help"])
    assert (done.exit_code, f"smartbrain {name} " in done.stdout) == (0, True), done.output


def test_the_help_lists_every_command_in_order() -> None:
    told = CliRunner().invoke(app, ["--help"]).stdout
    places = [told.find(f"│ {name} ") for name in COMMANDS]
    assert -1 not in places
    assert places == sorted(places)


def test_the_overview_repeats_the_first_line_of_each_commands_help() -> None:
    told = " ".join(CliRunner().invoke(app, ["--help"]).stdout.replace("│", " ").split())
    for name in COMMANDS:
        own = CliRunner().invoke(app, [name, "--help"]).stdout.split("\n\n")[1].replace("│", " ")
        assert f"{name} {' '.join(own.split())}" in told, name


def test_a_mistyped_command_gets_a_suggestion() -> None:
    done = CliRunner().invoke(app, ["memoris"])
    assert done.exit_code == 2
    assert "memories" in done.stderr


@pytest.mark.parametrize("name", ["memories", "erase", "commit", "compose", "forget", "sessions", "receipts", ""])
def test_a_client_command_imports_no_server_code(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, *name.split(), "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("module", ["shared.policy", "shared.erasure.rules"])
def test_calendars_are_loaded_only_when_one_is_named(module: str) -> None:
    asked = f"import sys, {module}; print('holidays' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
