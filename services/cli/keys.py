"""`smartbrain keys`: manages API keys. It works directly on the database: anyone with access to it can create keys."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import typer

from services.cli.listing import ListingGroup
from services.cli.names import By, Tenant, Why, check_id, check_words
from services.cli.output import AsJson, emit, err, out, refuse, to_table
from services.cli.reach import find_operator, reach_servers
from shared import clock, settings
from shared.access.secrets import KeyText, hash_secret, make_key_id, make_secret
from shared.db import Connection, Database
from shared.domain.subjects import Subject, sort_scopes
from shared.store import api_keys
from shared.store.api_keys import ApiKey
from shared.store.operator_acts import Operator, narrow, note_act
from shared.telemetry import configure_logs

DAYS = 365
MOST_NAME_CHARS = 64


class ScopeName(StrEnum):
    """What a key may do."""

    read = "read"
    write = "write"
    erase = "erase"
    operate = "operate"
    admin = "admin"


app = typer.Typer(help="Create, list, revoke and rotate API keys.", cls=ListingGroup)
Which = Annotated[str, typer.Argument(metavar="KEY", help="The key's id, or its name.")]
Made = TypeVar("Made")


def check_name(value: str) -> str:
    """The name; BadParameter if it is not valid as the requester of an erasure."""
    check_id(value)
    if len(value) > MOST_NAME_CHARS:
        raise typer.BadParameter(f"{len(value)} characters, at most {MOST_NAME_CHARS}")
    return value


@app.command("create")
def create(
    name: Annotated[str, typer.Option("--name", "-n", help="Name of the key.", callback=check_name)],
    scope: Annotated[list[ScopeName], typer.Option("--scope", help="Access scope; may be repeated.")],
    tenant: Tenant = "default",
    user: Annotated[
        str | None, typer.Option("--user", "-u", help="Valid for this user only.", callback=check_id)
    ] = None,
    users_from: Annotated[
        str | None,
        typer.Option("--users-from", help="Valid for users whose id begins with this.", callback=check_words),
    ] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, max=3650, help="Days until it expires; 365 unless --until is given.")
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option("--until", formats=["%Y-%m-%d"], help="The day (UTC) on which it expires instead."),
    ] = None,
    reason: Why = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Create a key of a tenant and show it, only this once."""
    if user and users_from:
        raise refuse("give one of --user and --users-from")
    if days and until:
        raise refuse("give one of --days and --until")
    now = clock.now()
    ends_at = until.replace(tzinfo=UTC) if until else now + timedelta(days=days or DAYS)
    if ends_at <= now:
        raise refuse(f"--until: {ends_at.date()} is over")
    secret = make_secret()
    key = ApiKey(
        tenant,
        make_key_id(),
        name,
        user,
        users_from,
        sort_scopes(each.value for each in scope),
        hash_secret(secret),
        ends_at,
    )

    async def add(conn: Connection) -> None:
        same = [each for each in await api_keys.list_keys(conn, tenant) if each.name == name and each.is_usable(now)]
        if same:
            raise refuse(f"--name: {tenant} has a key that is called {name}; rotate or revoke it, or give another name")
        await api_keys.create(conn, key)
        await _note_change(conn, key, "key.created", find_operator(by, reason))

    _change(add)
    _show_once(key, KeyText(key.key_id, secret), as_json=as_json)


@app.command("list")
def list_all(
    tenant: Annotated[str | None, typer.Option("--tenant", help="Of this tenant only.", callback=check_id)] = None,
    as_json: AsJson = False,
) -> None:
    """Show all keys, without their secrets."""
    keys = _change(lambda conn: api_keys.list_keys(conn, tenant))
    if as_json:
        emit({"keys": [to_json(key) for key in keys]})
    elif keys:
        out.print(to_table(("id", "name", "tenant", "users", "scopes", "ends", "state"), map(_to_row, keys)))
    else:
        out.print("no keys")


