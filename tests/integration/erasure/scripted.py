"""The runtime of a race: a database, a model and a knowledge side that let other workers interrupt each step."""

import hashlib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, cast

from services.analyzer.prompts import AnalysisAnswer
from services.observer.prompts.answers import ExtractionAnswer
from services.observer.prompts.recount import RecountAnswer
from shared.bus.access import KafkaAccess
from shared.db import Connection, Database
from shared.domain.subjects import Subject
from shared.knowledge.factory import NoKnowledge
from shared.knowledge.port import IngestReceipt, KnowledgeCapabilities, Resource, Scope
from shared.models.cost import Spent
from shared.models.errors import MalformedAnswer
from shared.models.none import NoModels
from shared.models.prompt import A, Answer, Prompt
from shared.policy import ObserverPolicy, Policy
from shared.runtime import Runtime
from shared.settings import Settings
from tests.integration.erasure.words import NEEDLE

MEET: ContextVar[Callable[[str], Awaitable[None]] | None] = ContextVar("meet", default=None)
"""The hook called when a handler has no transaction open, or has finished its work in one; others may run there."""


async def meet(where: str) -> None:
    """Lets others run."""
    if hear := MEET.get():
        await hear(where)


class Gated(Database):
    """Lets others run before each transaction and before its end."""

    @asynccontextmanager
    async def transaction(self, subject: Subject, *, since: int | None = None) -> AsyncGenerator[Connection, None]:
        """Like any transaction."""
        await meet("before")
        async with super().transaction(subject, since=since) as conn:
            yield conn
            await meet("within")

    @asynccontextmanager
    async def erasing(self, subject: Subject) -> AsyncGenerator[Connection, None]:
        """Like any transaction of an erasure."""
        await meet("before")
        async with super().as_erasure(subject) as conn:
            yield conn
            await meet("within")


class QuotingModel(NoModels):
    """A model that quotes its input or answers invalid text; others may run during the call."""

    embedding_model_id = "made-up"
    dimension = 16

    def __init__(self, *, chats: bool) -> None:
        self.chat_model_id = "quoting" if chats else None

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """A vector that depends only on the words."""
        await meet("before")
        return [[byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:16]] for text in texts]

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        """Quotes the made-up words in the given turn."""
        await meet("before")
        found = re.findall(NEEDLE, prompt.user.partition('"known_memories"')[0])
        if found and int(hashlib.sha256(found[-1].encode()).hexdigest(), 16) % 4 == 0:
            problem = MalformedAnswer(f"they said {found[-1]}", "not JSON")
            problem.spent = Spent(1, 10, 10, 0.01)
            raise problem
        value = self._answer(prompt.answer, found)
        spent = Spent(1, 10, 10, 0.01)
        return Answer(cast("A", value), "", "quoting", prompt.version, spent=spent)

    @staticmethod
    def _answer(kind: type[Any], found: list[str]) -> Any:
        if kind is AnalysisAnswer:
            return AnalysisAnswer.model_validate({"verdicts": []})
        if kind is RecountAnswer:
            return RecountAnswer.model_validate({"items": [], "done": []})
        item = {"type": "note", "content": "", "provenance": "observation", "confidence": 0.7, "epistemic_type": "fact"}
        return ExtractionAnswer.model_validate(
            {"items": [{**item, "content": f"spoke of {word}", "quote": word} for word in found[-1:]]}
        )


class Shelf(NoKnowledge):
    """A knowledge side that stores documents under its own ids."""

    configured = True

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, str]] = {}

    async def learn(self, *, deadline_s: float) -> KnowledgeCapabilities:
        """It isolates users, so that their resources are offered."""
        return KnowledgeCapabilities(separates_users=True)

    async def ingest(self, resource: Resource, scope: Scope, *, key: str, deadline_s: float) -> IngestReceipt:
        """Others may run before and after each call."""
        await meet("before")
        document = f"doc-{key}"
        self.kept[document] = (resource.source_uri, resource.content or "")
        await meet("before")
        return IngestReceipt(document)

    async def delete(
        self, scope: Scope, document_ids: Sequence[str], *, keys: Sequence[str] = (), deadline_s: float
    ) -> None:
        """Deletes by id or key."""
        await meet("before")
        for each in (*document_ids, *(f"doc-{key}" for key in keys)):
            self.kept.pop(each, None)


def surroundings(db: Database, *, chats: bool = False) -> Runtime:
    """A worker's runtime without a broker; a summary is due every second turn."""
    policy = Policy(observer=ObserverPolicy(summarize_after_turns=2))
    bus = cast("Any", None)
    return Runtime(
        Settings(), db, bus, QuotingModel(chats=chats), policy, KafkaAccess(""), policy.version, knowledge=Shelf()
    )
