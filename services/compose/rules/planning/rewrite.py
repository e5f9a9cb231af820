"""Merges a model's answer into the plan of the rules: a model can add queries but not remove any.

The message stays the first query at weight 1. A model's queries weigh less, and what it claims to have read must occur
in the words that it was shown.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from schemas.retrieval_plan import Filters, Query, TimeRange
from schemas.vocabulary import Intent, Purpose
from services.compose.prompts import NamedTime, PlanAnswer
from services.compose.rules.planning.plan import Planned, PlanPolicy, decide_resources
from services.compose.rules.planning.questions import points_back
from shared.language.dates import Range
from shared.language.normalise import fold, normalise

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST = timedelta(days=3700)


SURE = 0.75
"""The certainty from which the intent of the rules stands against any model."""
LEAST = 0.5
"""The least certainty at which a model's intent counts."""
MOST_QUERIES, MOST_ENTITIES = 6, 8


def is_sure(planned: Planned, message: str) -> bool:
    """Whether the intent of the rules is certain; never for a message that points back, of which they saw only half."""
    if planned.intent == "small_talk":
        return planned.confidence >= SURE
    return planned.confidence >= SURE and not points_back(normalise(message))


def merge_answer(
    planned: Planned,
    answer: PlanAnswer,
    message: str,
    recent: Sequence[str],
    now: datetime,
    rules: PlanPolicy,
) -> Planned:
    """The plan of the rules with the model's additions."""
    shown = fold_text("\n".join((message, *recent)))
    intent = _choose_intent(planned, answer, message)
    purpose = _choose_purpose(planned, answer, intent)
    needed = _choose_resources(planned, answer, message, intent, rules)
    entities = _list_entities(planned, answer, shown)
    spoken = planned.time or _choose_time(answer.time, shown, now)
    queries = _merge_queries(planned, answer, entities, None if planned.time else spoken, rules)
    debug = planned.plan.debug.model_copy(update={"notes": "resources" if needed else "memory"})
    changes = {"purpose": purpose, "queries": queries, "debug": debug}
    return replace(
        planned,
        intent=intent,
        confidence=planned.confidence if intent == planned.intent else round(answer.confidence, 2),
        action_required=intent == "task",
        entities=entities,
        purpose=purpose,
        reason=planned.reason if intent == planned.intent else f"{planned.reason}; the model says {intent}",
        resources_needed=needed,
        time=spoken,
        plan=planned.plan.model_copy(update=changes),
    )


def _choose_intent(planned: Planned, answer: PlanAnswer, message: str) -> Intent:
    """The model's intent if the rules were not sure; never small talk, which would search nothing."""
    doubted = answer.intent is None or answer.intent == "small_talk" or answer.confidence < LEAST
    if doubted or is_sure(planned, message):
        return planned.intent
    return answer.intent or planned.intent


def _choose_purpose(planned: Planned, answer: PlanAnswer, intent: Intent) -> Purpose:
    """The model's purpose if the rules have only defaults."""
    if intent == "small_talk" or answer.purpose in (None, "other") or planned.purpose not in ("qa", "other"):
        return planned.purpose
    return answer.purpose or planned.purpose


def _choose_resources(planned: Planned, answer: PlanAnswer, message: str, intent: Intent, rules: PlanPolicy) -> bool:
    certain = decide_resources(normalise(message), intent, rules)
    if certain is not None:
        return certain
    return planned.resources_needed if answer.resources is None else answer.resources


def _list_entities(planned: Planned, answer: PlanAnswer, shown: str) -> tuple[str, ...]:
    """The names that occur in what the model was shown, after those of the rules."""
    named = [*planned.entities, *(each for each in answer.entities if len(each) > 1 and fold_text(each) in shown)]
    by_spelling = {fold_text(each): each for each in reversed(named)}
    return tuple(dict.fromkeys(by_spelling[fold_text(each)] for each in named))[:MOST_ENTITIES]


def _choose_time(named: NamedTime | None, shown: str, now: datetime) -> Range | None:
    """The time that the model read, if its words occur and it is past; a missing end is a day later."""
    if named is None or named.first is None or not named.words or fold_text(named.words) not in shown:
        return None
    zone = now.tzinfo or UTC
    try:
        start = datetime.combine(named.first, time(), zone)
        end = datetime.combine(named.after, time(), zone) if named.after else start + timedelta(days=1)
        end = start + timedelta(days=1) if end == start else end
    except OverflowError:
        return None
    return (start, end) if EARLIEST <= start < end and start <= now and end - start <= LONGEST else None


def _merge_queries(
    planned: Planned,
    answer: PlanAnswer,
    entities: tuple[str, ...],
    spoken: Range | None,
    rules: PlanPolicy,
) -> list[Query]:
    """The message, its words and names, then the model's queries, then other queries of the rules, up to the limit.

    A time that only the model read filters only the model's queries.
    """
    first, *rest = planned.plan.queries
    hints = {**first.hints, "entities": list(entities)}
    if spoken:
        hints["time"] = {"from": spoken[0].isoformat(), "to": spoken[1].isoformat()}
    bounds = TimeRange.model_validate({"from": spoken[0], "to": spoken[1]}) if spoken else None
    past = {"past": first.hints["past"]} if "past" in first.hints else {}
    wanted = [
        Query(text=each.text, mode=each.mode, weight=each.weight, filters=Filters(time_range=bounds), hints=past)
        for each in answer.queries
    ]
    own = [each for each in rest if each.mode == "exact"]
    related = [each for each in rest if each.mode == "relational"]
    if entities:
        known = related[0] if related else Query(text="?", mode="relational", weight=rules.entity_weight, hints=past)
        related = [known.model_copy(update={"text": " ".join(entities[:5])})]
    others = [each for each in rest if each.mode not in ("exact", "relational")]
    rewritten: list[Query] = [first.model_copy(update={"hints": hints})]
    seen = {fold_text(first.text)}
    for each in (*own, *related, *wanted, *others):
        spelt = fold_text(each.text)
        if each.mode == "relational" or spelt not in seen:
            seen.add(spelt)
            rewritten.append(each)
    return rewritten[:MOST_QUERIES]


def fold_text(text: str) -> str:
    return fold(normalise(text))
