"""`smartbrain erase` and `forget`: request, wait, prove, verify and requeue, in both languages."""

import asyncio
import json
import os
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

import pytest
from typer.testing import CliRunner, Result

from services.cli import app
from tests.system.databases import change
from tests.system.erasures import completed, erase, mine
from tests.system.person import Json, Person
from tests.system.running import System, listening

SAID = {"zh": ("我对菠萝蜜过敏。", "菠萝蜜"), "en": ("I am allergic to jackfruit.", "jackfruit")}
OTHER = {"zh": ("我喜欢喝乌龙茶。", "乌龙茶"), "en": ("I prefer oolong tea.", "oolong")}
ID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
ASKED = {"zh": "用户来电要求删除", "en": "asked for by phone"}


@pytest.fixture(scope="module")
async def url(system: System) -> AsyncGenerator[str]:
    """Compose's address."""
    async with listening(system) as address:
        yield address


@dataclass(frozen=True)
class Line:
    """The command line for erasing one user's data."""

    url: str
    person: Person

    def words(self, *words: str) -> list[str]:
        """The command with the owner of the data."""
        return [*words, "-u", self.person.user_id, "--tenant", self.person.tenant_id]

    async def run(self, *words: str) -> Result:
        """The output and exit code, without a terminal."""
        runner = CliRunner(env={"SMARTBRAIN_URL": self.url})
        return await asyncio.to_thread(runner.invoke, app, self.words(*words))

    def ended(self, *words: str) -> int:
        """The exit code of the command with the given standard input."""
        with pytest.raises(SystemExit) as caught:
            app(self.words(*words))
        return int(caught.value.code or 0)

    async def erase(self, *words: str) -> Result:
        """The output of a successful `smartbrain erase`."""
        done = await self.run("erase", *words)
        assert done.exit_code == 0, (done.output, done.exception)
        return done

    async def read(self, *words: str) -> Json:
        """The output with `--json`, whatever the exit code."""
        return json.loads((await self.run("erase", "--json", *words)).stdout)


@pytest.fixture
def line(url: str, person: Person) -> Line:
    """The command line."""
    return Line(url, person)


def holds(text: str, *patterns: str) -> None:
    """The patterns match the text in this order."""
    place = 0
    for pattern in patterns:
        found = re.compile(pattern).search(text, place)
        assert found, (pattern, text)
        place = found.end()


SHOWN = {
    "zh": (
        rf"擦除 {ID}  已生效：范围 全部，\d+ 条记忆、\d+ 行已不可见  \(期限 ",
        r"状态: \d{4}-\d\d-\d\d 已请求 \d\d:\d\d:\d\d\.\d{3} > 已核实 .* > 已标记删除 .* > 已排队 .* > 已完成 ",
        r"各存储的行数: .*memory_items \d+",
        r"残留扫描: 查看了 \d+ 张表、\d+ 列，剩余 0 行；保留但不含内容：.*turns 1",
    ),
    "en": (
        rf"erasure {ID}  in force: scope all, \d+ memories, \d+ rows hidden  \(due ",
        r"states: \d{4}-\d\d-\d\d requested \d\d:\d\d:\d\d\.\d{3} > verified .* > queued .* > completed ",
        r"rows by store: .*memory_items \d+",
        r"scan: \d+ tables and \d+ columns scanned, 0 rows left; kept without text: .*turns 1",
    ),
}
PROVED = {
    "zh": (r"擦除 .*已完成：范围 全部", r"当前扫描: .*剩余 0 行", r"已证实：擦除完成，没有残留"),
    "en": (r"erasure .*done: scope all", r"scan now: .*, 0 rows left", r"proved: completed, nothing left"),
}
LISTED = {"zh": (r"编号 +范围 +状态", rf"{ID}  全部 +已完成"), "en": (r"id +scope +status", rf"{ID}  all +completed")}


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_it_waits_for_the_proof_shows_it_and_verifies_it(line: Line, language: str) -> None:
    await line.person.say(SAID[language][0])
    done = await line.erase("--yes", "--by", "operator", "--reason", ASKED[language])
    holds(done.stdout, *SHOWN[language])
    assert await line.person.memories() == []
    verified = await line.erase("--verify", "--lang", language)
    holds(verified.stdout, *PROVED[language])
    listed = await line.erase("--list", "--lang", language)
    holds(listed.stdout, *LISTED[language])


