"""A model's advice is stored: a rebuild uses it again and makes no call."""

import json
from typing import Any

import pytest

from services.cli.rebuild.run import rebuild
from tests.integration.rebuild.test_rebuild import heard, subject, told
from tests.ollama.server import ScriptedOllama
from tests.system.databases import Databases
from tests.system.person import Person
from tests.system.running import policy_file, running, settings_for

SAID = {
    "zh": ("回答我的问题尽量详细", "我每天早上都去跑步"),
    "en": ("I go running every morning", "My master thesis is due on 14 March"),
}
"""Two statements without a key and without common words: only a model can say that one ends the other."""
ASKS_OF_MEMORIES = "Give the verdicts as JSON."


def answer(body: dict[str, Any]) -> str:
    """No items in a turn; the newest statement ends the first memory that is shown with it."""
    if ASKS_OF_MEMORIES in body["messages"][-1]["content"]:
        return json.dumps({"verdicts": [{"id": "m1", "verdict": "ends"}]})
    return '{"items": []}'


@pytest.mark.parametrize("language", SAID)
async def test_a_rebuild_follows_the_stored_advice(
    databases: Databases, kafka: str, server: ScriptedOllama, tmp_path: Any, language: str
) -> None:
    server.answer = answer
    policy = policy_file(tmp_path, analysis={"doubt_low": 0.0})
    settings = settings_for(databases.fresh(), kafka, ollama_url=server.url, embedding_model="", policy=policy)
    async with running(settings) as system:
        person = Person(system)
        for text in SAID[language]:
            await person.think(text)
        status = {m["content"]: m["status"] for m in await person.memories(status="all")}
        assert status == {SAID[language][0]: "superseded", SAID[language][1]: "active"}
        (row,) = system.rows("SELECT evidence -> 'advice' AS advice FROM proposals WHERE evidence ? 'advice'")
        assert [(each["verdict"], each["by"]) for each in row["advice"]] == [("ends", "model")]
        used = {row["purpose"]: row["calls"] for row in system.rows("SELECT purpose, calls FROM model_usage")}
        assert used == {"extract": 2, "analysis": 1}
        asked = len(server.asked("/api/chat"))
        rt = system["compose"].rt
        report = await rebuild(system.dsn, rt.settings, rt.policy, subject(person), apply=False, say=heard)
        assert (told(report), report.missed) == ({}, {})
        assert len(server.asked("/api/chat")) == asked
        await system.change("UPDATE proposals SET evidence = '{}'")
        report = await rebuild(system.dsn, rt.settings, rt.policy, subject(person), apply=False, say=heard)
        assert told(report), "without the advice nothing would have ended"
