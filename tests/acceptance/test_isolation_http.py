"""Every route, called by another user, shows nothing and changes nothing."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Route

from tests.system.databases import Databases
from tests.system.known import MEDIA, SESSION, Known, known, strangers
from tests.system.person import Json, Person
from tests.system.running import System, policy_file, running, settings_for

ASKED = "What tea do I like, where do I live? 我喜欢喝什么茶？住在哪里？PostgreSQL, picture, ticket"
Expected = Literal["missing", "empty", "own"]


@dataclass(frozen=True)
class Case:
    """A request for data of one user in the name of another; `expected` of a requester without such data.

    missing: 404. empty: an empty page. own: succeeds on the requester's own data.
    """

    method: str
    path: str
    expected: Expected
    body: Callable[[Known], Json] = lambda _: {}
    named_in_body: bool = False

    def address(self, of: Known) -> str:
        """The path with the names of the user's objects."""
        return self.path.format(**vars(of), session_id=SESSION, media_id=MEDIA)

    async def ask(self, who: Person, of: Known) -> httpx.Response:
        """The response of compose to this user."""
        more: dict[str, Any] = {"params": who.whose}
        if self.method != "get":
            more = {"json": {**who.whose, **self.body(of)}} if self.named_in_body else {**more, "json": self.body(of)}
        return await who.system.http.request(self.method, self.address(of), **more)


def _make_body(_: Known) -> Json:
    return {"session_id": SESSION, "messages": [{"role": "user", "content": "I live in Oslo. 我喜欢散步。"}]}


EMPTY_EXPORT = {
    "format": "smartbrain.export",
    "version": 1,
    "exported_at": "2026-03-01T00:00:00Z",
    "counts": {"sessions": 0, "turns": 0, "memories": 0, "conflicts": 0, "feedback": 0},
}
REQUEUE = "/v1/erasures/{tombstone_id}/requeue"
"""Refused to the owner too while nothing is escalated."""
RETRY = "/v1/promotions/{proposal_id}/retry"
"""Refused to the owner too while nothing has failed."""
FIGURES = {
    "/v1/users",
    *(f"/v1/operations/{name}" for name in ("flow", "series", "alerts", "models")),
}
"""Returns counts of the user's data, but no id."""
USES = "/v1/memories/{memory_id}/uses"
"""No package contains this memory, because the message that it was learnt from is in it."""
OF_THE_KEY, SETTINGS = "/v1/access", "/v1/settings"
"""Concerns the requester and how memory works for a user; contains no statements."""
LETTER, GIVEN_UP = "/v1/dead-letters/{letter_id}", "/v1/quarantine/{quarantine_id}"
REFUSED_TO_ITS_OWNER = {REQUEUE, RETRY, "/v1/memories/merge", f"{LETTER}/drop", f"{GIVEN_UP}/redrive"}
"""A redriven letter is not dropped as well, an ended memory is not merged, an abandoned event has its outcome."""


def _operator(_: Known) -> Json:
    return {"requested_by": "operator", "reason": "again"}


