"""Kafka with authentication, TLS and access control lists."""

import asyncio
import base64
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from schemas.topics import COMPOSE_REPLY, COMPOSE_REQUEST, ERASURE_REQUESTED, TURN_COMMIT, Topic
from schemas.turn_events import CommitResult
from services.erasure.topics.purge import purge
from shared import clock
from shared.bus import history
from shared.bus.access import KafkaAccess
from shared.bus.acls import PRINCIPAL, list_grants
from shared.bus.history import History
from shared.bus.topics import ensure_topics
from shared.client import SmartBrain
from shared.domain.subjects import Subject
from shared.errors import ConfigurationError, TransientError
from shared.runtime import open_runtime
from shared.settings import Settings, name_of
from tests.kafka.apache_kafka import jars_at_hand, tool
from tests.kafka.secure import PLAIN_USER, Doors
from tests.system.databases import Databases
from tests.system.guarded import GuardedSystem, access_of, give, need_doors
from tests.system.kafka import Stored, of_tenant, publish
from tests.system.left_records import count_left
from tests.system.person import UNHURRIED, Person, shown
from tests.system.running import rest, settings_for
from tests.system.serving import serving
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def doors() -> Doors:
    """The secured listeners of this run's broker."""
    return need_doors()


@pytest.fixture(scope="module")
async def guarded(databases: Databases, kafka: str, doors: Doors) -> AsyncGenerator[GuardedSystem]:
    """Every service as its own Kafka user, with exactly the rights that `smartbrain topics --acls` prints."""
    give(kafka, list_grants())
    await rest(kafka)
    system = GuardedSystem(settings_for(databases.fresh(), kafka), doors)
    try:
        await system.start(*system.services)
        yield system
    finally:
        await system.close()


@pytest.fixture
def somebody(guarded: GuardedSystem) -> Person:
    """An unknown Kafka user."""
    return Person(guarded)


async def come_in(access: KafkaAccess) -> bool:
    """Whether Kafka accepts the client; ConfigurationError with the reason if it refuses."""
    await access.check()
    admin = AIOKafkaAdminClient(**access.make_arguments())
    try:
        await admin.start()
        return bool((await admin.describe_cluster())["brokers"])
    except KafkaError:
        return False
    finally:
        await admin.close()


@pytest.mark.parametrize(
    ("said", "asked", "word"),
    [
        ("我喜欢喝龙井茶。", "给我推荐点喝的，我喜欢喝什么茶？", "龙井"),
        ("I prefer dark mode in every editor.", "Which mode do I prefer in an editor?", "dark mode"),
    ],
)
async def test_a_system_works_completely_over_sasl_and_tls(
    guarded: GuardedSystem, somebody: Person, said: str, asked: str, word: str
) -> None:
    assert (await somebody.say(said))["status"] == "derived"
    assert any(word in content for content in await somebody.contents())
    client = access_of(guarded.doors.settings("smartbrain-client"), "client")
    async with SmartBrain(client, tenant_id=somebody.tenant_id) as brain:
        told = {"user_id": somebody.user_id, "session_id": "s3"}
        result = await brain.commit(**told, messages=[{"role": "user", "content": "My sister is called Mia."}])
        assert (await somebody.outcome(str(result.turn_id)))["status"] == "derived"
        package = await brain.compose(user_id=somebody.user_id, session_id="s2", user_message=asked, **UNHURRIED)
    assert word in shown(package)


async def test_the_rights_of_erasure_suffice_to_purge_the_topics(
    guarded: GuardedSystem, somebody: Person, kafka: str
) -> None:
    client = access_of(guarded.doors.settings("smartbrain-client"), "client")
    async with SmartBrain(client, tenant_id=somebody.tenant_id) as brain:
        for text in ("I like tea.", "I like my bicycle."):
            told = {"user_id": somebody.user_id, "session_id": "s1"}
            assert isinstance(await brain.commit(**told, messages=[{"role": "user", "content": text}]), CommitResult)
        await brain.compose(user_id=somebody.user_id, session_id="s1", user_message="What do I like?", **UNHURRIED)
    for who in (somebody, Person(guarded)):
        faulty = json.dumps({**who.turn("secret"), "messages": "none"}).encode()
        key = f"{who.tenant_id}:{who.user_id}".encode()
        await publish(kafka, [Stored(TURN_COMMIT.name, key=key, value=faulty)])
        await wait_for(lambda who=who: of_tenant(kafka, who.tenant_id, TURN_COMMIT.dead_letter), "the dead letter")
    erasing = access_of(guarded.doors.settings("smartbrain-erasure"), "erasure")
    subject, asked_at = Subject(somebody.tenant_id, somebody.user_id), clock.now()
    found = await count_left(erasing, subject, asked_at)
    assert (found[TURN_COMMIT.name], found[COMPOSE_REQUEST.name], found[TURN_COMMIT.dead_letter]) == (3, 1, 1)

    async def gone() -> bool:
        purged = await purge(erasing, subject, asked_at, now=asked_at + timedelta(seconds=130))
        return not purged.waiting

    await wait_for(gone, "the groups of the services to have consumed everything")
    assert await count_left(erasing, subject, asked_at) == {}


