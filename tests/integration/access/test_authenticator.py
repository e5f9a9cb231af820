"""Identification of requesters from headers on a real database; a key change takes effect in every process at once."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest

from schemas.vocabulary import AccessScope
from shared import clock
from shared.access.authenticator import Authenticator, require_guard
from shared.access.loopback import is_loopback
from shared.access.secrets import KeyText, hash_secret, make_key_id, make_secret
from shared.db import Connection, Database
from shared.domain.subjects import LOCAL, Requester
from shared.errors import ConfigurationError, RefusedError, TransientError
from shared.policy import AccessPolicy, TokenIssuer
from shared.store import api_keys
from shared.store.api_keys import ApiKey
from tests.system.issuer import AUDIENCE, URL
from tests.system.keys import add_key
from tests.system.wait import wait_for

HERE, EVERYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104 # the address is compared, not bound
ISSUER = TokenIssuer(issuer=URL, audience=AUDIENCE, jwks="none.json", tenant="acme")


@pytest.fixture
async def db(dsn: str) -> AsyncGenerator[Database]:
    """The pools on a new database."""
    found = Database(dsn, size=2)
    await found.open()
    yield found
    await found.close()


async def app_key(db: Database, *scopes: AccessScope, days: float = 1, user: str | None = None) -> KeyText:
    """A key of acme with the name app."""
    return await add_key(db, "acme", scopes=scopes or ("read",), user=user, days=days, name="app")


async def refusal(door: Authenticator, header: str | None) -> str:
    with pytest.raises(RefusedError) as caught:
        await door.identify(header)
    assert (caught.value.status, caught.value.details[0].field) == (401, "authorization")
    return caught.value.details[0].problem


@asynccontextmanager
async def listen_to_changes(door: Authenticator) -> AsyncGenerator[None]:
    """The authenticator receives notifications of changes."""
    heard: list[str | None] = []
    forget: Callable[[str | None], None] = door.forget

    def note(key_id: str | None) -> None:
        heard.append(key_id)
        forget(key_id)

    door.forget = note  # type: ignore[method-assign]
    listening = asyncio.create_task(door.listen())
    try:
        await wait_for(lambda: heard, "the door listens")
        yield
    finally:
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening


def get_fixed_time() -> float:
    """A fixed clock: cached keys do not expire on their own."""
    return 0.0


async def test_a_key_identifies_its_requester(db: Database) -> None:
    door = Authenticator(db, AccessPolicy(), HERE)
    app, lin = await app_key(db, "read", "erase"), await app_key(db, "write", user="lin")
    assert await door.identify(f"Bearer {app}") == Requester("key:app", frozenset({"read", "erase"}), "acme")
    assert await door.identify(f"bearer  {lin} ") == Requester("lin", frozenset({"write"}), "acme", "lin")


async def test_an_invalid_key_is_refused_with_the_reason(db: Database) -> None:
    door = Authenticator(db, AccessPolicy(), HERE)
    good, over = await app_key(db), await app_key(db, days=-1)
    wrong = f"{str(good)[:-1]}{'A' if str(good)[-1] != 'A' else 'B'}"
    assert await refusal(door, f"Bearer {wrong}") == "the key is not known"
    assert await refusal(door, f"Bearer {KeyText(make_key_id(), make_secret())}") == "the key is not known"
    assert (await refusal(door, f"Bearer {over}")).startswith("the key expired on ")
    assert await refusal(door, f"Basic {good}") == "must be `Bearer` and a key"
    assert await refusal(door, "Bearer ") == "must be `Bearer` and a key"
    assert await refusal(door, str(good)) == "must be `Bearer` and a key"
    assert (await refusal(door, "Bearer hello")).startswith("is not a key; tokens are accepted from issuers")
    assert await refusal(door, None) == "is missing; send `Authorization: Bearer` with a key"


async def test_this_machine_needs_no_key_until_the_first_one_exists(db: Database) -> None:
    door = Authenticator(db, AccessPolicy(), HERE, get_fixed_time)
    async with listen_to_changes(door):
        assert await door.identify(None) == LOCAL
        assert await refusal(door, f"Bearer {KeyText(make_key_id(), make_secret())}") == "the key is not known"
        key = await app_key(db)

        async def closed() -> bool:
            try:
                return await door.identify(None) != LOCAL
            except RefusedError:
                return True

        await wait_for(closed, "the door has heard of the first key")
        async with db.system() as conn:
            await api_keys.revoke(conn, key.key_id)
    assert await refusal(Authenticator(db, AccessPolicy(), HERE), None) == (
        "is missing; send `Authorization: Bearer` with a key"
    )


async def test_other_machines_and_issuers_require_identification(db: Database) -> None:
    assert await Authenticator(db, AccessPolicy(), HERE).is_open()
    assert not await Authenticator(db, AccessPolicy(), EVERYWHERE).is_open()
    assert not await Authenticator(db, AccessPolicy(issuers={"staff": ISSUER}), HERE).is_open()


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),  # noqa: S104 # the address is compared, not bound
        ("::", False),
        ("", False),
        ("10.0.0.7", False),
        ("localhost.example.com", False),
    ],
)
def test_loopback_addresses_are_recognised(host: str, loopback: bool) -> None:
    assert is_loopback(host) == loopback


async def test_a_revoked_key_is_refused_in_every_process_at_once(db: Database) -> None:
    doors = [Authenticator(db, AccessPolicy(), HERE, get_fixed_time) for _ in range(2)]
    key = await app_key(db)
    async with listen_to_changes(doors[0]), listen_to_changes(doors[1]):
        for door in doors:
            await door.identify(f"Bearer {key}")
        async with db.system() as conn:
            await api_keys.revoke(conn, key.key_id)
        for door in doors:

            async def refused(door: Authenticator = door) -> bool:
                try:
                    await door.identify(f"Bearer {key}")
                except RefusedError as error:
                    return error.details[0].problem == "the key was revoked"
                return False

            await wait_for(refused, "the door has heard of it")


async def test_without_notifications_cached_keys_are_used_for_two_seconds(db: Database) -> None:
    now = 0.0
    door = Authenticator(db, AccessPolicy(), HERE, lambda: now)
    key = await app_key(db)
    await door.identify(f"Bearer {key}")
    async with db.system() as conn:
        await api_keys.revoke(conn, key.key_id)
    now = 1.9
    await door.identify(f"Bearer {key}")
    now = 2.1
    assert await refusal(door, f"Bearer {key}") == "the key was revoked"


async def test_a_key_that_changes_during_its_read_is_not_cached(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    door = Authenticator(db, AccessPolicy(), HERE, get_fixed_time)
    key = await app_key(db)
    find = api_keys.find

    async def find_before_a_change(conn: Connection, key_id: str) -> ApiKey | None:
        found = await find(conn, key_id)
        async with db.system() as other:
            await api_keys.revoke(other, key_id)
        door.forget(key_id)
        return found

    monkeypatch.setattr(api_keys, "find", find_before_a_change)
    await door.identify(f"Bearer {key}")
    monkeypatch.undo()
    assert await refusal(door, f"Bearer {key}") == "the key was revoked"


async def test_concurrent_requests_read_a_key_once_and_again_after_a_change(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = Authenticator(db, AccessPolicy(), HERE, get_fixed_time)
    key, find = await app_key(db), api_keys.find
    read: list[str] = []

    async def count(conn: Connection, key_id: str) -> ApiKey | None:
        read.append(key_id)
        return await find(conn, key_id)

    monkeypatch.setattr(api_keys, "find", count)
    await asyncio.gather(*(door.identify(f"Bearer {key}") for _ in range(20)))
    assert len(read) == 1
    await door.identify(f"Bearer {key}")
    assert len(read) == 1
    door.forget(key.key_id)
    await asyncio.gather(*(door.identify(f"Bearer {key}") for _ in range(20)))
    assert len(read) == 2


async def test_a_request_after_a_change_does_not_wait_for_an_earlier_read(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = Authenticator(db, AccessPolicy(), HERE, get_fixed_time)
    key, find = await app_key(db), api_keys.find
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def dawdle(conn: Connection, key_id: str) -> ApiKey | None:
        found = await find(conn, key_id)
        asked.set()
        await go_on.wait()
        return found

    monkeypatch.setattr(api_keys, "find", dawdle)
    early = asyncio.create_task(door.identify(f"Bearer {key}"))
    await asked.wait()
    monkeypatch.setattr(api_keys, "find", find)
    async with db.system() as conn:
        await api_keys.revoke(conn, key.key_id)
    door.forget(key.key_id)
    assert await refusal(door, f"Bearer {key}") == "the key was revoked"
    go_on.set()
    await early
    assert await refusal(door, f"Bearer {key}") == "the key was revoked"


async def test_after_a_rotation_the_old_secret_is_valid_during_the_overlap_only(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, newer = await app_key(db), make_secret()
    async with db.system() as conn:
        assert await api_keys.rotate(conn, old.key_id, hash_secret(newer), timedelta(minutes=5))
    door = Authenticator(db, AccessPolicy(), HERE)
    for text in (old, KeyText(old.key_id, newer)):
        assert (await door.identify(f"Bearer {text}")).name == "key:app"
    later = clock.now() + timedelta(minutes=6)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert await refusal(door, f"Bearer {old}") == "the key is not known"
    monkeypatch.undo()
    newest = make_secret()
    async with db.system() as conn:
        assert await api_keys.rotate(conn, old.key_id, hash_secret(newest), timedelta())
    door = Authenticator(db, AccessPolicy(), HERE)
    for text in (old, KeyText(old.key_id, newer)):
        assert await refusal(door, f"Bearer {text}") == "the key is not known"
    assert (await door.identify(f"Bearer {KeyText(old.key_id, newest)}")).name == "key:app"


async def test_an_invalid_key_cannot_be_rotated(db: Database) -> None:
    revoked, over = await app_key(db), await app_key(db, days=-1)
    async with db.system() as conn:
        await api_keys.revoke(conn, revoked.key_id)
        for each in (revoked, over):
            assert not await api_keys.rotate(conn, each.key_id, hash_secret(make_secret()), timedelta())


async def test_without_the_database_every_request_is_refused(dsn: str) -> None:
    away = Database(dsn, size=1)
    await away.open()
    key = await app_key(away)
    await away.close()
    door = Authenticator(away, AccessPolicy(), HERE)
    for header in (None, f"Bearer {key}"):
        with pytest.raises((TransientError, Exception)) as caught:  # a closed pool raises various errors
            await door.identify(header)
        assert not isinstance(caught.value, RefusedError)


async def test_listening_on_other_addresses_requires_a_valid_key_or_an_issuer(db: Database, dsn: str) -> None:
    assert not await require_guard(dsn, AccessPolicy(), HERE)
    for _ in range(2):
        with pytest.raises(ConfigurationError, match=r"without a key on 0\.0\.0\.0: .*`smartbrain keys create`"):
            await require_guard(dsn, AccessPolicy(), EVERYWHERE)
        over = await app_key(db, days=-1)
        async with db.system() as conn:
            await api_keys.revoke(conn, over.key_id)
    assert await require_guard(dsn, AccessPolicy(issuers={"staff": ISSUER}), EVERYWHERE)
    await app_key(db)
    assert await require_guard(dsn, AccessPolicy(), EVERYWHERE)
    assert await require_guard(dsn, AccessPolicy(), HERE)
