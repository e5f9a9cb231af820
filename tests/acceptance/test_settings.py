"""Settings of a user and a tenant take effect at once in the assembled system, in both languages."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from schemas.compose import ComposeRequest
from services.cli import app
from services.governor import ageing
from shared.client import SmartBrain
from shared.errors import RefusedError
from shared.policy import DiversityShares
from shared.policy.compose import ProvenanceWeights
from tests.acceptance.test_wishes import held, reasons
from tests.system.composing import compose_package
from tests.system.erasures import completed, erase
from tests.system.person import Json, Person
from tests.system.running import listening
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka


AGED = (
    "UPDATE sessions SET last_turn_at = now() - interval '40 days' WHERE user_id = %(u)s AND session_id = 'old'",
    "UPDATE turns SET committed_at = now() - interval '40 days' WHERE user_id = %(u)s AND session_id = 'old'",
)
"""The session `old` and its turns are 40 days old."""


async def choose(person: Person, **changes: Any) -> httpx.Response:
    """The response to a change of the user's settings."""
    return await person.system.http.patch("/v1/settings", params=person.whose, json=changes)


async def chosen(person: Person, **changes: Any) -> dict[str, Json]:
    """The settings after an accepted change, by name."""
    answer = await choose(person, **changes)
    assert answer.status_code == 200, answer.text
    return by_name(answer.json())


def by_name(view: Json) -> dict[str, Json]:
    """The settings of a view by name."""
    return {each["name"]: each for each in view["settings"]}


async def choose_for_tenant(person: Person, **changes: Any) -> httpx.Response:
    """The response to a change of the settings of the user's tenant."""
    return await person.system.http.patch("/v1/settings", params={"tenant_id": person.tenant_id}, json=changes)


async def test_a_view_shows_each_setting_and_its_source(person: Person) -> None:
    before = by_name((await person.get("/v1/settings")).json())
    assert before["learning"] == {
        "name": "learning",
        "value": True,
        "source": "policy",
        "default": True,
        "changeable": True,
        "allowed": {"values": [True, False], "least": None, "most": None},
        "since": None,
        "said_in": None,
    }
    assert before["inject_limit"]["allowed"] == {"values": [], "least": 0, "most": 40}
    assert "users_may" not in before
    after = await chosen(person, inject_limit=3, personal_phone="redact")
    assert (after["inject_limit"]["value"], after["inject_limit"]["source"]) == (3, "user")
    assert (await choose_for_tenant(person, inject_limit=5)).status_code == 200
    back = await chosen(person, inject_limit=None)
    assert (back["inject_limit"]["value"], back["inject_limit"]["source"]) == (5, "tenant")
    assert back["personal_phone"]["value"] == "redact"
    another = by_name((await Person(person.system, tenant_id=person.tenant_id).get("/v1/settings")).json())
    assert (another["inject_limit"]["value"], another["personal_phone"]["source"]) == (5, "policy")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"inject_limit": 41}, "inject_limit"),
        ({"inject_limit": True}, "inject_limit"),
        ({"language": "fr"}, "language"),
        ({"learning": "no"}, "learning"),
        ({"retention_days": 4000}, "retention_days"),
        ({"personal_id_number": "keep"}, "personal_id_number"),
        ({"colour": "red"}, "colour"),
        ({}, "body"),
    ],
)
async def test_an_invalid_value_is_refused_by_name(person: Person, change: Json, field: str) -> None:
    answer = await choose(person, **change)
    assert answer.status_code == 422
    assert answer.json()["details"][0]["field"] == field


async def test_a_tenant_limits_its_users(person: Person) -> None:
    await choose_for_tenant(
        person, retention_days=90, personal_phone="redact", learning=False, users_may=["learning", "retention_days"]
    )
    view = by_name((await person.get("/v1/settings")).json())
    assert view["personal_phone"]["changeable"] is False
    assert view["learning"]["allowed"]["values"] == [False]
    assert view["retention_days"]["allowed"]["most"] == 90
    fixed = await choose(person, personal_phone="refuse")
    assert (fixed.status_code, fixed.json()["code"]) == (403, "setting_fixed")
    assert (await choose(person, personal_phone=None)).status_code == 200
    for change in ({"learning": True}, {"retention_days": 91}):
        assert (await choose(person, **change)).status_code == 422


