"""Where things are: the environment as one frozen record. How things behave is `shared.policy`."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError

from schemas.base import Contract
from shared.errors import ConfigurationError

PREFIX = "SMARTBRAIN_"
MOST_PORT = 65_535
API_KEY = "SMARTBRAIN_API_KEY"
"""The key that the commands and the Python client send; no service reads it."""
URL, USER, TENANT, SESSION = "SMARTBRAIN_URL", "SMARTBRAIN_USER", "SMARTBRAIN_TENANT", "SMARTBRAIN_SESSION"
"""Where commands find compose, and whose memory `smartbrain mcp` is about."""
SERVICES = ("compose", "observer", "analyzer", "evolver", "relay", "librarian", "erasure", "governor")
"""Every service that stands on PostgreSQL and Kafka."""
FRONTS = ("mcp", "console")
"""Services that only ask compose over HTTP: they have no database, no broker, and a port of their own."""
ALL = (*SERVICES, *FRONTS)
"""Every service, in the order in which they are started on one machine."""


SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]


class Settings(Contract):
    """Each field is read from `SMARTBRAIN_<FIELD>`; an empty value counts as absent."""

    data: Path = Field(default=Path(".smartbrain"), description="Folder of the embedded PostgreSQL and broker")
    database_url: SecretStr | None = Field(default=None, description="PostgreSQL DSN; if unset: the embedded one")
    kafka_bootstrap: str | None = Field(
        default=None, description="host:port of Kafka, or several with commas; if unset: the embedded broker"
    )
    kafka_security_protocol: SecurityProtocol = Field(
        default="PLAINTEXT", description="Protocol of Kafka: `PLAINTEXT`, `SSL`, `SASL_PLAINTEXT` or `SASL_SSL`"
    )
    kafka_sasl_mechanism: Mechanism | None = Field(
        default=None, description="With SASL: `PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`"
    )
    kafka_username: str | None = Field(
        default=None, description="User of `PLAIN` and `SCRAM`; with a token URL the client id"
    )
    kafka_password: SecretStr | None = Field(
        default=None, description="Password of `PLAIN` and `SCRAM`; with a token URL the client secret"
    )
    kafka_token_file: Path | None = Field(
        default=None, description="File of the token of `OAUTHBEARER`; read again for every connection"
    )
    kafka_token_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^@\s]+$",
        description="Endpoint for tokens of `OAUTHBEARER`, by client credentials; renewed before they expire",
    )
    kafka_token_scope: str | None = Field(default=None, description="Scope to request at the token URL")
    kafka_ca: Path | None = Field(
        default=None,
        description="PEM file of the authorities that sign Kafka's certificate; if unset: those of the system",
    )
    kafka_certificate: Path | None = Field(
        default=None, description="PEM file of the client certificate, for mutual TLS"
    )
    kafka_key: Path | None = Field(default=None, description="PEM file of the client certificate's key")
    kafka_key_password: SecretStr | None = Field(default=None, description="Password of that key, if it has one")
    kafka_client_id: str = Field(
        default="smartbrain", min_length=1, description="Client id; each service adds its name: `smartbrain-observer`"
    )
    kafka_request_timeout_ms: int = Field(
        default=40_000, ge=1_000, description="How long a Kafka client waits for an answer"
    )
    kafka_metadata_max_age_ms: int = Field(
        default=300_000, ge=1_000, description="How often a client refreshes the metadata of topics"
    )
    kafka_connections_max_idle_ms: int = Field(
        default=540_000, ge=10_000, description="Idle connections to Kafka are closed after this time"
    )
    ollama_url: str | None = Field(default=None, description="Base URL of Ollama; if unset: no models")
    chat_model: str = Field(
        default="qwen3", description="Ollama model that extracts memories, and plans and reranks if the policy says so"
    )
    embedding_model: str = Field(default="qwen3-embedding", description="Ollama model that embeds")
    rerank_model: str = Field(
        default="qwen3-reranker", description="Ollama model that judges evidence, with `reranker: model`"
    )
    embedding_dir: str | None = Field(
        default=None,
        description="Folders of local ONNX sentence encoders, separated by `:`; preferred to Ollama",
    )
    embedding_dimension: int = Field(default=1024, ge=8, le=4000, description="Dimensions of Ollama's embeddings")
    knowledge_url: str | None = Field(
        default=None, pattern=r"^https?://[^@\s]+$", description="Base URL of SmartRAG; if unset: memory only"
    )
    knowledge_token: SecretStr | None = Field(default=None, description="Bearer token for SmartRAG")
    policy: Path | None = Field(default=None, description="Path of a brain.yml; if unset: the built-in defaults")
    http_host: str = Field(default="127.0.0.1", description="Address that every service listens on")
    http_port: int = Field(default=8787, ge=0, le=65535, description="Port of compose; 0 picks a free one")
    url: str | None = Field(
        default=None,
        pattern=r"^https?://[^@\s]+$",
        description="Base URL of compose, for `mcp` and the commands; if unset: the system that runs on this machine",
    )
    mcp_port: int | None = Field(
        default=None, ge=0, le=65535, description="Port of `/mcp`; if unset: the one after that of compose"
    )
    mcp_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^@\s]+/mcp$",
        description="Public address of `/mcp`, if clients do not connect to this machine directly",
    )
    console_port: int | None = Field(
        default=None, ge=0, le=65535, description="Port of the console; if unset: the one after that of `/mcp`"
    )
    console_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^@\s]+$",
        description="Public address of the console, if people do not connect to this machine directly",
    )
    console_client_secret: SecretStr | None = Field(
        default=None, description="Client secret of the console at the issuer of `access.sign_in`, if it has one"
    )
    metrics_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        description="Port of the probes of a worker under `serve`; 0 picks a free one, as `up` needs",
    )
    log_level: str = Field(default="info", pattern="^(debug|info|warning|error)$", description="Minimum log level")

    @property
    def embedded_database(self) -> bool:
        """Whether SmartBrain runs its own PostgreSQL."""
        return self.database_url is None

    @property
    def port_of_mcp(self) -> int:
        """Where `/mcp` listens; 0 picks a free port."""
        return _port_after(self.http_port) if self.mcp_port is None else self.mcp_port

    @property
    def port_of_console(self) -> int:
        """Where the console listens; 0 picks a free port."""
        return _port_after(self.port_of_mcp) if self.console_port is None else self.console_port

    @property
    def embedded_kafka(self) -> bool:
        """Whether SmartBrain runs its own broker."""
        return self.kafka_bootstrap is None


def _port_after(port: int) -> int:
    return port + 1 if 0 < port < MOST_PORT else 0


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings that the environment gives; a bad value raises ConfigurationError naming its variable.

    A secret may stand in a file instead, which `SMARTBRAIN_<FIELD>_FILE` names.
    """
    source = os.environ if environ is None else environ
    given = {field: source[name_of(field)] for field in Settings.model_fields if source.get(name_of(field))}
    for field in SECRETS:
        if path := source.get(f"{name_of(field)}_FILE"):
            if field in given:
                raise ConfigurationError(f"{name_of(field)}_FILE: {name_of(field)} is set too; only one of them may be")
            given[field] = _read_secret(f"{name_of(field)}_FILE", Path(path))
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        problem = error.errors()[0]
        raise ConfigurationError(f"{name_of(str(problem['loc'][0]))}: {problem['msg']}") from error
    for field, problem in find_kafka_problems(settings):
        raise ConfigurationError(f"{name_of(field)}: {problem}")
    return settings


