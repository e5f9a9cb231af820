"""A committed turn is in the next package even if no worker has observed it; no worker runs here."""

from collections.abc import AsyncGenerator

import pytest

from tests.system.databases import Databases
from tests.system.person import Person, shown
from tests.system.running import System, running, settings_for


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str) -> AsyncGenerator[System]:
    """Compose alone, without relay and workers."""
    async with running(settings_for(databases.fresh(), kafka), ("compose",)) as alone:
        yield alone


@pytest.mark.parametrize(
    ("said", "asked", "word"),
    [
        ("我刚才把钥匙放在蓝色的盒子里了。", "我的钥匙在哪里？", "蓝色的盒子"),
        ("I have just put my keys into the blue box.", "Where are my keys?", "blue box"),
    ],
)
async def test_the_latest_turn_is_in_the_package(person: Person, said: str, asked: str, word: str) -> None:
    result = await person.commit(said)
    assert word in shown(await person.compose(asked, session="s1"))
    assert (await person.get(f"/v1/turns/{result['turn_id']}/outcome")).json()["state"] == "pending"


async def test_a_correction_takes_effect_in_the_same_session_at_once(person: Person) -> None:
    await person.commit("我喜欢喝咖啡。")
    await person.commit("不对，我喜欢喝茶，不是咖啡。")
    package = await person.compose("我喜欢喝什么？", session="s1")
    recent = [m.content for m in package.recent_turns]
    assert recent.index("不对，我喜欢喝茶，不是咖啡。") > recent.index("我喜欢喝咖啡。")
