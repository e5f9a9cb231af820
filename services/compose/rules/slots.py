"""What could go into each slot of a package, and what it would cost (seed 003 sections 3-7)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from schemas.context_package import BlockSource, DeveloperBlock, RecentMessage, SystemBlock
from schemas.evidence_pack import EvidenceItem, EvidenceProvenance, Ref, Signals
from schemas.retrieval_plan import PLAN_VERSION
from schemas.vocabulary import Intent, Language, MemoryType
from services.compose.rules import texts
from services.compose.rules.model import CoreMemory, Ranked, RecentTurn
from services.compose.rules.render import MESSAGE_OVERHEAD, core_tag, evidence_line, evidence_snippet
from shared.text import tokens
from shared.text.normalise import clip
from shared.text.sanitize import Outcome, SanitizePolicy, Screened, defused, screen

BlockType = Literal["core_profile", "preferences", "goals", "policies", "other"]
_BLOCK_OF: dict[MemoryType, BlockType] = {
    "profile": "core_profile",
    "preference": "preferences",
    "constraint": "preferences",
    "pattern": "preferences",
    "goal": "goals",
}
_CORE_ORDER: dict[MemoryType, int] = {"profile": 0, "constraint": 1, "preference": 2, "goal": 3}
SEPARATOR = 2
"""Tokens at most between two pieces of one message."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of the turn, their blocks and cost."""

    system: tuple[SystemBlock, ...] = ()
    developer: tuple[DeveloperBlock, ...] = ()
    cost: int = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    """A piece of evidence as it would stand in the package."""

    ranked: Ranked
    item: EvidenceItem
    cost: int
    outcome: Outcome
    rule: str | None

    @property
    def is_resource(self) -> bool:
        """True where it belongs to the knowledge slot."""
        return self.ranked.candidate.is_resource


@dataclass(frozen=True, slots=True)
class PreparedCore:
    """A pinned memory as it would stand in the package."""

    memory: CoreMemory
    block: SystemBlock
    cost: int
    outcome: Outcome
    rule: str | None

    @property
    def key(self) -> str:
        """The same key that a candidate for this memory has."""
        return f"memory:{self.memory.memory_id}"


def cost(text: str) -> int:
    """The tokens of one piece, with what separates it from the next."""
    return tokens.count(text) + SEPARATOR if text else 0


def rules(
    language: Language, intent: Intent, now: datetime, policies: Sequence[str], developer: Sequence[str], *, short: bool
) -> Rules:
    """The memory guide, the caller's rules, how to cite and what this kind of turn calls for (R098, R106, R107)."""
    if short:
        guide = SystemBlock(type="policies", text=texts.memory_guide(language, short=True), updated_at=now)
        return Rules((guide,), (), cost(guide.text) + MESSAGE_OVERHEAD)
    system = [texts.memory_guide(language), *policies]
    phase = texts.phase_rule(language, intent)
    first = [("format_rules", texts.citation_rule(language)), *([("other", phase)] if phase else [])]
    blocks = tuple(SystemBlock(type="policies", text=text, updated_at=now) for text in system)
    rest = [*first, *(("other", text) for text in developer)]
    made = tuple(DeveloperBlock.model_validate({"type": kind, "text": text, "updated_at": now}) for kind, text in rest)
    total = sum(cost(block.text) for block in (*blocks, *made)) + 2 * MESSAGE_OVERHEAD
    return Rules(blocks, made, total)


def with_hints(made: Rules, hints: Sequence[str], now: datetime) -> Rules:
    """The rules with what the agent has learnt of its own tools after them."""
    lines = "\n".join(f"- {each}" for each in hints)
    block = SystemBlock(type="other", text=f"<agent_hints>\n{lines}\n</agent_hints>", updated_at=now)
    return Rules((*made.system, block), made.developer, made.cost + cost(block.text))


def screened(ranked: Iterable[Ranked], policy: SanitizePolicy, most: int) -> list[tuple[Ranked, Screened]]:
    """Every candidate with what may be injected of the first `most` characters, the only ones that could be shown."""
    return [(each, screen(_start(each.candidate.text, most), policy)) for each in ranked]


