"""The rolling summary of a session by rules alone: the previous one, updated with new turns and their facts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from schemas.vocabulary import Language
from services.observer.summary.merge import Items, apply_fact, apply_reference, close_questions, identity
from services.observer.summary.model import Count, Redact, Summary, SummaryFact, SummaryItem, SummaryPolicy, SummaryTurn
from services.observer.summary.questions import find_open_questions, list_asked, list_settling
from services.observer.summary.render import bound_items, render, room_for_context
from services.observer.summary.sentences import choose_context
from shared.language.normalise import clip, detect, visible


def summarise(
    previous: Summary | None,
    turns: Sequence[SummaryTurn],
    facts: Sequence[SummaryFact],
    policy: SummaryPolicy,
    count: Count,
    redact: Redact,
) -> Summary:
    """The next version: unmentioned items stay, settled and retracted ones go, and secrets are blanked."""
    covered = previous.source_to_seq if previous else -1
    fresh = sorted((turn for turn in turns if turn.seq > covered), key=lambda turn: turn.seq)
    items: Items = {item.id: item for item in previous.items} if previous else {}
    _take_facts(items, fresh, facts)
    _take_questions(items, fresh, facts)
    base = count_items(previous or _make_empty(fresh), fresh)
    base = replace(base, language=policy.language or base.language)
    items = _add_context(items, fresh, base.language, policy, count)
    return with_items(replace(base, version=base.version + 1), items.values(), policy, count, redact)


def with_items(
    base: Summary, items: Iterable[SummaryItem], policy: SummaryPolicy, count: Count, redact: Redact
) -> Summary:
    """The summary with these items, cleaned and within the limits, and their text."""
    kept = bound_items([_clean(item, policy, redact) for item in items], policy)
    return replace(base, items=kept, text=render(kept, base.language, policy, count))


def block(summary: Summary, from_seq: int, policy: SummaryPolicy, count: Count) -> str:
    """The text of the items from this turn on: the archived part of the session."""
    own = [item for item in summary.items if item.seq >= from_seq]
    return render(own, summary.language, policy, count)


def _add_context(
    items: Items, fresh: Sequence[SummaryTurn], language: Language, policy: SummaryPolicy, count: Count
) -> Items:
    """The items with the most informative sentences of the conversation besides them."""
    others = [item for item in items.values() if item.section != "context"]
    context = [item for item in items.values() if item.section == "context"]
    room = room_for_context(others, language, policy, count)
    chosen = choose_context(context, fresh, [item.text for item in others], policy, count, room)
    return {item.id: item for item in (*others, *chosen)}


def _make_empty(fresh: Sequence[SummaryTurn]) -> Summary:
    first = fresh[0].seq if fresh else 0
    return Summary(version=0, source_from_seq=first, source_to_seq=first)


def count_items(base: Summary, fresh: Sequence[SummaryTurn]) -> Summary:
    """The summary with its language, by the messages of the user, and its last turn."""
    languages = [detect(m.text) for turn in fresh for m in turn.messages if m.role == "user" and m.text.strip()]
    chinese = base.chinese_messages + languages.count("zh")
    other = base.other_messages + len(languages) - languages.count("zh")
    language: Language = base.language if chinese == other else "zh" if chinese > other else "en"
    last = fresh[-1].seq if fresh else base.source_to_seq
    return replace(base, language=language, chinese_messages=chinese, other_messages=other, source_to_seq=last)


def _take_facts(items: Items, fresh: Sequence[SummaryTurn], facts: Sequence[SummaryFact]) -> None:
    for fact in sorted(facts, key=lambda each: each.turn_seq):
        apply_fact(items, fact)
    for turn in fresh:
        for ref in turn.refs:
            apply_reference(items, ref, turn.seq)


def _take_questions(items: Items, fresh: Sequence[SummaryTurn], facts: Sequence[SummaryFact]) -> None:
    """Applies questions turn by turn, so that an answer closes only earlier ones; a repeated question is open again."""
    open_now = list(find_open_questions(fresh))
    for turn in fresh:
        decided = [f.text for f in facts if f.kind == "decision" and not f.retracts and f.turn_seq == turn.seq]
        close_questions(items, [*list_asked(turn), *list_settling(turn), *decided], turn.seq)
        for question in open_now:
            if question.seq == turn.seq:
                key = identity("questions", question.text)
                items[key] = SummaryItem("questions", key, question.text, turn.seq)


def _clean(item: SummaryItem, policy: SummaryPolicy, redact: Redact) -> SummaryItem:
    """The item on one line, without secrets, shortened; a reference loses its title before its address."""
    text = " ".join(visible(redact(item.text)).split())
    title, dash, uri = text.rpartition(" — ")
    room = policy.item_chars - len(dash + uri)
    if item.section == "references" and dash and len(text) > policy.item_chars and room >= 8:
        return replace(item, text=clip(title, room) + dash + uri)
    return replace(item, text=clip(text, policy.item_chars))
