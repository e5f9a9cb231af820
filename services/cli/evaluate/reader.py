"""The reader of labelled messages: the rules, or the rules and a model merged as the observer merges them."""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from services.observer.extract import extract
from services.observer.prompts import KnownMemory
from shared.extraction import ObserveContext, Observed, ObservePolicy, TurnText, observe
from shared.models.provider import ModelProvider
from shared.policy import ObserverPolicy

Reader = tuple[ModelProvider, ObserverPolicy]
"""A model, and how it is asked."""
AT_ONCE = 4
"""Concurrent questions, as in one observer: more would time out while they wait for the model."""
T = TypeVar("T")


async def read(
    reader: Reader | None, turn: TurnText, context: ObserveContext, memories: Sequence[KnownMemory] = ()
) -> Observed:
    """The statements of the turn; `memories` are shown to the model."""
    if reader is None:
        return observe(turn, context, ObservePolicy())
    return (await extract(*reader, turn, context, memories)).observed


async def some_at_once(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """What each of them gives, in order."""
    places = asyncio.Semaphore(AT_ONCE)

    async def in_turn(one: Coroutine[Any, Any, T]) -> T:
        async with places:
            return await one

    return await asyncio.gather(*map(in_turn, work))
