"""Erasures: progress, remaining time, and obstacles."""

from shared.metrics.catalogue import (
    DAY,
    DEADLINES,
    ERASING,
    HOUR,
    Alert,
    Panel,
    Series,
    make_counter,
    make_gauge,
    make_histogram,
)

ERASURES = make_gauge(
    "smartbrain_erasures",
    "Erasures that are not completed, by status.",
    remedy=("failed or retry_pending that stays: tombstones.error; escalated: see the alert ErasureEscalated."),
    labels=("status",),
    alerts=(
        Alert(
            "ErasureEscalated",
            "page",
            figure="erasures_escalated",
            expr=(
                'max(smartbrain_erasures{status="escalated"}) > 0 or max(smartbrain_erasures_due{level="overdue"}) > 0'
            ),
            after="1m",
            summary="{{ $value }} erasures missed their deadline or used up their attempts",
            action=(
                "Mend what tombstones.error names, then smartbrain erase --requeue; tell whoever answers for"
                " data protection."
            ),
            runbook="""
            The deadline has passed, or an attempt failed after the last of `attempts_max` pauses. The worker
            leaves an escalated erasure alone: mend what `error` says, then `smartbrain erase -u USER --tenant
            TENANT --requeue ID --by YOU --reason "what was mended"` (or `POST /v1/erasures/ID/requeue`) and it
            goes on where it stopped, with all its attempts; the deadline does not escalate it a second time, used
            up attempts do. `smartbrain erase -u USER --verify ID` shows that it is done. A missed deadline may
            have to be reported: tell whoever answers for data protection. Data stays hidden and the fence stays
            up.
            """,
        ),
    ),
    panels=(
        Panel(
            DEADLINES,
            "Erasures open and due",
            "By status, and those whose time runs out, by level.",
            "short",
            (
                Series("max by (status) (smartbrain_erasures)", "{{status}}"),
                Series("max by (level) (smartbrain_erasures_due)", "due: {{level}}"),
            ),
            width=9,
        ),
    ),
)
ERASURE_SLA_REMAINING = make_gauge(
    "smartbrain_erasure_sla_remaining",
    (
        "The smallest share of the time up to its deadline that an open erasure has left, below 0 past"
        " it; 1 without any."
    ),
    remedy="Under 0.25: see the alert ErasureDueSoon.",
    panels=(
        Panel(
            DEADLINES,
            "Least time left",
            "Of the open erasures, the smallest share of the time up to the deadline. 100% without any.",
            "percentunit",
            (Series("min(smartbrain_erasure_sla_remaining)", ""),),
            width=6,
            steps=(("red", None), ("orange", 0.1), ("green", 0.25)),
            least=None,
        ),
    ),
)
ERASURE_SLA_REMAINING.set(1)
ERASURES_DUE = make_gauge(
    "smartbrain_erasures_due",
    ("Open erasures whose time runs out, each at one level: warn, critical (erasure.profiles), overdue."),
    remedy="Any: see the alert of that level.",
    labels=("level",),
    alerts=(
        Alert(
            "ErasureDueSoon",
            "ticket",
            figure="erasures_warn",
            expr='max(smartbrain_erasures_due{level="warn"}) > 0',
            after="5m",
            summary="{{ $value }} erasures have used most of the time that they may take",
            action=(
                "Read status and error of the open tombstones; is the erasure worker behind, or does a store fail?"
            ),
            runbook="""
            Less than `warn_pct` (25%) of the time between request and deadline is left. An erasure takes seconds,
            so something has held it up for days: `SELECT tombstone_id, status, attempts, next_try_at,
            deadline_at, error FROM smart_brain.tombstones WHERE completed_at IS NULL ORDER BY deadline_at` as a
            superuser, or `smartbrain erase -u USER --verify` for one user's: states, errors, rows by store, a
            scan as of now. `queued`: is the worker up, does the relay publish? `retry_pending`: the store in
            `error` does not answer; `smartbrain_erasure_failures_total` counts by store. The data is hidden since
            the request and nothing new is learnt from it; what is late is the deletion.
            """,
        ),
        Alert(
            "ErasureCritical",
            "page",
            figure="erasures_critical",
            expr='max(smartbrain_erasures_due{level="critical"}) > 0',
            after="1m",
            summary="{{ $value }} erasures have little time left before their deadline",
            action="Mend what tombstones.error names now; the erasure goes on where it stopped.",
            runbook="""
            The same with less than `critical_pct` (10%) left: mend it now. The share is of plain time, weekends
            included. No need to begin again: done steps stay done, and an escalated one is requeued as below.
            """,
        ),
    ),
)
ERASURE_SECONDS = make_histogram(
    "smartbrain_erasure_seconds",
    "From request to completed.",
    remedy="Hours: see smartbrain_erasure_failures and the lag of erasure.",
    buckets=(1.0, 5.0, 30.0, 60.0, 300.0, 1800.0, HOUR, 6 * HOUR, DAY, 3 * DAY, 7 * DAY, 10 * DAY, 15 * DAY),
    panels=(Panel(DEADLINES, "From request to completed", "How long until nothing is left.", width=9),),
)
ERASURE_ROWS = make_counter(
    "smartbrain_erasure_rows",
    "Rows deleted or emptied by erasures.",
    labels=("store",),
    panels=(Panel(ERASING, "Rows erased a second", "By store.", "short", width=12),),
)
ERASURE_RESIDUE = make_counter(
    "smartbrain_erasure_residue",
    "Rows that the scan after an erasure still found; it is not completed then.",
    remedy="Any: see the alert ErasureResidue.",
    alerts=(
        Alert(
            "ErasureResidue",
            "page",
            expr="sum(increase(smartbrain_erasure_residue_total[1h])) > 0",
            summary="A scan after an erasure still found {{ $value }} rows",
            action=(
                "The log names the tables. Something wrote past the fence, or a step misses a table; stays"
                " hidden meanwhile."
            ),
            runbook="""
            The scan that follows the last step found rows that should be gone; the erasure is not completed. The
            worker's log names tables and numbers, never content. One repetition that ends the alert: a write was
            under way. The same table again: a step misses it, a new column or table, or one that role
            `smartbrain_erasure` may not read (no grant, no policy); this is a defect, write it down and mend it
            before the deadline. `smartbrain erase -u USER --verify ID` names tables and rows; once its attempts
            are used up it is escalated: requeue it as above.
            """,
        ),
    ),
)
ERASURE_FAILURES = make_counter(
    "smartbrain_erasure_failures",
    "Steps of erasures that failed; each is tried again.",
    remedy="Rising: is that store up? tombstones.error names the error.",
    labels=("store",),
    from_start=("knowledge", "residue", "worker"),
    panels=(
        Panel(
            ERASING,
            "Erasure: what went wrong or was held back",
            "Failed steps by store, rows that a scan still found, writes that the fence held back.",
            "short",
            (
                Series(
                    "sum by (store) (increase(smartbrain_erasure_failures_total[$__rate_interval]))",
                    "failed: {{store}}",
                ),
                Series("sum(increase(smartbrain_erasure_residue_total[$__rate_interval]))", "residue"),
                Series("sum(increase(smartbrain_evolution_blocked_total[$__rate_interval]))", "memories held back"),
                Series("sum(increase(smartbrain_turns_dropped_by_erasure_total[$__rate_interval]))", "turns dropped"),
            ),
            width=12,
        ),
    ),
)
EVOLUTION_BLOCKED = make_counter(
    "smartbrain_evolution_blocked",
    "Observations that became no memory because an erasure covers them.",
    remedy="Many: an import of what is being erased.",
)
TURNS_DROPPED_BY_ERASURE = make_counter(
    "smartbrain_turns_dropped_by_erasure",
    "Turns on their way that an erasure overtook: nothing is learnt from them.",
    remedy="Many: somebody imports what is being erased.",
)
