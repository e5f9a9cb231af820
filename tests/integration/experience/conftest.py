"""A runtime without a service: the test runs the timers."""

from collections.abc import AsyncGenerator

import pytest

from shared.runtime import Runtime, open_runtime
from tests.system.databases import Databases
from tests.system.running import settings_for


@pytest.fixture
async def rt(databases: Databases) -> AsyncGenerator[Runtime]:
    """The evolver's runtime on a new database; nothing is consumed."""
    async with open_runtime(settings_for(databases.fresh(), "127.0.0.1:9"), "evolver") as found:
        yield found
