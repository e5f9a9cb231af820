"""What the rest of the system asks of models; `none`, `local`, `ollama` and `combine` are the implementations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from shared.models.prompt import A, Answer, Prompt


@dataclass(frozen=True)
class Capabilities:
    """What answered when it was tried just now; `missing` names what did not, as `<what>: <why>`.

    A reranker that nobody configured is not missing.
    """

    embedding: bool
    dimension: int | None
    chat: bool
    missing: tuple[str, ...] = ()
    rerank: bool = False


class ModelProvider(Protocol):
    """Embeds texts and answers prompts, or says with `ModelUnavailable` or `MalformedAnswer` that it cannot."""

    @property
    def embedding_model_id(self) -> str | None:
        """Names the vectors; None where there are none."""
        ...

    @property
    def dimension(self) -> int | None:
        """How many numbers a vector has; None where there are none."""
        ...

    @property
    def chat_model_id(self) -> str | None:
        """Names the model behind `ask`; None where there is none."""
        ...

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """One unit vector per text, in order, within the deadline."""
        ...

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        """An answer that fits the prompt's model, after at most one repair."""
        ...

    @property
    def rerank_model_id(self) -> str | None:
        """Names the model behind `rerank`; None where there is none."""
        ...

    async def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """How well each text answers the query, 0 to 1, in order, within the deadline; tried once."""
        ...

    async def probe(self) -> Capabilities:
        """What works now; never raises for a model that does not."""
        ...

    async def close(self) -> None:
        """Connections and threads are gone."""
        ...
