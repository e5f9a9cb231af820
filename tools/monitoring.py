"""Generates Prometheus rules, Grafana dashboards, the runbook and the reference from the catalogue of metrics."""

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from shared.metrics.catalogue import BOARDS, ENTRIES, ROWS, Alert, Board, Metric, MetricEntry, Panel
from tools.markdown import MADE, table

MADE_RULES = "# Generated from shared/metrics by `make docs`. runbook.md has a section for each alert.\n"
SOURCE = {"type": "prometheus", "uid": "smartbrain-prometheus"}
HEIGHT, WIDTH = 8, 24
OTHERS = {"type": "dashboards", "title": "SmartBrain", "tags": ["smartbrain"], "asDropdown": False, "keepTime": True}
"""Links to the other dashboards, at the top of each."""


def alerts() -> list[Alert]:
    """Every alert, in the order of the catalogue."""
    return [alert for entry in ENTRIES for alert in entry.alerts]


def render_rules() -> str:
    """The rules of Prometheus."""
    rules = [_to_rule(alert) for alert in alerts()]
    document = {"groups": [{"name": "smartbrain", "rules": rules}]}
    return MADE_RULES + yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=116)


def _to_rule(alert: Alert) -> dict[str, Any]:
    rule: dict[str, Any] = {"alert": alert.name, "expr": alert.expr} | ({"for": alert.after} if alert.after else {})
    rule["labels"] = {"severity": alert.severity}
    return rule | {"annotations": {"summary": alert.summary, "action": alert.action}}


def render_runbook() -> str:
    """A section for each alert: its possible causes and the next steps."""
    lines = [MADE, "", "# Alerts", ""]
    lines += ["Each section is named as the alert in `prometheus/alerts.yml`. A page wakes somebody, a ticket waits"]
    lines += ["for the morning. [Compose file, backup, upgrades](README.md).", ""]
    for alert in alerts():
        lines += [f"## {alert.name} ({alert.severity})", "", inspect.cleandoc(alert.runbook), ""]
    return "\n".join(lines).rstrip() + "\n"


def render_dashboards() -> dict[str, str]:
    """Each dashboard of Grafana by its name: its rows from top to bottom, their panels from left to right."""
    return {board: _render_dashboard(board) for board in BOARDS}


def _render_dashboard(board: Board) -> str:
    panels = [panel for entry in ENTRIES for panel in entry.panels]
    made: list[dict[str, Any]] = []
    y = 0
    for row in (each for each in ROWS if each.board == board):
        made.append(_place({"type": "row", "title": row.title}, len(made) + 1, 1, WIDTH, 0, y))
        made[-1] |= {"collapsed": False, "panels": []}
        x, y = 0, y + 1
        for panel in (each for each in panels if each.row == row):
            if x + panel.width > WIDTH:
                x, y = 0, y + HEIGHT
            made.append(_to_panel(panel, len(made) + 1, x, y))
            x += panel.width
        y += HEIGHT
    about: dict[str, Any] = {"uid": f"smartbrain-{board}", "title": f"SmartBrain: {board}"}
    about |= {"description": BOARDS[board], "tags": ["smartbrain"], "timezone": "browser"}
    about |= {"schemaVersion": 39, "version": 1, "editable": False, "refresh": "10s", "links": [OTHERS]}
    about |= {"time": {"from": "now-1h", "to": "now"}, "templating": {"list": []}, "annotations": {"list": []}}
    return json.dumps({**about, "panels": made}, indent=1, ensure_ascii=False) + "\n"


def _place(panel: dict[str, Any], number: int, height: int, width: int, x: int, y: int) -> dict[str, Any]:
    return {**panel, "id": number, "gridPos": {"h": height, "w": width, "x": x, "y": y}}


def _to_panel(panel: Panel, number: int, x: int, y: int) -> dict[str, Any]:
    kind = "stat" if panel.steps else "timeseries"
    about = {"type": kind, "title": panel.title, "description": panel.description}
    defaults: dict[str, Any] = {"unit": panel.unit} | ({} if panel.least is None else {"min": panel.least})
    options: dict[str, Any]
    if panel.steps:
        steps = [{"color": color, "value": value} for color, value in panel.steps]
        defaults |= {"thresholds": {"mode": "absolute", "steps": steps}, "color": {"mode": "thresholds"}}
        reduced = {"calcs": ["lastNotNull"], "fields": "", "values": False}
        options = {"reduceOptions": reduced, "colorMode": "background"}
    else:
        legend = {"displayMode": "list", "placement": "bottom", "showLegend": True}
        options = {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}}
    targets = [
        {"refId": chr(ord("A") + n), "datasource": SOURCE, "expr": query.expr, "legendFormat": query.legend}
        for n, query in enumerate(panel.queries)
    ]
    return {
        **_place(about, number, HEIGHT, panel.width, x, y),
        "datasource": SOURCE,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "targets": targets,
        "options": options,
    }


def metrics_page() -> Iterator[str]:
    """Every metric with its remedy and the alerts that use it."""
    yield from ["# Metrics", ""]
    yield "Every service shows them at `/metrics`. Counters end in `_total` there; a histogram has `_bucket`, `_count`"
    yield from ["and `_sum`. The [runbook](../../deploy/runbook.md) has a section for each alert.", ""]
    shown = sorted(((entry, entry.metric) for entry in ENTRIES if entry.metric), key=lambda each: each[1]._name)
    head = ("metric", "type", "labels", "meaning", "what to do", "alerts")
    yield from table(head, [_to_row(*each) for each in shown])
    yield from ["## Alerts", ""]
    told = [(alert.name, alert.severity, alert.after, alert.action) for alert in alerts()]
    yield from table(("alert", "severity", "after", "first step"), told)


def _to_row(entry: MetricEntry, metric: Metric) -> tuple[str, ...]:
    name = metric._name
    asking = [alert.name for alert in alerts() if asks_for(alert.expr, name)]
    return f"`{name}`", metric._type, ", ".join(metric._labelnames), entry.meaning, entry.remedy, ", ".join(asking)


def asks_for(expression: str, name: str) -> bool:
    """Whether the expression of an alert uses this metric, and not one with the same prefix."""
    series = {name + ending for ending in ("", "_total", "_bucket", "_count", "_sum")}
    return bool(series & set(re.findall(r"\bsmartbrain_[a-z0-9_]+", expression)))
