"""The outbox, the relay, and redrives."""

from shared.metrics.catalogue import LOST_OR_LATE, OUTBOX, Alert, Panel, Series, make_counter, make_gauge

OUTBOX_AGE = make_gauge(
    "smartbrain_outbox_age_seconds",
    "Age of the oldest unsent row, beside turns that are held back.",
    remedy="Over 5: is a relay running?",
    alerts=(
        Alert(
            "OutboxStalled",
            "page",
            figure="outbox_oldest_s",
            expr="max(smartbrain_outbox_age_seconds) > 30",
            after="1m",
            summary="The oldest outbox row is {{ $value }} s old",
            action="Is a relay running, and does Kafka take messages? Nothing is lost; it waits in PostgreSQL.",
            runbook="""
            Is a relay running? Does Kafka take messages? Rows stay in PostgreSQL and go out in order once it
            does.
            """,
        ),
    ),
    panels=(
        Panel(
            LOST_OR_LATE,
            "Oldest outbox row",
            "Over 30 s: is a relay running, does Kafka answer?",
            "s",
            (Series("max(smartbrain_outbox_age_seconds)", "age"),),
            width=6,
            steps=(("green", None), ("red", 30)),
        ),
        Panel(
            OUTBOX,
            "Age of the oldest outbox row",
            "How long what was committed waits to be published.",
            "s",
            (Series("max(smartbrain_outbox_age_seconds)", "age"),),
        ),
    ),
)
OUTBOX_FAILED = make_gauge(
    "smartbrain_outbox_failed_rows",
    "Rows that the broker refused for good.",
    remedy="Any: see last_error.",
    alerts=(
        Alert(
            "OutboxRefused",
            "page",
            figure="outbox_failed",
            expr="max(smartbrain_outbox_failed_rows) > 0",
            after="1m",
            summary="The broker refused {{ $value }} outbox rows for good",
            action="Read last_error of the row, mend the cause, let it go out again.",
            runbook="""
            The broker will never take these rows as they are: too large, or a topic that may not be written.
            `last_error` tells; [docs/operations.md](../docs/operations.md) has the statement that lets them go
            out again.
            """,
        ),
    ),
)
OUTBOX_ROWS = make_gauge(
    "smartbrain_outbox_rows",
    "Rows that wait for the relay, beside turns that are held back.",
    remedy="Growing: is the broker up?",
    panels=(
        Panel(
            OUTBOX,
            "Outbox rows",
            "What waits for the relay, and what the broker refused.",
            "short",
            (Series("max(smartbrain_outbox_rows)", "waiting"), Series("max(smartbrain_outbox_failed_rows)", "refused")),
        ),
    ),
)
TURNS_HELD = make_gauge(
    "smartbrain_turns_held",
    "Turns that wait in the outbox because the workers have others of their tenant.",
    remedy="Growing: a tenant commits more than the workers learn, or they stand still.",
    panels=(
        Panel(
            OUTBOX,
            "Turns held back",
            "What waits for other turns of its tenant. Growing while outcomes come: a tenant floods.",
            "short",
            (Series("max(smartbrain_turns_held)", "held back"),),
        ),
    ),
)
RELAY_PUBLISHED = make_counter(
    "smartbrain_relay_published",
    "Outbox rows published and deleted.",
    remedy="Flat while rows wait: is the broker up?",
    labels=("topic",),
    panels=(Panel(OUTBOX, "Published a second", "By topic."),),
)
REDRIVEN = make_counter(
    "smartbrain_redriven",
    "Work driven again from state because its event was lost.",
    remedy="Rising: the broker loses data.",
    labels=("kind",),
    from_start=("turn", "observation", "proposal", "resource", "promotion", "erasure"),
    alerts=(
        Alert(
            "WorkDrivenAgain",
            "ticket",
            figure="redriven_hour",
            expr="sum by (kind) (increase(smartbrain_redriven_total[1h])) > 20",
            summary="{{ $value }} of {{ $labels.kind }} had to be driven again within an hour",
            action="The broker loses messages, or a worker does not finish; compare with consumer lag.",
            runbook="""
            A few after a restart of Kafka are normal. A steady number means that the broker loses messages or a
            worker never finishes.
            """,
        ),
    ),
    panels=(
        Panel(
            OUTBOX,
            "Driven again from state",
            "Work whose event was lost.",
            "short",
            (Series("sum by (kind) (increase(smartbrain_redriven_total[$__rate_interval]))", "{{kind}}"),),
        ),
    ),
)
