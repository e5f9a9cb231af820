"""A user with a year of conversations in both languages, memories and vectors, as the basis for plans."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from schemas.evidence_pack import EvidencePack, PackEvidence
from schemas.retrieval_plan import RetrieveRequest
from services.evolver.embed import embed_some
from shared.models.none import NoModels
from shared.runtime import Runtime, open_runtime
from tests.system.composing import retrieve
from tests.system.person import Person
from tests.system.running import System

TOPICS = (
    ("tea", "drink", "茶", "喝", "饮料"),
    ("boat", "harbour", "sail", "ship", "港", "船"),
    ("code", "deploy", "repo", "kafka", "部署", "代码", "仓库"),
    ("cat", "pet", "猫", "宠物"),
    ("doctor", "knee", "hospital", "医生", "膝盖", "医院"),
)
SAID: tuple[tuple[str, str, str], ...] = (
    ("2026-01-05T09:00:00Z", "s1", "我喜欢喝龙井茶。"),
    ("2026-01-05T09:05:00Z", "s1", "I met Marta at the harbour, she repairs boats."),
    ("2026-02-10T09:00:00Z", "s2", "谁把 smart_rag 仓库部署到 Kafka 上了？"),
    ("2026-02-10T09:05:00Z", "s2", "Does Marta want the smart_rag repo deployed by Friday?"),
    ("2026-03-15T09:00:00Z", "s3", "听说邻居有只猫叫豆包，三岁了。"),
    ("2026-03-15T09:05:00Z", "s3", "The doctor said my knee needs two months of rest."),
    ("2026-04-20T09:00:00Z", "s4", "医生说膝盖好多了，可以游泳。"),
    ("2026-04-20T09:05:00Z", "s4", "Remember that I am allergic to peanuts."),
    ("2026-05-25T09:00:00Z", "s5", "Marta 的船修好了，下周去港口看。"),
    ("2026-05-25T09:05:00Z", "s5", "I prefer short answers with the conclusion first."),
    ("2026-06-30T09:00:00Z", "s6", "12345 67890 !!!"),
    ("2026-06-30T09:05:00Z", "s6", "长话短说：" + "港口的船今天没有出海，因为风太大。" * 60 + "豆包打翻了茶杯。"),
)


class TopicModel(NoModels):
    """Replaces an embedding model: one direction per topic, so that 饮料 is near tea and far from boats."""

    embedding_model_id = "topics"
    dimension = len(TOPICS) + 1

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """One unit vector per text."""
        del deadline_s
        return [self._one(text.lower()) for text in texts]

    def _one(self, text: str) -> list[float]:
        raw = [*(float(sum(text.count(word) for word in words)) for words in TOPICS), 0.2]
        size = sum(x * x for x in raw) ** 0.5
        return [x / size for x in raw]


class Lin:
    """The user, and the results of plans, with and without a model."""

    def __init__(self, person: Person, rt: Runtime, without: Runtime) -> None:
        self.person = person
        self.rt = rt
        self.without = without

    async def ask(self, plan: dict[str, Any], *, model: bool = True) -> EvidencePack:
        """The pack of the plan."""
        asked = RetrieveRequest.model_validate({"version": "0.1", **self.person.whose, **plan})
        return await retrieve(asked, self.rt if model else self.without)

    async def found(self, text: str, mode: str = "hybrid", *, model: bool = True, **plan: Any) -> list[PackEvidence]:
        """The results of one query, without a relevance threshold."""
        asked = {"queries": [{"text": text, "mode": mode}], "ranking": {"min_score": 0}, **plan}
        return (await self.ask(asked, model=model)).evidences


@asynccontextmanager
async def living(system: System) -> AsyncIterator[Lin]:
    """Lin, after all turns were committed, learnt and embedded."""
    person = Person(system)
    for at, session, text in SAID:
        await person.say(text, session=session, created_at=at)
    async with open_runtime(system.settings, "compose") as without:
        rt = replace(without, models=TopicModel())
        while await embed_some(rt):
            pass
        yield Lin(person, rt, without)
