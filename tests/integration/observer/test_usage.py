"""The model's cost for a user is recorded with its results and limited per day; unreadable answers are stored."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from schemas.topics import TURN_COMMITTED, TURN_EXTRACT
from services.cli import app
from services.governor import handler as governor
from services.observer import handler as observer
from services.observer import second_step
from shared.bus.delivery import Delivered, parse
from shared.domain.subjects import Subject
from shared.errors import ConfigurationError, TransientError
from tests.ollama.server import CHAT, NOT_JSON, ScriptedOllama
from tests.system.databases import Databases
from tests.system.kafka import Stored
from tests.system.person import Person
from tests.system.running import System, listening, policy_file, running, settings_for

BURST = ("我喜欢喝龙井茶。", "I live in Oslo.", "我对花生过敏。", "My dog is called Rex.", "我们决定用 PostgreSQL。")


class Bench:
    """Compose on a new database; the test calls the observer's handlers."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.rt = system["compose"].rt

    async def said(self, person: Person, *texts: str, **more: Any) -> list[Delivered]:
        """The events of these turns."""
        ids = {(await person.commit(text, **more))["turn_id"] for text in texts}
        waiting = self.system.rows(
            "SELECT payload::text AS body FROM event_outbox WHERE aggregatetype = %(t)s ORDER BY position",
            t=TURN_COMMITTED.name,
        )
        events = [parse(Stored(TURN_COMMITTED.name, value=row["body"].encode())) for row in waiting]
        return [event for event in events if event.envelope.payload["turn_id"] in ids]

    async def observe(self, person: Person, events: Sequence[Delivered]) -> None:
        """Observes the batch, then runs the model step for every turn of the user, past ones included."""
        await observer.observe_turns(self.rt, Subject(person.tenant_id, person.user_id), events)
        await self.think(person)

    async def think(self, person: Person) -> None:
        """Runs the model step for every turn of the user, past ones included."""
        await second_step.add_from_model(self.rt, Subject(person.tenant_id, person.user_id), self.to_think(person))

    def to_think(self, person: Person) -> list[Delivered]:
        """The events that start the model step for the user's turns."""
        rows = self.system.rows(
            "SELECT payload::text AS body FROM event_outbox WHERE aggregatetype = %(t)s AND aggregateid = %(k)s"
            " ORDER BY position",
            t=TURN_EXTRACT.name,
            k=f"{person.tenant_id}:{person.user_id}",
        )
        return [parse(Stored(TURN_EXTRACT.name, value=row["body"].encode())) for row in rows]

    def used(self, person: Person) -> dict[str, Any]:
        """The user's usage of today."""
        found = self.system.rows("SELECT * FROM model_usage WHERE user_id = %(u)s", u=person.user_id)
        return found[0] if found else {"calls": 0}

    def notes(self, person: Person) -> list[list[str]]:
        """The reason in each turn's outcome why no model has read it, in turn order."""
        statement = "SELECT outcome -> 'explain' AS told, outcome -> 'retention_explain' AS done FROM turns"
        found = self.system.rows(f"{statement} WHERE user_id = %(u)s ORDER BY seq", u=person.user_id)
        told = [row["told"] if row["told"] is not None else row["done"] or [] for row in found]
        said = [[each["reason"] for each in notes if str(each["reason"]).startswith("model_")] for notes in told]
        return [[reason for reason in reasons if reason != second_step.READ] for reasons in said]


@pytest.fixture
async def bench_with(
    databases: Databases, kafka: str, server: ScriptedOllama, tmp_path_factory: pytest.TempPathFactory
) -> Any:
    """A runtime with these values in its observer policy."""

    @asynccontextmanager
    async def opened(**observer_policy: Any) -> AsyncIterator[Bench]:
        policy = policy_file(tmp_path_factory.mktemp("policy"), observer=observer_policy)
        settings = settings_for(databases.fresh(), kafka, ollama_url=server.url, embedding_dimension=64, policy=policy)
        async with running(settings, ("compose",)) as system:
            yield Bench(system)

    return opened


async def test_the_cost_of_a_turn_is_counted_once_despite_redelivery(bench_with: Any, server: ScriptedOllama) -> None:
    server.counts = (300, 40)
    server.script("well", "prose", "well", "prose", "prose")
    async with bench_with() as bench:
        person = Person(bench.system)
        events = await bench.said(person, *BURST[:3])
        for _ in range(3):
            await bench.observe(person, events)
        used = bench.used(person)
        assert len(server.asked("/api/chat")) == used["calls"] == 5
        assert (used["tokens_in"], used["tokens_out"], used["malformed"], used["purpose"]) == (1500, 200, 1, "extract")
        assert used["seconds"] > 0
        assert bench.notes(person) == [["model_answer_malformed"], [], []], "the newest turn is read first"