async def test_the_answer_has_the_language_of_its_names_and_reasons(line: Line) -> None:
    await line.person.say("I prefer green tea.", session="杭州之行")
    assert "范围 会话" in (await line.erase("--session", "杭州之行")).stdout


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_the_options_determine_the_scope(line: Line, language: str) -> None:
    (said, thing), (other, word) = SAID[language], OTHER[language]
    await line.person.say(said, session="s1")
    await line.person.say(other, session="s2")
    await line.person.say("I live in Hangzhou.", session="s3")
    assert (await line.read("--session", "s1"))["receipt"]["scope"] == "session"
    assert not any(thing in content for content in await line.person.contents())
    ids = [each["memory_id"] for each in await line.person.memories() if word in each["content"]]
    asked = await line.read(*(part for each in ids for part in ("--memory", each)))
    assert (asked["receipt"]["scope"], asked["erasure"]["status"]) == ("items", "completed")
    assert ["Hangzhou" in content for content in await line.person.contents()] == [True]
    assert (await line.read("--scope", "personal"))["receipt"]["scope"] == "personal"
    assert await line.person.contents() == []


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--session", "never"), "session_ids.0: the user has no such session"),
        (("--memory", "01a20199-331d-7cc1-890d-118ef5a2a92f"), "memory_ids.0: the user has no such memory"),
        (("--session", "s1", "--memory", "01a20199-331d-7cc1-890d-118ef5a2a92f"), "memory_ids: is required for scope"),
        (("--scope", "personal", "--by", "operator"), "reason: is required"),
        (("--scope", "personal", "--profile", "NONE"), "profile: is none of"),
        (("--verify", "01a20199-331d-7cc1-890d-118ef5a2a92f"), "tombstone_id: the user has no such erasure"),
    ],
)
async def test_a_refusal_by_the_service_names_its_field(line: Line, words: Sequence[str], named: str) -> None:
    await line.person.say("I prefer green tea.", session="s1")
    done = await line.run("erase", *words)
    assert (done.exit_code, named in str(done.exception)) == (1, True), done.exception
    assert await line.person.contents()
    assert mine(line.person, "tombstones") == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "--scope all needs --yes"),
        (("--scope", "all"), "--scope all needs --yes"),
        (("--scope", "everything", "--yes"), "Invalid value for '--scope'"),
        (("--verify", "--list"), "one of --verify, --list and --requeue"),
        (("01a20199-331d-7cc1-890d-118ef5a2a92f", "--yes"), "an id needs"),
        (("--requeue", "--by", "operator", "--reason", "mended"), "--requeue needs the erasure's id"),
        (("--requeue", "01a20199-331d-7cc1-890d-118ef5a2a92f"), "--requeue needs --by and --reason"),
    ],
)
async def test_an_ambiguous_command_exits_with_2_and_erases_nothing(
    line: Line, words: Sequence[str], told: str
) -> None:
    await line.person.say("I prefer green tea.")
    done = await line.run("erase", *words)
    assert done.exit_code == 2, done.output
    assert told in " ".join(re.sub("[│╭╮╰╯─]", " ", done.stderr).split())
    assert await line.person.contents()
    assert mine(line.person, "tombstones") == []


@pytest.mark.parametrize(
    ("answer", "code", "language", "asked"),
    [
        ("n", 1, "en", "All data of {user} will be permanently erased. Continue?"),
        ("y", 0, "zh", "将永久擦除 {user} 的一切。继续吗？"),
    ],
)
async def test_a_terminal_asks_for_confirmation_before_erasing_everything(
    line: Line,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    code: int,
    language: str,
    asked: str,
) -> None:
    await line.person.say("I prefer green tea.")
    ours, theirs = os.openpty()
    with os.fdopen(theirs) as terminal:
        os.write(ours, f"{answer}\n".encode())
        monkeypatch.setattr("sys.stdin", terminal)
        monkeypatch.setenv("SMARTBRAIN_URL", line.url)
        assert await asyncio.to_thread(line.ended, "erase", "--lang", language) == code
    os.close(ours)
    assert asked.format(user=line.person.user_id) in capsys.readouterr().err
    assert bool(await line.person.contents()) == (answer == "n")
    assert len(mine(line.person, "tombstones")) == (answer == "y")