@app.command("revoke")
def revoke(key_or_name: Which, reason: Why = None, by: By = None, as_json: AsJson = False) -> None:
    """Revoke a key at once, in every process."""

    async def end(conn: Connection) -> ApiKey | None:
        key = await _choose(conn, key_or_name)
        await api_keys.revoke(conn, key.key_id)
        revoked = await api_keys.find(conn, key.key_id)
        if key.revoked_at is None:
            await _note_change(conn, key, "key.revoked", find_operator(by, reason))
        return revoked

    key = _change(end)
    assert key  # noqa: S101 # it was found in the same transaction
    if as_json:
        emit(to_json(key))
    else:
        out.print(f"{key.key_id} ({key.name}) is revoked", markup=False)


@app.command("rotate")
def rotate(
    key_or_name: Which,
    overlap: Annotated[
        int, typer.Option("--overlap", min=0, max=43_200, help="Minutes for which the old secret stays valid.")
    ] = 0,
    reason: Why = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Give a key a new secret and show it, only this once; its rights stay the same."""
    secret = make_secret()

    async def renew(conn: Connection) -> ApiKey:
        key = await _choose(conn, key_or_name)
        if not await api_keys.rotate(conn, key.key_id, hash_secret(secret), timedelta(minutes=overlap)):
            raise refuse(f"{key.key_id} ({key.name}) is {state_of(key)}: create another with `smartbrain keys create`")
        await _note_change(conn, key, "key.rotated", find_operator(by, reason), overlap_min=overlap)
        return key

    key = _change(renew)
    _show_once(key, KeyText(key.key_id, secret), as_json=as_json)


def _change(act: Callable[[Connection], Awaitable[Made]]) -> Made:
    """What comes of it, in one transaction on the database."""
    config = settings.load()
    configure_logs("warning")

    async def work(dsn: str) -> Made:
        async with Database(dsn, size=1) as db, db.system() as conn:
            return await act(conn)

    with reach_servers(config, broker=False) as (dsn, _):
        return asyncio.run(work(dsn))


async def _note_change(conn: Connection, key: ApiKey, kind: str, by: Operator, **more: int) -> None:
    """The change is on record for the key's tenant; it is the last thing that its transaction does."""
    house = Subject(key.tenant_id, "")
    await narrow(conn, house)
    await note_act(conn, house, f"key:{key.key_id}", kind, by, {"scopes": key.scopes, **more})


async def _choose(conn: Connection, which: str) -> ApiKey:
    """The key with this id, or the unrevoked one with this name."""
    if key := await api_keys.find(conn, which):
        return key
    named = [key for key in await api_keys.list_keys(conn) if key.name == which]
    standing = [key for key in named if key.revoked_at is None] or named
    if len(standing) == 1:
        return standing[0]
    if standing:
        ids = ", ".join(f"{key.key_id} ({key.tenant_id})" for key in standing)
        raise refuse(f"several keys are called {which}: {ids}")
    raise refuse(f"no such key: {which}")


def state_of(key: ApiKey) -> str:
    """Whether the key goes, in a word."""
    return "active" if key.is_usable(clock.now()) else "revoked" if key.revoked_at else "ended"


def to_json(key: ApiKey) -> dict[str, Any]:
    """The key as programs read it: without any hash."""
    return {
        "key_id": key.key_id,
        "name": key.name,
        "tenant_id": key.tenant_id,
        "user_id": key.only_user,
        "users_from": key.only_users_from,
        "scopes": key.scopes,
        "state": state_of(key),
        "created_at": key.created_at,
        "ends_at": key.ends_at,
        "rotated_at": key.rotated_at,
        "revoked_at": key.revoked_at,
    }


def name_users(key: ApiKey) -> str:
    """For whom it is, in a word."""
    return key.only_user or (f"{key.only_users_from}*" if key.only_users_from else "all")


def _show_once(key: ApiKey, text: KeyText, *, as_json: bool) -> None:
    if as_json:
        emit({**to_json(key), "key": str(text)})
        return
    facts = f"{key.key_id} ({key.name}): tenant {key.tenant_id}, users {name_users(key)}, {', '.join(key.scopes)}"
    err.print(f"{facts}, until {key.ends_at.date()}. It is shown only this once:", markup=False)
    out.print(str(text), markup=False)


def _to_row(key: ApiKey) -> tuple[str, ...]:
    facts = (key.key_id, key.name, key.tenant_id, name_users(key), ",".join(key.scopes))
    return *facts, f"{key.ends_at:%Y-%m-%d}", state_of(key)