def _start(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"


def evidence(
    pairs: Sequence[tuple[Ranked, Screened]], request_id: str, now: datetime, limits: tuple[int, int]
) -> list[Prepared]:
    """Evidence with snippets of at most `limits` characters: first for the best four, second for the rest."""
    made: list[Prepared] = []
    for place, (ranked, clean) in enumerate(pairs):
        item = _item(ranked, clean.text, request_id, now, limits[0] if place < 4 else limits[1])
        if item.snippet:
            made.append(Prepared(ranked, item, cost(evidence_line(place + 1, item)), clean.outcome, clean.rule))
    return made


def _item(ranked: Ranked, text: str, request_id: str, now: datetime, limit: int) -> EvidenceItem:
    source = ranked.candidate
    return EvidenceItem(
        id=ranked.key,
        source="resource" if source.is_resource else "memory",
        source_uri=source.uri,
        title=clip(screen(source.title).text, 120) if source.title else "",
        snippet=evidence_snippet(source, text, limit),
        mode=source.mode,
        score=round(ranked.score, 6),
        signals=signals(ranked),
        provenance=EvidenceProvenance(request_id=request_id, plan_version=PLAN_VERSION, retrieved_at=now),
        ref=ref(ranked),
        group="relational_bundle" if source.mode == "relational" else None,
    )


def ref(ranked: Ranked) -> Ref:
    """Where the evidence lives (decision 12)."""
    source = ranked.candidate
    return Ref(
        document_id=source.document_id,
        section_id=source.section_id,
        turn_id=source.turn_id,
        memory_item_id=source.memory_id,
        message=source.message_ordinal,
    )


def signals(ranked: Ranked) -> Signals:
    """What each ranker said of the evidence; arms are recognised by the beginning of their names."""
    source = ranked.candidate
    vector = [arm for arm in source.arm_ranks if arm.startswith("vector")]
    words = [arm for arm in source.arm_ranks if arm.startswith("text")]
    memory = source.memory_id is not None
    return Signals(
        vector_score=max((source.arm_scores[arm] for arm in vector if arm in source.arm_scores), default=None),
        vector_rank=min((source.arm_ranks[arm] for arm in vector), default=None),
        fts_score=max((source.arm_scores[arm] for arm in words if arm in source.arm_scores), default=None),
        fts_rank=min((source.arm_ranks[arm] for arm in words), default=None),
        rrf_score=round(ranked.rrf, 6),
        rerank_score=source.rerank_score,
        recency_score=ranked.factors.recency if memory else None,
        confidence_effective=round(ranked.factors.confidence, 4) if memory else None,
        provenance_weight=ranked.factors.provenance if memory else None,
        frequency_factor=ranked.factors.frequency if memory else None,
    )


def core(memories: Sequence[CoreMemory], policy: SanitizePolicy) -> tuple[list[PreparedCore], list[PreparedCore]]:
    """The pinned memories that may be shown, most identifying and most certain first, and those that are blocked."""
    made: list[PreparedCore] = []
    for memory in sorted(memories, key=_core_order):
        clean = screen(memory.text, policy)
        block = SystemBlock(
            type=_BLOCK_OF.get(memory.type, "other"),
            text=core_tag(memory, clip(clean.text, 400)),
            updated_at=memory.updated_at,
            source=BlockSource(turn_id=memory.turn_id, memory_item_id=memory.memory_id),
        )
        made.append(PreparedCore(memory, block, cost(block.text), clean.outcome, clean.rule))
    allowed = [each for each in made if each.outcome != "blocked"]
    return allowed, [each for each in made if each.outcome == "blocked"]


def _core_order(memory: CoreMemory) -> tuple[int, float, float, str]:
    return (_CORE_ORDER.get(memory.type, 9), -memory.confidence, -memory.updated_at.timestamp(), memory.memory_id)


def window(turns: Sequence[RecentTurn], most: int, max_tool_chars: int) -> list[tuple[int, list[RecentMessage]]]:
    """The newest `most` turns, newest first, each with its cost; tool results are cut short (R099, OC101).

    Of each message the sentences that give orders against their user are taken out.
    """
    newest = sorted(turns, key=lambda turn: turn.seq, reverse=True)[:most]
    shown = [[_message(each, max_tool_chars) for each in turn.messages if each.role != "system"] for turn in newest]
    return [(turn_cost(messages), messages) for messages in shown if messages]


def _message(message: object, max_tool_chars: int) -> RecentMessage:
    made = RecentMessage.model_validate(message, from_attributes=True)
    tool = made.role == "tool" and len(made.content) > max_tool_chars
    shown = defused(clip(made.content, max_tool_chars) if tool else made.content).text
    return made if shown == made.content else made.model_copy(update={"content": shown})


def turn_cost(messages: Sequence[RecentMessage]) -> int:
    """The tokens of a turn as chat messages."""
    return sum(tokens.count(each.content) + tokens.count(each.name or "") + MESSAGE_OVERHEAD for each in messages)


def shortened(messages: Sequence[RecentMessage], size: int) -> list[RecentMessage]:
    """The messages of one turn cut to about `size` tokens, each to its even share; empty where too little is left."""
    each_size = size // max(1, len(messages)) - MESSAGE_OVERHEAD - 2
    if each_size < 12:
        return []
    cut = [tokens.head(each.content, each_size) for each in messages]
    return [
        each if text == each.content else each.model_copy(update={"content": text.rstrip() + "…"})
        for each, text in zip(messages, cut, strict=True)
    ]
