"""All models behind one interface: Ollama, local encoders, both, or none, with timeouts, retries and validation."""

from collections.abc import Callable

from shared.models.provider import ModelProvider
from shared.policy import ModelsPolicy


def make_models(
    ollama_url: str | None,
    chat_model: str | None,
    embedding_model: str | None,
    embedding_dir: str | None,
    dimension: int,
    clock: Callable[[], float],
    rerank_model: str | None = None,
    policy: ModelsPolicy | None = None,
) -> ModelProvider:
    """The provider of these settings, with metrics; `clock` gives monotonic seconds.

    Local encoders replace Ollama's embedding and have their own dimensions; `dimension` is requested from Ollama.
    Drivers are imported only if configured: onnxruntime alone costs tens of megabytes in every service.
    """
    from shared.models.measured import Measured

    encoder = _encoder(embedding_dir) if embedding_dir else None
    embedded = None if encoder else embedding_model
    if ollama_url and (chat_model or rerank_model or embedded):
        from shared.models.ollama import OllamaModels

        chat: ModelProvider = OllamaModels(
            ollama_url,
            chat_model=chat_model,
            embedding_model=embedded,
            dimension=dimension,
            clock=clock,
            rerank_model=rerank_model,
        )
    else:
        chat = encoder or _none()
    return Measured(encoder or chat, chat, clock, policy or ModelsPolicy())


def _encoder(folders: str) -> ModelProvider:
    from shared.models.encoders import load_encoders

    return load_encoders(folders)


def _none() -> ModelProvider:
    from shared.models.none import NoModels

    return NoModels()