async def test_a_repeated_call_counts_twice(bench_with: Any, server: ScriptedOllama) -> None:
    async with bench_with() as bench:
        person = Person(bench.system)
        events = await bench.said(person, *BURST[:2])
        await observer.observe_turns(bench.rt, Subject(person.tenant_id, person.user_id), events)
        done = await asyncio.gather(*(bench.think(person) for _ in range(2)), return_exceptions=True)
        assert sorted(type(each).__name__ for each in done) == ["NoneType", "TransientError"]
        assert bench.used(person)["calls"] == len(server.asked("/api/chat")) == 3, "the newest turn twice"
        assert bench.notes(person) == [[], []]
        assert bench.system.number("SELECT count(*) FROM turns WHERE observed_at IS NULL") == 0


@pytest.mark.parametrize("share", ["model_tokens_per_day", "tenant_model_tokens_per_day"])
async def test_a_burst_in_one_batch_stays_within_the_daily_share(
    bench_with: Any, server: ScriptedOllama, share: str
) -> None:
    server.counts = (3500, 100)
    async with bench_with(**{share: 7500}) as bench:
        person = Person(bench.system)
        await bench.observe(person, await bench.said(person, *BURST[:4], "I like green tea."))
        assert len(server.asked("/api/chat")) == 2
        assert bench.used(person)["tokens_in"] == 7000
        spared = ["model_budget_used_up"]
        assert bench.notes(person) == [spared, spared, spared, [], []]
        found = bench.system.rows("SELECT DISTINCT turn_id FROM observations WHERE detector <> 'entities'")
        assert len(found) >= 4, "the rules read every turn"
        await bench.observe(person, await bench.said(person, "我住在苏州。"))
        other = Person(bench.system, tenant_id=person.tenant_id)
        await bench.observe(other, await bench.said(other, "我住在苏州。"))
        mine = share == "model_tokens_per_day"
        assert len(server.asked("/api/chat")) == (3 if mine else 2)
        assert bench.notes(other) == [[] if mine else spared]
        stranger = Person(bench.system)
        await bench.observe(stranger, await bench.said(stranger, "I live in Leeds."))
        assert bench.notes(stranger) == [[]]


@pytest.mark.parametrize("text", ["我们决定用 PostgreSQL 做主存储。", "We decided to launch in Norway first."])
@pytest.mark.parametrize("ends", [False, True])
async def test_the_share_limits_a_summary_of_turns_without_a_model_call(
    bench_with: Any, server: ScriptedOllama, text: str, ends: bool
) -> None:
    async with bench_with(model_tokens_per_day=8000) as bench:
        person = Person(bench.system)
        server.counts = (7900, 200)
        await bench.observe(person, await bench.said(person, text))
        assert [each["purpose"] for each in bench.system.rows("SELECT purpose FROM model_usage")] == ["extract"]
        again = await bench.said(person, text, session="s2", **({"end_session": True} if ends else {}))
        await bench.observe(person, again)
        assert len(server.asked("/api/chat")) == 1
        summaries = bench.system.rows("SELECT outcome -> 'summary' AS told FROM turns ORDER BY committed_at")
        assert [row["told"]["notes"] for row in summaries] == [["model_budget_used_up"]] * 2


async def test_time_has_a_share_too_and_failed_calls_use_it(bench_with: Any, server: ScriptedOllama) -> None:
    server.script("slow")
    server.slow_s = 5.0
    async with bench_with(model_deadline_s=0.3, model_seconds_per_day=0.5) as bench:
        person = Person(bench.system)
        await bench.observe(person, await bench.said(person, *BURST[:4]))
        assert bench.notes(person) == [["model_budget_used_up"]] * 2 + [["model_unavailable"]] * 2
        used = bench.used(person)
        assert (used["calls"], used["malformed"]) == (2, 0)
        assert used["seconds"] >= 0.6


async def test_the_usage_of_yesterday_does_not_count_today(bench_with: Any, server: ScriptedOllama) -> None:
    async with bench_with(model_tokens_per_day=5000) as bench:
        person = Person(bench.system)
        await bench.system.change(
            "INSERT INTO model_usage (tenant_id, user_id, day, purpose, calls, tokens_in, tokens_out, seconds,"
            " malformed) SELECT %(t)s, %(u)s, current_date - n, 'extract', 9, 90000, 900, 9, 0"
            " FROM unnest(ARRAY[1, 89, 91, 400]) AS n",
            t=person.tenant_id,
            u=person.user_id,
        )
        await bench.observe(person, await bench.said(person, BURST[0]))
        assert bench.notes(person) == [[]]
        assert await governor.prune_models(bench.rt) == 2
        ages = bench.system.rows("SELECT current_date - day AS age FROM model_usage ORDER BY day DESC")
        assert [row["age"] for row in ages] == [0, 1, 89]


