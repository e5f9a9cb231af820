"""Answers that are cached per owner, that arrive late, and that are shared by concurrent callers."""

import asyncio
import time
from dataclasses import replace

import pytest

from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.ollama import OllamaModels
from shared.models.thoughts import AT_ONCE, AT_ONCE_EACH, MOST_EACH, DeferredAnswer, DeferredAnswers, Owner
from tests.integration.models.conftest import Clock, Likes, prompt
from tests.ollama.server import ScriptedOllama
from tests.system.wait import wait_for

LIN: Owner = ("acme", "lin")
MEI: Owner = ("acme", "mei")
ONCE = replace(prompt(), once=True)


@pytest.fixture
def thoughts(clock: Clock) -> DeferredAnswers:
    """An empty cache on the test's clock."""
    return DeferredAnswers(clock, most=200, keep_s=60)


async def ask(
    thoughts: DeferredAnswers, models: OllamaModels, question: str = "q", owner: Owner = LIN, wait_s: float = 5
) -> DeferredAnswer[Likes]:
    return await thoughts.ask(models, owner, question, ONCE, wait_s=wait_s)


async def test_the_same_question_is_asked_once(
    thoughts: DeferredAnswers, models: OllamaModels, server: ScriptedOllama
) -> None:
    first, second = await ask(thoughts, models), await ask(thoughts, models)
    assert (first.kept, second.kept) == (False, True)
    assert first.value == second.value
    assert len(server.asked("/api/chat")) == 1


async def test_concurrent_equal_questions_share_one_call(
    thoughts: DeferredAnswers, models: OllamaModels, server: ScriptedOllama
) -> None:
    await asyncio.gather(*(ask(thoughts, models) for _ in range(20)))
    assert len(server.asked("/api/chat")) == 1


async def test_another_question_owner_or_version_is_another_call(
    thoughts: DeferredAnswers, models: OllamaModels, server: ScriptedOllama
) -> None:
    await ask(thoughts, models)
    assert not (await ask(thoughts, models, "other")).kept
    assert not (await ask(thoughts, models, owner=MEI)).kept
    assert not (await ask(thoughts, models, owner=("acme2", "lin"))).kept
    newer = await thoughts.ask(models, LIN, "q", replace(ONCE, version="2"), wait_s=5)
    assert not newer.kept
    models.chat_model_id = "other"
    server.models = ("other",)
    assert not (await ask(thoughts, models)).kept
    assert len(server.asked("/api/chat")) == 6


async def test_an_answer_is_cached_for_its_time_only(
    thoughts: DeferredAnswers, models: OllamaModels, clock: Clock
) -> None:
    await ask(thoughts, models)
    clock.now += 59
    assert (await ask(thoughts, models)).kept
    clock.now += 1
    assert not (await ask(thoughts, models)).kept


async def test_expired_answers_are_dropped_with_the_next_one(
    thoughts: DeferredAnswers, models: OllamaModels, clock: Clock
) -> None:
    for n in range(5):
        await ask(thoughts, models, str(n))
    clock.now += 60
    await ask(thoughts, models, owner=MEI)
    assert len(thoughts) == 1


async def test_one_owner_evicts_only_their_own_answers(thoughts: DeferredAnswers, models: OllamaModels) -> None:
    await ask(thoughts, models, owner=MEI)
    for n in range(MOST_EACH + 10):
        await ask(thoughts, models, str(n))
    assert len(thoughts) == MOST_EACH + 1
    assert (await ask(thoughts, models, owner=MEI)).kept
    assert (await ask(thoughts, models, str(MOST_EACH + 9))).kept
    assert not (await ask(thoughts, models, "0")).kept


async def test_the_total_is_bounded_and_least_recently_used_answers_are_evicted(
    models: OllamaModels, clock: Clock
) -> None:
    thoughts = DeferredAnswers(clock, most=10, keep_s=60)
    for n in range(30):
        await ask(thoughts, models, owner=("acme", str(n)))
        await ask(thoughts, models, owner=("acme", "0"))
    assert len(thoughts) == 10
    assert (await ask(thoughts, models, owner=("acme", "0"))).kept
    assert not (await ask(thoughts, models, owner=("acme", "5"))).kept


