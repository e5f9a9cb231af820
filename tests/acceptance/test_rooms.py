"""The ratchet of how many files a package and a turn run through: it fails when a count rises."""

from collections.abc import AsyncGenerator, Generator

import pytest

from tests.system.databases import Databases
from tests.system.entered import CallWatcher
from tests.system.person import Person, shown
from tests.system.running import System, running, settings_for

MOST_FILES_OF_A_PACKAGE = 90
"""On a busy machine keys and settings are read again during a package: three files more than in most runs."""
MOST_FILES_OF_A_TURN = 116
"""The files of a timer that runs at the same time are counted too: one or two more than in most runs."""
LEARNING = ("compose", "relay", "observer", "analyzer", "evolver")
ENGLISH = ("I live in Lisbon.", "My dentist is Dr. Brennan.", "I prefer tea over coffee.")
CHINESE = ("我住在上海。", "我的牙医是王医生。", "我喜欢喝茶。")


@pytest.fixture(scope="module")
def watcher() -> Generator[CallWatcher]:
    """Starts before the threads of the system, which it watches too."""
    calls = CallWatcher()
    yield calls
    calls.close()


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, watcher: CallWatcher) -> AsyncGenerator[System]:
    """The services that a turn runs through until it is remembered."""
    del watcher
    async with running(settings_for(databases.fresh(), kafka), LEARNING) as learning:
        yield learning


async def _load_all(somebody: Person) -> None:
    """Loads weights and modules, with other words than those of the test."""
    await somebody.say("My bicycle is red.", "我的自行车是红色的。")
    await somebody.compose("What colour is my bicycle? 我的自行车是什么颜色？")


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [(ENGLISH, "Which drink do I prefer?", "tea"), (CHINESE, "我喜欢喝什么？", "茶")],
    ids=["english", "chinese"],
)
async def test_a_turn_and_a_package_execute_few_files(
    system: System, watcher: CallWatcher, told: tuple[str, ...], question: str, answer: str
) -> None:
    await _load_all(Person(system))
    await system.settled()  # until the receipts of that package are written
    person = Person(system)
    for text in told[:-1]:
        await person.say(text)
    with watcher.entered_files(of_all_tasks=True) as of_a_turn:
        await person.commit(told[-1])
        await system.settled()
    with watcher.entered_files(of_all_tasks=False) as of_a_package:
        package = await person.compose(question, debug=False)
    assert answer in shown(package)
    assert len(of_a_package) <= MOST_FILES_OF_A_PACKAGE, "\n".join(of_a_package)
    assert len(of_a_turn) <= MOST_FILES_OF_A_TURN, "\n".join(of_a_turn)
