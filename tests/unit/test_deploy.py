"""The files in deploy/ match the code: settings, services, metrics, runbook, demo data."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import REGISTRY

from schemas.turn_events import TurnEvents
from shared.metrics.catalogue import ENTRIES
from shared.settings import PREFIX, Settings
from tools.monitoring import asks_for

SERVICES = ("compose", "mcp", "console", "relay", "observer", "analyzer", "evolver", "librarian", "erasure", "governor")
ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
METRIC = re.compile(r"\bsmartbrain_[a-z0-9_]+")
VARIABLE = re.compile(rf"\b{PREFIX}[A-Z_]+")
DEMO = sorted((DEPLOY / "demo").glob("*.jsonl"))


def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def alerts() -> list[dict[str, Any]]:
    rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))
    return [rule for group in rules["groups"] for rule in group["rules"]]


def expressions(value: Any) -> list[str]:
    """Every query of a dashboard."""
    if isinstance(value, dict):
        found = [value[name] for name in ("expr", "query") if isinstance(value.get(name), str)]
        return found + [each for inner in value.values() for each in expressions(inner)]
    return [each for inner in value for each in expressions(inner)] if isinstance(value, list) else []


def list_series() -> set[str]:
    """Every series name that /metrics can contain."""
    assert ENTRIES, "what is imported with the catalogue registers its metrics"
    names: set[str] = set()
    for metric in REGISTRY.collect():
        endings = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}.get(metric.type, ("",))
        names.update(metric.name + ending for ending in endings)
    return names


def test_every_service_of_the_command_line_is_deployed() -> None:
    services = compose()["services"]
    for name in SERVICES:
        assert services[name]["command"] == ["serve", name]
        assert services[name]["healthcheck"]
    assert services["migrate"]["command"] == ["migrate"]


def test_every_service_waits_for_existing_services() -> None:
    services = compose()["services"]
    for name, service in services.items():
        assert set(service.get("depends_on", ())) <= set(services), name


def test_every_volume_is_declared_or_a_file_of_the_repository() -> None:
    parsed = compose()
    for service in parsed["services"].values():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert (DEPLOY / source).exists() if source.startswith(".") else source in parsed["volumes"], volume


@pytest.mark.parametrize("file", ["compose.yaml", ".env.example"])
def test_every_variable_is_a_setting(file: str) -> None:
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    used = set(VARIABLE.findall((DEPLOY / file).read_text(encoding="utf-8")))
    assert used
    assert used <= known


def test_every_configured_model_is_pulled() -> None:
    services = compose()["services"]
    named = {value for name, value in services["compose"]["environment"].items() if name.endswith("_MODEL")}
    models = {name.upper() for name in Settings.model_fields if name.endswith("_model")}
    assert len(named) == len(models) == 3
    assert set(services["ollama-models"]["environment"]["MODELS"].split()) == named
    (shell,) = services["ollama-models"]["entrypoint"][2:]
    assert 'ollama pull "$$model"' in shell
    assert "for model in $$MODELS" in shell
    assert services["ollama-models"]["image"] == services["ollama"]["image"]


def test_every_alert_uses_existing_metrics() -> None:
    used = {name for alert in alerts() for name in METRIC.findall(alert["expr"])}
    assert used
    assert used <= list_series()


def test_every_alert_has_a_meaning_and_a_remedy() -> None:
    runbook = (DEPLOY / "runbook.md").read_text(encoding="utf-8")
    assert alerts()
    for alert in alerts():
        _, heading, text = runbook.partition(f"## {alert['alert']} ({alert['labels']['severity']})\n\n")
        assert heading
        assert len(text.partition("\n## ")[0]) > 80, f"{alert['alert']} does not say enough in the runbook"
        assert alert["annotations"]["summary"]
        assert alert["annotations"]["action"]


def test_names_of_alerts_are_unique_and_every_metric_is_in_the_catalogue() -> None:
    names = [alert["alert"] for alert in alerts()]
    assert len(set(names)) == len(names)
    metrics = {entry.metric.describe()[0].name for entry in ENTRIES if entry.metric is not None}
    assert metrics == {metric.name for metric in REGISTRY.collect() if metric.name.startswith("smartbrain_")}
    assert all(entry.meaning for entry in ENTRIES if entry.metric is not None)


def test_every_metric_is_in_a_panel_or_an_alert() -> None:
    used = {alert.expr for entry in ENTRIES for alert in entry.alerts}
    used |= {query.expr for entry in ENTRIES for panel in entry.panels for query in panel.queries}
    shown = {metric._name for entry in ENTRIES if (metric := entry.metric) is not None}
    assert not {name for name in shown if not any(asks_for(expression, name) for expression in used)}


def test_every_panel_uses_existing_metrics() -> None:
    boards = sorted((DEPLOY / "grafana").rglob("*.json"))
    assert boards
    for board in boards:
        used = {name for each in expressions(json.loads(board.read_text("utf-8"))) for name in METRIC.findall(each)}
        assert used, board.name
        assert used <= list_series(), board.name


def test_grafana_finds_four_dashboards_with_descriptions() -> None:
    mounted = [each.split(":") for each in compose()["services"]["grafana"]["volumes"]]
    places = {place: DEPLOY / source for source, place, *_ in mounted if source.startswith("./")}
    provider, source = (
        yaml.safe_load(next((DEPLOY / "grafana" / "provisioning" / kind).iterdir()).read_text("utf-8"))
        for kind in ("dashboards", "datasources")
    )
    files = sorted(places[provider["providers"][0]["options"]["path"]].glob("*.json"))
    boards = [json.loads(file.read_text("utf-8")) for file in files]
    assert [file.stem for file in files] == ["compose", "erasure", "models", "pipeline"]
    assert len({board["uid"] for board in boards}) == len(boards)
    for board in boards:
        shown = [panel for panel in board["panels"] if panel["type"] != "row"]
        assert board["description"]
        assert {panel["datasource"]["uid"] for panel in shown} == {source["datasources"][0]["uid"]}
        assert all(panel["title"] and panel["description"][-1] in ".?" for panel in shown)
        assert len({panel["title"] for panel in shown}) == len(shown)


def test_every_scraped_address_belongs_to_a_service() -> None:
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    services = compose()["services"]
    targets = [
        (name, dns["port"])
        for job in config["scrape_configs"]
        for dns in job["dns_sd_configs"]
        for name in dns["names"]
    ]
    assert {name for name, _ in targets} == set(SERVICES)
    for name, port in targets:
        given = services[name]["environment"]
        ports = {given.get(f"SMARTBRAIN_{kind}_PORT") for kind in ("METRICS", "HTTP", "MCP", "CONSOLE")}
        assert str(port) in ports, name


def test_the_image_contains_the_copied_files() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.M):
        *sources, _ = line.split()
        assert all((ROOT / source).exists() for source in sources), line


def test_the_demonstration_is_a_real_conversation() -> None:
    turns = [TurnEvents.model_validate_json(line) for file in DEMO for line in file.read_text("utf-8").splitlines()]
    assert len(turns) >= 40
    assert len({turn.session_id for turn in turns}) == len(DEMO) == 4
    assert {turn.user_id for turn in turns} == {"lin"}
    assert len({turn.idempotency_key for turn in turns}) == len(turns)
    assert all(turn.created_at for turn in turns)


@pytest.mark.parametrize("file", DEMO, ids=lambda file: file.stem)
def test_every_line_of_the_demonstration_has_known_fields_only(file: Path) -> None:
    for line in file.read_text(encoding="utf-8").splitlines():
        assert set(json.loads(line)) <= set(TurnEvents.model_fields)