async def test_an_erasure_completes_and_the_operator_can_read_its_topic(
    guarded: GuardedSystem, somebody: Person
) -> None:
    await somebody.say("I live in Hangzhou.")
    asked = await somebody.post("/v1/erasures", {**somebody.whose, "scope": "personal", "reason": "wish"})
    assert asked.status_code in (200, 201, 202), asked.text
    completed = "SELECT count(*) FROM tombstones WHERE user_id = %(u)s AND status = 'completed'"
    await wait_for(lambda: somebody.number(completed), "the erasure is completed")
    operator = access_of(guarded.doors.settings("smartbrain-operator"), "operator")
    assert await history.answers(operator)
    keys = [each.key async for each in history.read(operator, ERASURE_REQUESTED, History())]
    assert f"{somebody.tenant_id}:{somebody.user_id}".encode() in keys


async def test_operations_outside_the_lists_are_refused(guarded: GuardedSystem, somebody: Person) -> None:
    observer = access_of(guarded.doors.settings("smartbrain-observer"), "observer")
    assert (await somebody.say("I like tea."))["status"] == "derived"
    client = access_of(guarded.doors.settings("smartbrain-client"), "client")
    async with SmartBrain(client, tenant_id=somebody.tenant_id) as brain:
        await brain.commit(user_id=somebody.user_id, session_id="s1", messages=[{"role": "user", "content": "Hello."}])
    erasing = access_of(guarded.doors.settings("smartbrain-erasure"), "erasure")
    assert [each async for each in history.read(erasing, TURN_COMMIT, History())]
    assert not [each async for each in history.read(observer, TURN_COMMIT, History())]
    with pytest.raises(TransientError, match="TopicAuthorizationFailed"):
        await ensure_topics(observer, [Topic(f"made.{uuid4().hex}", "tenant", (), "users")])


async def test_the_operator_creates_topics_and_the_printed_lines_match_kafka(
    guarded: GuardedSystem, kafka: str, tmp_path: Path
) -> None:
    jars = jars_at_hand()
    if jars is None:
        pytest.skip("the tools of Apache Kafka are not at hand")
    made = Topic(f"made.{uuid4().hex}", "tenant", (), "users", partitions=1)
    (tmp_path / "admin.properties").touch()
    lines = [each.command(PRINCIPAL) for each in list_grants([made]) if each.service == "operator"]
    assert lines
    for line in lines:
        program, *words = shlex.split(line.replace("$SMARTBRAIN_KAFKA_BOOTSTRAP", kafka))
        assert program == "kafka-acls.sh"
        command = [tool("java"), "-cp", f"{jars}/*", "org.apache.kafka.tools.AclCommand", *words]
        ran = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, cwd=tmp_path)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    operator = access_of(guarded.doors.settings("smartbrain-operator"), "operator")

    async def allowed() -> list[str]:
        with suppress(TransientError):
            return await ensure_topics(operator, [made])
        return []

    assert await wait_for(allowed, "the lists hold") == [made.name, made.dead_letter]


