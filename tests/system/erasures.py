"""Requests for erasures, and their results."""

from typing import Any

from tests.system.databases import rows, texts
from tests.system.person import Json, Person
from tests.system.wait import wait_for


async def erase(person: Person, scope: str, **more: Any) -> Json:
    """The receipt of an accepted erasure."""
    answer = await person.post("/v1/erasures", {**person.whose, "scope": scope, **more})
    assert answer.status_code == 202, answer.text
    return answer.json()


async def view(person: Person, receipt: Json) -> Json:
    """The current state of the erasure."""
    answer = await person.get(f"/v1/erasures/{receipt['tombstone_id']}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def completed(person: Person, receipt: Json) -> Json:
    """The completed erasure."""
    return await reached(person, receipt, "completed")


async def reached(person: Person, receipt: Json, status: str) -> Json:
    """The erasure, once it is in this state."""

    stands = "SELECT count(*) FROM tombstones WHERE tombstone_id = %(id)s AND status = %(status)s"
    asked = {"id": receipt["tombstone_id"], "status": status}

    async def there() -> Json | None:
        if not person.system.number(stands, **asked):
            return None
        seen = await view(person, receipt)
        return seen if seen["status"] == status else None

    return await wait_for(there, f"the erasure is {status}") or {}


def found(dsn: str, *needles: str) -> dict[str, list[str]]:
    """By table, the texts that remain in any column, as the superuser sees them."""
    held = {table: [needle for needle in needles if needle in text] for table, text in texts(dsn).items()}
    return {table: hits for table, hits in held.items() if hits}


def mine(person: Person, table: str, where: str = "true") -> list[Json]:
    """The user's rows of a table, as the superuser sees them."""
    statement = f"SELECT * FROM {table} WHERE tenant_id = %(t)s AND user_id = %(u)s AND {where}"  # noqa: S608 # table names of the tests
    return rows(person.system.dsn, statement, t=person.tenant_id, u=person.user_id)


def mine_holds(person: Person, table: str, *needles: str) -> bool:
    """Whether any of the user's rows of a table contains one of these texts."""
    return any(needle in str(row) for row in mine(person, table) for needle in needles)
