"""Access control: each route without a key, or with a key of another tenant or user, or with too few scopes."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, get_args

import httpx
import pytest

from schemas.topics import TURN_COMMIT
from schemas.vocabulary import AccessScope
from services.compose.routes.access import PROBES
from shared.access.secrets import KeyText, make_key_id, make_secret
from shared.db import Database
from shared.domain.subjects import SCOPES
from shared.metrics.access import REQUESTS_DENIED
from tests.acceptance.test_isolation_http import CASES, REFUSED_TO_ITS_OWNER, ROUTES, Case
from tests.system.databases import Databases
from tests.system.kafka import Stored, publish
from tests.system.keys import Headers, add_key, with_key
from tests.system.known import Known, known
from tests.system.person import Person, somebody
from tests.system.running import System, policy_file, running, settings_for

EACH = pytest.mark.parametrize("case", CASES, ids=ROUTES)
OF_TENANT = "/v1/knowledge/changed"
"""Routes that concern all users of a tenant and name none."""
WITHOUT_BODY = (
    *("/archive", "/restore", "/summary", "/pin", "/replay"),
    *("/v1/memories/{memory_id}", "/v1/feedback/{memory_id}", "/v1/import"),
)
"""Routes that read no body, or a document that names its source; the address names the owner."""
WITH_BODY = [
    case
    for case in CASES
    if case.method in ("post", "put", "patch", "delete")
    and (case.method == "patch" or not case.path.endswith(WITHOUT_BODY))
]
"""Routes that read a body."""


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, on its own database; no timer changes memories."""
    policy = policy_file(tmp_path_factory.mktemp("policy"), evolution={"every_s": 3600})
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


@dataclass(frozen=True)
class Closed:
    """A user with data of every kind, on a server that requires keys."""

    anna: Known
    db: Database
    scopes: dict[str, AccessScope]

    async def ask(self, case: Case, headers: Headers, who: Person | None = None, **more: Any) -> httpx.Response:
        """The response to a request for the user's data, made in the user's or another name."""
        person = who or self.anna.person
        asked: dict[str, Any] = {"params": person.whose, "headers": headers}
        if case.method != "get":
            body = {**case.body(self.anna), **more}
            if "requested_by" not in more:
                body.pop("requested_by", None)
            asked = (
                {"headers": headers, "json": {**person.whose, **body}}
                if case.named_in_body
                else {
                    **asked,
                    "json": body,
                }
            )
        return await person.system.http.request(case.method, case.address(self.anna), **asked)

    async def key(self, **grant: Any) -> Headers:
        """The header of a new key of the user's tenant, or of the given one."""
        return with_key(await add_key(self.db, grant.pop("tenant_id", self.anna.person.tenant_id), **grant))


@pytest.fixture(scope="module")
async def closed(system: System) -> Closed:
    """Requires keys once all data of the user exists."""
    anna = await known(Person(system))
    db = system["compose"].rt.db
    key = await add_key(db, anna.person.tenant_id)
    document = (await system.http.get("/openapi.json", headers=with_key(key))).json()
    scopes: dict[str, AccessScope] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for stated in operation.get("security", ()):
                (scopes[f"{method} {path}"],) = stated["HTTPBearer"]
    return Closed(anna, db, scopes)


def scope_of(closed: Closed, case: Case) -> AccessScope:
    """The scope that the route of the case declares."""
    return closed.scopes[ROUTES[CASES.index(case)]]


def assert_refused_field(answer: httpx.Response, field: str) -> None:
    """The request is refused because of this field."""
    told = answer.json()
    assert (answer.status_code, told["code"], told["details"][0]["field"]) == (403, "forbidden", field), answer.text


async def test_every_route_declares_its_scope_and_has_a_case(closed: Closed) -> None:
    assert sorted(closed.scopes) == sorted(ROUTES)
    assert set(closed.scopes.values()) <= set(get_args(AccessScope))


async def test_probes_and_descriptions_of_routes_need_no_key(system: System, closed: Closed) -> None:
    assert closed
    served = {path: (await system.http.get(path)).status_code for path in (*PROBES, "/openapi.json", "/docs", "/v1/x")}
    # the probes are added where compose is served; here no other route is open
    assert served == {**dict.fromkeys(PROBES, 404), "/openapi.json": 401, "/docs": 401, "/v1/x": 401}