@pytest.mark.parametrize(
    ("first", "declined", "words", "last"),
    [
        ("I live in Oslo.", "I like jasmine tea.", "jasmine", "I like hiking."),
        ("我住在苏州。", "我喜欢喝茉莉花茶。", "茉莉", "我喜欢爬山。"),
    ],
)
async def test_nothing_is_derived_if_learning_is_declined(
    person: Person, first: str, declined: str, words: str, last: str
) -> None:
    await person.say(first)
    await chosen(person, learning=False)
    result = await person.commit(declined)
    assert (result["learning"], result["deferred"]) == (False, [])
    outcome = await person.outcome(result["turn_id"])
    assert outcome["status"] == "ignored"
    assert reasons(outcome) == {"wish:settings"}
    assert not held(person, words)
    log = "SELECT count(*) FROM conversation_events WHERE user_id = %(u)s AND content::text ILIKE %(w)s"
    assert person.number(log, w=f"%{words}%") == 1
    await chosen(person, learning=None)
    await person.say(last)
    assert len(await person.memories()) == 2


@pytest.mark.parametrize(
    ("by_the_way", "dictated", "kept"),
    [
        ("I live in Oslo.", "Remember that my locker code word is heron.", "heron"),
        ("我住在苏州。", "记住：我的工位在三楼靠窗。", "三楼"),
    ],
)
async def test_only_dictation_is_stored_if_so_chosen(person: Person, by_the_way: str, dictated: str, kept: str) -> None:
    await chosen(person, auto_remember=False)
    assert "settings:auto_remember" in reasons(await person.say(by_the_way))
    assert await person.contents() == []
    await person.say(dictated)
    (only,) = await person.contents()
    assert kept in only


@pytest.mark.parametrize("text", ["I drink tea.", "我喝茶。"])
async def test_sessions_have_a_summary_only_if_that_is_on(person: Person, text: str) -> None:
    await chosen(person, summary_enabled=False)
    await person.say(text, end_session=True)
    assert person.number("SELECT count(*) FROM session_summaries WHERE user_id = %(u)s") == 0
    assert (await person.compose("hello")).working_summary == ""
    await chosen(person, summary_enabled=True)
    await person.say(text, end_session=True)
    assert person.number("SELECT count(*) FROM session_summaries WHERE user_id = %(u)s") == 1


@pytest.mark.parametrize(
    ("language", "text", "heading"),
    [("zh", "I like jasmine tea.", "偏好"), ("en", "我喜欢喝茉莉花茶。", "Preferences")],
)
async def test_headings_have_the_chosen_language(person: Person, language: str, text: str, heading: str) -> None:
    await chosen(person, language=language)
    await person.say(text, end_session=True)
    summary = (await person.get("/v1/sessions/s1/summary")).json()
    assert heading in summary["text"]
    assert (await person.compose(text)).language == language


async def test_a_package_has_at_most_the_chosen_number_of_notes(person: Person) -> None:
    await person.say("I like jasmine tea.", "I like green tea.", "I like black tea.", "I like oolong tea.")
    asked = "Which tea do I like?"

    async def count_notes() -> int:
        package = await person.compose(asked, session="another")
        ids = {each.source.memory_item_id for each in package.system_blocks}
        ids |= {each.ref.memory_item_id for each in package.evidence}
        return len(ids - {None})

    assert await count_notes() > 1
    await chosen(person, inject_limit=1)
    assert await count_notes() == 1
    await chosen(person, inject_limit=0)
    assert await count_notes() == 0


@pytest.mark.parametrize("text", ["Call me at 13800138000.", "我的电话是13800138000。"])
async def test_personal_data_is_handled_as_strictly_as_chosen(person: Person, text: str) -> None:
    await chosen(person, personal_phone="redact")
    assert (await person.commit(text))["redacted"][0]["kind"] == "phone"
    await chosen(person, personal_phone="refuse")
    answer = await person.post("/v1/turns", person.turn(text))
    assert (answer.status_code, answer.json()["code"]) == (422, "personal_data_refused")


