"""`smartbrain serve compose` exits with one line that names the key of an invalid policy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml


@pytest.mark.parametrize(
    ("budget", "named"),
    [
        ({"minima": {"generation": 6000}}, "compose.budget: Value error, minima: system, user_turn and generation"),
        ({"order": "none"}, "compose.budget.order"),
    ],
)
def test_an_invalid_budget_stops_compose_at_the_start(tmp_path: Path, budget: object, named: str) -> None:
    path = tmp_path / "brain.yml"
    path.write_text(yaml.safe_dump({"compose": {"budget": budget}}), encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SMARTBRAIN_")}
    env = {
        **clean,
        "SMARTBRAIN_POLICY": str(path),
        "SMARTBRAIN_DATABASE_URL": "postgresql://127.0.0.1:9/none",
        "SMARTBRAIN_KAFKA_BOOTSTRAP": "127.0.0.1:9",
    }
    command = [sys.executable, "-m", "services.cli", "serve", "compose"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=180, check=False)
    assert done.returncode == 1
    assert named in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