def unsigned_token(user: str) -> str:
    """A token for a broker that is not told who signs tokens."""

    def part(claims: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")

    now = time.time()
    return f"{part({'alg': 'none'})}.{part({'sub': user, 'iat': now, 'exp': now + 600})}."


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN"])
async def test_a_user_signs_in_with_the_right_password_and_not_with_a_wrong_one(doors: Doors, mechanism: str) -> None:
    user = PLAIN_USER if mechanism == "PLAIN" else "smartbrain-compose"
    given = doors.settings(user, mechanism)
    assert await come_in(access_of(given))
    with pytest.raises(ConfigurationError, match=rf"^{name_of('kafka_password')}: .*refused") as refused:
        await access_of({**given, "kafka_password": "not-the-password"}).check()
    assert "not-the-password" not in str(refused.value)
    assert "\n" not in str(refused.value)


async def test_a_client_needs_its_certificate(doors: Doors) -> None:
    assert await come_in(access_of(doors.certified()))
    assert not await come_in(access_of({**doors.certified(), "kafka_certificate": None, "kafka_key": None}))


async def test_a_client_signs_in_with_a_token_from_a_file_that_is_reread(doors: Doors, tmp_path: Path) -> None:
    path = tmp_path / "token"
    given = {
        "kafka_bootstrap": doors.sasl,
        "kafka_security_protocol": "SASL_SSL",
        "kafka_sasl_mechanism": "OAUTHBEARER",
        "kafka_token_file": path,
        "kafka_ca": doors.ca,
    }
    access = access_of(given)
    with pytest.raises(ConfigurationError, match=f"^{name_of('kafka_token_file')}: .*cannot be read"):
        await access.check()
    path.write_text("rubbish")
    with pytest.raises(ConfigurationError, match=f"^{name_of('kafka_token_file')}: .*refuses the token"):
        await access.check()
    path.write_text(unsigned_token("smartbrain-client") + "\n")
    assert await come_in(access)


async def test_a_client_signs_in_with_a_token_for_its_credentials(doors: Doors) -> None:
    async def issue(request: Request) -> JSONResponse:
        known = base64.b64encode(b"brain:plum-4").decode()
        if request.headers["authorization"] != f"Basic {known}":
            return JSONResponse({"error": "invalid_client"}, 401)
        return JSONResponse({"access_token": unsigned_token("smartbrain-client"), "expires_in": 600})

    async with serving(Starlette(routes=[Route("/token", issue, methods=["POST"])])) as url:
        given = {
            "kafka_bootstrap": doors.sasl,
            "kafka_security_protocol": "SASL_SSL",
            "kafka_sasl_mechanism": "OAUTHBEARER",
            "kafka_token_url": f"{url}/token",
            "kafka_username": "brain",
            "kafka_password": "plum-4",
            "kafka_ca": doors.ca,
        }
        assert await come_in(access_of(given))
        with pytest.raises(ConfigurationError, match=f"^{name_of('kafka_token_url')}: .*answered 401"):
            await access_of({**given, "kafka_password": "wrong"}).check()


async def test_a_broker_with_an_untrusted_certificate_is_refused(doors: Doors) -> None:
    given = doors.settings("smartbrain-compose")
    with pytest.raises(ConfigurationError, match=f"^{name_of('kafka_ca')}: .*not trusted"):
        await access_of({**given, "kafka_ca": None}).check()


async def test_a_service_with_a_wrong_password_does_not_start(databases: Databases, kafka: str, doors: Doors) -> None:
    given = {**doors.settings("smartbrain-observer"), "kafka_password": "wrong"}
    settings = Settings.model_validate({**dict(settings_for(databases.fresh(), kafka)), **given})
    with pytest.raises(ConfigurationError, match=name_of("kafka_password")):
        async with open_runtime(settings, "observer"):
            pass
    with pytest.raises(ConfigurationError, match=name_of("kafka_password")):
        await SmartBrain(access_of(given, "client")).__aenter__()


def test_the_command_line_reads_the_password_from_a_file(
    databases: Databases, kafka: str, doors: Doors, tmp_path: Path
) -> None:
    give(kafka, list_grants())
    given = doors.settings("smartbrain-operator")
    password = tmp_path / "password"
    password.write_text(given.pop("kafka_password") + "\n")
    environment = {name_of(field): value for field, value in given.items()}
    environment |= {
        name_of("database_url"): databases.fresh(),
        f"{name_of('kafka_password')}_FILE": str(password),
        name_of("data"): str(tmp_path / "data"),
    }

    def migrate() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "services.cli", "migrate", "--json"]
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})

    ran = migrate()
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["topics"] == []
    password.write_text("wrong")
    ran = migrate()
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"error: {name_of('kafka_password')}: Kafka at {doors.sasl}: user or password refused")
    assert "Traceback" not in ran.stderr


async def test_an_unavailable_broker_is_not_a_configuration_error(doors: Doors) -> None:
    access = access_of({**doors.settings("smartbrain-observer"), "kafka_bootstrap": "127.0.0.1:1"})
    await access.check()
    with pytest.raises(TransientError):
        await ensure_topics(access)


def test_only_clients_read_replies() -> None:
    readers = {each.service for each in list_grants() if COMPOSE_REPLY.name in each.names and "Read" in each.operations}
    assert readers == {"client", "erasure"}