CASES = (
    Case("get", "/v1/turns/{turn_id}", "missing"),
    Case("get", "/v1/turns/{turn_id}/outcome", "missing"),
    Case("get", "/v1/contexts", "empty"),
    Case("get", "/v1/contexts/{context_id}", "missing"),
    Case("get", "/v1/contexts/{context_id}/messages", "missing"),
    Case("get", "/v1/receipts/{context_id}", "missing"),
    Case("get", "/v1/plans/{context_id}", "missing"),
    Case("get", "/v1/media/{media_id}", "missing"),
    Case("get", "/v1/memories", "empty"),
    Case("get", "/v1/memories/{memory_id}", "missing"),
    Case("get", "/v1/memories/{memory_id}/history", "missing"),
    Case("get", USES, "missing"),
    Case("post", "/v1/contexts/{context_id}/replay", "missing"),
    Case("get", "/v1/users", "empty"),
    *(Case("get", path, "own") for path in sorted(FIGURES - {"/v1/users"})),
    Case("get", "/v1/operations/erasures", "empty"),
    Case("get", "/v1/operations/turns/{turn_id}", "missing"),
    Case("get", "/v1/writes/{turn_id}", "missing"),
    Case("get", "/v1/changes", "empty"),
    Case("get", "/v1/export", "own"),
    Case("get", "/v1/answers", "empty"),
    Case("get", "/v1/conflicts", "empty"),
    Case("get", SETTINGS, "own"),
    Case("patch", SETTINGS, "own", lambda _: {"learning": False}),
    Case("get", "/v1/sessions", "empty"),
    Case("get", "/v1/sessions/{session_id}", "missing"),
    Case("get", "/v1/sessions/{session_id}/summary", "missing"),
    Case("get", "/v1/promotions", "empty"),
    Case("get", "/v1/experience", "empty"),
    Case("get", OF_THE_KEY, "own"),
    Case("get", "/v1/resources", "empty"),
    Case("get", "/v1/erasures", "empty"),
    Case("get", "/v1/erasures/{tombstone_id}", "missing"),
    Case("get", "/v1/erasures/{tombstone_id}/residue", "missing"),
    Case(
        "post",
        REQUEUE,
        "missing",
        _operator,
        named_in_body=True,
    ),
    Case("get", "/v1/dead-letters", "empty"),
    Case("get", LETTER, "missing"),
    Case("post", f"{LETTER}/redrive", "missing", _operator),
    Case("post", f"{LETTER}/drop", "missing", _operator),
    Case("get", "/v1/quarantine", "empty"),
    Case("get", GIVEN_UP, "missing"),
    Case("post", f"{GIVEN_UP}/redrive", "missing", _operator),
    Case("post", f"{GIVEN_UP}/drop", "missing", _operator),
    Case("put", "/v1/memories/{memory_id}/pin", "missing"),
    Case("delete", "/v1/memories/{memory_id}/pin", "missing"),
    Case("post", "/v1/memories/{ended_id}/restore", "missing"),
    Case("patch", "/v1/memories/{memory_id}", "missing", lambda _: {"text": "likes water"}),
    Case("post", "/v1/memories/merge", "missing", lambda of: {"keep": of.memory_id, "others": [of.ended_id]}),
    Case("post", "/v1/memories/bulk", "missing", lambda of: {"action": "pin", "memory_ids": [of.memory_id]}),
    Case("post", "/v1/import", "own", lambda _: EMPTY_EXPORT),
    Case("post", "/v1/conflicts/{conflict_id}", "missing", lambda _: {"keep": "said"}),
    Case("post", "/v1/promotions/{proposal_id}", "missing", lambda _: {"decision": "reject"}, named_in_body=True),
    Case("post", RETRY, "missing", named_in_body=True),
    Case("post", "/v1/sessions/{session_id}/archive", "missing"),
    Case("delete", "/v1/sessions/{session_id}/summary", "own"),
    Case(
        "post",
        "/v1/commands",
        "own",
        lambda _: {"session_id": SESSION, "text": "/memory search tea"},
        named_in_body=True,
    ),
    Case("patch", "/v1/sessions/{session_id}", "own", lambda _: {"remembered": True}),
    Case(
        "post",
        "/v1/feedback",
        "missing",
        lambda of: {"memory_id": str(of.memory_id), "verdict": "not_useful"},
        named_in_body=True,
    ),
    Case("delete", "/v1/feedback/{memory_id}", "missing"),
    Case("delete", "/v1/memories/{memory_id}", "missing"),
    Case(
        "post",
        "/v1/context",
        "own",
        lambda _: {"session_id": SESSION, "user_message": ASKED, "debug": True},
        named_in_body=True,
    ),
    Case(
        "post",
        "/v1/explain",
        "own",
        lambda _: {"session_id": SESSION, "user_message": ASKED, "policy": {"compose": {"evidence_max": 9}}},
        named_in_body=True,
    ),
    Case("post", "/v1/retrieve", "own", lambda _: {"version": "0.1", "queries": [{"text": ASKED}]}, named_in_body=True),
    Case("post", "/v1/turns", "own", _make_body, named_in_body=True),
    Case("post", "/v1/memories", "own", lambda _: {"text": "the bike is blue"}, named_in_body=True),
    Case(
        "put", "/v1/media/{media_id}", "own", lambda _: {"type": "image", "security_status": "safe"}, named_in_body=True
    ),
    Case("post", "/v1/knowledge/changed", "own", named_in_body=True),
    Case("delete", "/v1/memories", "missing", lambda of: {"memory_ids": [of.ended_id]}),
    Case("post", "/v1/erasures", "missing", lambda _: {"scope": "session", "session_ids": ["gone"]}, True),
)
NAMES = {
    "ended_id": "memory_id",
    "/v1/plans/{context_id}": "/v1/plans/{plan_id}",
    "/v1/writes/{turn_id}": "/v1/writes/{receipt_id}",
}
"""Route parameters with another name here."""
ROUTES = [
    f"{case.method} {reduce(lambda path, name: path.replace(name, NAMES[name]), NAMES, case.path)}" for case in CASES
]
PROBES = ("get /live", "get /ready", "get /metrics")
"""Routes of the service, not of a user; every service adds them where it is served."""
EACH = pytest.mark.parametrize("case", CASES, ids=ROUTES)


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, on its own database; no timer changes memories."""
    policy = policy_file(tmp_path_factory.mktemp("policy"), evolution={"every_s": 3600})
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


@pytest.fixture(scope="module")
async def anna(system: System) -> Known:
    """A user with data of every kind."""
    return await known(Person(system))


@pytest.fixture(scope="module")
async def neighbours(anna: Known) -> dict[str, Known]:
    """Other users with data of every kind, under the same names of sessions and media."""
    return {name: await known(each) for name, each in strangers(anna).items()}


def find_leaks(of: Known, case: Case, answer: httpx.Response) -> list[str]:
    """Data of the user in a response that was not in the requested address."""
    ids = [each for each in of.ids if each in answer.text and each not in case.address(of)]
    return [*of.shown_in(answer.text), *ids]


def _pages(answer: Json) -> list[Any]:
    return [value for value in answer.values() if isinstance(value, list)]


async def test_every_route_has_a_case(system: System) -> None:
    told = (await system.http.get("/openapi.json")).json()["paths"]
    described = [f"{method} {path}" for path, methods in told.items() for method in methods]
    assert sorted([*ROUTES, *PROBES]) == sorted(described)
    served = system["compose"].service.http
    assert isinstance(served, FastAPI)
    paths = {route.path.replace(":external}", "}") for route in served.routes if isinstance(route, Route)}
    unlisted = paths - {*told}
    assert unlisted == {"/openapi.json", "/docs", "/docs/oauth2-redirect"}


@EACH
@pytest.mark.parametrize("name", ["of the same tenant", "of the same name"])
async def test_another_user_is_shown_and_changes_nothing(anna: Known, case: Case, name: str) -> None:
    stranger = strangers(anna)[name]
    before = anna.rows()
    answer = await case.ask(stranger, anna)
    await anna.person.system.settled()
    assert anna.rows() == before
    assert find_leaks(anna, case, answer) == []
    if case.expected == "missing":
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    elif case.expected == "empty":
        assert (answer.status_code, _pages(answer.json())) == (200, [[]])
    else:
        assert answer.is_success, answer.text


@EACH
@pytest.mark.parametrize("name", ["of the same tenant", "of the same name"])
async def test_users_with_equal_data_are_shown_only_their_own(
    anna: Known, neighbours: dict[str, Known], case: Case, name: str
) -> None:
    neighbour, before = neighbours[name], anna.rows()
    answer = await case.ask(neighbour.person, anna)
    await anna.person.system.settled()
    assert anna.rows() == before
    assert find_leaks(anna, case, answer) == []
    if case.expected == "empty":
        assert answer.is_success, answer.text
        assert len(_pages(answer.json())[0]) > 0
    if "{" in case.path and "{session_id}" not in case.path and "{media_id}" not in case.path:
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("name", ["of the same tenant", "of the same name"])
async def test_another_users_ids_in_a_body_have_no_effect(anna: Known, neighbours: dict[str, Known], name: str) -> None:
    own = neighbours[name]
    other, before = own.person, anna.rows()
    item = {"type": "preference", "memory_id": anna.memory_id}
    outcomes = [
        await other.say(session=SESSION, items=[{**item, "retract": True}]),
        await other.say(session=SESSION, items=[{**item, "restore": True}]),
        await other.say(session=SESSION, items=[{**item, "text": "likes water"}]),
        await other.say(session=SESSION, items=[{**item, "pin": True}]),
        await other.say(session=SESSION, items=[{**item, "merge": [own.memory_id]}]),
        await other.say(session=SESSION, items=[{**item, "memory_id": own.memory_id, "merge": [anna.memory_id]}]),
        await other.say("不对，我不喜欢喝茶了。", session=SESSION, context_id=anna.context_id),
    ]
    asked = [
        await other.get(f"/v1/receipts/{own.context_id}", item=anna.memory_id),
        await other.get("/v1/memories", query=" ".join(anna.words)),
        await other.get("/v1/resources", turn_id=anna.turn_id),
        await other.get("/v1/contexts", session_id=SESSION),
        await other.post(
            "/v1/retrieve",
            {
                **other.whose,
                "queries": [{"text": "tea", "mode": mode} for mode in ("exact", "hybrid", "relational", "associative")],
                "version": "0.1",
                "global_filters": {"source_uri_prefix": [f"smartbrain://memory/{anna.memory_id}"]},
            },
        ),
    ]
    picture = {"type": "image", "media_id": f"{MEDIA}-of-anna", "text_fallback": "a picture"}
    await anna.person.system.http.put(
        f"/v1/media/{MEDIA}-of-anna", json={**anna.person.whose, "type": "image", "security_status": "safe"}
    )
    refused = await other.post("/v1/turns", {**other.turn(), "messages": [{"role": "user", "content": [picture]}]})
    assert refused.status_code == 409
    assert refused.json()["code"] == "media_security_blocked"
    await anna.person.system.settled()
    of_her_picture: dict[str, list[str]] = {"media": [], "audit_events": []}
    assert {**anna.rows(), **of_her_picture} == {**before, **of_her_picture}
    assert not anna.shown_in("".join([str(outcomes), *(each.text for each in asked)]))
    assert all(each.is_success for each in (*asked[1:], asked[0])), [each.text for each in asked]


async def test_the_owner_is_shown_and_changes_the_data(anna: Known) -> None:
    words: set[str] = set()
    for case in CASES:
        answer = await case.ask(anna.person, anna)
        assert answer.is_success or (case.path in REFUSED_TO_ITS_OWNER and answer.status_code == 409), (
            case,
            answer.text,
        )
        words |= {*anna.shown_in(answer.text)}
        if case.method == "get" and case.path not in (OF_THE_KEY, SETTINGS, USES, *FIGURES):
            assert anna.shown_in(answer.text) or any(each in answer.text for each in (*anna.ids, SESSION)), case
    assert words == set(anna.words)
    await anna.person.system.settled()
    contents = await anna.person.contents()
    assert "likes water" in contents
    assert not [each for each in contents if anna.words[0] in each]