async def test_an_unreadable_answer_is_stored_for_seven_days_for_its_user_only(
    bench_with: Any, server: ScriptedOllama
) -> None:
    server.answer = 'Gern: {"note": "我的密码是 Hunter2-2026!", "call": "13812345678"'
    async with bench_with() as bench:
        person, other = Person(bench.system), Person(bench.system)
        for each in (person, other):
            events = await bench.said(each, "我喜欢喝龙井茶。")
            await bench.observe(each, events)
            await bench.observe(each, events)
        (kept,) = (await person.get("/v1/answers")).json()["answers"]
        assert (kept["prompt"], kept["prompt_version"], kept["model"]) == ("extract", "extract-4", CHAT)
        assert kept["raw"].startswith("Gern: ")
        assert "Hunter2" not in kept["raw"]
        assert "13812345678" not in kept["raw"]
        assert kept["problem"] == "the answer is not complete, valid JSON"
        assert kept["turn_id"] == events_turn(bench, person)
        (theirs,) = (await other.get("/v1/answers")).json()["answers"]
        assert theirs["answer_id"] != kept["answer_id"]
        assert bench.system.number("SELECT count(*) FROM observations WHERE detector LIKE 'model:%%'") == 0
        kept_for = "SELECT count(*) FROM model_answers WHERE expires_at - created_at = interval '7 days'"
        assert bench.system.number(kept_for) == 2
        assert await governor.prune_models(bench.rt) == 0
        await bench.system.change(
            "UPDATE model_answers SET expires_at = now() - interval '1 second' WHERE user_id = %(u)s", u=person.user_id
        )
        assert (await person.get("/v1/answers")).json() == {"answers": []}
        assert await governor.prune_models(bench.rt) == 1
        assert bench.system.number("SELECT count(*) FROM model_answers") == 1


def events_turn(bench: Bench, person: Person) -> str:
    """The id of the user's only turn."""
    (row,) = bench.system.rows("SELECT turn_id FROM turns WHERE user_id = %(u)s", u=person.user_id)
    return str(row["turn_id"])


async def test_known_text_is_shown_and_a_secret_is_not(bench_with: Any, server: ScriptedOllama) -> None:
    async with bench_with() as bench:
        person = Person(bench.system)
        for n, text in enumerate(("喜欢喝咖啡", "Allergic to peanuts", "第一任同事叫小林")):
            await bench.system.change(
                MEMORY, t=person.tenant_id, u=person.user_id, text=text, key=f"k:{n}", type="preference"
            )
        await bench.observe(person, await bench.said(person, "今天没什么事。"))
        (asked,) = server.asked("/api/chat")
        shown = asked["messages"][1]["content"]
        assert all(text in shown for text in ("喜欢喝咖啡", "Allergic to peanuts", "第一任同事叫小林"))
        stranger = Person(bench.system, tenant_id=person.tenant_id)
        await bench.observe(stranger, await bench.said(stranger, "今天没什么事。"))
        assert "Allergic" not in server.asked("/api/chat")[1]["messages"][1]["content"]


MEMORY = """
INSERT INTO memory_items (tenant_id, user_id, memory_id, root_id, version, type, key, content_text, content_hash,
    status, confidence, provenance_class, assertion, valid_at)
VALUES (%(t)s, %(u)s, gen_random_uuid(), gen_random_uuid(), 1, %(type)s, %(key)s, %(text)s, %(text)s, 'active', 0.5,
    'observation', 'declared', now())
"""


async def test_a_failure_while_saving_raises_the_original_error(bench_with: Any, server: ScriptedOllama) -> None:
    async with bench_with() as bench:
        person = Person(bench.system)
        events = await bench.said(person, BURST[0])
        await bench.system.change("ALTER TABLE model_answers RENAME TO elsewhere")
        server.script("prose")
        with pytest.raises(TransientError):
            await bench.observe(person, events)
        assert bench.used(person)["calls"] == 2
        await bench.system.change("ALTER TABLE elsewhere RENAME TO model_answers")
        await bench.observe(person, events)
        assert bench.used(person)["calls"] == 4
        assert bench.notes(person) == [["model_answer_malformed"]]


async def test_an_unknown_prompt_stops_the_observer_with_its_policy_key(
    databases: Databases, kafka: str, tmp_path: Path
) -> None:
    policy = policy_file(tmp_path, observer={"extract_prompt": "extract-99"})
    with pytest.raises(ConfigurationError, match=r"observer\.extract_prompt: no prompt 'extract-99'"):
        async with running(settings_for(databases.fresh(), kafka, policy=policy), ("observer",)):
            pass


@pytest.mark.parametrize("as_json", [False, True])
async def test_the_command_shows_unreadable_answers(
    bench_with: Any, server: ScriptedOllama, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    server.script("prose")
    async with bench_with() as bench:
        person = Person(bench.system)
        await bench.observe(person, await bench.said(person, "我喜欢喝龙井茶。"))
        async with listening(bench.system) as url:
            monkeypatch.setenv("SMARTBRAIN_URL", url)
            asked = ["answers", "-u", person.user_id, "--tenant", person.tenant_id, *(["--json"] if as_json else [])]
            shown = await asyncio.to_thread(CliRunner().invoke, app, asked)
            nobody = await asyncio.to_thread(CliRunner().invoke, app, ["answers", "-u", "nobody"])
        assert (shown.exit_code, nobody.exit_code) == (0, 0)
        assert "no unreadable answers" in nobody.stdout
        assert all(each in shown.stdout for each in (NOT_JSON, "extract-4", "the answer contains no JSON"))
        assert not as_json or json.loads(shown.stdout)["answers"][0]["raw"] == NOT_JSON