async def test_no_wait_returns_at_once_and_the_same_key_requests_once(line: Line) -> None:
    await line.person.say("I prefer green tea.")
    first, second = [await line.read("--yes", "--no-wait", "--key", "once") for _ in range(2)]
    assert (first["erasure"], second["receipt"]["tombstone_id"]) == (None, first["receipt"]["tombstone_id"])
    assert first["receipt"]["status"] == "queued"
    await completed(line.person, first["receipt"])
    assert len((await line.read("--list"))["erasures"]) == 1


async def test_verifying_fails_until_completion_and_an_escalated_erasure_is_requeued(line: Line) -> None:
    person = line.person
    await person.say("I prefer green tea.")
    assert (await line.run("erase", "--verify")).exit_code == 1
    await person.system.stop("erasure")
    try:
        waited = await line.run("erase", "--yes", "--timeout", "0.2")
        assert (waited.exit_code, "not completed, queued" in waited.stderr) == (1, True), waited.output
        verified = await line.run("erase", "--verify", "--lang", "zh")
        assert (verified.exit_code, "未证实" in verified.stdout) == (1, True), verified.output
        (receipt,) = (await line.read("--list"))["erasures"]
        refused = await line.run(
            "erase", "--requeue", receipt["tombstone_id"], "--by", "operator", "--reason", "it is mended"
        )
        assert (refused.exit_code, "only escalated ones" in str(refused.exception)) == (1, True)
        statement = "UPDATE tombstones SET status = 'escalated', escalated_at = now() WHERE tombstone_id = %(id)s"
        await change(person.system.dsn, statement, id=receipt["tombstone_id"])
    finally:
        await person.system.start("erasure")
    waited = await line.run("erase", "--verify", receipt["tombstone_id"])
    assert (waited.exit_code, "not proved" in waited.stdout) == (1, True), waited.output
    requeued = await line.read("--requeue", receipt["tombstone_id"], "--by", "operator", "--reason", "it is mended")
    assert requeued["status"] == "processing"
    assert requeued["history"][-1]["error"] == "requeued by operator: it is mended"
    await completed(person, receipt)
    assert "proved: completed, nothing left" in (await line.erase("--verify", receipt["tombstone_id"])).stdout


async def test_verifying_finds_a_row_that_returned(line: Line) -> None:
    person = line.person
    await person.say("Anna lives in Oslo.")
    receipt = await erase(person, "all")
    await completed(person, receipt)
    assert (await line.read("--verify"))["proved"]
    statement = """INSERT INTO entities (tenant_id, user_id, entity_id, kind, canonical, name, first_seen_at,
        last_seen_at, epoch) VALUES (%(t)s, %(u)s, gen_random_uuid(), 'person', 'anna', 'Anna', now(), now(), 0)"""
    await change(person.system.dsn, statement, t=person.tenant_id, u=person.user_id)
    done = await line.run("erase", "--verify")
    assert done.exit_code == 1
    holds(done.stdout, r"scan: .* 0 rows left", r"scan now: .* 1 rows left \(entities 1\)", "not proved")
    told = await line.read("--verify", receipt["tombstone_id"])
    assert (told["proved"], told["residue"]["left"]) == (False, {"entities": 1})


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_forget_retracts_a_memory_and_keeps_its_history(line: Line, language: str) -> None:
    said, thing = SAID[language]
    await line.person.say(said)
    (memory,) = [each for each in await line.person.memories() if thing in each["content"]]
    done = await line.run("forget", memory["memory_id"])
    assert (done.exit_code, f"memory {memory['memory_id']}" in done.stdout) == (0, True), done.output
    assert await line.person.contents() == []
    assert any(thing in content for content in await line.person.contents(status="retracted"))
