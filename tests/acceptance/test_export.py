"""All data of a user is exported as JSON and as a readable document."""

import pytest

from schemas.exporting import ExportDocument
from tests.system.person import Person

SAID = pytest.mark.parametrize(
    ("said", "moved", "titles"),
    [
        ("I live in Oslo.", "I live in Rome now.", ("What is remembered of me", "What held once", "Conversations")),
        ("我住在上海。", "我搬家了，现在住在北京。", ("关于我的记忆", "曾经如此", "对话")),
    ],
    ids=["en", "zh"],
)


@SAID
async def test_every_version_is_exported_with_its_words(
    person: Person, said: str, moved: str, titles: tuple[str, ...]
) -> None:
    await person.say(said, session="monday")
    await person.say(moved, session="tuesday")
    await person.system.http.patch("/v1/settings", params=person.whose, json={"language": "zh"})
    document = ExportDocument.model_validate_json((await person.get("/v1/export")).content)
    assert [(each.session_id, each.seq) for each in document.turns] == [("monday", 1), ("tuesday", 1)]
    assert document.turns[0].events[0].content["text"] == said
    old, new = sorted((m for m in document.memories if m.type == "profile"), key=lambda m: m.version)
    assert (old.status, old.superseded_by, new.supersedes) == ("superseded", new.memory_id, (old.memory_id,))
    assert [each.quote for each in old.evidence if each.action == "created"] == [said]
    assert document.settings == {"language": "zh"}
    assert document.counts.memories == len(document.memories)
    text = (await person.get("/v1/export", format="markdown")).text
    places = [text.index(each) for each in (*titles[:1], new.content, titles[1], old.content, titles[2], said, moved)]
    assert places == sorted(places)


async def test_a_user_without_data_gets_an_empty_document_in_the_requested_language(person: Person) -> None:
    document = ExportDocument.model_validate_json((await person.get("/v1/export")).content)
    assert (document.memories, document.turns, document.counts.sessions) == ((), (), 0)
    text = (await person.get("/v1/export", format="markdown", lang="zh")).text
    assert "目前还没有记住任何内容" in text
