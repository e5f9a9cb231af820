"""A paraphrase is found through HTTP without any configuration and while an encoder is unavailable."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.compose.context.search import STATIC
from tests.integration.models.encoder import write_encoder
from tests.ollama.server import ScriptedOllama
from tests.system.databases import Databases
from tests.system.person import Person, shown
from tests.system.running import System, running, settings_for
from tests.system.wait import wait_for

SAID: dict[str, tuple[tuple[str, ...], str, str]] = {
    "en": (
        (
            "The doctor told me to rest my knee for two months.",
            "The printer on the second floor is out of paper.",
            "We painted the fence green last weekend.",
            "The concert was cancelled because of the storm.",
        ),
        "Which injury did a physician treat?",
        "knee",
    ),
    "zh": (
        (
            "我爸在医院动了心脏手术。",
            "打印机又没有纸了。",
            "合同下个月到期。",
            "昨天的演唱会因为暴雨取消了。",
        ),
        "家里谁生病做过治疗？",
        "心脏手术",
    ),
}
BOTH = pytest.mark.parametrize("language", ["en", "zh"])
MISSING = "SELECT count(*) FROM memory_chunks WHERE user_id = %(u)s AND active AND embedding_model_id IS NULL"


async def tell(person: Person, language: str) -> tuple[str, str]:
    """The user's statements; each question with the words that show that it was answered."""
    texts, question, answer = SAID[language]
    for text in texts:
        await person.say(text, session="first")
    return question, answer


@BOTH
async def test_a_paraphrase_is_found_without_configuration(person: Person, language: str) -> None:
    question, answer = await tell(person, language)
    package = await person.compose(question, session="second")
    assert any(answer in each.snippet for each in package.evidence)
    assert package.degraded_reason == []
    assert package.debug
    assert STATIC in package.debug.explain.notes
    for mode, there in (("hybrid", True), ("semantic", True), ("exact", False)):
        plan = {**person.whose, "version": "0.1", "queries": [{"text": question, "mode": mode}]}
        found = (await person.post("/v1/retrieve", plan)).json()
        assert any(answer in each["snippet"] for each in found["evidences"]) == there, mode
        assert (STATIC in found["explain"]["notes"]) == there, mode


@asynccontextmanager
async def with_ollama(databases: Databases, kafka: str, ollama: ScriptedOllama) -> AsyncGenerator[System]:
    ollama.reset()
    async with running(settings_for(databases.fresh(), kafka, ollama_url=ollama.url, embedding_dimension=64)) as system:
        yield system


async def test_static_vectors_serve_while_an_encoder_is_late_or_unavailable(
    databases: Databases, kafka: str, ollama: ScriptedOllama
) -> None:
    async with with_ollama(databases, kafka, ollama) as system:
        for language in SAID:
            person = Person(system)
            await system.stop("evolver")
            ollama.script("well")
            question, answer = await tell_without(person, language)
            package = await person.compose(question, session="second")
            assert answer in shown(package), "no chunk has the encoder's vector yet"
            assert package.degraded_reason == []
            assert person.number(MISSING) == len(SAID[language][0])
            await system.start("evolver")
            await wait_for(lambda who=person: not who.number(MISSING), "every chunk has the encoder's vector")
            ollama.script("http_500")
            package = await person.compose(question, session="second")
            assert answer in shown(package), "the encoder is away"
            assert "embedding_unavailable" in package.degraded_reason


async def tell_without(person: Person, language: str) -> tuple[str, str]:
    """The same system without an evolver; turns are observed."""
    texts, question, answer = SAID[language]
    for text in texts:
        await person.commit(text, session="first")
    count = "SELECT count(*) FROM memory_chunks WHERE user_id = %(u)s AND turn_id IS NOT NULL"
    await wait_for(lambda: person.number(count) == len(texts), "all is observed")
    return question, answer


async def test_each_language_has_its_encoder(databases: Databases, kafka: str, tmp_path: Path) -> None:
    english, chinese = write_encoder(tmp_path / "english", seed=1), write_encoder(tmp_path / "chinese", seed=2)
    folders = os.pathsep.join([f"en={english}", f"zh={chinese}"])
    async with running(settings_for(databases.fresh(), kafka, embedding_dir=folders)) as system:
        person = Person(system)
        for text in (
            "I drink green tea.",
            "我喝龙井茶。",
            "12345 67890",
            "I drink green tea with milk 我每天早上都喝龙井茶",
        ):
            await person.say(text, session="first")
        await wait_for(lambda: not person.number(MISSING), "every chunk has its vector")
        found = system.rows(
            "SELECT text, embedding_model_id AS id FROM memory_chunks WHERE user_id = %(u)s AND turn_id IS NOT NULL",
            u=person.user_id,
        )
        models = {row["text"]: [part.partition("@")[0] for part in row["id"].split("+")] for row in found}
        assert models == {
            "I drink green tea.": ["english"],
            "我喝龙井茶。": ["chinese"],
            "12345 67890": ["english", "chinese"],
            "I drink green tea with milk 我每天早上都喝龙井茶": ["english", "chinese"],
        }
        package = await person.compose("green tea 龙井茶", session="second")
        assert "green tea" in shown(package)
        assert "龙井茶" in shown(package)
        assert package.degraded_reason == []
        assert package.debug
        assert STATIC not in package.debug.explain.notes
