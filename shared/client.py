"""The Python client: commit turns, compose contexts and erase over Kafka.

async with SmartBrain("localhost:9092") as brain:
    await brain.commit(user_id="lin", session_id="s1", messages=[{"role": "user", "content": "I prefer tea"}])
    package = await brain.compose(user_id="lin", session_id="s1", user_message="What do I drink?")
"""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.envelope import user_key
from schemas.erasure import DeletionReceipt, ErasureRequest
from schemas.topics import COMPOSE_REQUEST, TURN_COMMIT
from schemas.turn_events import CommitResult, ErrorReply, TurnEvents
from schemas.vocabulary import ErasureScope
from shared import clock, settings
from shared.bus.access import KafkaAccess, open_access
from shared.bus.requests import Asker
from shared.errors import RefusedError, TransientError
from shared.parsing import problems

Made = TypeVar("Made", bound=BaseModel)


class SmartBrain:
    """A client with its own producer and reply partition; open it once and share it within a process."""

    def __init__(self, kafka: str | KafkaAccess | None = None, *, tenant_id: str = "default") -> None:
        """`kafka`: a plain host:port, or None: as SMARTBRAIN_KAFKA_BOOTSTRAP and the settings beside it say."""
        if kafka is None:
            kafka = open_access(settings.load(), "client")
        self._asker = Asker(KafkaAccess(kafka) if isinstance(kafka, str) else kafka)
        self._tenant_id = tenant_id

    async def __aenter__(self) -> Self:
        await self._asker.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._asker.stop()

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
                "tenant_id": self._tenant_id,
                "user_id": user_id,
                "session_id": session_id,
                "messages": list(messages),
                "idempotency_key": key,
                **more,
            },
        )
        return _read(CommitResult, await self.send_record(turn, key, timeout_s))

    async def erase(
        self, *, user_id: str, scope: ErasureScope, timeout_s: float = 10.0, **more: Any
    ) -> DeletionReceipt:
        """The erasure is in force: all that was committed before it on this topic is covered, nothing that comes after.

        `more` are the other fields of an ErasureRequest. Raises as `commit` does, and may be repeated in the same way.
        """
        key = more.pop("idempotency_key", None) or clock.uuid7().hex
        fields = {"tenant_id": self._tenant_id, "user_id": user_id, "scope": scope, "idempotency_key": key, **more}
        asked = make_message(ErasureRequest, fields)
        return _read(DeletionReceipt, await self.send_record(asked, key, timeout_s))

    async def send_record(self, body: TurnEvents | ErasureRequest, key: str, timeout_s: float) -> bytes:
        """The answer to a record in the user's order; TransientError carries the key under which it may be repeated."""
        value = body.model_dump_json(exclude_none=True).encode()
        route = user_key(body.tenant_id, body.user_id)
        try:
            return await self._asker.ask(TURN_COMMIT, value, key=route, timeout_s=timeout_s)
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
        asked = make_message(
            ComposeRequest,
            {
                "tenant_id": self._tenant_id,
                "user_id": user_id,
                "session_id": session_id,
                "user_message": user_message,
                **more,
            },
        )
        answer = await self._asker.ask(COMPOSE_REQUEST, asked.model_dump_json().encode(), timeout_s=timeout_s)
        return _read(ContextPackage, answer)


def make_message(model: type[Made], fields: dict[str, Any]) -> Made:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        found = tuple(problems(error))
        raise RefusedError("invalid_request", f"{found[0].field}: {found[0].problem}", found) from error


def _read(model: Any, answer: bytes) -> Any:
    try:
        return model.model_validate_json(answer)
    except ValidationError:
        refusal = ErrorReply.model_validate_json(answer)
        if refusal.code == "unavailable":
            raise TransientError(refusal.message) from None
        raise RefusedError(refusal.code, refusal.message, refusal.details) from None
