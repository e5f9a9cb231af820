"""`smartbrain eval calibration` without a database."""

import json
from pathlib import Path
from typing import Any

from tests.integration.cli.called import call

LABEL = {"part": "held", "class": "positive"}


def write_labels(folder: Path) -> Path:
    """Two correct statements and a wrong one, a correct correction and a wrong one; each in its language."""
    peanuts = {"type": "constraint", "says": ["peanuts"]}
    extraction: list[dict[str, Any]] = [
        {"text": "I'm allergic to peanuts.", "language": "en", "expect": [peanuts]},
        {"text": "我住在杭州。", "language": "zh", "expect": [{"type": "profile", "says": ["杭州"]}]},
        {"text": "我叫林晓。", "language": "zh", "expect": []},
    ]
    corrections = [
        {"text": "I no longer like jazz.", "language": "en", "correction": True, "old": "jazz"},
        {"text": "我不再喝咖啡了。", "language": "zh", "correction": False},
    ]
    for name, labels in (("extraction", extraction), ("corrections", corrections)):
        lines = [json.dumps({**LABEL, **label}, ensure_ascii=False) for label in labels]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")
    return folder


def test_confidence_is_measured_by_set_language_and_assertion_and_plotted(tmp_path: Path) -> None:
    picture, report = tmp_path / "plots" / "calibration.svg", tmp_path / "report.json"
    done = call(
        "eval",
        "calibration",
        "--data",
        str(write_labels(tmp_path)),
        "--json",
        "--plot",
        str(picture),
        "--report",
        str(report),
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    groups = told["calibration"]
    assert {name: (each["before"]["n"], each["before"]["observed"]) for name, each in groups.items()} == {
        "all": (5, 0.6),
        "assertion correction": (2, 0.5),
        "assertion declared": (3, 0.6667),
        "language en": (2, 1.0),
        "language zh": (3, 0.3333),
        "part held": (5, 0.6),
        "set corrections": (2, 0.5),
        "set extraction": (3, 0.6667),
    }
    before = groups["assertion correction"]["before"]
    assert (before["stated"], before["brier"], before["ece"]) == (0.9, 0.41, 0.4)
    assert groups["all"]["after"]["brier"] < groups["all"]["before"]["brier"]
    assert json.loads(report.read_text("utf-8")) == told
    assert picture.read_text("utf-8").startswith("<svg")


def test_the_text_output_is_a_table_with_bars(tmp_path: Path) -> None:
    done = call("eval", "calibration", "--data", str(write_labels(tmp_path)))
    assert done.returncode == 0, done.stderr
    assert "language zh" in done.stdout
    assert "#|" in done.stdout or "|." in done.stdout
    assert not any(word in done.stdout for word in ("peanuts", "杭州", "林晓", "jazz"))
    assert call("eval", "calibration", "--data", str(tmp_path), "--part", "dev").returncode == 0


def test_a_missing_set_is_named(tmp_path: Path) -> None:
    done = call("eval", "calibration", "--data", str(tmp_path))
    assert done.returncode == 1
    assert "extraction.jsonl" in done.stderr
