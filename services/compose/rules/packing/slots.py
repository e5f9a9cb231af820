"""The possible contents of each slot and their cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from schemas.context_package import BlockSource, DeveloperBlock, RecentMessage, SystemBlock
from schemas.evidence_pack import EvidenceItem, EvidenceProvenance, Ref, Signals, evidence_line
from schemas.memory_types import MEMORY_TYPES
from schemas.retrieval_plan import PLAN_VERSION
from schemas.vocabulary import Intent, Language
from services.compose.rules.candidates import Candidate, CoreMemory, HeldBack, RankedCandidate, RecentTurn
from services.compose.rules.packing import texts
from services.compose.rules.packing.texts import (
    MESSAGE_OVERHEAD,
    describe_memory,
    quote_uri,
    write_core_tag,
    write_evidence,
)
from shared.domain.blocks import Blocked, Recognized, close_fence, fence
from shared.language import tokens
from shared.language.normalise import clip
from shared.screening.sanitize import Outcome, SanitizePolicy, Screened, Source, screen, show

SEPARATOR = 2
"""The most tokens between two pieces of one message."""
MAX_READ = 32_000
"""How many characters of a text are read for a snippet."""
LEAST_MESSAGE = 16
"""The least tokens of a shortened message."""


@dataclass(frozen=True, slots=True)
class InstructionBlocks:
    """The instruction blocks and their cost."""

    system: tuple[SystemBlock, ...] = ()
    developer: tuple[DeveloperBlock, ...] = ()
    cost: int = 0


@dataclass(frozen=True, slots=True)
class PreparedEvidence:
    """A piece of evidence as shown; `text` is what may be shown of it, `place` its rank."""

    ranked: RankedCandidate
    item: EvidenceItem
    cost: int
    outcome: Outcome
    rule: str | None
    place: int = 0
    text: str = ""
    nonce: str = ""

    @property
    def is_resource(self) -> bool:
        """Whether it belongs to the knowledge slot."""
        return self.ranked.candidate.is_resource


@dataclass(frozen=True, slots=True)
class PreparedMemory:
    """A pinned memory as shown."""

    memory: CoreMemory
    block: SystemBlock
    cost: int
    screened: Screened

    @property
    def key(self) -> str:
        """The key of a candidate for this memory."""
        return f"memory:{self.memory.memory_id}"

    @property
    def outcome(self) -> Outcome:
        """Whether part of the text was removed."""
        return self.screened.outcome

    @property
    def rule(self) -> str | None:
        """The rule by which it was."""
        return self.screened.rule


def count_cost(text: str) -> int:
    """The tokens of one piece with its separator."""
    return tokens.count(text) + SEPARATOR if text else 0


def build_rules(
    language: Language,
    intent: Intent,
    now: datetime,
    *,
    short: bool,
    evidence: bool = True,
    nonce: str = "",
) -> InstructionBlocks:
    """The memory guide, how to cite, and the rule of this intent.

    Without evidence the citation rule is left out; the short form is one sentence.
    """
    guide = SystemBlock(
        type="policies", text=texts.get_memory_guide(language, nonce, short=short or not evidence), updated_at=now
    )
    if short:
        return InstructionBlocks((guide,), (), count_cost(guide.text) + MESSAGE_OVERHEAD)
    phase = texts.get_phase_rule(language, intent)
    cite = [("format_rules", texts.get_citation_rule(language))] if evidence else []
    rest = [*cite, *([("other", phase)] if phase else [])]
    made = tuple(DeveloperBlock.model_validate({"type": kind, "text": text, "updated_at": now}) for kind, text in rest)
    total = sum(count_cost(block.text) for block in (guide, *made)) + (1 + bool(made)) * MESSAGE_OVERHEAD
    return InstructionBlocks((guide,), made, total)


def add_hints(blocks: InstructionBlocks, hints: Sequence[str], now: datetime) -> InstructionBlocks:
    """The instruction blocks followed by the agent's experience."""
    lines = "\n".join(f"- {each}" for each in hints)
    block = SystemBlock(type="other", text=f"<agent_hints>\n{lines}\n</agent_hints>", updated_at=now)
    return InstructionBlocks((*blocks.system, block), blocks.developer, blocks.cost + count_cost(block.text))


