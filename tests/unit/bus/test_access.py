"""Every Kafka client gets the same connection arguments, and their secrets are never shown."""

import ast
from pathlib import Path

import pytest
from aiokafka.errors import KafkaConnectionError
from pydantic import SecretStr

from shared.bus.access import explain_refusal, open_access
from shared.errors import ConfigurationError
from shared.settings import Settings, name_of

ROOT = Path(__file__).parents[3]
CLIENTS = {"AIOKafkaConsumer", "AIOKafkaProducer", "AIOKafkaAdminClient", "AIOKafkaClient"}
SCRAM = {
    "kafka_bootstrap": "one:9092, two:9093",
    "kafka_security_protocol": "SASL_SSL",
    "kafka_sasl_mechanism": "SCRAM-SHA-512",
    "kafka_username": "brain",
    "kafka_password": SecretStr("plum-4"),
}


def calls_of_clients() -> list[tuple[Path, ast.Call]]:
    paths = [path for folder in ("services", "shared") for path in (ROOT / folder).rglob("*.py")]
    return [
        (path, node)
        for path in paths
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CLIENTS
    ]


def test_every_client_is_created_with_the_arguments_of_the_settings() -> None:
    found = calls_of_clients()
    assert len(found) >= 9
    for path, call in found:
        spread = [ast.unparse(each.value) for each in call.keywords if each.arg is None]
        assert any("arguments" in each for each in spread), f"{path}:{call.lineno}"
        assert "bootstrap_servers" not in [each.arg for each in call.keywords], f"{path}:{call.lineno}"


def test_every_client_of_a_service_has_its_user_timeouts_and_name() -> None:
    settings = Settings.model_validate({**SCRAM, "kafka_client_id": "brain", "kafka_request_timeout_ms": 5_000})
    arguments = open_access(settings, "observer").make_arguments()
    context = arguments.pop("ssl_context")
    assert context.check_hostname
    assert arguments == {
        "bootstrap_servers": ["one:9092", "two:9093"],
        "client_id": "brain-observer",
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "brain",
        "sasl_plain_password": "plum-4",
        "request_timeout_ms": 5_000,
        "metadata_max_age_ms": 300_000,
        "connections_max_idle_ms": 540_000,
    }


def test_no_secret_is_shown() -> None:
    assert "plum-4" not in repr(open_access(Settings.model_validate(SCRAM), "observer"))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"kafka_ca": "missing.crt"}, "kafka_ca"),
        ({"kafka_ca": __file__}, "kafka_ca"),
        ({"kafka_certificate": __file__, "kafka_key": __file__}, "kafka_certificate"),
    ],
)
def test_an_unusable_file_is_named(given: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name_of(named)}: ") as refused:
        open_access(Settings.model_validate({**SCRAM, **given}), "observer")
    assert "\n" not in str(refused.value)


def test_a_broken_connection_is_not_a_configuration_error() -> None:
    setting, said = explain_refusal(KafkaConnectionError("closed"))
    assert not setting
    assert name_of("kafka_security_protocol") in said
    assert explain_refusal(ConnectionRefusedError("refused"))[0] == ""
