"""An executed plan, given or made for a package, is stored for a while: shown, repeated, and erased."""

from typing import Any

import pytest

from tests.system.erasures import completed, erase, mine
from tests.system.person import Json, Person
from tests.system.wait import wait_for

SAID = {"zh": "我喜欢喝乌龙茶。", "en": "I prefer oolong tea."}
ASKED = {"zh": "我喜欢喝什么茶？", "en": "What tea do I prefer?"}
SECRET = "sk-proj-9f8e7d6c5b4a39281706f5e4d3c2b1a0"
languages = pytest.mark.parametrize("language", SAID)


def plan(text: str, **more: Any) -> Json:
    return {"version": "0.1", "queries": [{"text": text, "mode": "hybrid"}], **more}


async def execute(person: Person, asked: Json) -> Json:
    """The pack."""
    answer = await person.post("/v1/retrieve", {**person.whose, **asked})
    assert answer.status_code == 200, answer.text
    return answer.json()


def list_texts(pack: Json) -> list[str]:
    return [each["snippet"] for each in pack["evidences"]]


@languages
async def test_a_given_plan_is_shown_and_repeated(person: Person, language: str) -> None:
    await person.say(SAID[language])
    span = {"time_range": {"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}}
    asked = plan(ASKED[language], request_id="mine", global_filters=span, org_id="shop-7")
    pack = await execute(person, asked)
    assert (pack["request_id"], list_texts(pack) != []) == ("mine", True)
    kept = (await person.get(f"/v1/plans/{pack['plan_id']}")).json()
    assert (kept["plan_id"], kept["org_id"]) == (pack["plan_id"], "shop-7")
    assert kept["plan"]["queries"][0]["text"] == ASKED[language]
    assert kept["plan"]["global_filters"]["time_range"]["from"] == "2020-01-01T00:00:00Z"
    assert person.user_id not in str(kept)
    again = await execute(person, {**kept["plan"], "org_id": kept["org_id"]})
    assert (list_texts(again), again["plan_id"] != pack["plan_id"]) == (list_texts(pack), True)


@languages
async def test_the_plan_of_a_package_is_found_by_its_context(person: Person, language: str) -> None:
    await person.say(SAID[language])
    package = await person.compose(ASKED[language])
    kept = await person.get(f"/v1/plans/{package.context_id}")
    assert package.debug
    assert package.debug.planner
    assert package.debug.planner.plan
    assert kept.json()["plan"]["queries"] == package.debug.planner.plan.model_dump(mode="json")["queries"]
    pack = await execute(person, plan(ASKED[language]))
    assert (await person.get(f"/v1/contexts/{pack['plan_id']}")).status_code == 404, "a plan is no package"
    assert [each["context_id"] for each in (await person.get("/v1/contexts")).json()["contexts"]] == [
        package.context_id
    ]


@pytest.mark.parametrize("where", ["queries", "notes"])
async def test_a_plan_with_a_secret_is_not_stored(person: Person, where: str) -> None:
    told = f"my key is {SECRET}"
    asked = plan(told) if where == "queries" else plan("tea", debug={"notes": told})
    pack = await execute(person, asked)
    assert (await person.get(f"/v1/plans/{pack['plan_id']}")).status_code == 404
    assert mine(person, "context_packages") == []


@pytest.mark.parametrize("scope", ["all", "items"])
async def test_an_erasure_deletes_earlier_plans(person: Person, scope: str) -> None:
    await person.say(SAID["en"])
    pack = await execute(person, plan(ASKED["en"]))
    await wait_for(lambda: mine(person, "context_packages"), "the plan is kept")
    (memory,) = await person.memories()
    receipt = await erase(person, scope, **({"memory_ids": [memory["memory_id"]]} if scope == "items" else {}))
    gone = await person.get(f"/v1/plans/{pack['plan_id']}")
    assert (gone.status_code, gone.json()["code"]) == (410, "erased")
    await completed(person, receipt)
    after = await execute(person, plan("pots"))
    assert (await person.get(f"/v1/plans/{after['plan_id']}")).status_code == 200
