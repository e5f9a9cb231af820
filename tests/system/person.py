"""A user of the tests, who commits messages and reads the results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from schemas.context_package import ContextPackage
from tests.system.running import System
from tests.system.wait import wait_for

Json = dict[str, Any]
UNHURRIED: Mapping[str, Any] = {"deadline_ms": 30_000, "timeout_s": 60}
"""The time limit of a package over Kafka on a busy machine."""


def somebody() -> str:
    """A unique name."""
    return uuid4().hex[:12]


def user(content: str) -> Json:
    """One message of the user."""
    return {"role": "user", "content": content}


@dataclass(frozen=True)
class Person:
    """One user of one tenant, over HTTP."""

    system: System
    user_id: str = field(default_factory=somebody)
    tenant_id: str = field(default_factory=somebody)

    @property
    def whose(self) -> Json:
        """The owner in a query or a body."""
        return {"tenant_id": self.tenant_id, "user_id": self.user_id}

    def turn(self, *texts: str, session: str = "s1", **more: Any) -> Json:
        """The body of a turn with this user message."""
        return {**self.whose, "session_id": session, "messages": [user(text) for text in texts], **more}

    def number(self, statement: str, **params: Any) -> int:
        """The only number in the result; %(u)s is the user."""
        return self.system.number(statement, u=self.user_id, **params)

    async def post(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        """The response of compose."""
        return await self.system.http.post(path, json=body)

    async def get(self, path: str, **query: Any) -> httpx.Response:
        """The response of compose."""
        return await self.system.http.get(path, params={**self.whose, **query})

    async def commit(self, *texts: str, session: str = "s1", **more: Any) -> Json:
        """The result of an accepted commit."""
        answer = await self.post("/v1/turns", self.turn(*texts, session=session, **more))
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    async def say(self, *texts: str, session: str = "s1", **more: Any) -> Json:
        """The outcome of a turn with this message."""
        return await self.outcome((await self.commit(*texts, session=session, **more))["turn_id"])

    async def outcome(self, turn_id: str) -> Json:
        """The turn's outcome, once it is complete."""

        async def complete() -> Json | None:
            seen = (await self.get(f"/v1/turns/{turn_id}/outcome")).json()
            return seen["outcome"] if seen["state"] == "complete" else None

        derived = "SELECT count(*) FROM turns WHERE turn_id = %(turn)s AND outcome_at IS NOT NULL"
        # reading the row costs a tenth of a request
        await wait_for(lambda: self.system.number(derived, turn=turn_id), f"outcome of {turn_id} stands")
        return await wait_for(complete, f"outcome of {turn_id}") or {}

    async def think(self, *texts: str, session: str = "s1", **more: Any) -> Json:
        """The outcome of a turn with this message, once a model has read it or was skipped with a reason."""
        return await self.thought((await self.commit(*texts, session=session, **more))["turn_id"])

    async def thought(self, turn_id: str) -> Json:
        """The turn's outcome, once a model has read it or was skipped with a reason, and its items are settled."""
        over = (
            "SELECT count(*) FROM turns t WHERE turn_id = %(turn)s AND outcome_at IS NOT NULL"
            """ AND jsonb_path_exists(outcome, '$.retention_explain[*] ? (@.reason starts with "model_")')"""
            " AND NOT EXISTS (SELECT FROM observations o WHERE o.turn_id = t.turn_id AND state IN ('new', 'analyzed'))"
        )
        await wait_for(lambda: self.system.number(over, turn=turn_id), f"a model has read {turn_id}")
        return await self.outcome(turn_id)

    async def memories(self, **query: Any) -> list[Json]:
        """The user's memories without entities, which only name things."""
        answer = await self.get("/v1/memories", limit=200, **query)
        assert answer.status_code == 200, answer.text
        return [m for m in answer.json()["memories"] if m["type"] != "entity"]

    async def contents(self, **query: Any) -> list[str]:
        """The texts of the user's memories."""
        return [m["content"] for m in await self.memories(**query)]

    async def compose(self, message: str, *, session: str = "s2", **more: Any) -> ContextPackage:
        """The package for this message, without a tight deadline unless one is given."""
        asked = {"session_id": session, "user_message": message, "debug": True, "deadline_ms": 20_000}
        body = {**self.whose, **asked, **more}
        answer = await self.post("/v1/context", body)
        assert answer.status_code == 200, answer.text
        return ContextPackage.model_validate(answer.json())


def shown(package: ContextPackage) -> str:
    """All text of a package that the model would read, except the question itself."""
    parts = [block.text for block in (*package.system_blocks, *package.developer_blocks)]
    parts += [package.working_summary, *(m.content for m in package.recent_turns)]
    return "\n".join([*parts, *(evidence.snippet for evidence in package.evidence)])
