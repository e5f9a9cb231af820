"""A reranker may reorder evidence; if it fails, the previous order stays, and the package is in time."""

import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest
from prometheus_client import REGISTRY

from schemas.evidence_pack import EvidencePack
from tests.ollama.server import Mode, ScriptedOllama
from tests.system.databases import Databases
from tests.system.person import Person
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import IN_TIME_S

Start = Callable[..., Awaitable[System]]
PATH = {"model": "/api/generate", "llm_json": "/api/chat"}
SAID = {
    "zh": ("周末码头能喝茶吗？", "码头的茶馆周一开门吗？", "码头新开的茶具店在哪里？", "有人在码头的茶馆捡到雨伞吗？"),
    "en": (
        "Does the harbour office have tea at four?",
        "Is the harbour tea room closed on Mondays?",
        "Has a tea shop opened at the harbour?",
        "Has anybody found an umbrella in the harbour tea room?",
    ),
}
"""Questions, which state nothing and are found by their words, independent of extraction."""
ASK = {"zh": "码头 茶", "en": "harbour tea"}
ASKED = {"zh": "关于码头的茶我问过什么？", "en": "What did I ask about the harbour tea?"}
"""Of a package: only a request that asks for questions is shown any."""
WANTED = {"zh": "雨伞", "en": "umbrella"}
FAULTS: tuple[Mode, ...] = ("prose", "broken_json", "wrong_schema", "empty", "http_500", "slow", "cut_off")


@pytest.fixture(scope="module")
async def dsn(databases: Databases, kafka: str) -> str:
    """A database in which a user has made the same statements in both languages."""
    dsn = databases.fresh()
    async with running(settings_for(dsn, kafka)) as system:
        for language, texts in SAID.items():
            person = Person(system, language, "reranked")
            for text in texts:
                await person.say(text)
        for text in ("我喜欢喝美式咖啡。", "办公室的咖啡机坏了吗？", "楼下的咖啡店打折吗？"):
            await Person(system, "corrected", "reranked").say(text)
    return dsn


@pytest.fixture
async def start(
    dsn: str, kafka: str, ollama: ScriptedOllama, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Start]:
    """Starts compose with a reranker, without vectors."""
    ollama.reset()
    ollama.judge = lambda _, text: 0.95 if any(word in text for word in WANTED.values()) else 0.3
    ollama.answer = favourite
    started: list[Any] = []

    async def begin(reranker: str, url: str | None = None, **compose: Any) -> System:
        policy = policy_file(tmp_path_factory.mktemp("policy"), compose={"reranker": reranker, **compose})
        settings = settings_for(dsn, kafka, ollama_url=url or ollama.url, embedding_model="", policy=policy)
        context = running(settings, ("compose",))
        started.append(context)
        return await context.__aenter__()

    yield begin
    for each in started:
        await each.__aexit__(None, None, None)


def favourite(body: dict[str, Any]) -> str:
    """The order of a model that prefers umbrellas: one known id and two unknown ones."""
    user = body["messages"][1]["content"]
    data = json.loads(user.split("<data>")[1].split("</data>")[0])
    liked = [each["id"] for each in data["passages"] if any(word in each["text"] for word in WANTED.values())]
    return json.dumps({"ids": ["p99", *liked, "nobody"]})


def plan(language: str, *, enabled: bool = True, **rerank: Any) -> dict[str, Any]:
    return {
        "version": "0.1",
        "tenant_id": "reranked",
        "user_id": language,
        "queries": [{"text": ASK[language], "mode": "exact"}],
        "ranking": {"rerank": {"enabled": enabled, **rerank}},
    }


async def retrieve_pack(system: System, language: str, **more: Any) -> EvidencePack:
    answer = await system.http.post("/v1/retrieve", json=plan(language, **more))
    assert answer.status_code == 200, answer.text
    return EvidencePack.model_validate(answer.json())


def turns(pack: EvidencePack) -> list[str]:
    return [each.snippet for each in pack.evidences if each.kind == "turn"]


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize(("reranker", "name"), [("model", "qwen3-reranker"), ("llm_json", "qwen3")])
async def test_the_models_favourite_is_first(start: Start, language: str, reranker: str, name: str) -> None:
    system = await start(reranker)
    before = await retrieve_pack(system, language, enabled=False)
    assert (before.explain.rerank, WANTED[language] in turns(before)[0]) == (False, False)
    assert all(each.signals.rerank_score is None for each in before.evidences)
    pack = await retrieve_pack(system, language, model=name)
    assert WANTED[language] in turns(pack)[0]
    assert pack.explain.rerank == name
    assert all(each.signals.rerank_score is not None for each in pack.evidences)
    assert (pack.explain.notes, pack.explain.degraded_reason.count("rerank_failed")) == ([], 0)
    package = await Person(system, language, "reranked").compose(ASKED[language])
    assert WANTED[language] in package.evidence[0].snippet
    assert package.evidence[0].signals.rerank_score is not None
    assert package.debug
    assert package.debug.explain.rerank == name
    assert [arm.status for arm in package.debug.explain.arms if arm.arm == "rerank"] == ["ok"]


@pytest.mark.parametrize("reranker", PATH)
async def test_a_pending_correction_is_first_regardless_of_the_reranker(
    start: Start, ollama: ScriptedOllama, reranker: str
) -> None:
    system = await start(reranker)
    person = Person(system, "corrected", "reranked")
    await person.commit("更正一下：我不再喝美式咖啡了，现在喜欢喝龙井茶。", session=reranker)
    ollama.judge = lambda _, text: 0.99 if "咖啡" in text else 0.01
    package = await person.compose("我喜欢喝什么咖啡？", session="another")
    assert package.debug
    assert package.debug.explain.rerank
    assert "龙井茶" in package.evidence[0].snippet
    assert package.evidence[0].signals.rerank_score is None


