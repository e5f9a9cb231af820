"""The package: every slot filled within the budget, everything left out named (seeds 003, 004 4.1 step 3)."""

import json
from typing import Any

from schemas.base import Contract
from schemas.context_package import (
    Constraints,
    ContextPackage,
    DiversityLimits,
    SystemBlock,
    TokenBudget,
    Truncation,
    UserMessage,
)
from schemas.vocabulary import Language
from services.compose.rules import slots
from services.compose.rules.budget import UserMessageTooLongError, margin, profile_for, u_shape
from services.compose.rules.fill import fill, let_go
from services.compose.rules.model import Dropped
from services.compose.rules.packing import Decision, Draft, Packed, PackInputs, PackPolicy
from services.compose.rules.render import MESSAGE_OVERHEAD
from services.compose.rules.slots import Prepared, Rules
from shared.text import tokens
from shared.text.language import detect

__all__ = ["Decision", "PackInputs", "PackPolicy", "Packed", "UserMessageTooLongError", "pack"]


LIGHTEN = ((6, 4, 6), (3, 2, 3), (1, 1, 1), (0, 0, 0))
"""How much pinned memory, window and evidence stay while something else can give way."""


def pack(inputs: PackInputs, policy: PackPolicy) -> Packed:
    """A package whose every text and tag together stay within the limit less the margin; the user message is whole."""
    budget = policy.budget
    ceiling = int(inputs.token_limit - margin(inputs.token_limit, budget))
    said = tokens.count(inputs.user_message) + MESSAGE_OVERHEAD + _media_tokens(inputs)
    if said > ceiling:
        problem = f"user_message needs about {said} tokens; the limit of {inputs.token_limit} leaves {ceiling}"
        raise UserMessageTooLongError(problem)
    generation = min(profile_for(inputs.token_limit, budget).slots["generation"], ceiling - said)
    room = ceiling - generation - said
    rules = _rules(inputs, policy, room)
    draft, sizes = fill(inputs, policy, room - rules.cost)
    package = _package(inputs, policy, draft, rules, said, generation, ceiling)
    over = _wire_tokens(package) - inputs.token_limit
    while over > 0 and (draft.evidence or draft.turns or draft.core):
        _lighten(draft, over)
        package = _package(inputs, policy, draft, rules, said, generation, ceiling)
        over = _wire_tokens(package) - inputs.token_limit
    return _packed(package, draft, sizes)


def _media_tokens(inputs: PackInputs) -> int:
    """The media that the model reads itself, as they stand in the package; what a model makes of them is not known."""
    media = [part for part in inputs.content_parts if "media_id" in part]
    return sum(tokens.count(json.dumps(part, ensure_ascii=False)) for part in media)


def _lighten(draft: Draft, over: int) -> None:
    """At least one thing less, about `over` tokens of JSON in all: pinned memory goes first, evidence last."""
    for keep_core, keep_turns, keep_evidence in LIGHTEN:
        while over > 0 and len(draft.core) > keep_core:
            cut = draft.core.pop()
            over -= _json_tokens(cut.block)
            draft.rejected.append(Decision(cut.key, False, "budget_exceeded", cut.memory.confidence))
        while over > 0 and len(draft.evidence) > keep_evidence:
            weakest = draft.evidence.pop()
            over -= _json_tokens(weakest.item)
            let_go(draft, weakest)
        while over > 0 and len(draft.turns) > keep_turns:
            over -= sum(_json_tokens(message) for message in draft.turns.pop())
        if over <= 0:
            return


def _json_tokens(part: Contract) -> int:
    return tokens.count(part.model_dump_json(exclude_none=True))


def _rules(inputs: PackInputs, policy: PackPolicy, room: int) -> Rules:
    language = _language(inputs)
    for short in (inputs.token_limit < policy.short_guide_below, True):
        made = slots.rules(
            language,
            inputs.intent,
            inputs.created_at,
            inputs.policies,
            inputs.developer_rules,
            short=short,
            nonce=inputs.nonce,
        )
        if made.cost <= room:
            return _hinted(inputs, policy, made, room)
    return Rules()


def _hinted(inputs: PackInputs, policy: PackPolicy, made: Rules, room: int) -> Rules:
    """The rules with the agent's hints, where the system's share of the budget holds them."""
    if not inputs.hints:
        return made
    share = profile_for(inputs.token_limit, policy.budget).slots["system"]
    hinted = slots.with_hints(made, inputs.hints, inputs.created_at)
    return hinted if hinted.cost <= min(share, room) else made


def _language(inputs: PackInputs) -> Language:
    texts = [inputs.user_message, *(turn.messages[0].content for turn in inputs.recent[-2:] if turn.messages)]
    found: list[Language] = [detect(text) for text in texts]
    clear: list[Language] = [each for each in found if each != "other"]
    return inputs.language or (clear[0] if clear else "other")


