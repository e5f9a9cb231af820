"""Packages: latency, missing parts, and the contributions of planner, reranker and knowledge."""

from shared.metrics.catalogue import (
    ARMS,
    FAST,
    PACKAGES,
    Alert,
    Panel,
    Series,
    make_counter,
    make_histogram,
    show_quantile,
    show_rate,
)

COMPOSE_SECONDS = make_histogram(
    "smartbrain_compose_seconds",
    "Time to compose one package. Target: p95 under 0.2.",
    labels=("transport",),
    from_start=("http", "kafka"),
    buckets=FAST,
    alerts=(
        Alert(
            "ComposeSlow",
            "ticket",
            figure="package_p95_s",
            expr=(
                "histogram_quantile(0.95, sum by (le, transport) (rate(smartbrain_compose_seconds_bucket[5m]))) > 0.2"
            ),
            after="10m",
            summary="p95 of compose over {{ $labels.transport }} is {{ $value }} s",
            action="Look at PostgreSQL first, then at the embedding model's time.",
            runbook="""
            PostgreSQL first (load, cache, long transactions), then the time of the embedding model, which has a
            deadline of its own. With `planner: model` or a reranker: `smartbrain_plan_seconds` and
            `smartbrain_rerank_seconds` say what they add; lower their deadlines, or go back to `rules` and
            `none`.
            """,
        ),
    ),
    panels=(
        Panel(
            PACKAGES,
            "Compose: time",
            "Target: p95 under 200 ms without generation.",
            "s",
            (
                show_quantile(0.5, "smartbrain_compose_seconds", "transport", legend="p50 {{transport}}"),
                show_quantile(0.95, "smartbrain_compose_seconds", "transport", legend="p95 {{transport}}"),
            ),
        ),
        Panel(
            PACKAGES,
            "Compose: packages a second",
            "By transport, and those that tell the agent of its own experience.",
            "ops",
            (
                show_rate("smartbrain_compose_seconds_count", "transport"),
                Series("sum(rate(smartbrain_agent_hints_total[$__rate_interval]))", "with experience"),
            ),
        ),
    ),
)
COMPOSE_DEGRADED = make_counter(
    "smartbrain_compose_degraded",
    "Packages that lacked something, by what.",
    remedy="See degraded_reason.",
    labels=("reason",),
    alerts=(
        Alert(
            "ComposeDegraded",
            "ticket",
            figure="packages_degraded_share",
            expr=(
                "sum by (reason) (rate(smartbrain_compose_degraded_total[10m])) > 0.1 *"
                " scalar(sum(rate(smartbrain_compose_seconds_count[10m]))) > 0"
            ),
            after="10m",
            summary="More than a tenth of the packages lack {{ $labels.reason }}",
            action="The reason names the part that did not answer in time.",
            runbook="""
            The label `reason` is the `degraded_reason` of the packages. `query_rewrite_failed`, `rerank_timeout`
            and `rerank_failed`: the package is complete, but a model that policy wants did not help. See
            ModelFails; a model that is only slow shows in `smartbrain_plans_asked_total{outcome="late"}` and
            `smartbrain_reranks_total`.
            """,
        ),
    ),
    panels=(Panel(PACKAGES, "Compose: what was missing", "Packages that lack something, by degraded_reason."),),
)
TEXTS_HELD_BACK = make_counter(
    "smartbrain_texts_held_back",
    "Texts left out of a package or a search, or cut, by source (own, foreign) and rule.",
    remedy=(
        "Many learned: what people write may read like orders; see held_back in explain and"
        " smartbrain eval natural; policy compose.sanitize."
    ),
    labels=("source", "rule"),
    from_start=(("own", "learned"), ("foreign", "learned")),
    panels=(
        Panel(
            PACKAGES,
            "Texts and preferences left out",
            "Texts by source and screening rule; preferences that a rule of the enterprise forbids.",
            queries=(
                show_rate("smartbrain_texts_held_back_total", "source", "rule"),
                Series("sum(rate(smartbrain_knowledge_conflicts_total[$__rate_interval]))", "forbidden"),
            ),
        ),
    ),
)
PLANS_ASKED = make_counter(
    "smartbrain_plans_asked",
    ("Messages whose plan a model was to improve, by what came of it: answered, cached, late, failed."),
    remedy=(
        "Mostly late: the model is too slow for planner_deadline_ms, use a smaller one or the rules."
        " Mostly failed: see model_failures."
    ),
    labels=("outcome",),
    from_start=("answered", "cached", "late", "failed"),
    panels=(
        Panel(
            ARMS,
            "Planner and reranker: what came of it",
            "Plans by model and reranked lists, by outcome; 0 where policy has neither.",
            "ops",
            (
                show_rate("smartbrain_plans_asked_total", "outcome", legend="plan {{outcome}}"),
                show_rate("smartbrain_reranks_total", "reranker", "outcome"),
            ),
            width=12,
        ),
    ),
)
PLAN_SECONDS = make_histogram(
    "smartbrain_plan_seconds",
    "Time that a package waited for the model's plan, cached ones included.",
    buckets=FAST,
    panels=(
        Panel(
            ARMS,
            "Planner and reranker: time, p95",
            "What they add to a package.",
            "s",
            (
                show_quantile(0.95, "smartbrain_plan_seconds", legend="plan"),
                show_quantile(0.95, "smartbrain_rerank_seconds", "reranker"),
            ),
            width=12,
        ),
    ),
)
RERANKS = make_counter(
    "smartbrain_reranks",
    "Lists that a reranker was to order, by what came of it: ok, skipped, timeout, failed.",
    remedy=("Mostly skipped or timeout: it is too slow for rerank_deadline_ms, lower rerank_top_n or use lexical."),
    labels=("reranker", "outcome"),
)
RERANK_SECONDS = make_histogram(
    "smartbrain_rerank_seconds", "Time of one reranked list.", labels=("reranker",), buckets=FAST
)
KNOWLEDGE_CALLS = make_counter(
    "smartbrain_knowledge_calls",
    (
        "Calls of the knowledge side (retrieve, ingest, delete) by what came of them: ok, cached, or"
        " why there was no answer."
    ),
    remedy=(
        "Mostly timeout: raise knowledge.deadline_ms or speed it up; circuit_open: it is down or"
        " lies, see its own log; refused: it does not take our plans or resources."
    ),
    labels=("operation", "outcome"),
    from_start=(("retrieve", "ok"), ("ingest", "ok"), ("delete", "ok")),
    panels=(Panel(ARMS, "Knowledge side: calls", "By operation and what came of it.", width=12),),
)
KNOWLEDGE_SECONDS = make_histogram(
    "smartbrain_knowledge_seconds",
    "Time of one call of the knowledge side.",
    labels=("operation",),
    from_start=("retrieve", "ingest", "delete"),
    buckets=FAST,
    panels=(Panel(ARMS, "Knowledge side: time, p95", "By operation. Target: within knowledge.deadline_ms.", width=12),),
)
KNOWLEDGE_FOREIGN = make_counter(
    "smartbrain_knowledge_foreign",
    "Results of the knowledge side that were somebody else's, and dropped.",
    remedy="Any: that server does not keep to who asks. See retrieval_plan.md, and correct it before you go on.",
    alerts=(
        Alert(
            "KnowledgeOfOthers",
            "page",
            expr="sum(increase(smartbrain_knowledge_foreign_total[10m])) > 0",
            summary="the knowledge server answered with {{ $value }} results of other users",
            action="Nothing was shown. Have the server filter by x-user-id and x-org-id, as its contract says.",
            runbook="""
            Each result says in `metadata.owner` whose it is, and SmartBrain drops what is somebody else's. The server
            does not filter by the headers `x-tenant-id`, `x-org-id` and `x-user-id`, though it promises
            `separates_users`. A result that lacks its owner cannot be told from the tenant's own: until it is
            corrected, set `knowledge.ask: never`.
            """,
        ),
    ),
)
KNOWLEDGE_CONFLICTS = make_counter(
    "smartbrain_knowledge_conflicts",
    "Preferences that were left out of a package because a rule of the enterprise forbids them.",
    remedy="Many: see dropped reasons conflict_knowledge in debug.explain; policy knowledge.precedence.",
)
INJECTIONS_DROPPED = make_counter(
    "smartbrain_injections_dropped",
    ("Packages whose memories were not recorded, so that nothing is learnt from how they were received, by why."),
    remedy=(
        "waiting: raise injections_waiting_max or speed up the database; refused: see the log event"
        " injections_refused; stopped: the database was away when compose stopped."
    ),
    labels=("reason",),
    from_start=("waiting", "refused", "stopped"),
    panels=(Panel(PACKAGES, "Packages not recorded", "Nothing is learnt from how they are received. By why."),),
)
AGENT_HINTS = make_counter(
    "smartbrain_agent_hints",
    "Packages that tell the agent of its own experience.",
    remedy="None though tools are called: smartbrain experience; policy compose.agent_hints.",
)
