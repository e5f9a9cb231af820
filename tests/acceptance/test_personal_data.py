"""By default, numbers of cards and documents are never stored, and a telephone number is remembered."""

from collections.abc import AsyncGenerator

import pytest

from tests.system.databases import Databases, texts
from tests.system.person import Person
from tests.system.running import System, running, settings_for

CARD, DOCUMENT, PHONE, MAIL = "6222021234567890123", "11010519491231002X", "13912345678", "lena.k@example.com"
SAID = {
    "zh": "我的手机号是 {phone}，身份证号 {document}，工资卡卡号 {card}",
    "en": "My phone is {phone}, my id card is 身份证 {document} and my bank card {card}",
}


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str) -> AsyncGenerator[System]:
    """Every service, with the default policy."""
    async with running(settings_for(databases.fresh(), kafka)) as all_services:
        yield all_services


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_card_and_document_numbers_are_nowhere_and_a_telephone_number_is_remembered(
    system: System, person: Person, language: str
) -> None:
    said = SAID[language].format(phone=PHONE, document=DOCUMENT, card=CARD)
    result = await person.commit(
        said,
        f"/remember {said}",
        tool_calls=[
            {"name": "crm", "args": {"card": CARD}, "result": {"id_number": f"身份证 {DOCUMENT}", "phone": PHONE}}
        ],
        items=[{"type": "note", "text": f"卡号 {CARD}"}],
    )
    kinds = {(each["field"], each["kind"]) for each in result["redacted"]}
    assert {("messages.0.content", "id_number"), ("messages.0.content", "bank_card")} <= kinds
    assert not [kind for _, kind in kinds if kind == "phone"]
    await person.outcome(result["turn_id"])
    await system.settled()
    for table, found in texts(system.dsn).items():
        assert CARD not in found, table
        assert DOCUMENT not in found, table
    package = await person.compose("手机号是多少？" if language == "zh" else "What is my phone number?")
    shown = package.model_dump_json(exclude={"user_message"})
    assert PHONE in shown
    assert CARD not in shown


async def test_an_edited_memory_contains_no_card_number(system: System, person: Person) -> None:
    result = await person.commit("Remember that my salary goes to the bank in Utrecht")
    await person.outcome(result["turn_id"])
    (note,) = await person.memories()
    changed = await system.http.patch(
        f"/v1/memories/{note['memory_id']}",
        params=person.whose,
        json={"text": f"my salary goes to bank card {CARD}", "if_version": note["version"]},
    )
    assert changed.status_code < 300, changed.text
    await system.settled()
    assert all(CARD not in found for found in texts(system.dsn).values())
