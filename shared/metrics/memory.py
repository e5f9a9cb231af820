"""Statements and memories: analysis, upkeep, experience, promotion."""

from shared.metrics.catalogue import FAST, make_counter, make_gauge, make_histogram

ANALYSIS_ADVICE = make_counter(
    "smartbrain_analysis_advice",
    (
        "Verdicts on a memory beside a statement for which the rules found none, by whom: model or"
        " vector; `near` only has the two compared."
    ),
    remedy="Many of same by vector: look at some in proposals.evidence, and raise analysis.similarity.",
    labels=("by", "verdict"),
)
ANALYSIS_WITHOUT = make_counter(
    "smartbrain_analysis_without",
    (
        "Statements that were related by the rules alone though a model was to help, by why:"
        " embedding_unavailable, vectors_unavailable (pgvector is missing), model_unavailable,"
        " model_answer_malformed, model_budget_used_up."
    ),
    remedy="Rising: see smartbrain_model_failures, smartbrain answers, or the daily shares of observer.",
    labels=("reason",),
)
UPKEEP_DONE = make_counter(
    "smartbrain_upkeep_done",
    (
        "What was done to memories beside statements, by job: feedback, fuse, calibration,"
        " consolidation, outdated, refreshed, expiry, misses."
    ),
    remedy="Many of fuse or misses: packages carry what does not help, see the upkeep table.",
    labels=("job",),
)
UPKEEP_FAILED = make_counter(
    "smartbrain_upkeep_failed",
    "Rounds of upkeep of one user that raised; the user waits for the next change or a day.",
    remedy="Any: log event upkeep_failed.",
)
UPKEEP_SECONDS = make_histogram(
    "smartbrain_upkeep_seconds", "Time of one round of upkeep of one user, under the user's lock.", buckets=FAST
)
UPKEEP_WAITING = make_gauge(
    "smartbrain_upkeep_waiting",
    "Users who were found to wait for a round of upkeep and have not had it yet.",
    remedy="Never 0: more evolvers, or a greater evolution.every_s.",
)
EXPERIENCE_SECONDS = make_histogram(
    "smartbrain_experience_seconds",
    "Time of one round in which what agents have learnt is counted anew.",
    remedy="Near evolution.every_s: raise it, or count fewer days.",
    buckets=(*FAST, 30.0, 60.0, 300.0),
)
PROMOTIONS = make_counter(
    "smartbrain_promotions",
    "Memories that qualified to be offered to the enterprise side and decisions on them, by status; `written`:"
    " with the knowledge side.",
    remedy=(
        "Mostly sanitize_failed or rejected: those memories are not for others; see smartbrain promotions list."
        " write_failed: its write_reason says why; then smartbrain promotions retry."
    ),
    labels=("status",),
)