@pytest.mark.parametrize(
    ("old", "aged", "new", "kept"),
    [("I live in Oslo.", "Oslo", "I like hiking.", "hiking"), ("我住在苏州。", "苏州", "我喜欢爬山。", "爬山")],
)
async def test_data_beyond_the_retention_time_is_erased(
    person: Person, old: str, aged: str, new: str, kept: str
) -> None:
    await person.say(old, session="old")
    await person.say(new, session="new")
    for statement in AGED:
        await person.system.change(statement, u=person.user_id)
    assert await ageing.erase_aged(person.system["governor"].rt) == 0
    await chosen(person, retention_days=30)
    assert await ageing.erase_aged(person.system["governor"].rt) == 1
    (contents,) = await person.contents()
    assert kept in contents
    await wait_for(lambda: not held(person, aged), "what is too old is gone")
    said = "SELECT count(*) FROM conversation_events WHERE user_id = %(u)s AND content::text ILIKE %(w)s"
    assert person.number(said, w=f"%{aged}%") == 0
    assert await ageing.erase_aged(person.system["governor"].rt) == 0


async def test_a_change_is_recorded_and_an_erasure_of_everything_deletes_the_settings(person: Person) -> None:
    await chosen(person, learning=False)
    acts = person.system.rows("SELECT kind, details FROM audit_events WHERE user_id = %(u)s", u=person.user_id)
    assert [(each["kind"], each["details"]["changed"]) for each in acts] == [("settings_changed", {"learning": False})]
    receipt = await erase(person, scope="all")
    await completed(person, receipt)
    view = by_name((await person.get("/v1/settings")).json())
    assert (view["learning"]["value"], view["learning"]["source"]) == (True, "policy")


async def test_settings_of_one_user_apply_to_no_other(person: Person) -> None:
    await chosen(person, learning=False)
    for other in (Person(person.system, tenant_id=person.tenant_id), Person(person.system, user_id=person.user_id)):
        result = await other.commit("I like tea.")
        assert result["learning"] is True


@pytest.mark.parametrize(
    ("text", "question"), [("I like jasmine tea.", "Which tea do I like?"), ("我喜欢喝茉莉花茶。", "我喜欢喝什么茶？")]
)
async def test_tunable_settings_are_policy_keys(person: Person, text: str, question: str) -> None:
    await person.say(text)
    rt = person.system["compose"].rt
    decay, compose = {"decay": ((0, 0.25),)}, rt.policy.compose
    ranking = compose.ranking.model_copy(
        update={"recency": ((0, 2.0),), "provenance": ProvenanceWeights(observation=3)}
    )
    tuned = rt.policy.model_copy(
        update={
            "confidence": rt.policy.confidence.model_copy(update=decay),
            "compose": compose.model_copy(
                update={"ranking": ranking, "diversity": DiversityShares(by_uri=7, memory_share=0.9)}
            ),
        }
    )
    asked = ComposeRequest.model_validate(
        {**person.whose, "session_id": "another", "user_message": question, "deadline_ms": 20_000, "debug": True}
    )
    package = await compose_package(asked, replace(rt, policy=tuned))
    assert (package.constraints.diversity.by_uri, package.constraints.diversity.memory_ratio) == (7, 0.9)
    assert package.debug
    factors = [each.factors for each in package.debug.explain.candidates if each.id.startswith("memory:")]
    assert [(each.recency, each.provenance) for each in factors] == [(2.0, 3.0)] * len(factors)
    assert factors


async def test_the_client_and_the_command_change_settings(person: Person) -> None:
    async with listening(person.system) as url, SmartBrain(url, tenant_id=person.tenant_id) as brain:
        after = await brain.change_settings(person.user_id, learning=False, inject_limit=3)
        assert after == await brain.load_settings(person.user_id)
        held_now = {each.name: (each.value, each.source) for each in after.settings}
        assert (held_now["learning"], held_now["inject_limit"]) == ((False, "user"), (3, "user"))
        with pytest.raises(RefusedError, match="language"):
            await brain.change_settings(person.user_id, language="fr")
        run = partial(CliRunner().invoke, app, env={"SMARTBRAIN_URL": url})
        whose = ["--user", person.user_id, "--tenant", person.tenant_id]
        for words, told in ((["reset", "all"], "默认"), (["set", "language=zh"], "用户"), (["show"], "zh")):
            result = await asyncio.to_thread(run, ["settings", *words, *whose, "--lang", "zh"])
            assert result.exit_code == 0, result.output
            assert told in result.output
        refused = await asyncio.to_thread(run, ["settings", "set", "inject_limit=41", *whose])
        assert refused.exit_code != 0
    assert by_name((await person.get("/v1/settings")).json())["inject_limit"]["source"] == "policy"
