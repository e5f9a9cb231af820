"""Logs without user text, and every metric with what it means and what to do about it."""

import logging
import os
import sys
import traceback
from typing import TextIO, cast

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, Counter, Gauge, Histogram

FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METRICS_TYPE = CONTENT_TYPE_LATEST
"""As what /metrics is declared and sent."""
HOUR, DAY = 3600.0, 86_400.0

EVENTS_CONSUMED = Counter(
    "smartbrain_events_consumed",
    "Events handled, repeated deliveries included. Flat while turns arrive: the worker is stuck, see its log.",
    ["service", "topic"],
)
EVENTS_FAILED = Counter(
    "smartbrain_events_failed",
    "Attempts that raised; each is tried again. Rising: read the log event handler_failed.",
    ["service", "topic", "error"],
)
EVENTS_DEAD_LETTERED = Counter(
    "smartbrain_events_dead_lettered",
    "Events set aside for good. Any: read <topic>.dlq and x-error, mend, commit the turn again under a new key.",
    ["service", "topic"],
)
CONSUMER_LAG = Gauge(
    "smartbrain_consumer_lag",
    "Events that wait for this worker. Growing: add workers of this kind, up to the topic's partitions.",
    ["service", "topic"],
)
PARTITIONS_STALLED = Gauge(
    "smartbrain_consumer_stalled_partitions",
    "Partitions that this worker does not go on in though more has been written. Any: the log event partition_stalled"
    " names topic, partition and offset; see the alert ConsumerStalled.",
    ["service", "topic"],
)
TEXTS_KEPT = Gauge(
    "smartbrain_texts_kept",
    "Answers about texts that this process keeps in memory. All go with any erasure; else it did not hear of it.",
)
OUTBOX_ROWS = Gauge("smartbrain_outbox_rows", "Rows that wait for the relay. Growing: is the broker up?")
OUTBOX_AGE = Gauge("smartbrain_outbox_age_seconds", "Age of the oldest unsent row. Over 5: is a relay running?")
OUTBOX_FAILED = Gauge("smartbrain_outbox_failed_rows", "Rows that the broker refused for good. Any: see last_error.")
RELAY_PUBLISHED = Counter("smartbrain_relay_published", "Outbox rows published and deleted.", ["topic"])
HANDLER_SECONDS = Histogram(
    "smartbrain_handler_seconds",
    "Time to handle the events of one user that arrived together.",
    ["service", "topic"],
    buckets=FAST,
)
COMPOSE_SECONDS = Histogram(
    "smartbrain_compose_seconds",
    "Time to compose one package. Target: p95 under 0.2.",
    ["transport"],
    buckets=FAST,
)
COMPOSE_DEGRADED = Counter(
    "smartbrain_compose_degraded", "Packages that lacked something, by what. See degraded_reason.", ["reason"]
)
TEXTS_HELD_BACK = Counter(
    "smartbrain_texts_held_back",
    "Texts left out of a package or a search, or cut, by source (own, foreign) and rule. Many learned: what people"
    " write may read like orders; see held_back in explain and smartbrain eval natural; policy compose.sanitize.",
    ["source", "rule"],
)
PLANS_ASKED = Counter(
    "smartbrain_plans_asked",
    "Messages whose plan a model was to improve, by what came of it: answered, cached, late, failed. Mostly late: the"
    " model is too slow for planner_deadline_ms, use a smaller one or the rules. Mostly failed: see model_failures.",
    ["outcome"],
)
PLAN_SECONDS = Histogram(
    "smartbrain_plan_seconds", "Time that a package waited for the model's plan, cached ones included.", buckets=FAST
)
RERANKS = Counter(
    "smartbrain_reranks",
    "Lists that a reranker was to order, by what came of it: ok, skipped, timeout, failed. Mostly skipped or timeout:"
    " it is too slow for rerank_deadline_ms, lower rerank_top_n or use lexical.",
    ["reranker", "outcome"],
)
KNOWLEDGE_CALLS = Counter(
    "smartbrain_knowledge_calls",
    "Calls of the knowledge side (retrieve, ingest, delete) by what came of them: ok, cached, or why there was no"
    " answer. Mostly timeout: raise knowledge.deadline_ms or speed it up; circuit_open: it is down or lies, see its"
    " own log; refused: it does not take our plans or resources.",
    ["operation", "outcome"],
)
KNOWLEDGE_SECONDS = Histogram(
    "smartbrain_knowledge_seconds", "Time of one call of the knowledge side.", ["operation"], buckets=FAST
)
KNOWLEDGE_CONFLICTS = Counter(
    "smartbrain_knowledge_conflicts",
    "Preferences that were left out of a package because a rule of the enterprise forbids them. Many: see dropped"
    " reasons conflict_knowledge in debug.explain; policy knowledge.precedence.",
)
RESOURCES = Counter(
    "smartbrain_resources",
    "References and products of turns by what became of them: pending, ingested, skipped, failed. failed: GET"
    " /v1/resources says why.",
    ["state"],
)
INJECTIONS_DROPPED = Counter(
    "smartbrain_injections_dropped",
    "Packages whose memories were not recorded, so that nothing is learnt from how they were received, by why."
    " waiting: raise injections_waiting_max or speed up the database; refused: see the log event injections_refused;"
    " stopped: the database was away when compose stopped.",
    ["reason"],
)
AGENT_HINTS = Counter(
    "smartbrain_agent_hints",
    "Packages that tell the agent of its own experience. None though tools are called: smartbrain experience; policy"
    " compose.agent_hints.",
)
EXPERIENCE_SECONDS = Histogram(
    "smartbrain_experience_seconds",
    "Time of one round in which what agents have learnt is counted anew. Near evolution.every_s: raise it, or count"
    " fewer days.",
    buckets=(*FAST, 30.0, 60.0, 300.0),
)
PROMOTIONS = Counter(
    "smartbrain_promotions",
    "Memories that qualified to be offered to the enterprise side and decisions on them, by status. Mostly"
    " sanitize_failed or rejected: those memories are not for others; see smartbrain promotions list.",
    ["status"],
)
RERANK_SECONDS = Histogram("smartbrain_rerank_seconds", "Time of one reranked list.", ["reranker"], buckets=FAST)
TURNS_COMMITTED = Counter("smartbrain_turns_committed", "Turns made durable.", ["transport"])
TURNS_REFUSED = Counter("smartbrain_turns_refused", "Commits refused, by error code.", ["reason"])
TURNS_WITHOUT_OUTCOME = Gauge(
    "smartbrain_turns_without_outcome",
    "Accepted turns whose outcome is overdue. Not back to 0: a worker is down, or see the quarantine table.",
)
OUTCOME_SECONDS = Histogram(
    "smartbrain_outcome_seconds",
    "From commit to outcome. Target: p95 under 1.",
    buckets=(0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0),
)
REDRIVEN = Counter(
    "smartbrain_redriven",
    "Work driven again from state because its event was lost. Rising: the broker loses data.",
    ["kind"],
)
ANALYSIS_ADVICE = Counter(
    "smartbrain_analysis_advice",
    "Verdicts on a memory beside a statement for which the rules found none, by whom: model or vector; `near` only has"
    " the two compared. Many of same by vector: look at some in proposals.evidence, and raise analysis.similarity.",
    ["by", "verdict"],
)
ANALYSIS_WITHOUT = Counter(
    "smartbrain_analysis_without",
    "Statements that were related by the rules alone though a model was to help, by why: embedding_unavailable,"
    " vectors_unavailable (pgvector is missing), model_unavailable, model_answer_malformed, model_budget_used_up."
    " Rising: see smartbrain_model_failures, smartbrain answers, or the daily shares of observer.",
    ["reason"],
)
UPKEEP_DONE = Counter(
    "smartbrain_upkeep_done",
    "What was done to memories beside statements, by job: feedback, fuse, calibration, consolidation, outdated,"
    " refreshed, expiry, misses. Many of fuse or misses: packages carry what does not help, see the upkeep table.",
    ["job"],
)
UPKEEP_FAILED = Counter(
    "smartbrain_upkeep_failed",
    "Rounds of upkeep of one user that raised; the user waits for the next change or a day. Any: log event"
    " upkeep_failed.",
)
UPKEEP_SECONDS = Histogram(
    "smartbrain_upkeep_seconds", "Time of one round of upkeep of one user, under the user's lock.", buckets=FAST
)
UPKEEP_WAITING = Gauge(
    "smartbrain_upkeep_waiting",
    "Users who were found to wait for a round of upkeep and have not had it yet. Never 0: more evolvers, or a greater"
    " evolution.every_s.",
)
MODEL_CALL_SECONDS = Histogram("smartbrain_model_call_seconds", "Time of one model call.", ["model", "operation"])
MODEL_FAILURES = Counter("smartbrain_model_failures", "Model calls that failed.", ["model", "reason"])
MODEL_CALLS = Counter(
    "smartbrain_model_calls",
    "Questions to a model by what came of them: answered, malformed, broken_off, or why it could not be asked. Mostly"
    " not answered: see ModelFails; mostly malformed: smartbrain answers shows what it said.",
    ["purpose", "model", "outcome"],
)
MODEL_REPAIRS = Counter(
    "smartbrain_model_repairs",
    "Answers that fitted only when asked again. More than one in ten: the model is too small for the prompt; each costs"
    " a second call.",
    ["purpose", "model"],
)
MODEL_TOKENS = Counter(
    "smartbrain_model_tokens",
    "Tokens that models read (in) and wrote (out), failed calls included. Too many: lower"
    " observer.model_tokens_per_day, or set observer.use_model to false.",
    ["purpose", "model", "direction"],
)
MODEL_SECONDS = Counter(
    "smartbrain_model_seconds",
    "Time spent waiting for models. Near one second a second for each observer: the model is the bottleneck; a smaller"
    " one, more of them, or a lower observer.model_seconds_per_day.",
    ["purpose", "model"],
)
MODEL_ANSWERS_KEPT = Counter(
    "smartbrain_model_answers_kept",
    "Answers that did not fit after the repair, kept for 7 days; the rules alone read those turns. Any: smartbrain"
    " answers --user; many: another model, or the prompt before (observer.extract_prompt).",
    ["purpose", "model"],
)
MODEL_TURNS_SKIPPED = Counter(
    "smartbrain_model_turns_skipped",
    "Turns that the rules read alone, by why no model was asked: late (they had waited longer than"
    " observer.model_lag_max_s). Rising: the model is too slow for the load; a smaller one, more of them, or more"
    " observers; the newest turns are asked about first.",
    ["reason"],
)
MODEL_STEP_SECONDS = Histogram(
    "smartbrain_model_step_seconds",
    "From the rules' reading of a turn until what a model adds to it is written. Near observer.model_lag_max_s: the"
    " model is too slow for the load, see smartbrain_model_turns_skipped.",
    buckets=(0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0),
)
MODEL_BUDGET_USED_UP = Counter(
    "smartbrain_model_budget_used_up",
    "Turns that the rules read alone since the day's share of the user or the tenant was used up. Not wanted: raise"
    " observer.model_tokens_per_day or model_seconds_per_day, or those of the tenant.",
)
ERASURES = Gauge(
    "smartbrain_erasures",
    "Erasures that are not completed, by status. failed or retry_pending that stays: tombstones.error; escalated: see"
    " the alert ErasureEscalated.",
    ["status"],
)
ERASURE_SLA_REMAINING = Gauge(
    "smartbrain_erasure_sla_remaining",
    "The smallest share of the time up to its deadline that an open erasure has left, below 0 past it; 1 without any."
    " Under 0.25: see the alert ErasureDueSoon.",
)
ERASURE_SLA_REMAINING.set(1)
ERASURES_DUE = Gauge(
    "smartbrain_erasures_due",
    "Open erasures whose time runs out, each at one level: warn, critical (erasure.profiles), overdue. Any: see the"
    " alert of that level.",
    ["level"],
)
ERASURE_SECONDS = Histogram(
    "smartbrain_erasure_seconds",
    "From request to completed. Hours: see smartbrain_erasure_failures and the lag of erasure.",
    buckets=(1.0, 5.0, 30.0, 60.0, 300.0, 1800.0, HOUR, 6 * HOUR, DAY, 3 * DAY, 7 * DAY, 10 * DAY, 15 * DAY),
)
ERASURE_ROWS = Counter("smartbrain_erasure_rows", "Rows deleted or emptied by erasures.", ["store"])
ERASURE_RESIDUE = Counter(
    "smartbrain_erasure_residue",
    "Rows that the scan after an erasure still found; it is not completed then. Any: see the alert ErasureResidue.",
)
ERASURE_FAILURES = Counter(
    "smartbrain_erasure_failures",
    "Steps of erasures that failed; each is tried again. Rising: is that store up? tombstones.error names the error.",
    ["store"],
)
EVOLUTION_BLOCKED = Counter(
    "smartbrain_evolution_blocked",
    "Observations that became no memory because an erasure covers them. Many: an import of what is being erased.",
)
TURNS_DROPPED_BY_ERASURE = Counter(
    "smartbrain_turns_dropped_by_erasure",
    "Turns on their way that an erasure overtook: nothing is learnt from them. Many: somebody imports what is being"
    " erased.",
)


def configure_logs(level: str = "info", *, human: bool = False, stream: TextIO | None = None) -> None:
    """From here on logs go to standard error or `stream`: JSON lines, or readable ones for a person at a terminal."""
    colours = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    render: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=colours) if human else structlog.processors.JSONRenderer()
    )
    stamp = "%Y-%m-%d %H:%M:%S" if human else "iso"
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt=stamp, utc=not human),
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=lambda *_: structlog.PrintLogger(
            stream or sys.stderr
        ),  # as it is then: a caller may have replaced it
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, stream=stream or sys.stderr, format="%(levelname)s %(name)s %(message)s")
    logging.getLogger("aiokafka").setLevel(logging.ERROR)


def frames(error: BaseException) -> dict[str, str]:
    """What broke and where, as log fields: never the message, which may quote what a user said."""
    where = traceback.extract_tb(error.__traceback__)[-6:]
    return {
        "error": type(error).__name__,
        "at": " > ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in where),
    }


def logger() -> structlog.typing.FilteringBoundLogger:
    """A logger: a fixed event name, then fields; never user text, never a secret."""
    return cast("structlog.typing.FilteringBoundLogger", structlog.get_logger())
