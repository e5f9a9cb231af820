"""The surroundings of a race: a database, a model and a knowledge side between whose steps others may go first."""

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
from shared.knowledge.none import NoKnowledge
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
"""What is called wherever a handler holds no transaction, or one that has done its work: others may go first there."""


async def meet(where: str) -> None:
    """Somebody else may go first."""
    if hear := MEET.get():
        await hear(where)


class Gated(Database):
    """Others may go before each transaction, and before it ends."""

    @asynccontextmanager
    async def transaction(self, subject: Subject, *, since: int | None = None) -> AsyncGenerator[Connection, None]:
        """As any transaction."""
        await meet("before")
        async with super().transaction(subject, since=since) as conn:
            yield conn
            await meet("within")

    @asynccontextmanager
    async def erasing(self, subject: Subject) -> AsyncGenerator[Connection, None]:
        """As any transaction of an erasure."""
        await meet("before")
        async with super().as_erasure(subject) as conn:
            yield conn
            await meet("within")


class QuotingModel(NoModels):
    """Answers with what it was shown, or with what nobody can read; others may go first while it thinks."""

    embedding_model_id = "made-up"
    dimension = 16

    def __init__(self, *, chats: bool) -> None:
        self.chat_model_id = "quoting" if chats else None

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """A vector that hangs on the words alone."""
        await meet("before")
        return [[byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:16]] for text in texts]

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        """Quotes the made-up words in the turn that it is shown."""
        await meet("before")
        found = re.findall(NEEDLE, prompt.user.partition('"known_memories"')[0])
        if found and int(hashlib.sha256(found[-1].encode()).hexdigest(), 16) % 4 == 0:
            problem = MalformedAnswer(f"they said {found[-1]}", "not JSON")
            problem.spent = Spent(1, 10, 10, 0.01)
            raise problem
        value = self._answer(prompt.answer, found)
        spent = Spent(1, 10, 10, 0.01)
        return Answer(cast("A", value), "", "quoting", prompt.name, prompt.version, spent=spent)

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
    """A knowledge side that keeps what it is given under an id of its own."""

    configured = True

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, str]] = {}

    async def learn(self, *, deadline_s: float) -> KnowledgeCapabilities:
        """It keeps users apart, so that it is given what they bring."""
        return KnowledgeCapabilities(separates_users=True)

    async def ingest(self, resource: Resource, scope: Scope, *, key: str, deadline_s: float) -> IngestReceipt:
        """Others may go first while it is on its way there and back."""
        await meet("before")
        document = f"doc-{key}"
        self.kept[document] = (resource.source_uri, resource.content or "")
        await meet("before")
        return IngestReceipt(document)

    async def delete(
        self, scope: Scope, document_ids: Sequence[str], *, keys: Sequence[str] = (), deadline_s: float
    ) -> None:
        """Gone, named by id or by key."""
        await meet("before")
        for each in (*document_ids, *(f"doc-{key}" for key in keys)):
            self.kept.pop(each, None)


def surroundings(db: Database, *, chats: bool = False) -> Runtime:
    """A worker's surroundings without a broker; a summary is due after every other turn."""
    policy = Policy(observer=ObserverPolicy(summarize_after_turns=2))
    bus = cast("Any", None)
    return Runtime(
        Settings(), db, bus, QuotingModel(chats=chats), policy, KafkaAccess(""), policy.version, knowledge=Shelf()
    )
