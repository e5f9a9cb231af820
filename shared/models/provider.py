"""The port to models; `none`, `encoders` and `ollama` implement it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from shared.models.prompt import A, Answer, Prompt
from shared.vectors import Scale


@dataclass(frozen=True)
class Capabilities:
    """The result of a probe; `missing` names what failed, as `<what>: <why>`.

    A reranker that is not configured is not missing.
    """

    embedding: bool
    dimension: int | None
    chat: bool
    missing: tuple[str, ...] = ()
    rerank: bool = False


class StoredVector(NamedTuple):
    """The stored vector of a text, and its id; None: this model has none for the text."""

    model_id: str
    vector: Sequence[float] | None


class ModelProvider(Protocol):
    """Embeds texts and answers prompts, or raises `ModelUnavailable` or `MalformedAnswer`."""

    @property
    def embedding_model_id(self) -> str | None:
        """Names the vectors of questions; None without any."""
        ...

    @property
    def embedding_model_ids(self) -> frozenset[str]:
        """The possible ids of texts' vectors: several if languages have their own encoders."""
        ...

    @property
    def dimension(self) -> int | None:
        """The dimension of a question's vector; None without any."""
        ...

    @property
    def chat_model_id(self) -> str | None:
        """Names the model behind `ask`; None without one."""
        ...

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """One unit vector per text, in order, within the deadline, as questions are embedded."""
        ...

    async def embed_kept(self, texts: Sequence[str], *, deadline_s: float) -> list[StoredVector]:
        """The stored vector of each text, by the encoders of its language."""
        ...

    def views(self, vector: Sequence[float]) -> Mapping[str, Sequence[float]]:
        """A question's vector for comparison with texts, by the id of their vectors."""
        ...

    async def scales(self, *, deadline_s: float) -> Mapping[str, Scale]:
        """The scale of cosines, by the id of texts' vectors."""
        ...

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        """An answer that matches the prompt's model, after at most one repair."""
        ...

    @property
    def rerank_model_id(self) -> str | None:
        """Names the model behind `rerank`; None without one."""
        ...

    async def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """How well each text answers the query, 0 to 1, in order, within the deadline; tried once."""
        ...

    async def probe(self) -> Capabilities:
        """What works now; never raises for a failing model."""
        ...

    async def close(self) -> None:
        """Closes connections and threads."""
        ...
