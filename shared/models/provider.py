"""The port to models; `none`, `encoders` and `ollama` implement it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from shared.models.prompt import A, Answer, Prompt
from shared.vectors import Scale


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


class StoredVector(NamedTuple):
    """The vector of a text as it is kept, and what it is called; None: this model has none for the text."""

    model_id: str
    vector: Sequence[float] | None


class ModelProvider(Protocol):
    """Embeds texts and answers prompts, or says with `ModelUnavailable` or `MalformedAnswer` that it cannot."""

    @property
    def embedding_model_id(self) -> str | None:
        """Names the vectors of questions; None where there are none."""
        ...

    @property
    def embedding_model_ids(self) -> frozenset[str]:
        """What the vectors of texts may be called: there are several where languages have encoders of their own."""
        ...

    @property
    def dimension(self) -> int | None:
        """How many numbers a question's vector has; None where there are none."""
        ...

    @property
    def chat_model_id(self) -> str | None:
        """Names the model behind `ask`; None where there is none."""
        ...

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """One unit vector per text, in order, within the deadline, as questions are embedded."""
        ...

    async def embed_kept(self, texts: Sequence[str], *, deadline_s: float) -> list[StoredVector]:
        """The vector of each text as it is kept: by whatever reads its language."""
        ...

    def views(self, vector: Sequence[float]) -> Mapping[str, Sequence[float]]:
        """A question's vector as it is compared with those of texts, by what theirs are called."""
        ...

    async def scales(self, *, deadline_s: float) -> Mapping[str, Scale]:
        """What a cosine is worth, by what the vectors of texts are called."""
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
