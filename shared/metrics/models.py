"""Model calls, their cost and their results."""

from shared.metrics.catalogue import CALLS, COST, Alert, Panel, Series, make_counter, make_histogram, show_rate

MODEL_CALL_SECONDS = make_histogram(
    "smartbrain_model_call_seconds",
    "Time of one model call.",
    labels=("model", "operation"),
    panels=(Panel(CALLS, "Model calls: time, p95", "By model and operation.", width=12),),
)
MODEL_FAILURES = make_counter(
    "smartbrain_model_failures",
    "Model calls that failed.",
    labels=("model", "reason"),
    alerts=(
        Alert(
            "ModelFails",
            "ticket",
            expr=(
                'sum by (model) (rate(smartbrain_model_failures_total{reason!="circuit_open"}[10m])) > 0.2 *'
                " sum by (model) (rate(smartbrain_model_call_seconds_count[10m])) or sum by (model)"
                ' (increase(smartbrain_model_failures_total{reason="circuit_open"}[10m])) > 0'
            ),
            after="10m",
            summary="{{ $labels.model }} does not answer as it should",
            action="The label reason says how. Rules and lexical search carry on without it.",
            runbook="""
            The label `reason` says how:

            - `connection`, `timeout`, `server_error`, `bad_response`: the server is away, slow or ill; tried
              again within the call. A few timeouts are normal while a model is loaded: callers leave at their
              deadline, the load goes on
            - `model_missing`: `ollama pull` it
            - `bad_request`: it will fail again and is not tried again: the model is not made for what was asked,
              the prompt is longer than its context, the server refuses the schema or the text
            - `circuit_open`: five failures in five minutes; tried again after five more
            - `busy`: compose has as many plans under way as it allows; the model is too slow for planning
            - `malformed`: two answers in a row did not fit; the rules alone read the turn: see ModelUnreadable
            - `not_configured`: no model is set
            """,
        ),
    ),
    panels=(Panel(CALLS, "Model calls: failures", "By reason; malformed answers count.", width=12),),
)
MODEL_CALLS = make_counter(
    "smartbrain_model_calls",
    ("Questions to a model by what came of them: answered, malformed, broken_off, or why it could not be asked."),
    remedy=("Mostly not answered: see ModelFails; mostly malformed: smartbrain answers shows what it said."),
    labels=("purpose", "model", "outcome"),
    alerts=(
        Alert(
            "ModelUnreadable",
            "ticket",
            expr=(
                'sum by (model, purpose) (increase(smartbrain_model_calls_total{outcome="malformed"}[1h])) >'
                " 0.05 * sum by (model, purpose)"
                ' (increase(smartbrain_model_calls_total{outcome=~"answered|malformed"}[1h])) and sum by'
                ' (model, purpose) (increase(smartbrain_model_calls_total{outcome="malformed"}[1h])) > 5'
            ),
            after="10m",
            summary=("More than one answer in twenty of {{ $labels.model }} to {{ $labels.purpose }} cannot be read"),
            action="smartbrain answers --user shows what it said; another model, or the prompt before.",
            runbook="""
            Answers that did not fit even when asked again are kept for 7 days, secrets blanked: `smartbrain
            answers --user <id>`, or `SELECT user_id, prompt_version, model, problem FROM
            smart_brain.model_answers` as a superuser. Nothing is lost meanwhile: the rules read these turns, and
            their outcome says `model_answer_malformed`. `cut off` in the problem: the model talks too much, take
            another. Prose or broken JSON: Ollama is too old for structured output, or the model too small. After
            a change of `observer.extract_prompt`: go back to the one before.
            """,
        ),
    ),
    panels=(
        Panel(
            CALLS,
            "Models: what came of questions",
            "By outcome, with the turns that the rules read alone since a daily share was used up.",
            "ops",
            (
                show_rate("smartbrain_model_calls_total", "purpose", "outcome"),
                show_rate("smartbrain_model_repairs_total", "purpose", legend="{{purpose}} repaired"),
                Series("sum(rate(smartbrain_model_budget_used_up_total[$__rate_interval]))", "share used up"),
                show_rate("smartbrain_model_turns_skipped_total", "reason", legend="skipped, {{reason}}"),
            ),
        ),
    ),
)
MODEL_REPAIRS = make_counter(
    "smartbrain_model_repairs",
    "Answers that fitted only when asked again.",
    remedy="More than one in ten: the model is too small for the prompt; each costs a second call.",
    labels=("purpose", "model"),
)
MODEL_TOKENS = make_counter(
    "smartbrain_model_tokens",
    "Tokens that models read (in) and wrote (out), failed calls included.",
    remedy="Too many: lower observer.model_tokens_per_day, or set observer.use_model to false.",
    labels=("purpose", "model", "direction"),
    panels=(
        Panel(
            COST,
            "Models: tokens a second",
            "Read (in) and written (out), failed calls included: what the daily shares are measured by.",
            "short",
            (show_rate("smartbrain_model_tokens_total", "purpose", "direction"),),
        ),
    ),
)
MODEL_COST = make_counter(
    "smartbrain_model_cost",
    "What the tokens of models cost by the prices of the policy, failed calls included.",
    remedy="0 though tokens are used: the model has no price in models.prices. Too much: see smartbrain_model_tokens.",
    labels=("purpose", "model"),
    panels=(
        Panel(
            COST,
            "Cost an hour",
            "By the prices of the policy (models.prices), in its currency; 0 without a price.",
            "short",
            (
                Series(
                    "sum by (purpose, model) (rate(smartbrain_model_cost_total[$__rate_interval])) * 3600",
                    "{{purpose}} {{model}}",
                ),
            ),
        ),
        Panel(
            COST,
            "Cost, last day",
            "By the prices of the policy (models.prices), in its currency.",
            "short",
            (Series("sum(increase(smartbrain_model_cost_total[1d])) or vector(0)", "cost"),),
            steps=(("green", None),),
        ),
    ),
)
MODEL_SECONDS = make_counter(
    "smartbrain_model_seconds",
    "Time spent waiting for models.",
    remedy=(
        "Near one second a second for each observer: the model is the bottleneck; a smaller one, more"
        " of them, or a lower observer.model_seconds_per_day."
    ),
    labels=("purpose", "model"),
    panels=(
        Panel(
            COST,
            "Models: seconds a second",
            "Time spent waiting, by purpose. Near the number of observers: the model is the bottleneck.",
            "short",
        ),
    ),
)
MODEL_TURNS_SKIPPED = make_counter(
    "smartbrain_model_turns_skipped",
    (
        "Turns that the rules read alone, by why no model was asked: late (they had waited longer than"
        " observer.model_lag_max_s)."
    ),
    remedy=(
        "Rising: the model is too slow for the load; a smaller one, more of them, or more observers;"
        " the newest turns are asked about first."
    ),
    labels=("reason",),
    from_start=("late",),
    alerts=(
        Alert(
            "ModelTooSlow",
            "ticket",
            expr="sum by (reason) (increase(smartbrain_model_turns_skipped_total[1h])) > 20",
            summary="The rules alone read {{ $value }} turns within an hour: the model is too slow for the load",
            action=("The newest turns are asked about first. A quicker model, or more of them; nothing is late by it."),
            runbook="""
            More turns come than the model can read; the newest are read, the rest by the rules alone
            (`model_skipped` in their outcome). Nothing waits for it. A smaller or quicker model, a server that
            answers several at once and more observers, or `observer.extract_prompt: extract-3`. If a few late
            answers are worth more than prompt ones, raise `observer.model_lag_max_s` (1,200 at most).
            """,
        ),
    ),
)
MODEL_STEP_SECONDS = make_histogram(
    "smartbrain_model_step_seconds",
    "From the rules' reading of a turn until what a model adds to it is written.",
    remedy=("Near observer.model_lag_max_s: the model is too slow for the load, see smartbrain_model_turns_skipped."),
    buckets=(0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0),
    panels=(
        Panel(
            CALLS,
            "From the rules' reading to the model's",
            "How long what a model adds to a turn comes after the rules. Near observer.model_lag_max_s: too slow.",
        ),
    ),
)
MODEL_BUDGET_USED_UP = make_counter(
    "smartbrain_model_budget_used_up",
    "Turns that the rules read alone since the day's share of the user or the tenant was used up.",
    remedy=("Not wanted: raise observer.model_tokens_per_day or model_seconds_per_day, or those of the tenant."),
    alerts=(
        Alert(
            "ModelShareUsedUp",
            "ticket",
            expr="sum(increase(smartbrain_model_budget_used_up_total[1h])) > 100",
            summary=(
                "The rules alone read {{ $value }} turns within an hour: the day's share of the model was used up"
            ),
            action="Wanted? If not, raise observer.model_tokens_per_day or model_seconds_per_day.",
            runbook="""
            Users (or a tenant) have had their tokens or seconds of the day (UTC); the rules read on alone. Who:
            `SELECT tenant_id, user_id, sum(tokens_in + tokens_out), sum(seconds) FROM smart_brain.model_usage
            WHERE day = current_date GROUP BY 1, 2 ORDER BY 3 DESC`. An import of old conversations does this.
            Raise the share in `brain.yml`, or leave it: that is what it is for.
            """,
        ),
    ),
)
