"""At most so many of one source, and nothing that says again what stands before it (R084, X19)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import urlsplit

from services.compose.rules.candidates import Candidate, Dropped, RankedCandidate
from services.compose.rules.ranking.repeats import REPEATED
from shared.language.patterns import to_pattern
from shared.language.segment import query_terms, terms
from shared.policy import DiversityShares
from shared.screening.sanitize import DEFAULT_SANITIZE, SanitizePolicy, show


@dataclass(frozen=True, slots=True)
class DiversityPolicy:
    """At most this many per document, section, address and domain; every memory is a source of its own (X19).

    Of what was said, a session is the document and a turn the section: bound only where somebody asks for it.
    """

    by_document: int = 3
    by_section: int = 1
    by_uri: int = 2
    by_domain: int = 10
    by_session: int | None = None
    by_turn: int | None = None

    @classmethod
    def of(cls, shares: DiversityShares) -> Self:
        """The limits of a package, as policy has them."""
        return cls(shares.by_document, shares.by_section, shares.by_uri, shares.by_domain)


def diversify(
    ranked: Sequence[RankedCandidate], policy: DiversityPolicy, sanitize: SanitizePolicy | None = DEFAULT_SANITIZE
) -> tuple[list[RankedCandidate], list[Dropped]]:
    """The order without what exceeds a source's share, or says again what stands before it and is shown (R084, X19).

    Without `sanitize` a text may say again what stands before it.
    """
    seen: Counter[str] = Counter()
    diverse: list[RankedCandidate] = []
    dropped: list[Dropped] = []
    by_turn: dict[str, list[Candidate]] = {}
    for each in ranked:
        limits = _sources(each.candidate, policy)
        turn = by_turn.setdefault(each.candidate.turn_id or each.key, [])
        if (sanitize is not None and any(_repeats_shown(each.candidate, known, sanitize) for known in turn)) or any(
            seen[source] >= most for source, most in limits.items()
        ):
            dropped.append(Dropped(each.key, "diversity", each.score))
            continue
        seen.update(limits.keys())
        turn.append(each.candidate)
        diverse.append(each)
    return diverse, dropped


def _repeats(one: Candidate, other: Candidate) -> bool:
    """Whether one of a memory and a message of its source turn says what the other says."""
    if (one.memory_id is None) == (other.memory_id is None):
        return False
    memory, message = (one, other) if one.memory_id else (other, one)
    words = set(query_terms(memory.text, 64))
    return bool(words) and len(words & set(terms(message.text))) >= REPEATED * len(words)


def _repeats_shown(one: Candidate, other: Candidate, sanitize: SanitizePolicy) -> bool:
    """As `_repeats`, by what may be shown of the other: nothing is left out for a text that is itself held back."""
    if not _repeats(one, other):
        return False
    shown = show(other.text, other.comes_from, sanitize)
    return not shown.held_back or _repeats(one, replace(other, text=shown.text))


_SPACE = to_pattern(r"\s+")


def _sources(candidate: Candidate, policy: DiversityPolicy) -> dict[str, int]:
    text = _SPACE.sub("", candidate.text).lower()
    limits = {f"text:{candidate.comes_from}:{text}": 1} if len(text) >= 12 else {}
    if candidate.memory_id:
        return limits
    if candidate.session_id and policy.by_session is not None and not candidate.is_resource:
        limits[f"session:{candidate.session_id}"] = policy.by_session
    if candidate.turn_id and policy.by_turn is not None and not candidate.is_resource:
        limits[f"turn:{candidate.turn_id}"] = policy.by_turn
    if candidate.source_uri or not candidate.is_resource:
        limits[f"uri:{candidate.uri}"] = policy.by_uri
    if candidate.is_resource:
        domain = urlsplit(candidate.source_uri).netloc
        document = candidate.document_id or ""
        if domain:
            limits[f"domain:{domain}"] = policy.by_domain
        if document:
            limits[f"document:{document}"] = policy.by_document
        if document and candidate.section_id:
            limits[f"section:{document}:{candidate.section_id}"] = policy.by_section
    return limits