def name_of(field: str) -> str:
    """The variable of a setting."""
    return PREFIX + field.upper()


SECRETS = tuple(name for name, each in Settings.model_fields.items() if each.annotation == SecretStr | None)
"""The settings that may stand in a file of their own."""


def _read_secret(variable: str, path: Path) -> str:
    try:
        secret = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{variable}: {path} cannot be read: {type(error).__name__}") from error
    if not secret:
        raise ConfigurationError(f"{variable}: {path} is empty")
    return secret


def find_kafka_problems(settings: Settings) -> Iterator[tuple[str, str]]:
    """Settings of Kafka that cannot work together: the field and what is wrong with it."""
    protocol = settings.kafka_security_protocol
    if protocol != "PLAINTEXT" and settings.embedded_kafka:
        yield (
            "kafka_security_protocol",
            f"{protocol}, but the embedded broker has none: set {name_of('kafka_bootstrap')}",
        )
    yield from _find_sasl_problems(settings)
    for field in ("kafka_ca", "kafka_certificate", "kafka_key"):
        if getattr(settings, field) and not protocol.endswith("SSL"):
            yield field, f"is set, but {name_of('kafka_security_protocol')} is {protocol}: there would be no TLS"
    if settings.kafka_certificate and not settings.kafka_key:
        yield "kafka_key", f"is not set, and {name_of('kafka_certificate')} is"
    if settings.kafka_key and not settings.kafka_certificate:
        yield "kafka_certificate", f"is not set, and {name_of('kafka_key')} is"
    if settings.kafka_key_password and not settings.kafka_key:
        yield "kafka_key", f"is not set, and {name_of('kafka_key_password')} is"


def _find_sasl_problems(settings: Settings) -> Iterator[tuple[str, str]]:
    protocol, mechanism = settings.kafka_security_protocol, settings.kafka_sasl_mechanism
    sasl = {
        field: getattr(settings, field)
        for field in (
            "kafka_sasl_mechanism",
            "kafka_username",
            "kafka_password",
            "kafka_token_file",
            "kafka_token_url",
            "kafka_token_scope",
        )
    }
    if not protocol.startswith("SASL"):
        for field in (each for each, value in sasl.items() if value):
            yield field, f"is set, but {name_of('kafka_security_protocol')} is {protocol}: there would be no SASL"
    elif mechanism is None:
        yield "kafka_sasl_mechanism", f"is not set, and {protocol} needs one"
    elif mechanism != "OAUTHBEARER":
        for field in ("kafka_username", "kafka_password"):
            if not sasl[field]:
                yield field, f"is not set, and {mechanism} needs it"
        for field in ("kafka_token_file", "kafka_token_url", "kafka_token_scope"):
            if sasl[field]:
                yield field, f"is set, but {mechanism} knows no tokens"
    elif bool(settings.kafka_token_file) == bool(settings.kafka_token_url):
        yield "kafka_token_url", f"OAUTHBEARER needs either it or {name_of('kafka_token_file')}"
    elif settings.kafka_token_url:
        for field in ("kafka_username", "kafka_password"):
            if not sasl[field]:
                yield field, "is not set, and the token URL needs a client id and secret"
    else:
        for field in ("kafka_username", "kafka_password", "kafka_token_scope"):
            if sasl[field]:
                yield field, f"is set, but the token stands in {name_of('kafka_token_file')}"
