"""Events and their consumers."""

from shared.metrics.catalogue import (
    ERASING,
    FAST,
    LOST_OR_LATE,
    WORKERS,
    Alert,
    Panel,
    Series,
    make_counter,
    make_gauge,
    make_histogram,
    show_quantile,
    show_rate,
    watch_from_outside,
)

EVENTS_DEAD_LETTERED = make_counter(
    "smartbrain_events_dead_lettered",
    "Events set aside for good.",
    remedy="Any: smartbrain dlq list and show, mend the cause, smartbrain dlq redrive.",
    labels=("service", "topic"),
    alerts=(
        Alert(
            "DeadLetters",
            "page",
            figure="given_up_lately",
            expr="sum by (service, topic) (increase(smartbrain_events_dead_lettered_total[15m])) > 0",
            summary="{{ $labels.service }} set aside events of {{ $labels.topic }}",
            action="List them with smartbrain dlq, mend the cause, redrive them.",
            runbook="""
            A message comes to `<topic>.dlq` when it cannot be read, or when a worker gave it up; the header
            `x-error` says why. `smartbrain dlq list` names them, `smartbrain dlq show` says what a redrive would
            do: [docs/operations.md](../docs/operations.md#dead-letters). If too large a share goes this way, the
            consumer pauses for 30 s (`/ready` says so) and tries again.
            """,
        ),
    ),
    panels=(
        Panel(
            LOST_OR_LATE,
            "Dead letters, last day",
            "Read with smartbrain dlq.",
            "short",
            (Series("sum(increase(smartbrain_events_dead_lettered_total[1d])) or vector(0)", "events"),),
            width=6,
            steps=(("green", None), ("red", 1)),
        ),
        Panel(
            WORKERS,
            "Dead letters",
            "By who gave up and what it gave up on.",
            "short",
            (
                Series(
                    "sum by (service, topic) (increase(smartbrain_events_dead_lettered_total[$__rate_interval]))",
                    "{{service}} {{topic}}",
                ),
            ),
        ),
    ),
)
watch_from_outside(
    alerts=(
        Alert(
            "ServiceMissing",
            "page",
            figure="services_silent",
            expr=(
                'up{job=~"compose|relay|observer|analyzer|evolver|librarian|erasure|governor"} == 0 or'
                ' absent(up{job="compose"}) or absent(up{job="relay"}) or absent(up{job="observer"}) or'
                ' absent(up{job="analyzer"}) or absent(up{job="evolver"}) or absent(up{job="librarian"}) or'
                ' absent(up{job="erasure"}) or absent(up{job="governor"})'
            ),
            after="1m",
            summary="{{ $labels.job }} is down",
            action="Read its log; /ready names the dependency that it waits for.",
            runbook="""
            `docker compose ps`, then the log of the service. `/ready` names the dependency that it waits for.
            Turns that Kafka holds and rows in the outbox wait; nothing is lost meanwhile. Without compose,
            clients over HTTP are refused.
            """,
        ),
    ),
    panels=(
        Panel(
            LOST_OR_LATE,
            "Services down",
            "Copies that do not answer a scrape.",
            "short",
            (Series("count(up == 0) or vector(0)", "down"),),
            width=6,
            steps=(("green", None), ("red", 1)),
        ),
    ),
)
PARTITIONS_STALLED = make_gauge(
    "smartbrain_consumer_stalled_partitions",
    "Partitions that this worker does not go on in though more has been written.",
    remedy=("Any: the log event partition_stalled names topic, partition and offset; see the alert ConsumerStalled."),
    labels=("service", "topic"),
    panels=(Panel(WORKERS, "Stalled partitions", "More was written there, and its consumer does not move."),),
    alerts=(
        Alert(
            "ConsumerStalled",
            "page",
            expr="max by (service, topic) (smartbrain_consumer_stalled_partitions) > 0",
            after="1m",
            summary="{{ $labels.service }} does not go on in {{ $value }} partitions of {{ $labels.topic }}",
            action=(
                "The log event partition_stalled names partition and offset; the events before it say what fails there."
            ),
            runbook="""
            More has been written to a partition, and its consumer has not moved for `delivery.stall_s`. The log
            event `partition_stalled` names topic, partition and offset; `batch_delivered_again`, `handler_failed`
            or `batch_not_set_aside` before it say why. Often the database or the dead-letter topic cannot be
            written (`/ready` names them). Batches that cannot be read are set aside and never stall a consumer. A
            worker that does nothing at all is helped by a restart: what it had not acknowledged comes again.
            """,
        ),
    ),
)
CONSUMER_LAG = make_gauge(
    "smartbrain_consumer_lag",
    "Events that wait for this worker.",
    remedy="Growing: add workers of this kind, up to the topic's partitions.",
    labels=("service", "topic"),
    alerts=(
        Alert(
            "ConsumerFallsBehind",
            "ticket",
            figure="lag_most",
            expr=(
                "max by (service, topic) (smartbrain_consumer_lag) > 1000 and max by (service, topic)"
                " (delta(smartbrain_consumer_lag[10m])) > 0"
            ),
            after="10m",
            summary="{{ $labels.service }} is {{ $value }} events behind on {{ $labels.topic }}",
            action="Start more copies of it, up to the number of partitions.",
            runbook="""
            More copies, up to the partitions. On `turn.extract` turns wait for a model, and nothing else does:
            see ModelTooSlow.
            """,
        ),
    ),
    panels=(Panel(WORKERS, "Events that wait", "Growing: start more copies."),),
)
EVENTS_FAILED = make_counter(
    "smartbrain_events_failed",
    "Attempts that raised; each is tried again.",
    remedy="Rising: read the log event handler_failed.",
    labels=("service", "topic", "error"),
    alerts=(
        Alert(
            "HandlersFail",
            "ticket",
            expr=(
                "sum by (service, topic) (rate(smartbrain_events_failed_total[5m])) > 0.05 * sum by (service,"
                " topic) (rate(smartbrain_events_consumed_total[5m])) and sum by (service, topic)"
                " (increase(smartbrain_events_failed_total[5m])) > 10"
            ),
            after="5m",
            summary="{{ $labels.service }} fails on more than one event in twenty",
            action="The label error names what; transient errors are tried again.",
            runbook="""
            The label `error` names the class. Transient errors are tried again with growing pauses; a steady rate
            means a dependency is ill.
            """,
        ),
    ),
    panels=(
        Panel(
            WORKERS,
            "Attempts that failed",
            "Each is tried again; by error.",
            "ops",
            (show_rate("smartbrain_events_failed_total", "service", "error"),),
        ),
    ),
)
EVENTS_CONSUMED = make_counter(
    "smartbrain_events_consumed",
    "Events handled, repeated deliveries included.",
    remedy="Flat while turns arrive: the worker is stuck, see its log.",
    labels=("service", "topic"),
    panels=(
        Panel(
            WORKERS,
            "Events handled a second",
            "Flat while turns arrive: the worker is stuck.",
            "ops",
            (show_rate("smartbrain_events_consumed_total", "service"),),
        ),
    ),
)
HANDLER_SECONDS = make_histogram(
    "smartbrain_handler_seconds",
    "Time to handle the events of one user that arrived together.",
    labels=("service", "topic"),
    buckets=FAST,
    panels=(
        Panel(
            WORKERS,
            "Time to handle, p95",
            "By service.",
            "s",
            (show_quantile(0.95, "smartbrain_handler_seconds", "service"),),
        ),
    ),
)
TEXTS_KEPT = make_gauge(
    "smartbrain_texts_kept",
    "Answers about texts that this process keeps in memory.",
    remedy="All go with any erasure; else it did not hear of it.",
    panels=(
        Panel(
            ERASING,
            "Answers kept in memory",
            "By service. All go with an erasure; one that keeps its own did not hear of it.",
            queries=(Series("max by (job) (smartbrain_texts_kept)", "{{job}}"),),
            width=12,
        ),
    ),
)
