"""Where things are: the environment as one frozen record. How things behave is `shared.policy`."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, SecretStr, ValidationError

from schemas.base import Contract
from shared.errors import ConfigurationError

PREFIX = "SMARTBRAIN_"
API_KEY = "SMARTBRAIN_API_KEY"
"""The key that the commands and the Python client send; no service reads it."""
SERVICES = ("compose", "observer", "analyzer", "evolver", "relay", "librarian", "erasure", "governor")
"""Every service, in the order in which they are started on one machine."""


class Settings(Contract):
    """Each field is read from `SMARTBRAIN_<FIELD>`; an empty value counts as absent."""

    data: Path = Field(default=Path(".smartbrain"), description="Folder of the embedded PostgreSQL and broker")
    database_url: SecretStr | None = Field(default=None, description="PostgreSQL DSN; absent: the embedded one")
    kafka_bootstrap: str | None = Field(default=None, description="host:port of Kafka; absent: the embedded broker")
    ollama_url: str | None = Field(default=None, description="Base URL of Ollama; absent: rules only")
    chat_model: str = Field(
        default="qwen3", description="Ollama model that extracts; plans and orders where policy says so"
    )
    embedding_model: str = Field(default="qwen3-embedding", description="Ollama model that embeds")
    rerank_model: str = Field(
        default="qwen3-reranker", description="Ollama model that judges evidence, with `reranker: model`"
    )
    embedding_dir: str | None = Field(
        default=None,
        description="Folders of local ONNX sentence encoders, separated by `:`; they go before Ollama",
    )
    embedding_dimension: int = Field(default=1024, ge=8, le=4000, description="Dimensions asked of Ollama")
    knowledge_url: str | None = Field(
        default=None, pattern=r"^https?://[^@\s]+$", description="Base URL of SmartRAG; absent: memory only"
    )
    knowledge_token: SecretStr | None = Field(default=None, description="Bearer token for SmartRAG")
    policy: Path | None = Field(default=None, description="Path of a brain.yml; absent: the built-in defaults")
    http_host: str = Field(default="127.0.0.1", description="Address that every service listens on")
    http_port: int = Field(default=8787, ge=0, le=65535, description="Port of compose; 0 picks a free one")
    metrics_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        description="Port of the probes of a worker under `serve`; 0 picks one, as `up` needs",
    )
    log_level: str = Field(default="info", pattern="^(debug|info|warning|error)$", description="Least level logged")

    @property
    def embedded_database(self) -> bool:
        """Whether SmartBrain runs its own PostgreSQL."""
        return self.database_url is None

    @property
    def embedded_kafka(self) -> bool:
        """Whether SmartBrain runs its own broker."""
        return self.kafka_bootstrap is None


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings that the environment gives; a bad value raises ConfigurationError naming its variable."""
    source = os.environ if environ is None else environ
    given = {name: source[PREFIX + name.upper()] for name in Settings.model_fields if source.get(PREFIX + name.upper())}
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        problem = error.errors()[0]
        name = PREFIX + str(problem["loc"][0]).upper()
        raise ConfigurationError(f"{name}: {problem['msg']}") from error
