"""No model at all: every question is answered by saying so."""

from collections.abc import Sequence

from shared.models.errors import ModelUnavailable
from shared.models.one import OneModel
from shared.models.prompt import A, Answer, Prompt
from shared.models.provider import Capabilities


class NoModels(OneModel):
    """The provider of an installation without models; rules and static vectors carry the work."""

    dimension: int | None = None
    chat_model_id: str | None = None
    rerank_model_id: str | None = None

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        """Never answers."""
        raise ModelUnavailable("not_configured", f"no chat model for {prompt.name}")

    async def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """Never judges."""
        raise ModelUnavailable("not_configured", "no rerank model")

    async def probe(self) -> Capabilities:
        """Nothing, and says so."""
        return Capabilities(
            embedding=False, dimension=None, chat=False, missing=("embedding: not_configured", "chat: not_configured")
        )

    async def close(self) -> None:
        """Nothing to close."""