def _package(
    inputs: PackInputs, policy: PackPolicy, draft: Draft, rules: Rules, said: int, generation: int, ceiling: int
) -> ContextPackage:
    placed = u_shape(draft.evidence)
    recent = [message for messages in reversed(draft.turns) for message in messages]
    known = SystemBlock(type="other", text=draft.entities, updated_at=inputs.created_at) if draft.entities else None
    used: dict[str, int] = {
        "system": rules.cost,
        "user_turn": said,
        "personal": sum(each.cost for each in draft.core) + sum(e.cost for e in draft.evidence if not e.is_resource),
        "knowledge": sum(each.cost for each in draft.evidence if each.is_resource),
        "window": slots.turn_cost(recent),
        "summary": slots.cost(draft.summary),
        "entities": slots.cost(draft.entities),
    }
    frame = (2 * MESSAGE_OVERHEAD + 8) if draft.evidence or draft.summary else 0
    return ContextPackage(
        context_id=inputs.context_id,
        session_id=inputs.session_id,
        created_at=inputs.created_at,
        request_id=inputs.request_id,
        language=_language(inputs),
        nonce=inputs.nonce,
        system_blocks=[*(each.block for each in draft.core), *([known] if known else []), *rules.system],
        developer_blocks=list(rules.developer),
        working_summary=draft.summary,
        recent_turns=recent,
        evidence=[each.item for each in placed],
        user_message=UserMessage(content=inputs.user_message, content_parts=list(inputs.content_parts)),
        constraints=Constraints(
            token_budget=TokenBudget(
                limit=inputs.token_limit,
                used_estimate=sum(used.values()) + frame,
                margin=inputs.token_limit - ceiling,
                generation=generation,
                profile=profile_for(inputs.token_limit, policy.budget).name,
                slots=used,
            ),
            diversity=DiversityLimits(
                by_document=policy.diversity.by_document,
                by_source=policy.diversity.by_domain,
                by_section=policy.diversity.by_section,
                by_uri=policy.diversity.by_uri,
                memory_ratio=policy.memory_ratio,
            ),
            truncation=Truncation(
                snippets_max_chars=policy.max_snippet_chars,
                recent_turns_max=policy.recent_turns_max,
                evidence_max_items=policy.evidence_max_items,
            ),
        ),
        degraded_reason=list(dict.fromkeys(draft.degraded)),
        generation_metadata=inputs.generation_metadata,
    )


A_FIELD = 8
"""Tokens at most of a field's name, its quotes and what stands between it and the next."""
_TEXTS: dict[str, Any] = {
    "debug": True,
    "evidence": {"__all__": {"snippet", "title"}},
    "system_blocks": {"__all__": {"text"}},
    "developer_blocks": {"__all__": {"text"}},
    "recent_turns": {"__all__": {"content"}},
    "user_message": {"content"},
    "working_summary": True,
}


def _wire_tokens(package: ContextPackage) -> int:
    """The tokens of the package as JSON, for consumers that hand it on as it is; a few more than they are, never fewer.

    What it costs without its texts, and each text, most of which were counted before.
    """
    texts = [package.user_message.content, package.working_summary]
    texts += [each.text for each in (*package.system_blocks, *package.developer_blocks)]
    texts += [text for each in package.evidence for text in (each.snippet, each.title)]
    texts += [each.content for each in package.recent_turns]
    bare = tokens.fresh(package.model_dump_json(exclude=_TEXTS, exclude_none=True))
    return bare + sum(tokens.count(text) + _escapes(text) + A_FIELD for text in texts)


def _escapes(text: str) -> int:
    """How many tokens more the text costs inside JSON."""
    return text.count('"') + text.count("\\") + text.count("\n") + text.count("\t")


def _packed(package: ContextPackage, draft: Draft, sizes: dict[str, int]) -> Packed:
    positions = {item.id: place for place, item in enumerate(package.evidence)}
    last = len(package.evidence) - 1
    decisions: list[Decision] = []
    why: list[str] = []
    for each in draft.evidence:
        place = positions[each.ranked.key]
        zone = "head" if place == 0 else "tail" if place == last else "middle"
        decisions.append(
            Decision(
                each.ranked.key,
                True,
                "relevance",
                each.ranked.score,
                place,
                "evidence",
                zone,
                each.outcome,
                each.rule,
                each.cost,
            )
        )
        why.append(_why(place, each))
    decisions += [
        Decision(
            each.key,
            True,
            "confidence",
            each.memory.confidence,
            at,
            "system",
            "head",
            each.outcome,
            each.rule,
            each.cost,
        )
        for at, each in enumerate(draft.core)
    ]
    dropped = tuple(Dropped(each.key, each.reason, each.score, each.rule) for each in draft.rejected)
    exceeded = any(each.reason == "budget_exceeded" for each in draft.rejected)
    return Packed(package, (*decisions, *draft.rejected), dropped, tuple(why), sizes, exceeded)


def _why(place: int, each: Prepared) -> str:
    made = each.ranked.factors
    arms = ", ".join(f"{arm}#{rank}" for arm, rank in sorted(each.ranked.candidate.arm_ranks.items()))
    trust = f", confidence={made.confidence:.2f}, recency={made.recency:.2f}" if each.ranked.candidate.memory_id else ""
    score = f"score={each.ranked.score:.4f}, relevance={made.relevance:.2f}{trust}"
    return f"evidence#{place + 1} {each.ranked.key} {score} ({arms})"
