"""Turns: committed, refused, and their outcomes."""

from shared.metrics.catalogue import (
    LOST_OR_LATE,
    TURNS,
    Alert,
    Panel,
    Series,
    make_counter,
    make_gauge,
    make_histogram,
    show_rate,
)

TURNS_COMMITTED = make_counter(
    "smartbrain_turns_committed",
    "Turns made durable.",
    labels=("transport",),
    from_start=("http", "kafka"),
    panels=(
        Panel(
            TURNS,
            "Turns committed and refused",
            "By transport; refused by error code.",
            "ops",
            (
                show_rate("smartbrain_turns_committed_total", "transport", legend="committed {{transport}}"),
                show_rate("smartbrain_turns_refused_total", "reason", legend="refused {{reason}}"),
            ),
            width=12,
        ),
    ),
)
TURNS_REFUSED = make_counter(
    "smartbrain_turns_refused",
    "Commits refused, by error code.",
    remedy="invalid_request: a client sends no turn; secret_refused, personal_data_refused: as policy wants.",
    labels=("reason",),
    from_start=("invalid_request",),
)
TURNS_WITHOUT_OUTCOME = make_gauge(
    "smartbrain_turns_without_outcome",
    "Accepted turns whose outcome is overdue.",
    remedy="Not back to 0: a worker is down, or see smartbrain quarantine list.",
    alerts=(
        Alert(
            "TurnsWithoutOutcome",
            "page",
            figure="turns_overdue",
            expr="max(smartbrain_turns_without_outcome) > 0",
            after="10m",
            summary="{{ $value }} accepted turns have no outcome",
            action=(
                "The governor drives them again; if the number stays, look at the quarantine and at the workers' logs."
            ),
            runbook="""
            Every accepted turn ends as derived, ignored with a reason, or quarantined. The governor drives
            overdue ones again after a grace period. If the number stays: lag of the observer, the analyzer or the
            evolver, then their logs. What was given up, and may be redriven: `smartbrain quarantine list`.
            """,
        ),
    ),
    panels=(
        Panel(
            LOST_OR_LATE,
            "Turns without outcome",
            "Accepted turns whose outcome is overdue. Anything but 0 is looked into.",
            "short",
            (Series("max(smartbrain_turns_without_outcome)", "turns"),),
            width=6,
            steps=(("green", None), ("red", 1)),
        ),
    ),
)
OUTCOME_SECONDS = make_histogram(
    "smartbrain_outcome_seconds",
    "From commit to outcome. Target: p95 under 1.",
    buckets=(0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0),
    alerts=(
        Alert(
            "OutcomeSlow",
            "ticket",
            figure="settled_p95_s",
            expr="histogram_quantile(0.95, sum by (le) (rate(smartbrain_outcome_seconds_bucket[10m]))) > 10",
            after="10m",
            summary="p95 from commit to outcome is {{ $value }} s",
            action="Find the stage with lag; a slow model delays no outcome.",
            runbook="""
            Find the stage with lag on the dashboard of the pipeline. Corrections do not wait for it: compose
            applies them at once.
            """,
        ),
    ),
    panels=(Panel(TURNS, "From commit to outcome", "How long until a turn is learnt.", width=12),),
)
RESOURCES = make_counter(
    "smartbrain_resources",
    "References and products of turns by what became of them: pending, ingested, skipped, failed.",
    remedy="failed: GET /v1/resources says why.",
    labels=("state",),
    from_start=("pending", "ingested", "skipped", "failed"),
    panels=(Panel(TURNS, "References and products of turns", "By what became of them. GET /v1/resources says why."),),
)
