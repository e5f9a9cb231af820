"""Statements and memories: analysis, upkeep, experience, promotion."""

from shared.metrics.catalogue import (
    FAST,
    MEMORIES,
    Panel,
    Series,
    make_counter,
    make_gauge,
    make_histogram,
    show_quantile,
)

ANALYSIS_ADVICE = make_counter(
    "smartbrain_analysis_advice",
    "Verdicts on a memory beside a statement for which the rules found none, by whom: model or vector; `near` only has"
    " the two compared.",
    remedy="Many of same by vector: look at some in proposals.evidence, and raise analysis.similarity.",
    labels=("by", "verdict"),
    from_start=(("vector", "same"), ("vector", "near")),
    panels=(
        Panel(
            MEMORIES,
            "Verdicts where the rules had none",
            "By whom and on what. Many of same by vector: analysis.similarity may be too low.",
        ),
    ),
)
ANALYSIS_WITHOUT = make_counter(
    "smartbrain_analysis_without",
    "Statements that were related by the rules alone though a model was to help, by why: embedding_unavailable,"
    " vectors_unavailable (pgvector is missing), model_unavailable, model_answer_malformed, model_budget_used_up.",
    remedy="Rising: see smartbrain_model_failures, smartbrain answers, or the daily shares of observer.",
    labels=("reason",),
    from_start=(
        "embedding_unavailable",
        "vectors_unavailable",
        "model_unavailable",
        "model_answer_malformed",
        "model_budget_used_up",
    ),
    panels=(Panel(MEMORIES, "Statements related by the rules alone", "Though a model was to help. By why."),),
)
UPKEEP_DONE = make_counter(
    "smartbrain_upkeep_done",
    "What was done to memories beside statements, by job: feedback, fuse, calibration, consolidation, outdated,"
    " refreshed, expiry, misses.",
    remedy="Many of fuse or misses: packages carry what does not help, see the upkeep table.",
    labels=("job",),
    from_start=("feedback", "fuse", "calibration", "consolidation", "outdated", "refreshed", "expiry", "misses"),
    panels=(
        Panel(MEMORIES, "Upkeep by job", "Many of fuse or misses: packages carry what does not help."),
        Panel(
            MEMORIES,
            "Upkeep: who waits, what failed",
            "Users who wait for a round: never 0 needs more evolvers. A failed round is tried again within a day.",
            queries=(
                Series("max(smartbrain_upkeep_waiting)", "users waiting"),
                Series("sum(increase(smartbrain_upkeep_failed_total[$__rate_interval]))", "rounds failed"),
            ),
            unit="short",
        ),
    ),
)
UPKEEP_FAILED = make_counter(
    "smartbrain_upkeep_failed",
    "Rounds of upkeep of one user that raised; the user waits for the next change or a day.",
    remedy="Any: log event upkeep_failed.",
)
UPKEEP_SECONDS = make_histogram(
    "smartbrain_upkeep_seconds",
    "Time of one round of upkeep of one user, under the user's lock.",
    buckets=FAST,
    panels=(
        Panel(
            MEMORIES,
            "Rounds of upkeep and experience: time, p95",
            "Upkeep of one user holds the user's lock. Experience near evolution.every_s: count fewer days.",
            queries=(
                show_quantile(0.95, "smartbrain_upkeep_seconds", legend="upkeep"),
                show_quantile(0.95, "smartbrain_experience_seconds", legend="experience"),
            ),
        ),
    ),
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
    remedy="Mostly sanitize_failed or rejected: those memories are not for others; see smartbrain promotions list."
    " write_failed: its write_reason says why; then smartbrain promotions retry.",
    labels=("status",),
    from_start=("pending_approval", "sanitize_failed", "approved", "rejected", "written", "write_failed", "expired"),
    panels=(Panel(MEMORIES, "Promotions", "Offered, decided and written to the knowledge side, by status."),),
)
