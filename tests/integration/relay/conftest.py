"""A runtime for the tests of the relay."""

from collections.abc import AsyncGenerator

import pytest

from shared.runtime import Runtime, open_runtime
from shared.settings import Settings


@pytest.fixture
async def rt(settings: Settings) -> AsyncGenerator[Runtime]:
    """A runtime that commits, and ends turns as workers do."""
    async with open_runtime(settings, "compose") as found:
        yield found
