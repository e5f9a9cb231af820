"""Personal data is blanked or refused at intake, according to policy."""

from collections.abc import AsyncGenerator

import orjson
import pytest

from schemas.topics import TURN_COMMIT
from tests.system.databases import Databases, rows, texts
from tests.system.kafka import Stored, caught_up, publish
from tests.system.person import Person
from tests.system.running import System, policy_file, running, settings_for

PHONE, MAIL = "13912345678", "lena.k@example.com"


@pytest.fixture(scope="module")
async def strict(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, with a policy that blanks telephone numbers and refuses email addresses."""
    rules = {"phone": "redact", "email": "refuse"}
    policy = policy_file(tmp_path_factory.mktemp("policy"), personal_data=rules)
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


async def test_refused_data_is_answered_with_the_field_and_leaves_nothing(strict: System) -> None:
    person = Person(strict)
    answer = await person.post("/v1/turns", person.turn("hello", f"write to {MAIL}"))
    assert answer.status_code == 422
    error = answer.json()
    assert error["code"] == "personal_data_refused"
    assert [each["field"] for each in error["details"]] == ["messages.1.content"]
    assert MAIL not in answer.text
    body = orjson.dumps(person.turn(f"mail {MAIL}"))
    await publish(strict.bootstrap, [Stored(TURN_COMMIT.name, key=b"k", value=body)])
    await caught_up(strict.bootstrap)
    assert rows(strict.dsn, "SELECT 1 FROM turns WHERE user_id = %(user)s", user=person.user_id) == []


async def test_blanked_data_is_blanked_in_the_log_and_in_memory(strict: System) -> None:
    person = Person(strict)
    result = await person.commit(f"记住：物业电话 {PHONE}", f"remember the plumber's phone {PHONE}")
    await person.outcome(result["turn_id"])
    assert {each["kind"] for each in result["redacted"]} == {"phone"}
    await strict.settled()
    assert all(PHONE not in found for found in texts(strict.dsn).values())
    assert "[PHONE]" in str(await person.memories())
