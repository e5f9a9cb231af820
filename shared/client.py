"""The Python client: commit turns, compose contexts and erase, over Kafka or over HTTP.

async with SmartBrain("localhost:9092") as brain:  # or "https://brain.example.com"; a key in SMARTBRAIN_API_KEY
    await brain.commit(user_id="lin", session_id="s1", messages=[{"role": "user", "content": "I prefer tea"}])
    package = await brain.compose(user_id="lin", session_id="s1", user_message="What do I drink?")
"""

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Any, Protocol, Self, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.envelope import user_key
from schemas.erasure import DeletionReceipt, ErasureRequest
from schemas.settings import SettingsView
from schemas.topics import COMPOSE_REQUEST, TURN_COMMIT
from schemas.turn_events import CommitResult, ErrorReply, TurnEvents
from schemas.vocabulary import ErasureScope
from shared import clock, settings
from shared.access.secrets import KeyText, make_signer, parse_key
from shared.bus.access import KafkaAccess, open_access
from shared.bus.requests import Asker
from shared.errors import ConfigurationError, RefusedError, TransientError, refuse_fields
from shared.parsing import problems
from shared.settings import API_KEY
from shared.tls import trust_store

Message = TurnEvents | ErasureRequest | ComposeRequest
Made = TypeVar("Made", bound=BaseModel)


class _Way(Protocol):
    """How messages reach compose, and its answers the client."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def send(self, message: Message, timeout_s: float) -> bytes: ...


class _OverKafka:
    """A producer and a reply partition of its own; with a key every record is signed."""

    def __init__(self, kafka: KafkaAccess, api_key: str | None) -> None:
        self._asker = Asker(kafka, sign=make_signer(_read_key(api_key), clock.now) if api_key else None)
        self.start, self.stop = self._asker.start, self._asker.stop

    async def send(self, message: Message, timeout_s: float) -> bytes:
        if isinstance(message, ComposeRequest):
            return await self._asker.ask(COMPOSE_REQUEST, message.model_dump_json().encode(), timeout_s=timeout_s)
        value = message.model_dump_json(exclude_none=True).encode()
        route = user_key(message.tenant_id, message.user_id)
        return await self._asker.ask(TURN_COMMIT, value, key=route, timeout_s=timeout_s)


class _OverHttp:
    """Connections to compose, with a key; what the caller did not say is left to it: the tenant is the key's."""

    paths: Mapping[type[BaseModel], str] = MappingProxyType(
        {TurnEvents: "/v1/turns", ErasureRequest: "/v1/erasures", ComposeRequest: "/v1/context"}
    )

    def __init__(self, url: str, api_key: str | None) -> None:
        headers = {"content-type": "application/json", **({"authorization": f"Bearer {api_key}"} if api_key else {})}
        self._client = httpx.AsyncClient(base_url=url.rstrip("/"), headers=headers, verify=trust_store())

    async def start(self) -> None:
        """Connects when it is first needed."""

    async def stop(self) -> None:
        await self._client.aclose()

    async def send(self, message: Message, timeout_s: float) -> bytes:
        content = message.model_dump_json(exclude_unset=True, exclude_none=True).encode()
        try:
            answer = await self._client.post(self.paths[type(message)], content=content, timeout=timeout_s)
        except httpx.HTTPError as error:
            raise TransientError(f"{self._client.base_url}: {type(error).__name__}") from error
        return answer.content

    async def ask_settings(self, owner: dict[str, str], changes: Mapping[str, Any] | None) -> bytes:
        """The settings of whom is named, after these changes."""
        try:
            answer = await self._client.request(
                "GET" if changes is None else "PATCH", "/v1/settings", params=owner, json=changes
            )
        except httpx.HTTPError as error:
            raise TransientError(f"{self._client.base_url}: {type(error).__name__}") from error
        return answer.content


