"""The system's state for an operator: figures and ids without user text."""

from typing import Any

import pytest

from tests.system.erasures import completed, erase
from tests.system.person import Json, Person
from tests.system.wait import wait_for

SAID = "I love jasmine tea and my cat is called Biscuit. 我喜欢喝茉莉花茶。"
WORDS = ("jasmine", "Biscuit", "茉莉花茶")
USED = """
INSERT INTO model_usage (tenant_id, user_id, day, purpose, calls, tokens_in, tokens_out, seconds, malformed, model)
VALUES (%(t)s, %(u)s, current_date, 'extract', 3, 2000, 500, 1.5, 1, 'small-model')
"""


async def get_page(person: Person, path: str, **query: Any) -> Json:
    """The response to an operator."""
    answer = await person.get(path, **query)
    assert answer.status_code == 200, answer.text
    assert not [word for word in WORDS if word in answer.text]
    return answer.json()


async def test_users_are_listed_with_figures(person: Person) -> None:
    await person.say(SAID)
    other = Person(person.system, tenant_id=person.tenant_id)
    await other.say("hello")
    answer = await person.system.http.get("/v1/users", params={"tenant_id": person.tenant_id})
    users = answer.json()["users"]
    assert [each["user_id"] for each in users] == [other.user_id, person.user_id]
    assert (users[1]["turns"], users[1]["sessions"], users[1]["turns_open"]) == (1, 1, 0)
    assert users[1]["memories"] > 0
    assert not [word for word in WORDS if word in answer.text]
    begins = {"tenant_id": person.tenant_id, "begins": other.user_id[:8]}
    (only,) = (await person.system.http.get("/v1/users", params=begins)).json()["users"]
    assert only["user_id"] == other.user_id


async def test_the_flow_shows_waiting_work_and_lag(person: Person) -> None:
    await person.say(SAID)
    await person.system.settled()
    flow = await get_page(person, "/v1/operations/flow")
    work = flow["work"]
    assert (work["turns_committed_hour"], work["turns_settled_hour"]) == (1, 1)
    assert (work["turns_unobserved"], work["turns_overdue"], work["proposals_new"]) == (0, 0, 0)
    assert {"observer", "evolver"} <= {each["consumer"] for each in flow["consumers"]}
    groups = {each["service"] for each in flow["groups"]}
    assert {"compose", "observer", "analyzer", "evolver", "erasure"} <= groups
    assert all(each["lag"] >= 0 for each in flow["groups"])
    assert {"compose", "relay", "observer", "analyzer", "evolver", "erasure"} <= flow["services"].keys()


async def test_series_contain_turns_packages_and_latencies(person: Person) -> None:
    await person.say(SAID)
    package = await person.compose("Which tea?")
    recorded = "SELECT count(*) FROM injections WHERE context_id = %(c)s"
    await wait_for(lambda: person.system.number(recorded, c=package.context_id), "the package is recorded")
    series = await get_page(person, "/v1/operations/series", minutes=10)
    moments = series["moments"]
    assert series["step_minutes"] == 1
    assert len(moments) in (10, 11)
    assert [sum(each[name] for each in moments) for name in ("committed", "settled", "packages")] == [1, 1, 1]
    (settled,) = [each for each in moments if each["settled"]]
    (packed,) = [each for each in moments if each["packages"]]
    assert 0 < settled["settled_p50_s"] <= settled["settled_p95_s"] < 60
    assert 0 < packed["package_p50_ms"] <= packed["package_p95_ms"]
    assert (await get_page(person, "/v1/operations/series", minutes=1440))["step_minutes"] == 16


async def test_alerts_name_current_faults_and_first_steps(person: Person) -> None:
    turn = await person.commit(SAID)
    await person.outcome(turn["turn_id"])
    calm = {each["name"]: each for each in (await get_page(person, "/v1/operations/alerts"))["alerts"]}
    assert not calm["DeadLetters"]["firing"]
    assert not calm["TurnsWithoutOutcome"]["firing"]
    assert calm["OutboxStalled"]["threshold"] == 30
    assert calm["OutboxStalled"]["runbook"] == "deploy/runbook.md#outboxstalled-page"
    given_up = """INSERT INTO quarantine (tenant_id, user_id, quarantine_id, stage, turn_id, event_id, reason)
        VALUES (%(t)s, %(u)s, gen_random_uuid(), 'observer', %(turn)s, gen_random_uuid(), 'because of jasmine')"""
    late = "UPDATE turns SET outcome_at = NULL, committed_at = now() - interval '2 hours' WHERE turn_id = %(turn)s"
    whose = {"t": person.tenant_id, "u": person.user_id, "turn": turn["turn_id"]}
    await person.system.change(given_up, **whose)
    await person.system.change(late, turn=turn["turn_id"])
    try:
        alerts = (await get_page(person, "/v1/operations/alerts"))["alerts"]
        flow = await get_page(person, "/v1/operations/flow")
    finally:
        await person.system.change("UPDATE turns SET outcome_at = now() WHERE turn_id = %(turn)s", turn=turn["turn_id"])
    firing = {each["name"]: each for each in alerts if each["firing"]}
    assert {"DeadLetters", "TurnsWithoutOutcome"} <= firing.keys()
    assert alerts[0]["firing"]
    assert firing["TurnsWithoutOutcome"]["figure"] == 1
    assert firing["TurnsWithoutOutcome"]["action"]
    assert flow["work"]["turns_overdue"] == 1
    assert [(each["stage"], each["events"]) for each in flow["given_up"]] == [("observer", 1)]