@EACH
async def test_a_request_without_a_valid_key_is_refused(closed: Closed, case: Case) -> None:
    before = closed.anna.rows()
    stranger = KeyText(make_key_id(), make_secret())
    for headers in ({}, with_key(stranger), with_key("hello"), {"authorization": str(stranger)}):
        answer = await closed.ask(case, headers)
        told = answer.json()
        assert (answer.status_code, told["code"]) == (401, "unauthenticated"), answer.text
        assert told["details"][0]["field"] == "authorization"
        assert told["request_id"] == answer.headers["x-request-id"]
        assert answer.headers["www-authenticate"] == "Bearer"
    assert closed.anna.rows() == before


@EACH
async def test_a_missing_scope_is_refused(closed: Closed, case: Case) -> None:
    before, needed = closed.anna.rows(), scope_of(closed, case)
    others = [scope for scope in SCOPES if scope not in (needed, "admin")]
    assert_refused_field(await closed.ask(case, await closed.key(scopes=others)), "scope")
    assert closed.anna.rows() == before


@EACH
async def test_a_key_of_another_tenant_is_refused(closed: Closed, case: Case) -> None:
    before = closed.anna.rows()
    assert_refused_field(await closed.ask(case, await closed.key(tenant_id=somebody())), "tenant_id")
    assert closed.anna.rows() == before


@EACH
async def test_a_key_of_another_user_is_refused(closed: Closed, case: Case) -> None:
    before = closed.anna.rows()
    for grant in ({"user": somebody()}, {"users_from": f"{closed.anna.person.user_id}-"}):
        assert_refused_field(await closed.ask(case, await closed.key(**grant)), "user_id")
    assert closed.anna.rows() == before


@EACH
async def test_data_of_others_is_not_found(closed: Closed, case: Case) -> None:
    before = closed.anna.rows()
    other = Person(closed.anna.person.system, tenant_id=closed.anna.person.tenant_id)
    answer = await closed.ask(case, await closed.key(user=other.user_id), other)
    await closed.anna.person.system.settled()
    assert closed.anna.rows() == before
    assert not closed.anna.shown_in(answer.text)
    if case.path == OF_TENANT:
        assert_refused_field(answer, "user_id")
    elif case.expected == "missing":
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), answer.text
    else:
        assert answer.is_success, answer.text


@pytest.mark.parametrize("case", WITH_BODY, ids=lambda case: f"{case.method} {case.path}")
@pytest.mark.parametrize("field", ["tenant_id", "user_id", "requested_by"])
async def test_a_body_that_names_another_user_is_refused_even_if_the_route_ignores_the_field(
    closed: Closed, case: Case, field: str
) -> None:
    before, person = closed.anna.rows(), closed.anna.person
    key = await closed.key(user=person.user_id)
    query = {} if case.named_in_body else person.whose
    whose = person.whose if case.named_in_body else {}
    body = {**whose, **case.body(closed.anna), field: "somebody"}
    http = person.system.http
    assert_refused_field(
        await http.request(case.method, case.address(closed.anna), params=query, json=body, headers=key), field
    )
    assert closed.anna.rows() == before


async def test_two_keys_in_one_request_are_refused(closed: Closed) -> None:
    person = closed.anna.person
    both = [("authorization", (await closed.key())["authorization"]) for _ in range(2)]
    answer = await person.system.http.get("/v1/memories", params=person.whose, headers=both)
    assert (answer.status_code, answer.json()["message"]) == (401, "authorization: is given more than once")


async def test_refused_requests_are_counted(closed: Closed) -> None:
    http, whose = closed.anna.person.system.http, closed.anna.person.whose
    counts = {code: REQUESTS_DENIED.labels(code) for code in ("unauthenticated", "forbidden")}
    before = {code: count._value.get() for code, count in counts.items()}  # pyright: ignore[reportPrivateUsage] # no other way to read it
    await http.get("/v1/memories", params=whose)
    assert_refused_field(
        await http.get("/v1/memories", params=whose, headers=await closed.key(scopes=["write"])), "scope"
    )
    after = {code: count._value.get() for code, count in counts.items()}  # pyright: ignore[reportPrivateUsage] # no other way to read it
    assert after == {code: number + 1 for code, number in before.items()}


async def test_a_nested_turn_grants_no_access(closed: Closed) -> None:
    person = closed.anna.person
    key = await closed.key()
    inner = {"tenant_id": "other", "user_id": person.user_id, "session_id": "s", "messages": []}
    answer = await person.system.http.post("/v1/turns", json={"turn_events": inner}, headers=key)
    assert_refused_field(answer, "tenant_id")


