"""Without a knowledge side everything else works, and nothing is reported as missing (seed 004 section 6)."""

import pytest

from tests.system.person import Person, shown


@pytest.mark.parametrize(
    ("said", "asked", "word"),
    [
        ("我喜欢喝龙井茶。", "公司的退货政策是什么？我喜欢喝什么茶？", "龙井"),
        ("I like oolong tea.", "What is the company's return policy, and which tea do I like?", "oolong"),
    ],
    ids=["zh", "en"],
)
async def test_everything_else_works_without_knowledge(person: Person, said: str, asked: str, word: str) -> None:
    await person.say(said)
    ref = {"ref_type": "url", "ref_uri": "https://docs.example.org/spec"}
    made = {"name": "write_file", "args": {"path": "a.md", "content": "specification " * 40}, "result": "ok"}
    await person.commit("ok", session="s3", refs=[ref], tool_calls=[made])
    await person.system.settled()
    package = await person.compose(asked)
    assert word in shown(package)
    assert not [each for each in package.degraded_reason if "knowledge" in each]
    assert package.debug
    assert not [each for each in package.debug.explain.arms if each.arm == "knowledge"]
    assert (await person.get("/v1/resources")).json() == {"resources": []}
    assert person.system.number("SELECT count(*) FROM resources") == 0
