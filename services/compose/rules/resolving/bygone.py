"""What a text tells as past is shown as outdated, behind what holds: nobody takes it for how things are."""

from dataclasses import replace

from services.compose.rules.candidates import Candidate, CoreMemory, RankedCandidate
from services.compose.rules.ranking.fuse import FusionResult
from shared.extraction.bygone import tells_only_past


def mark_past(fused: FusionResult, *, past: bool) -> FusionResult:
    """The order with what tells only how things were marked as outdated, and last unless `past` is asked."""
    marked = [_mark(each) for each in fused.ranked]
    if not past:
        marked.sort(key=lambda each: _is_past(each.candidate))
    return replace(fused, ranked=tuple(marked))


def without_past(core: list[CoreMemory]) -> list[CoreMemory]:
    """The core memories but for those that tell only how things were: these are evidence where they are asked for."""
    return [each for each in core if not tells_only_past(each.text)]


def _mark(ranked: RankedCandidate) -> RankedCandidate:
    if not _is_past(ranked.candidate):
        return ranked
    return replace(ranked, candidate=replace(ranked.candidate, epistemic="outdated"))


def _is_past(candidate: Candidate) -> bool:
    return not candidate.is_resource and candidate.role != "assistant" and tells_only_past(candidate.text)