class SmartBrain:
    """A client of a Kafka (`host:port`) or of compose itself (`http://` or `https://`); open it once and share it.

    Without an address it comes to the Kafka of SMARTBRAIN_KAFKA_BOOTSTRAP, as the settings beside that say.

    It takes the key given, else that of SMARTBRAIN_API_KEY: over HTTP it sends it, over Kafka it signs each record with
    it. Without `tenant_id` the tenant is over HTTP that of the key, and `default` over Kafka or without a key.
    """

    def __init__(
        self, address: str | KafkaAccess | None = None, *, tenant_id: str | None = None, api_key: str | None = None
    ) -> None:
        key = api_key or os.environ.get(API_KEY)
        if isinstance(address, str) and address.startswith(("http://", "https://")):
            self._way: _Way = _OverHttp(address, key)
        elif isinstance(address, str):
            self._way = _OverKafka(KafkaAccess(address), key)
        else:
            self._way = _OverKafka(address or open_access(settings.load(), "client"), key)
        self._tenant = {} if tenant_id is None else {"tenant_id": tenant_id}

    async def __aenter__(self) -> Self:
        await self._way.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._way.stop()

    async def commit(
        self,
        *,
        user_id: str,
        session_id: str,
        messages: Sequence[dict[str, Any]] = (),
        timeout_s: float = 10.0,
        **more: Any,
    ) -> CommitResult:
        """The turn is durable. Raises RefusedError naming the field, or TransientError when nothing answered in time.

        A commit may be repeated after TransientError: the key that was made for it is in the error's `args`.
        """
        key = more.pop("idempotency_key", None) or clock.uuid7().hex
        turn = make_message(
            TurnEvents,
            {
                **self._tenant,
                "user_id": user_id,
                "session_id": session_id,
                "messages": list(messages),
                "idempotency_key": key,
                **more,
            },
        )
        return _read(CommitResult, await self._send_once(turn, key, timeout_s))

    async def erase(
        self, *, user_id: str, scope: ErasureScope, timeout_s: float = 10.0, **more: Any
    ) -> DeletionReceipt:
        """The erasure is in force: all that was committed before it on this topic is covered, nothing that comes after.

        `more` are the other fields of an ErasureRequest. Raises as `commit` does, and may be repeated in the same way.
        """
        key = more.pop("idempotency_key", None) or clock.uuid7().hex
        fields = {**self._tenant, "user_id": user_id, "scope": scope, "idempotency_key": key, **more}
        asked = make_message(ErasureRequest, fields)
        return _read(DeletionReceipt, await self._send_once(asked, key, timeout_s))

    async def _send_once(self, message: TurnEvents | ErasureRequest, key: str, timeout_s: float) -> bytes:
        """The answer; TransientError carries the key under which it may be repeated."""
        try:
            return await self._way.send(message, timeout_s)
        except TransientError as error:
            raise TransientError(str(error), key) from error

    async def compose(
        self,
        *,
        user_id: str,
        session_id: str,
        user_message: str | Sequence[Mapping[str, Any]],
        timeout_s: float = 5.0,
        **more: Any,
    ) -> ContextPackage:
        """The context for this message, a text or blocks. Raises RefusedError or TransientError as `commit` does."""
        message = make_message(
            ComposeRequest,
            {
                **self._tenant,
                "user_id": user_id,
                "session_id": session_id,
                "user_message": user_message,
                **more,
            },
        )
        return _read(ContextPackage, await self._way.send(message, timeout_s))

    async def load_settings(self, user_id: str | None = None) -> SettingsView:
        """What holds for the user, or without one for the tenant; over HTTP only. Raises as `commit` does."""
        return _read(SettingsView, await self._ask_settings(user_id, None))

    async def change_settings(self, user_id: str | None = None, **changes: Any) -> SettingsView:
        """What holds after these changes, None being the default again; over HTTP only. Raises as `commit` does."""
        return _read(SettingsView, await self._ask_settings(user_id, changes))

    async def _ask_settings(self, user_id: str | None, changes: Mapping[str, Any] | None) -> bytes:
        if not isinstance(self._way, _OverHttp):
            raise ConfigurationError("settings are asked for over HTTP: give the client the address of compose")
        return await self._way.ask_settings(self._tenant | ({"user_id": user_id} if user_id else {}), changes)


def _read_key(text: str) -> KeyText:
    if (key := parse_key(text)) is None:
        raise ConfigurationError(f"{API_KEY} is no key of `smartbrain keys create`, and nothing else signs records")
    return key


def make_message(model: type[Made], fields: dict[str, Any]) -> Made:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise refuse_fields("invalid_request", problems(error)) from error


def _read(model: Any, answer: bytes) -> Any:
    try:
        return model.model_validate_json(answer)
    except ValidationError:
        refusal = _read_refusal(answer)
        if refusal.code == "unavailable":
            raise TransientError(refusal.message) from None
        after_s = refusal.retry_after_s
        raise RefusedError(refusal.code, refusal.message, refusal.details, retry_after_s=after_s) from None


def _read_refusal(answer: bytes) -> ErrorReply:
    try:
        return ErrorReply.model_validate_json(answer)
    except ValidationError as error:  # somebody between us and compose answered
        raise TransientError("the answer is none of compose's") from error
