"""Valid and invalid environments; an invalid one prevents the start and names the variable."""

from pathlib import Path
from typing import Any

import pytest

from shared.errors import ConfigurationError
from shared.settings import load, name_of

SASL = {
    "kafka_bootstrap": "kafka:9092",
    "kafka_security_protocol": "SASL_SSL",
    "kafka_sasl_mechanism": "SCRAM-SHA-512",
    "kafka_username": "brain",
    "kafka_password": "plum-4",
}
TOKEN = {
    "kafka_bootstrap": "kafka:9092",
    "kafka_security_protocol": "SASL_SSL",
    "kafka_sasl_mechanism": "OAUTHBEARER",
}
BY_URL = {
    **TOKEN,
    "kafka_token_url": "https://login.example/token",
    "kafka_username": "brain",
    "kafka_password": "plum-4",
}
TLS = {"kafka_bootstrap": "kafka:9092", "kafka_security_protocol": "SSL"}
PLAIN = {"kafka_bootstrap": "kafka:9092"}
BOTH = {"kafka_certificate": "client.crt", "kafka_key": "client.key"}


def environment(fields: dict[str, str], **changed: str) -> dict[str, str]:
    return {name_of(field): value for field, value in {**fields, **changed}.items()}


@pytest.mark.parametrize(
    "fields",
    [
        PLAIN,
        TLS,
        {**TLS, "kafka_ca": "ca.crt"},
        {**TLS, **BOTH},
        {**TLS, **BOTH, "kafka_key_password": "plum-4"},
        SASL,
        {**SASL, "kafka_sasl_mechanism": "PLAIN", "kafka_security_protocol": "SASL_PLAINTEXT"},
        {**SASL, "kafka_sasl_mechanism": "SCRAM-SHA-256"},
        {**SASL, **BOTH},
        {**TOKEN, "kafka_token_file": "token"},
        BY_URL,
        {**BY_URL, "kafka_token_scope": "kafka"},
    ],
)
def test_a_consistent_environment_is_accepted(fields: dict[str, str]) -> None:
    found = load(environment(fields))
    assert found.kafka_security_protocol == fields.get("kafka_security_protocol", "PLAINTEXT")


@pytest.mark.parametrize(
    ("fields", "changed", "named"),
    [
        (SASL, {"kafka_password": ""}, "kafka_password"),
        (SASL, {"kafka_username": ""}, "kafka_username"),
        (SASL, {"kafka_sasl_mechanism": ""}, "kafka_sasl_mechanism"),
        (SASL, {"kafka_sasl_mechanism": "GSSAPI"}, "kafka_sasl_mechanism"),
        (SASL, {"kafka_sasl_mechanism": "scram"}, "kafka_sasl_mechanism"),
        (SASL, {"kafka_security_protocol": "SASL"}, "kafka_security_protocol"),
        (SASL, {"kafka_security_protocol": "SSL"}, "kafka_sasl_mechanism"),
        (SASL, {"kafka_security_protocol": ""}, "kafka_sasl_mechanism"),
        (SASL, {"kafka_bootstrap": ""}, "kafka_security_protocol"),
        (SASL, {"kafka_token_file": "token"}, "kafka_token_file"),
        (SASL, {"kafka_token_scope": "kafka"}, "kafka_token_scope"),
        (PLAIN, {"kafka_username": "brain"}, "kafka_username"),
        (PLAIN, {"kafka_password": "plum-4"}, "kafka_password"),
        (PLAIN, {"kafka_ca": "ca.crt"}, "kafka_ca"),
        (PLAIN, {"kafka_token_url": "https://login.example"}, "kafka_token_url"),
        (TLS, {"kafka_certificate": "client.crt"}, "kafka_key"),
        (TLS, {"kafka_key": "client.key"}, "kafka_certificate"),
        (TLS, {"kafka_key_password": "plum-4"}, "kafka_key"),
        (SASL, {"kafka_security_protocol": "SASL_PLAINTEXT", **BOTH}, "kafka_certificate"),
        (TOKEN, {}, "kafka_token_url"),
        (BY_URL, {"kafka_token_file": "token"}, "kafka_token_url"),
        (BY_URL, {"kafka_password": ""}, "kafka_password"),
        (BY_URL, {"kafka_token_url": "login.example"}, "kafka_token_url"),
        ({**TOKEN, "kafka_token_file": "token"}, {"kafka_username": "brain"}, "kafka_username"),
        (PLAIN, {"kafka_request_timeout_ms": "soon"}, "kafka_request_timeout_ms"),
    ],
)
def test_an_invalid_environment_prevents_the_start_with_one_line_that_names_it(
    fields: dict[str, str], changed: dict[str, str], named: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load(environment(fields, **changed))
    assert str(refused.value).startswith(f"{name_of(named)}: ")
    assert "\n" not in str(refused.value)
    assert "plum-4" not in str(refused.value)


@pytest.mark.parametrize("field", ["kafka_password", "kafka_key_password", "knowledge_token", "database_url"])
def test_a_secret_can_be_in_a_file(field: str, tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("postgresql://plum-4\n")
    given: dict[str, Any] = {**(SASL if field == "kafka_password" else {**TLS, **BOTH})}
    given.pop("kafka_password", None)
    told = environment(given) | {f"{name_of(field)}_FILE": str(path)}
    found = load(told)
    assert getattr(found, field).get_secret_value() == "postgresql://plum-4"
    assert "plum-4" not in repr(found)
    with pytest.raises(ConfigurationError, match=f"^{name_of(field)}_FILE: {name_of(field)} is set too"):
        load(told | {name_of(field): "other"})


def test_an_unreadable_secret_file_is_named(tmp_path: Path) -> None:
    told = environment(SASL, kafka_password="")
    for path, said in ((tmp_path / "missing", "cannot be read: FileNotFoundError"), (tmp_path / "empty", "is empty")):
        (tmp_path / "empty").write_text(" \n")
        with pytest.raises(ConfigurationError, match=f"^{name_of('kafka_password')}_FILE: .*{said}"):
            load(told | {f"{name_of('kafka_password')}_FILE": str(path)})