@pytest.mark.parametrize("language", SAID)
async def test_words_alone_rerank_without_a_model(start: Start, language: str) -> None:
    system = await start("lexical", url="http://127.0.0.1:9")
    pack = await retrieve_pack(system, language)
    assert pack.explain.rerank == "lexical"
    assert pack.explain.notes == ["ranking.rerank.model: lexical serves, not qwen3-reranker"]
    assert all(each.signals.rerank_score is not None for each in pack.evidences)


async def test_a_request_for_a_missing_reranker_is_answered(start: Start) -> None:
    pack = await retrieve_pack(await start("none"), "en")
    assert "ranking.rerank: no reranker is configured" in pack.explain.ignored_fields
    assert pack.explain.rerank is False
    assert turns(pack)


async def test_only_the_best_candidates_are_reranked(start: Start, ollama: ScriptedOllama) -> None:
    pack = await retrieve_pack(await start("model"), "en", top_n=2)
    assert len(ollama.asked("/api/generate")) == 2
    assert sum(each.signals.rerank_score is not None for each in pack.evidences) == 2
    assert [each.signals.rerank_score is None for each in pack.evidences] == sorted(
        each.signals.rerank_score is None for each in pack.evidences
    )


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize("mode", FAULTS)
@pytest.mark.parametrize("reranker", PATH)
async def test_the_previous_order_stays_whatever_the_reranker_does(
    start: Start, ollama: ScriptedOllama, reranker: str, mode: Mode, language: str
) -> None:
    system = await start(reranker, rerank_deadline_ms=250)
    before = await retrieve_pack(system, language, enabled=False)
    ollama.script(mode, at=PATH[reranker])
    reasons = {"rerank_timeout"} if mode == "slow" else {"rerank_failed", "rerank_timeout"}  # an error can arrive late
    began = time.monotonic()
    pack = await retrieve_pack(system, language)
    assert time.monotonic() - began < IN_TIME_S
    assert sum(pack.explain.degraded_reason.count(reason) for reason in reasons) == 1
    assert pack.explain.rerank is False
    assert [each.id for each in pack.evidences] == [each.id for each in before.evidences]
    began = time.monotonic()
    package = await Person(system, language, "reranked").compose(ASKED[language], deadline_ms=5000)
    assert time.monotonic() - began < IN_TIME_S
    assert package.evidence
    assert package.debug
    (arm,) = [arm for arm in package.debug.explain.arms if arm.arm == "rerank"]
    late = "rerank_timeout" in pack.explain.degraded_reason
    assert reasons & set(package.degraded_reason) or (late and arm.status == "skipped")


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize("reranker", PATH)
async def test_every_request_is_answered_without_a_listening_server(start: Start, reranker: str, language: str) -> None:
    system = await start(reranker, url="http://127.0.0.1:9")
    for _ in range(7):
        began = time.monotonic()
        pack = await retrieve_pack(system, language)
        assert time.monotonic() - began < IN_TIME_S
        assert "rerank_failed" in pack.explain.degraded_reason
        assert len(turns(pack)) == len(SAID[language])


async def test_a_reranker_that_is_usually_late_is_skipped_and_reported(start: Start, ollama: ScriptedOllama) -> None:
    system = await start("model", rerank_deadline_ms=150)
    ollama.script("slow", at=PATH["model"])
    assert "rerank_timeout" in (await retrieve_pack(system, "en")).explain.degraded_reason
    asked = len(ollama.asked(PATH["model"]))
    pack = await retrieve_pack(system, "en")
    assert pack.explain.notes[0].startswith("rerank skipped: it usually takes")
    assert not [reason for reason in pack.explain.degraded_reason if reason.startswith("rerank")]
    assert len(ollama.asked(PATH["model"])) == asked
    package = await Person(system, "en", "reranked").compose(ASKED["en"])
    assert package.debug
    assert package.debug.explain.notes
    assert [arm.status for arm in package.debug.explain.arms if arm.arm == "rerank"] == ["skipped"]


async def test_the_result_of_each_list_is_counted(start: Start, ollama: ScriptedOllama) -> None:
    def counted(outcome: str) -> float:
        labels = {"reranker": "qwen3-reranker", "outcome": outcome}
        return REGISTRY.get_sample_value("smartbrain_reranks_total", labels) or 0.0

    before = {outcome: counted(outcome) for outcome in ("ok", "failed", "timeout", "skipped")}
    system = await start("model", rerank_deadline_ms=2000)
    for mode in ("well", "prose", "slow", "slow"):
        ollama.script(mode, at=PATH["model"])
        await retrieve_pack(system, "zh")
    assert {outcome: counted(outcome) - before[outcome] for outcome in before} == dict.fromkeys(before, 1.0)


async def test_a_request_with_little_time_is_not_reranked(start: Start, ollama: ScriptedOllama) -> None:
    system = await start("model", rerank_deadline_ms=60_000)
    system["compose"].rt.paces.took("qwen3-reranker", 1, 5.0)
    package = await Person(system, "en", "reranked").compose(ASKED["en"], deadline_ms=5000)
    assert package.evidence
    assert package.debug
    assert package.debug.explain.rerank is False
    assert package.debug.explain.notes
    assert not ollama.asked(PATH["model"])


async def test_no_secret_reaches_a_reranker(start: Start, ollama: ScriptedOllama) -> None:
    for reranker in PATH:
        system = await start(reranker)
        person = Person(system, "en", "reranked")
        await person.compose("harbour tea, my password is hunter2secret9")
    assert ollama.requests
    assert "hunter2secret9" not in json.dumps(ollama.requests)