async def test_erasures_of_all_users_are_listed_with_deadline_and_proof(person: Person) -> None:
    await person.say(SAID)
    done = await completed(person, await erase(person, "all"))
    (seen,) = (await get_page(person, "/v1/operations/erasures"))["erasures"]
    assert (seen["tombstone_id"], seen["status"], seen["proved"]) == (done["tombstone_id"], "completed", True)
    assert seen["deadline_at"] > seen["requested_at"]
    assert (seen["level"], seen["user_id"]) == ("none", person.user_id)
    assert 0.9 < seen["left_share"] <= 1


async def test_models_are_listed_by_day_with_their_cost(person: Person) -> None:
    await person.system.change(USED, t=person.tenant_id, u=person.user_id)
    seen = await get_page(person, "/v1/operations/models")
    (used,) = seen["uses"]
    assert (used["model"], used["purpose"], used["calls"], used["unreadable"]) == ("small-model", "extract", 3, 1)
    assert (used["tokens_in"], used["tokens_out"], used["cost"], seen["cost"]) == (2000, 500, None, None)


async def test_a_turn_is_followed_by_its_id_alone(person: Person) -> None:
    turn = await person.commit(SAID)
    await person.outcome(turn["turn_id"])
    answer = await person.system.http.get(f"/v1/operations/turns/{turn['turn_id']}")
    assert answer.status_code == 200, answer.text
    trace = answer.json()
    assert not [word for word in WORDS if word in answer.text]
    assert (trace["user_id"], trace["tenant_id"], trace["seq"]) == (person.user_id, person.tenant_id, 1)
    assert (trace["stands"], trace["status"]) == (None, "derived")
    assert [each["step"] for each in trace["steps"]] == [
        "committed",
        "published",
        "observed",
        "analyzed",
        "evolved",
        "settled",
    ]
    times = [each["at"] for each in trace["steps"] if each["step"] in ("committed", "observed", "settled")]
    assert times == sorted(times)
    assert {each["state"] for each in trace["observations"]} <= {"evolved", "rejected", "deferred"}
    assert {each["memory_id"] for each in trace["memories"]} & {m["memory_id"] for m in await person.memories()}


@pytest.mark.parametrize("turn_id", ["c2b6a0de-7f64-4b53-8d0a-0f2c9a0e2b11", "01a22113-9e90-74b3-a066-ef8bfb894409"])
async def test_an_unknown_turn_is_not_found(person: Person, turn_id: str) -> None:
    answer = await person.get(f"/v1/operations/turns/{turn_id}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_waiting_work_of_one_tenant_is_shown_and_system_figures_are_marked(person: Person) -> None:
    neighbour = Person(person.system)
    turn = await neighbour.commit(SAID)
    await neighbour.outcome(turn["turn_id"])
    given_up = """INSERT INTO quarantine (tenant_id, user_id, quarantine_id, stage, turn_id, event_id, reason)
        VALUES (%(t)s, %(u)s, gen_random_uuid(), 'observer', %(turn)s, gen_random_uuid(), 'a test')"""
    waits = "UPDATE turns SET outcome_at = NULL, committed_at = now() - interval '1 minute' WHERE turn_id = %(turn)s"
    whose = {"t": neighbour.tenant_id, "u": neighbour.user_id, "turn": turn["turn_id"]}
    await person.system.change(given_up, **whose)
    await person.system.change(waits, turn=turn["turn_id"])
    try:
        flows = [await get_page(each, "/v1/operations/flow") for each in (person, neighbour)]
    finally:
        await person.system.change("UPDATE turns SET outcome_at = now() WHERE turn_id = %(turn)s", turn=turn["turn_id"])
    assert [each["work"]["turns_observed"] for each in flows] == [0, 1]
    assert flows[0]["work"]["oldest_turn_s"] == 0
    assert flows[1]["work"]["oldest_turn_s"] >= 60
    assert [len(each["given_up"]) for each in flows] == [0, 1]
    alerts = (await get_page(person, "/v1/operations/alerts"))["alerts"]
    of_the_house = {each["name"] for each in alerts if each["whole_house"]}
    assert of_the_house
    assert not of_the_house & {"DeadLetters", "TurnsWithoutOutcome", "OutboxStalled", "ErasureCritical"}
