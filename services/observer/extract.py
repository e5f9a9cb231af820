"""One function for extraction: the rules always, the model where one is reachable; the rules' certainties stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from schemas.vocabulary import Assertion, MemoryType, Role
from services.observer import prompts
from services.observer.prompts import ExtractedItem, Said
from services.observer.rules import Explain, Observation, ObserveContext, Observed, ObservePolicy, TurnText, observe
from services.observer.rules.clauses import blank, language_of
from services.observer.rules.dates import find as find_date
from services.observer.rules.keys import known, preference_key, slug
from services.observer.rules.manipulation import manipulates, serves_itself
from services.observer.rules.model import Polarity
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.runtime import Runtime
from shared.text.normalise import fold, normalise
from shared.text.secrets import find_secrets, redact

UNAVAILABLE = "model_unavailable"
MALFORMED = "model_answer_malformed"
BARRED = frozenset(
    {"manipulation", "command", "asked", "supposed", "reported", "ironic", "about other", "about agent"}
)
"""Why the rules drop a clause for good: whatever a model reads into it, the user has not said it of themself."""
PASSING = frozenset({"momentary", "trial"})
"""Why the rules drop a clause that may still tell what happened or is to be done, but nothing that lasts."""
LASTING: frozenset[MemoryType] = frozenset({"profile", "preference", "constraint", "pattern", "goal", "note"})
PROVEN_BY_TOOLS: frozenset[MemoryType] = frozenset({"event", "task", "decision", "case"})
"""A tool's words never say what the user is or wants."""
PREFIX: dict[MemoryType, str] = {"preference": "pref", "note": ""}
_DISLIKE = re.compile(
    r"不(?:再)?(?:喜欢|爱|想|要|吃|喝|用|看|能|接受)|讨厌|反感|受不了|避免|别|"
    r"\b(?:dislikes?|hates?|avoids?|never|no longer|detests?|(?:not|n't) (?:like|want|eat|drink|use|enjoy))\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Source:
    """Words that an answer may quote, and where they stand; reported speech and code are blank."""

    role: Role
    name: str | None
    text: str
    ordinal: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Place:
    """Where the words of a quote stand."""

    source: Source
    span: tuple[int, int]

    @property
    def quote(self) -> str:
        """The words themselves."""
        return self.source.text[slice(*self.span)]

    def touches(self, ordinal: int, span: tuple[int, int]) -> bool:
        """Whether a stretch of a message shares a character with it."""
        return ordinal == self.source.ordinal and self.span[0] < span[1] and span[0] < self.span[1]


async def extract(rt: Runtime, turn: TurnText, context: ObserveContext) -> tuple[Observed, tuple[str, ...]]:
    """What the turn says, and notes on how it was found out; never raises for a model that is away or talks nonsense."""
    policy = ObservePolicy(entity_min_mentions=rt.policy.observer.entity_min_mentions)
    observed = observe(turn, context, policy)
    model = rt.models.chat_model_id
    sources = _sources(turn, observed, context, policy)
    if model is None or not rt.policy.observer.use_model or not any(source.role == "user" for source in sources):
        return observed, ()
    said = [*_said(turn, observed)]
    prompt = replace(prompts.extract(said, ()), deadline_s=rt.policy.observer.model_deadline_s)
    try:
        answer = await rt.models.ask(prompt)
    except ModelUnavailable:
        return observed, (UNAVAILABLE,)
    except MalformedAnswer:
        return observed, (MALFORMED,)
    items = prompts.accepted(answer.value, said, ())
    return _merged(observed, items, sources, f"model:{model}", policy), ()