async def test_clearing_one_owners_answers_keeps_those_of_others(
    thoughts: DeferredAnswers, models: OllamaModels, server: ScriptedOllama
) -> None:
    await ask(thoughts, models)
    await ask(thoughts, models, owner=MEI)
    server.script("slow")
    server.slow_s = 5
    late = asyncio.create_task(ask(thoughts, models, "late"))
    await wait_for(lambda: len(server.asked("/api/chat")) == 3, "the call is under way")
    thoughts.forget(LIN)
    with pytest.raises(ModelUnavailable):
        await late
    assert len(thoughts) == 1
    assert (await ask(thoughts, models, owner=MEI)).kept


async def test_nothing_is_cached_without_capacity(models: OllamaModels, clock: Clock) -> None:
    thoughts = DeferredAnswers(clock, most=0)
    await ask(thoughts, models)
    assert (len(thoughts), (await ask(thoughts, models)).kept) == (0, False)


async def test_a_late_answer_is_available_the_next_time(
    thoughts: DeferredAnswers, models: OllamaModels, server: ScriptedOllama
) -> None:
    server.script("slow")
    server.slow_s = 3
    began = time.monotonic()
    with pytest.raises(ModelUnavailable) as caught:
        await ask(thoughts, models, wait_s=0.05)
    assert caught.value.reason == "timeout"
    assert time.monotonic() - began < 2
    await wait_for(lambda: len(thoughts) == 1, "the late answer")
    assert (await ask(thoughts, models, wait_s=0.05)).kept
    assert len(server.asked("/api/chat")) == 1


@pytest.mark.parametrize("mode", ["prose", "http_500"])
async def test_a_failure_is_not_cached(
    thoughts: DeferredAnswers, models: OllamaModels, server: ScriptedOllama, mode: str
) -> None:
    server.script(mode, "well")  # pyright: ignore[reportArgumentType] # one of the modes
    with pytest.raises(MalformedAnswer if mode == "prose" else ModelUnavailable):
        await ask(thoughts, models)
    assert not (await ask(thoughts, models)).kept


async def test_concurrent_calls_are_bounded_in_total_and_per_owner(
    thoughts: DeferredAnswers, models: OllamaModels, server: ScriptedOllama
) -> None:
    server.script("slow")
    late = await asyncio.gather(*(ask(thoughts, models, str(n), wait_s=0.05) for n in range(5)), return_exceptions=True)
    reasons = [error.reason for error in late if isinstance(error, ModelUnavailable)]
    assert sorted(reasons) == ["busy"] * (5 - AT_ONCE_EACH) + ["timeout"] * AT_ONCE_EACH
    for n in range(AT_ONCE):
        with pytest.raises(ModelUnavailable):
            await ask(thoughts, models, owner=("acme", str(n)), wait_s=0.01)
    with pytest.raises(ModelUnavailable) as caught:
        await ask(thoughts, models, owner=("acme", "last"), wait_s=5)
    assert caught.value.reason == "busy"
    await thoughts.close()


async def test_a_cancelled_caller_does_not_end_the_call_of_another(
    thoughts: DeferredAnswers, models: OllamaModels, server: ScriptedOllama
) -> None:
    server.script("slow")
    server.slow_s = 0.2
    first = asyncio.create_task(ask(thoughts, models))
    await server.slow_began.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert (await ask(thoughts, models)).value.items
    assert len(server.asked("/api/chat")) == 1


async def test_closing_ends_running_calls(
    thoughts: DeferredAnswers, models: OllamaModels, server: ScriptedOllama
) -> None:
    server.script("slow")
    asking = asyncio.create_task(ask(thoughts, models))
    await server.slow_began.wait()
    await thoughts.close()
    with pytest.raises(ModelUnavailable):
        await asking
    assert len(thoughts) == 0
