"""Connections to Kafka: the only place that creates the arguments of its clients."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# aiokafka carries no types

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiokafka.conn import create_conn
from aiokafka.errors import KafkaConnectionError, KafkaError, SaslAuthenticationFailed, UnsupportedSaslMechanismError
from aiokafka.protocol.metadata import MetadataRequest

from shared.bus.tokens import TokenError, TokenFile, TokenUrl
from shared.errors import ConfigurationError
from shared.settings import Settings, name_of
from shared.telemetry import logger

CHECK_S = 10.0
CLIENT_ID = Settings.model_fields["kafka_client_id"].default


@dataclass(frozen=True)
class KafkaAccess:
    """The addresses of a Kafka, and the credentials of one service's clients; without an address there is no Kafka."""

    bootstrap: str
    client_id: str = CLIENT_ID
    security: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    times: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def servers(self) -> list[str]:
        """Each address."""
        return [each.strip() for each in self.bootstrap.split(",") if each.strip()]

    def make_arguments(self) -> dict[str, Any]:
        """The arguments of every client: consumer, producer or administrator."""
        return {"bootstrap_servers": self.servers, "client_id": self.client_id, **self.security, **self.times}

    async def check(self) -> None:
        """Raises ConfigurationError that names the setting because of which Kafka refuses the connection; none if it is
        unavailable.

        Without this check a client reports only that it could not connect. Plain access cannot be refused.
        """
        for each in self.servers if self.security else ():
            try:
                async with asyncio.timeout(CHECK_S):
                    await self._greet(each)
            except (KafkaError, OSError, TimeoutError) as error:
                setting, said = explain_refusal(error)
                if setting:
                    raise ConfigurationError(f"{name_of(setting)}: Kafka at {each}: {said}") from error
                logger().warning("kafka_not_reached", server=each, error=type(error).__name__, detail=said)
            else:
                return

    async def _greet(self, server: str) -> None:
        host, _, port = server.rpartition(":")
        connection = await create_conn(host, int(port), client_id=self.client_id, **self.security)
        try:
            token = self.security.get("sasl_oauth_token_provider")
            # a refused token is not reported: the broker's later responses are unreadable
            answer: Any = await connection.send(MetadataRequest([])) if token else None
            if token and not answer.brokers:
                raise TokenError("the broker refuses the token", asked=isinstance(token, TokenUrl))
        finally:
            connection.close()


def explain_refusal(error: BaseException) -> tuple[str, str]:
    """The wrong setting and the reason; an empty setting if none is wrong."""
    if isinstance(error, TokenError):
        return "kafka_token_url" if error.asked else "kafka_token_file", str(error)
    if isinstance(error, UnsupportedSaslMechanismError):
        return "kafka_sasl_mechanism", f"refused: {error}"
    if isinstance(error, SaslAuthenticationFailed):
        return "kafka_password", f"user or password refused: {error}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return "kafka_ca", f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return "kafka_security_protocol", f"no TLS could be agreed: {error.reason or error}"
    if isinstance(error, KafkaConnectionError):
        return "", f"{error}; its listener may speak another {name_of('kafka_security_protocol')}, or ask a certificate"
    return "", str(error)


def open_access(settings: Settings, service: str) -> KafkaAccess:
    """A service's connection to the Kafka of the settings; ConfigurationError names an unusable file."""
    times = {
        "request_timeout_ms": settings.kafka_request_timeout_ms,
        "metadata_max_age_ms": settings.kafka_metadata_max_age_ms,
        "connections_max_idle_ms": settings.kafka_connections_max_idle_ms,
    }
    client_id = f"{settings.kafka_client_id}-{service}"
    return KafkaAccess(settings.kafka_bootstrap or "", client_id, _make_security(settings), times)


def _make_security(settings: Settings) -> dict[str, Any]:
    protocol, mechanism = settings.kafka_security_protocol, settings.kafka_sasl_mechanism
    if protocol == "PLAINTEXT":
        return {}
    security: dict[str, Any] = {"security_protocol": protocol}
    if protocol.endswith("SSL"):
        security["ssl_context"] = _make_context(settings)
    if not mechanism:
        return security
    security["sasl_mechanism"] = mechanism
    if protocol == "SASL_PLAINTEXT" and not mechanism.startswith("SCRAM"):
        logger().warning("kafka_secret_in_clear", mechanism=mechanism, security_protocol=protocol)
    user, password = settings.kafka_username or "", settings.kafka_password
    secret = password.get_secret_value() if password else ""
    if mechanism != "OAUTHBEARER":
        return {**security, "sasl_plain_username": user, "sasl_plain_password": secret}
    if settings.kafka_token_file:
        provider = TokenFile(settings.kafka_token_file)
    else:
        provider = TokenUrl(settings.kafka_token_url or "", user, secret, settings.kafka_token_scope)
    return {**security, "sasl_oauth_token_provider": provider}


def _make_context(settings: Settings) -> ssl.SSLContext:
    """Trusts the authorities of the settings, or the system's; the server's certificate must name the address used."""
    try:
        context = ssl.create_default_context(cafile=settings.kafka_ca)
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(f"{name_of('kafka_ca')}: {settings.kafka_ca}: {_say(error)}") from error
    if settings.kafka_certificate and settings.kafka_key:
        secret = settings.kafka_key_password
        try:
            context.load_cert_chain(
                settings.kafka_certificate,
                settings.kafka_key,
                # never prompts on a terminal
                password=secret.get_secret_value() if secret else "",
            )
        except (OSError, ssl.SSLError) as error:
            where = f"{settings.kafka_certificate} with {settings.kafka_key}"
            raise ConfigurationError(f"{name_of('kafka_certificate')}: {where}: {_say(error)}") from error
    return context


def _say(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return f"no certificate or key that fits ({error.reason or error})"
    return error.strerror or type(error).__name__
