"""One entry per metric: its meaning, remedy, alert and panel.

`make docs` generates Prometheus' rules, Grafana's dashboards, the runbook and docs/reference/metrics.md from them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeVar

from prometheus_client import Counter, Gauge, Histogram

Metric = Counter | Gauge | Histogram
M = TypeVar("M", Counter, Gauge, Histogram)
Figure = Literal[
    "turns_overdue",
    "settled_p95_s",
    "package_p95_s",
    "packages_degraded_share",
    "outbox_oldest_s",
    "outbox_failed",
    "redriven_hour",
    "given_up_lately",
    "services_silent",
    "lag_most",
    "erasures_escalated",
    "erasures_warn",
    "erasures_critical",
]
"""Figures from tables and from the reports of services."""
Board = Literal["pipeline", "compose", "erasure", "models"]
BOARDS: dict[Board, str] = {
    "pipeline": "From a turn to a memory: is anything lost, late, failing or set aside?",
    "compose": "Packages: how long they take, what they lack, what the arms bring, how tokens are used.",
    "erasure": "Erasures: where they stand, how much time they have left, what is in their way.",
    "models": "Models: calls, tokens, cost, failures.",
}
"""The question that each dashboard answers."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of panels on a dashboard."""

    board: Board
    title: str


LOST_OR_LATE = Row("pipeline", "Is anything lost or late?")
TURNS = Row("pipeline", "Turns")
MEMORIES = Row("pipeline", "Memories")
WORKERS = Row("pipeline", "Workers")
OUTBOX = Row("pipeline", "Outbox and relay")
PACKAGES = Row("compose", "Packages")
ARMS = Row("compose", "Search and order")
BUDGET = Row("compose", "Tokens")
DOOR = Row("compose", "At the door")
DEADLINES = Row("erasure", "Deadlines and states")
ERASING = Row("erasure", "Work")
CALLS = Row("models", "Calls")
COST = Row("models", "Tokens and cost")
ROWS = (LOST_OR_LATE, TURNS, MEMORIES, WORKERS, OUTBOX, PACKAGES, ARMS, BUDGET, DOOR, DEADLINES, ERASING, CALLS, COST)
"""Every row, from top to bottom."""
FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
HOUR, DAY = 3600.0, 86_400.0


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert: `expr` with its threshold holds for `after`; and the response.

    "page" is urgent, "ticket" waits for the morning. `action` is the first step, `runbook` all steps, in Markdown.
    `figure` is the current value from tables, with which compose evaluates the condition without Prometheus.
    """

    name: str
    severity: Literal["page", "ticket"]
    expr: str
    summary: str
    action: str
    runbook: str
    after: str = ""
    figure: Figure | None = None

    @property
    def threshold(self) -> float:
        """The threshold of the figure, as in the expression."""
        bounds = re.findall(r"> ([\d.]+)", self.expr)
        return float(bounds[0]) if bounds else 0.0


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a panel."""

    expr: str
    legend: str


def show_rate(metric: str, *by: str, legend: str = "") -> Series:
    """The rate per second by these labels, which name the line unless `legend` does."""
    return Series(f"sum by ({', '.join(by)}) (rate({metric}[$__rate_interval]))", legend or _name_by(by))


def show_quantile(share: float, metric: str, *by: str, legend: str = "") -> Series:
    """The quantile of a histogram by these labels, which name the line unless `legend` does."""
    rates = f"sum by ({', '.join(('le', *by))}) (rate({metric}_bucket[$__rate_interval]))"
    return Series(f"histogram_quantile({share}, {rates})", legend or _name_by(by))


def _name_by(labels: Iterable[str]) -> str:
    return " ".join(f"{{{{{each}}}}}" for each in labels)


Unit = Literal["short", "s", "ops", "percentunit"]


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel in a row, which is 24 wide; with `steps`, one figure in the colour of its step.

    Without queries it shows its metric by all labels: a counter's rate, a histogram's p95, a gauge's greatest value;
    without a unit, in that of its metric's kind.
    """

    row: Row
    title: str
    description: str
    unit: Unit | None = None
    queries: tuple[Series, ...] = ()
    width: int = 8
    steps: tuple[tuple[Literal["green", "orange", "red"], float | None], ...] = ()
    least: float | None = 0


@dataclass(frozen=True, slots=True)
class MetricEntry:
    """A metric with its documentation; None for Prometheus' own metrics."""

    metric: Metric | None
    meaning: str = ""
    remedy: str = ""
    alerts: tuple[Alert, ...] = ()
    panels: tuple[Panel, ...] = ()


ENTRIES: list[MetricEntry] = []
"""Every entry of this process, in module order."""


def make_metric(
    kind: type[M],
    name: str,
    meaning: str,
    *,
    remedy: str = "",
    labels: Sequence[str] = (),
    from_start: Sequence[str | tuple[str, ...]] = (),
    alerts: tuple[Alert, ...] = (),
    panels: tuple[Panel, ...] = (),
    **options: Any,
) -> M:
    """Adds a metric to the catalogue; `from_start` lists label values that start at 0.

    Otherwise Prometheus does not count the first event as an increase. `options` are those of the metric's kind, such
    as a histogram's buckets.
    """
    metric = kind(name, f"{meaning} {remedy}".strip(), labels, **options)
    show_from_start(metric, from_start)
    unit, queries = _show_as_usual(kind, name, labels)
    shown = tuple(replace(one, unit=one.unit or unit, queries=one.queries or queries) for one in panels)
    ENTRIES.append(MetricEntry(metric, meaning, remedy, alerts, shown))
    return metric


def _show_as_usual(kind: type[Metric], name: str, labels: Sequence[str]) -> tuple[Unit, tuple[Series, ...]]:
    """The unit and the queries of a panel that does not name its own."""
    if kind is Counter:
        return "ops", (show_rate(f"{name}_total", *labels),)
    if kind is Gauge:
        return "short", (Series(f"max by ({', '.join(labels)}) ({name})", _name_by(labels)),)
    if labels:
        return "s", (show_quantile(0.95, name, *labels),)
    return "s", tuple(show_quantile(share, name, legend=legend) for share, legend in ((0.5, "p50"), (0.95, "p95")))


make_counter = partial(make_metric, Counter)
make_gauge = partial(make_metric, Gauge)
make_histogram = partial(make_metric, Histogram)


def show_from_start(metric: Metric, values: Iterable[str | tuple[str, ...]]) -> None:
    """Starts a series at 0 for each of these label values."""
    for each in values:
        metric.labels(*((each,) if isinstance(each, str) else each))


def watch_from_outside(alerts: tuple[Alert, ...], panels: tuple[Panel, ...]) -> None:
    """Alerts and panels of Prometheus' own metrics, such as whether a service responds."""
    ENTRIES.append(MetricEntry(None, alerts=alerts, panels=panels))