async def test_the_declared_scope_is_sufficient_for_the_owner(closed: Closed) -> None:
    for case in CASES:
        user = {} if case.path == OF_TENANT else {"user": closed.anna.person.user_id}
        key = await closed.key(scopes=[scope_of(closed, case)], **user)
        answer = await closed.ask(case, key)
        assert answer.is_success or (case.path in REFUSED_TO_ITS_OWNER and answer.status_code == 409), (
            case,
            answer.text,
        )


async def test_tenant_and_requester_come_from_the_key(closed: Closed) -> None:
    http, person = closed.anna.person.system.http, Person(closed.anna.person.system)
    app = with_key(await add_key(closed.db, person.tenant_id, name="shop-backend"))
    said = {"user_id": person.user_id, "session_id": "s", "messages": [{"role": "user", "content": "I like mate."}]}
    turn = (await http.post("/v1/turns", json=said, headers=app)).json()
    assert turn["accepted"]["messages"] == 1
    mine = {"user_id": person.user_id}
    assert (await http.get(f"/v1/turns/{turn['turn_id']}", params=mine, headers=app)).status_code == 200
    own = with_key(await add_key(closed.db, person.tenant_id, user=person.user_id))
    for headers, requested_by, reason in (
        (app, "key:shop-backend", "asked with key:shop-backend"),
        (own, person.user_id, None),
    ):
        wanted = {**mine, "scope": "session", "session_ids": ["s"]}
        for answer in (
            await http.post("/v1/erasures", json=wanted, headers=headers),
            await http.request("DELETE", "/v1/memories", params=mine, headers=headers),
        ):
            assert answer.status_code == 202, answer.text
            told = await http.get(f"/v1/erasures/{answer.json()['tombstone_id']}", params=mine, headers=headers)
            assert (told.json()["requested_by"], told.json()["reason"]) == (requested_by, reason)
    by_another = {**mine, "scope": "all", "requested_by": "ops", "reason": "tidy"}
    assert_refused_field(await http.post("/v1/erasures", json=by_another, headers=app), "requested_by")


async def test_a_key_with_a_user_prefix_acts_for_those_users(closed: Closed) -> None:
    http, tenant = closed.anna.person.system.http, closed.anna.person.tenant_id
    key = with_key(await add_key(closed.db, tenant, users_from="shop-"))
    allowed = await http.get("/v1/memories", params={"user_id": "shop-7"}, headers=key)
    assert (allowed.status_code, allowed.json()["memories"]) == (200, [])
    assert_refused_field(await http.get("/v1/memories", params={"user_id": "shop"}, headers=key), "user_id")
    assert_refused_field(await http.get("/v1/experience", headers=key), "user_id")


async def test_an_operator_sees_only_the_dead_letters_of_the_key(closed: Closed) -> None:
    anna = closed.anna.person
    torn = Stored(TURN_COMMIT.dead_letter, value=b"torn", headers=[("x-error", b"nobody's")])
    await publish(anna.system.bootstrap, [torn])
    for path in ("/v1/dead-letters", "/v1/quarantine"):
        own = await anna.system.http.get(path, headers=await closed.key(scopes=["operate"]))
        (found,) = (each for each in own.json().values() if isinstance(each, list))
        assert {(each["tenant_id"], each["user_id"]) for each in found} == {(anna.tenant_id, anna.user_id)}
        other = await anna.system.http.get(path, headers=await closed.key(scopes=["operate"], tenant_id=somebody()))
        assert [each for each in other.json().values() if isinstance(each, list)] == [[]]
        of_user = await closed.key(scopes=["operate"], user=anna.user_id)
        assert_refused_field(await anna.system.http.get(path, headers=of_user), "user_id")
        assert_refused_field(
            await anna.system.http.get(path, headers=of_user, params={"tenant_id": "another"}), "tenant_id"
        )


async def test_the_requester_can_read_whom_the_key_is_for(closed: Closed) -> None:
    key = await closed.key(scopes=("write", "read"), user="lin", name="lins-phone")
    told = (await closed.anna.person.system.http.get("/v1/access", headers=key)).json()
    tenant = closed.anna.person.tenant_id
    # the requester of a key for one user has the name of that user
    assert (told["tenant_id"], told["user_id"], told["scopes"]) == (tenant, "lin", ["read", "write"])
