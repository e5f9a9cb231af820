"""The parts of a package: the arms of search, planning and ranking, and the use of tokens."""

from shared.metrics.catalogue import ARMS, BUDGET, FAST, Panel, Series, make_counter, make_histogram

ARM_RUNS = make_counter(
    "smartbrain_compose_arms",
    "Arms of packages and searches by how they did: ok, timeout, failed, skipped.",
    remedy="Mostly timeout: see smartbrain_compose_arm_seconds; failed: log event arm_failed.",
    labels=("arm", "status"),
    from_start=(("text", "ok"), ("vector", "ok"), ("rank", "ok")),
    panels=(
        Panel(
            ARMS,
            "Arms that were asked",
            "By what came of it. text: words, vector: meaning, entity: names, session: the end of a session, knowledge:"
            " the knowledge side, trigram: misspelt words, planner and rerank: models.",
        ),
    ),
)
ARM_SECONDS = make_histogram(
    "smartbrain_compose_arm_seconds",
    "Time of one arm of a package or a search.",
    remedy="The slowest arm is what a package waits for.",
    labels=("arm",),
    buckets=FAST,
    from_start=("text", "vector", "rank"),
    panels=(Panel(ARMS, "Time of arms, p95", "The slowest is what a package waits for."),),
)
ARM_CANDIDATES = make_counter(
    "smartbrain_compose_arm_candidates",
    "What the arms found, before anything was put in order or left out.",
    remedy="None of an arm: nobody has what it looks for, or it does not answer.",
    labels=("arm",),
    from_start=("text", "vector"),
    panels=(
        Panel(
            ARMS,
            "Candidates of an arm, on average",
            "What one arm finds for one package, before anything is left out.",
            "short",
            (
                Series(
                    "sum by (arm) (rate(smartbrain_compose_arm_candidates_total[$__rate_interval])) / sum by (arm)"
                    ' (rate(smartbrain_compose_arms_total{status="ok"}[$__rate_interval]) > 0)',
                    "{{arm}}",
                ),
            ),
        ),
    ),
)
PACKAGE_SHARE = make_histogram(
    "smartbrain_package_share",
    "What share of its token limit a package uses, by estimate.",
    remedy="Mostly near 1: packages are cut; see smartbrain_package_cut.",
    buckets=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0),
    panels=(
        Panel(
            BUDGET,
            "Share of the token limit that is used",
            "Half of the packages use less than p50, one in twenty more than p95.",
            "percentunit",
        ),
    ),
)
PACKAGE_TOKENS = make_counter(
    "smartbrain_package_tokens",
    "Tokens of packages by the slot that they fill, by estimate.",
    remedy="One slot takes nearly all: policy compose.budget.",
    labels=("slot",),
    panels=(
        Panel(
            BUDGET,
            "Tokens of a package, by slot",
            "On average. personal: memories, window: recent turns, user_turn: the message itself.",
            "short",
            (
                Series(
                    "sum by (slot) (rate(smartbrain_package_tokens_total[$__rate_interval])) / scalar(sum("
                    "rate(smartbrain_package_share_count[$__rate_interval])))",
                    "{{slot}}",
                ),
            ),
        ),
    ),
)
PACKAGE_CUT = make_counter(
    "smartbrain_package_cut",
    "Packages in which a slot had more to say than it had tokens for.",
    remedy="Many of personal or knowledge: raise the token limit of requests, or policy compose.budget.",
    labels=("slot",),
    from_start=("knowledge", "summary", "entities", "window", "personal"),
    panels=(Panel(BUDGET, "Slots that were cut", "Packages a second in which the slot had more to say than tokens."),),
)