def screen_candidates(
    ranked: Iterable[RankedCandidate], policy: SanitizePolicy, most: int = MAX_READ
) -> list[tuple[RankedCandidate, Screened]]:
    """Every candidate with what may be shown of its first `most` characters."""
    return [(each, screen_candidate(each.candidate, policy, most)) for each in ranked]


def screen_candidate(candidate: Candidate, policy: SanitizePolicy, most: int = MAX_READ) -> Screened:
    """The words of a message and, each in its fence, the texts recognised in its media."""
    source = candidate.comes_from
    if not candidate.recognized:
        return show(_start(candidate.text, most), source, policy)
    words = candidate.text[: candidate.recognized[0].start].rstrip("\n")
    clean = show(_start(words, most), source, policy)
    if clean.outcome == "blocked":
        return clean
    fences = [fence(each.type, _start(told.text, most)) for each, told in screen_media(candidate, policy) if told.text]
    return Screened(clean.outcome, "\n".join([clean.text, *fences]), clean.rule)


def screen_media(candidate: Candidate, policy: SanitizePolicy) -> list[tuple[Recognized, Screened]]:
    """The texts recognised in its media, each with what may be shown of it."""
    return [(each, screen(candidate.text[each.start : each.end], policy)) for each in candidate.recognized]


def list_withheld(candidate: Candidate, policy: SanitizePolicy) -> list[Blocked]:
    """The media whose recognised text gave orders, when indexed or now."""
    return [
        Blocked(each.media_id, each.rule or told.rule)
        for each, told in screen_media(candidate, policy)
        if each.rule or told.outcome == "blocked"
    ]


def list_held_back(key: str, source: Source, clean: Screened) -> list[HeldBack]:
    """What is not shown of a text."""
    return [HeldBack(key, source, clean.held_back, clean.outcome == "blocked")] if clean.held_back else []


def list_all_held_back(candidate: Candidate, clean: Screened, policy: SanitizePolicy) -> list[HeldBack]:
    """What is not shown of a candidate's words and of the text recognised in its media."""
    withheld = list_held_back(candidate.key, candidate.comes_from, clean)
    for each, told in screen_media(candidate, policy):
        if rule := each.rule or told.held_back:
            whole = each.rule is not None or told.outcome == "blocked"
            withheld.append(HeldBack(f"media:{each.media_id}", "foreign", rule, whole))
    return withheld


