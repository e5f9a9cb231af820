"""Input errors are reported in one line that names the argument, before any work starts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shared.telemetry import configure_logs, logger
from tests.integration.cli.called import call

NOBODY = {"SMARTBRAIN_URL": "http://127.0.0.1:9", "SMARTBRAIN_DATABASE_URL": "postgresql://127.0.0.1:9/none"}
GOOD = '{"messages": [{"role": "user", "content": "我喜欢喝茶。"}]}'


def read_failure(done: subprocess.CompletedProcess[str]) -> str:
    """The text of a failure, in one line without a traceback."""
    lines = (line.strip("│ ") for line in (done.stdout + done.stderr).splitlines())
    return " ".join(lines)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("commit -f missing.jsonl", "missing.jsonl: no such file"),
        ("commit -f .", "--file"),
        ("commit", "give either a text or --file"),
        ("commit hello -f missing.jsonl", "give either a text or --file"),
        ("commit hello --key k\t", "--key"),
        ("compose tea --limit 5", "--limit"),
        ("memories list --type wish", "wish"),
        ("memories list --status gone", "gone"),
        ("memories history seven", "memory_id"),
        ("conflicts list --state gone", "gone"),
        ("knowledge resources --state gone", "gone"),
        ("promotions list --status gone", "gone"),
        ("receipts 0192a1b2-0000-7000-8000-000000000000 --lang fr", "fr"),
        ("media set m --type image --status safe --text-file missing.txt", "missing.txt"),
        ("erase --user u --session s\t", "--session"),
        ("backup /nowhere/at/all.dump", "/nowhere/at: no such folder"),
        ("backup /", "is a directory"),
        ("restore missing.dump", "missing.dump"),
        ("eval wishes", "unknown set wishes"),
        ("eval extraction --plot p.svg", "--plot"),
        ("eval extraction --report r.txt", ".json or .md"),
        ("up --port 70000", "--port"),
    ],
)
def test_a_wrong_argument_is_reported_before_any_work(words: str, named: str) -> None:
    done = call(*words.split(" "), **NOBODY)
    assert (done.returncode, named in read_failure(done)) == (2, True), read_failure(done)


@pytest.mark.parametrize("words", [["commit", ""], ["compose", ""], ["remember", " "], ["observe", "\u3000"]])
def test_an_empty_text_is_refused_by_every_command(words: list[str]) -> None:
    done = call(*words, **NOBODY)
    assert (done.returncode, "says nothing" in read_failure(done)) == (2, True), read_failure(done)


@pytest.mark.parametrize("command", ["commit hello", "compose hello", "memories list", "upkeep", "rebuild"])
@pytest.mark.parametrize("user", [" alice", "李明\u3000", "a\tb", "x" * 129])
def test_an_id_that_the_service_would_refuse_is_refused_by_every_command(command: str, user: str) -> None:
    done = call(*command.split(), "--user", user, **NOBODY)
    assert (done.returncode, "--user" in read_failure(done)) == (2, True), read_failure(done)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "no JSON"),
        ("[]", "must be a JSON object"),
        ('{"messages": [{"role": "robot", "content": "x"}]}', "messages.0.role"),
        ('{"messages": [{"role": "user", "content": ""}]}', "messages.0.content: says nothing"),
        ('{"messages": []}', "at least one of"),
    ],
)
def test_a_bad_line_is_named_by_number_and_nothing_is_sent(tmp_path: Path, line: str, problem: str) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text(f"{GOOD}\n\n{line}\n{GOOD}\n", "utf-8")
    done = call("commit", "-f", str(file), **NOBODY)
    assert done.returncode == 2, read_failure(done)
    assert "turns.jsonl:3: " in "".join(done.stderr.split("\n")), done.stderr
    assert problem in read_failure(done)


def test_an_unexpected_error_is_one_line_with_the_version(tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SMARTBRAIN_")}
    (tmp_path / "turns.jsonl").write_text(GOOD)

    def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "services.cli", *words]
        return subprocess.run(command, capture_output=True, text=True, env={**clean, **env}, check=False)

    done = run("commit", "-f", str(tmp_path / "turns.jsonl"), **NOBODY)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert done.stderr.startswith("error: http://127.0.0.1:9 does not answer")
    assert run("--version").stdout.startswith("smartbrain 0.")


def test_status_reports_a_missing_system(tmp_path: Path) -> None:
    done = call("status", "--json", SMARTBRAIN_DATA=str(tmp_path))
    assert (done.returncode, json.loads(done.stdout)) == (1, {"running": False, "data": str(tmp_path)})


def test_a_log_outside_a_terminal_has_seconds_and_no_colour(capfd: pytest.CaptureFixture[str]) -> None:
    configure_logs("info", human=True)
    try:
        logger().info("restarted", what=["observer"])
    finally:
        configure_logs("warning")
    line = capfd.readouterr().err
    assert "\x1b" not in line
    assert line[:4].isdigit()
    assert line[19] in " [", line