def _start(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"


def prepare_evidence(
    pairs: Sequence[tuple[RankedCandidate, Screened]],
    request_id: str,
    now: datetime,
    limit: int,
    *,
    policy: SanitizePolicy,
    lean: bool = False,
    nonce: str = "",
) -> list[PreparedEvidence]:
    """Evidence with snippets of at most `limit` characters; `lean` omits metadata and signals."""
    prepared: list[PreparedEvidence] = []
    for place, (ranked, clean) in enumerate(pairs):
        item = _to_item(ranked, clean.text, request_id, now, limit, nonce, policy, lean=lean)
        if item.snippet:
            price = count_cost(evidence_line(place + 1, item))
            prepared.append(PreparedEvidence(ranked, item, price, clean.outcome, clean.rule, place, clean.text, nonce))
    return prepared


def count_frame(each: PreparedEvidence) -> int:
    """The tokens of the evidence without its text."""
    return _with_snippet(each, "", len(each.text) + 10_000).cost


def shorten_evidence(each: PreparedEvidence, size: int, limit: int) -> PreparedEvidence | None:
    """The evidence cut to `size` tokens; None if nothing would be left."""
    room = size - count_frame(each) - SEPARATOR
    text = tokens.head(each.text, room)
    made = _with_snippet(each, text.rstrip() + "…", limit) if text else None
    return made if made and made.cost <= size else None


def _with_snippet(each: PreparedEvidence, text: str, limit: int) -> PreparedEvidence:
    item = each.item.model_copy(update={"snippet": write_evidence(each.ranked.candidate, text, limit, each.nonce)})
    return replace(each, item=item, cost=count_cost(evidence_line(each.place + 1, item)))


def _to_item(
    ranked: RankedCandidate,
    text: str,
    request_id: str,
    now: datetime,
    limit: int,
    nonce: str,
    policy: SanitizePolicy,
    *,
    lean: bool,
) -> EvidenceItem:
    source = ranked.candidate
    return EvidenceItem(
        id=ranked.key,
        source="resource" if source.is_resource else "memory",
        source_uri=quote_uri(source.uri),
        title=clip(screen(source.title, policy).text, 120) if source.title else "",
        snippet=write_evidence(source, text, limit, nonce),
        mode=source.mode,
        score=round(ranked.factors.relevance, 6),
        signals=Signals() if lean else to_signals(ranked),
        provenance=EvidenceProvenance(request_id=request_id, plan_version=PLAN_VERSION, retrieved_at=now),
        ref=to_ref(ranked),
        known=None if lean else describe_memory(source),
        group="relational_bundle" if source.mode == "relational" else None,
    )


def to_ref(ranked: RankedCandidate) -> Ref:
    """The address of the evidence."""
    source = ranked.candidate
    return Ref(
        document_id=source.document_id,
        section_id=source.section_id,
        turn_id=source.turn_id,
        memory_item_id=source.memory_id,
        message=source.message_ordinal,
    )


def to_signals(ranked: RankedCandidate) -> Signals:
    """The score of the evidence in each ranking; arms are identified by the prefix of their lists."""
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


def prepare_core(
    memories: Sequence[CoreMemory], policy: SanitizePolicy, nonce: str = ""
) -> tuple[list[PreparedMemory], list[PreparedMemory]]:
    """The pinned memories that may be shown, in order, and those that are blocked."""
    prepared: list[PreparedMemory] = []
    for memory in memories:
        clean = show(memory.text, memory.comes_from, policy)
        block = SystemBlock(
            type=MEMORY_TYPES[memory.type].block,
            text=write_core_tag(memory, clip(clean.text, 400), nonce),
            updated_at=memory.updated_at,
            source=BlockSource(turn_id=memory.turn_id, memory_item_id=memory.memory_id),
        )
        prepared.append(PreparedMemory(memory, block, count_cost(block.text), clean))
    allowed = [each for each in prepared if each.outcome != "blocked"]
    return allowed, [each for each in prepared if each.outcome == "blocked"]


def prepare_window(
    turns: Sequence[RecentTurn], most: int, max_tool_chars: int
) -> list[tuple[int, list[RecentMessage]]]:
    """The newest `most` turns, newest first, each with its cost; tool results are shortened."""
    newest = sorted(turns, key=lambda turn: turn.seq, reverse=True)[:most]
    shown = [[_to_message(each, max_tool_chars) for each in turn.messages if each.role != "system"] for turn in newest]
    return [(count_turn_cost(messages), messages) for messages in shown if messages]


def _to_message(message: object, max_tool_chars: int) -> RecentMessage:
    made = RecentMessage.model_validate(message, from_attributes=True)
    if made.role != "tool" or len(made.content) <= max_tool_chars:
        return made
    return made.model_copy(update={"content": clip(made.content, max_tool_chars)})


def count_turn_cost(messages: Sequence[RecentMessage]) -> int:
    """The tokens of a turn as chat messages."""
    return sum(tokens.count(each.content) + tokens.count(each.name or "") + MESSAGE_OVERHEAD for each in messages)


def shorten_messages(messages: Sequence[RecentMessage], size: int) -> list[RecentMessage]:
    """The messages of one turn cut to `size` tokens, the longest most.

    If they would be too short, the first is dropped; empty if none fits.
    """
    for first in range(len(messages)):
        shown = list(messages[first:])
        prices = [count_turn_cost([each]) for each in shown]
        sizes = level_sizes(prices, size)
        if all(given >= min(price, LEAST_MESSAGE) for given, price in zip(sizes, prices, strict=True)):
            return [_cut_message(*each) for each in zip(shown, prices, sizes, strict=True)]
    return []


def level_sizes(prices: Sequence[int], size: int) -> list[int]:
    """An even share of `size` for each price; what small ones do not need goes to larger ones."""
    given = [0] * len(prices)
    left = size
    for done, at in enumerate(sorted(range(len(prices)), key=prices.__getitem__)):
        given[at] = min(prices[at], left // (len(prices) - done))
        left -= given[at]
    return given


def _cut_message(message: RecentMessage, price: int, size: int) -> RecentMessage:
    if price <= size:
        return message
    text = tokens.head(message.content, size - (price - tokens.count(message.content)) - SEPARATOR)
    return message.model_copy(update={"content": close_fence(text.rstrip() + "…")})
