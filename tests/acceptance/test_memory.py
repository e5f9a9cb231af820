"""Changes of memories: correction, overwriting, retraction, dictation, deletion, summaries."""

from itertools import pairwise
from typing import Any

import pytest

from tests.system.person import Person, shown
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka


async def test_a_correction_ends_the_old_memory_and_replaces_it(person: Person) -> None:
    """OC001."""
    await person.say("我喜欢运动风。")
    (old,) = await person.memories(type="preference")
    await person.say("不是运动风, 我现在喜欢简约的", session="s2")
    (new,) = await person.memories(type="preference")
    assert "简约" in new["content"]
    assert new["provenance"]["class"] == "confirmed_by_user"
    assert new["confidence"] == pytest.approx(0.9)
    was = (await person.get(f"/v1/memories/{old['memory_id']}")).json()
    assert was["status"] == "superseded"
    assert was["invalid_at"]
    assert was["superseded_by"] == new["memory_id"]
    package = await person.compose("我喜欢什么风格？", session="s3")
    assert "简约" in shown(package)
    assert "喜欢运动风" not in shown(package)


@pytest.mark.parametrize(
    ("said", "wrong", "right", "beside", "asked"),
    [
        (
            "Our shuttle leaves at 7:40, ugh, reading the board now, 7:55, from the south gate",
            "7:40",
            "7:55",
            "south gate",
            "When does our shuttle leave?",
        ),
        ("我们公司班车七点四十开，骗你的哈哈七点五十，在南门上", "七点四十", "七点五十", "南门", "公司班车几点开？"),
    ],
)
async def test_a_slip_is_remembered_as_it_was_meant(
    person: Person, said: str, wrong: str, right: str, beside: str, asked: str
) -> None:
    await person.say(said)
    contents = " ".join(await person.contents())
    assert right in contents
    assert beside in contents
    assert wrong not in contents
    package = await person.compose(asked, session="s2")
    assert right in shown(package)


@pytest.mark.parametrize(
    ("said", "told", "only_asked"),
    [
        ("As a band 6 nurse on nights do I get the unsocial hours top up?", "band 6 nurse", "Do I live in Paris?"),
        ("我女儿今年上初三要不要报班？", "上初三", "我住在哪里来着？"),
    ],
)
async def test_a_question_that_tells_something_is_remembered(
    person: Person, said: str, told: str, only_asked: str
) -> None:
    await person.say(only_asked)
    assert await person.contents() == []
    await person.say(said)
    (content,) = await person.contents()
    assert told in content


@pytest.mark.parametrize(
    ("before", "denied", "word"),
    [("我爱喝咖啡。", "我不再喝咖啡了", "咖啡"), ("I like coffee.", "I no longer drink coffee.", "coffee")],
)
async def test_a_denial_ends_the_preference(person: Person, before: str, denied: str, word: str) -> None:
    """OC002."""
    await person.say(before)
    (old,) = await person.memories(type="preference")
    await person.say(denied)
    was = (await person.get(f"/v1/memories/{old['memory_id']}")).json()
    assert was["status"] in ("superseded", "retracted")
    assert was["invalid_at"]
    current = await person.memories(type="preference")
    assert all(word not in m["content"] or "不" in m["content"] or "no longer" in m["content"] for m in current)


@pytest.mark.parametrize(
    ("before", "corrected", "old", "new"),
    [
        ("我喜欢喝咖啡。", "不对，我喜欢喝茶，不是咖啡。", "咖啡", "茶"),
        ("I like coffee.", "No, I like tea, not coffee.", "coffee", "tea"),
    ],
)
async def test_a_value_that_is_called_wrong_is_no_longer_current(
    person: Person, before: str, corrected: str, old: str, new: str
) -> None:
    await person.say(before)
    await person.say(corrected)
    current = await person.contents()
    assert any(new in content for content in current)
    assert not any(old in content for content in current if new not in content), current


async def item(person: Person, **more: Any) -> dict[str, Any]:
    """The outcome of a turn with this one structured item."""
    body = {**person.whose, "session_id": "s1", "items": [{"type": "preference", "key": "pref:writing:tone", **more}]}
    answer = await person.post("/v1/turns", body)
    assert answer.status_code == 201, answer.text
    return await person.outcome(answer.json()["turn_id"])


async def test_a_structured_item_overwrites_the_memory_under_its_key(person: Person) -> None:
    """OC085."""
    await item(person, value="concise")
    second = await item(person, value="detailed")
    (active,) = await person.memories()
    assert active["value"] == {"value": "detailed"}
    (first,) = await person.memories(status="superseded")
    assert first["value"] == {"value": "concise"}
    assert second["conflicts"] == [
        {"kind": "supersede", "old_id": first["memory_id"], "new_id": active["memory_id"]},
    ]


async def test_a_retracted_item_is_gone_and_the_outcome_says_so(person: Person) -> None:
    """OC086."""
    await item(person, value="concise")
    outcome = await item(person, retract=True)
    assert await person.memories() == []
    (was,) = await person.memories(status="retracted")
    assert [(w["memory_id"], w["change"], w["status"]) for w in outcome["written"]] == [
        (was["memory_id"], "retracted", "retracted")
    ]


async def test_versions_form_an_unbroken_chain(person: Person) -> None:
    """OC199."""
    for value in ("v1", "v2", "v3"):
        await item(person, value=value)
    (active,) = await person.memories()
    answer = await person.get(f"/v1/memories/{active['memory_id']}/history")
    chain = answer.json()["memories"]
    assert [m["version"] for m in chain] == [1, 2, 3]
    assert len({m["root_id"] for m in chain}) == 1
    for older, newer in pairwise(chain):
        assert older["superseded_by"] == newer["memory_id"]
        assert older["invalid_at"] == newer["valid_at"]
        assert newer["supersedes"] == [older["memory_id"]]
    assert [m["invalid_at"] is None for m in chain] == [False, False, True]


async def test_a_statement_repeated_in_another_session_is_one_memory_with_more_weight(person: Person) -> None:
    await person.say("I like jasmine tea.", session="monday")
    (before,) = await person.memories()
    await person.say("I like jasmine tea.", session="tuesday")
    (after,) = await person.memories()
    assert after["memory_id"] == before["memory_id"]
    assert after["confidence"] > before["confidence"]
    assert sorted(after["source_sessions"]) == ["monday", "tuesday"]


@pytest.mark.parametrize("text", ["停车位是 B2-117", "The spare key is with Marta", "/remember 之前的预算是 5 万"])
async def test_the_receipt_of_a_dictated_memory_names_the_memory(person: Person, text: str) -> None:
    answer = await person.post("/v1/memories", {**person.whose, "text": text})
    assert answer.status_code == 202, answer.text
    receipt = answer.json()
    await person.outcome(receipt["turn_id"])
    found = await person.get(f"/v1/memories/{receipt['memory_id']}")
    assert found.status_code == 200, found.text
    assert text.removeprefix("/remember ") in found.json()["content"]


async def test_a_deleted_memory_is_in_no_package_and_its_history_stays(person: Person) -> None:
    await person.say("I prefer oat milk in my coffee.")
    (known,) = await person.memories()
    assert "oat milk" in shown(await person.compose("What milk do I prefer?"))
    answer = await person.system.http.delete(f"/v1/memories/{known['memory_id']}", params=person.whose)
    assert answer.status_code == 202
    await person.outcome(answer.json()["turn_id"])
    assert await person.memories() == []
    assert "oat milk" not in shown(await person.compose("What milk do I prefer?"))
    was = (await person.get(f"/v1/memories/{known['memory_id']}")).json()
    assert was["status"] == "retracted"


async def test_deleting_a_memory_twice_deletes_it_once(person: Person) -> None:
    await person.say("I prefer oat milk in my coffee.")
    (known,) = await person.memories()
    path = f"/v1/memories/{known['memory_id']}"
    first, second = [(await person.system.http.delete(path, params=person.whose)).json() for _ in range(2)]
    assert first["turn_id"] == second["turn_id"]
    await person.outcome(first["turn_id"])
    assert [m["status"] for m in await person.memories(status="all")] == ["retracted"]


async def test_a_turn_is_summarised_before_it_leaves_the_window(person: Person) -> None:
    for n in range(12):
        await person.commit(f"今天我们讨论了第{n + 1}个接口的设计细节。")

    async def summary() -> dict[str, Any] | None:
        answer = await person.get("/v1/sessions/s1/summary")
        seen = answer.json() if answer.status_code == 200 else None
        return seen if seen and seen["source_to_seq"] >= 12 - 8 else None  # the window shows eight turns

    found = await wait_for(summary, "summary")
    assert found
    assert (found["reason"], found["source_from_seq"]) == ("turn_threshold", 1)
    await person.say("今天就到这里，接口文档由我来整理。")
    found = (await person.get("/v1/sessions/s1/summary")).json()
    assert found["text"] in (await person.compose("我们讨论了什么？", session="s1")).working_summary
    assert (await person.system.http.delete("/v1/sessions/s1/summary", params=person.whose)).status_code == 204
    assert (await person.get("/v1/sessions/s1/summary")).status_code == 404


async def test_a_decision_is_summarised_at_once(person: Person) -> None:
    outcome = await person.say("我们决定用 PostgreSQL 做主存储。")
    assert outcome["summary"]["triggered"]
    assert outcome["summary"]["reason"] == "stage_event"
    seen = (await person.get("/v1/sessions/s1/summary")).json()
    assert "PostgreSQL" in seen["text"]


@pytest.mark.parametrize(
    ("said", "asked", "words"),
    [
        ("我叫邵子博，我对花生过敏。", "我叫什么？我对什么过敏？", ("邵子博", "花生")),
        ("你可以叫我上官婉。我住在杭州。", "你怎么称呼我？我住哪？", ("上官婉", "杭州")),
        ("You can call me Fatima, I am allergic to peanuts.", "What is my name? My allergies?", ("Fatima", "peanut")),
        ("今晚能做什么菜？我对花生过敏。", "我对什么过敏？", ("花生",)),
        ("My name is Fatima. What can I cook tonight? I am allergic to peanuts.", "My name?", ("Fatima", "peanut")),
    ],
)
async def test_a_name_is_learnt_from_a_message_with_other_statements(
    person: Person, said: str, asked: str, words: tuple[str, ...]
) -> None:
    await person.say(said)
    known = " ".join(await person.contents())
    told = shown(await person.compose(asked, session="s2"))
    assert [word for word in words if word not in known or word not in told] == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("No more than 800 words for the Observer pieces.", "No more than 800 words"),
        ("Since 2019 I've worked as a welder at Siemens.", "Since 2019"),
        ("对花生过敏的人是我，点菜的时候注意一下。", "对花生过敏"),
    ],
)
async def test_a_memory_keeps_its_first_words(person: Person, said: str, kept: str) -> None:
    await person.say(said)
    assert [text for text in await person.contents() if kept in text], await person.contents()


@pytest.mark.parametrize(
    "record", ["[通话] 陈美玲，接通，21:30至21:35", "[image: a photo of a wedding ceremony in a greenhouse]"]
)
async def test_a_call_log_and_a_caption_leave_no_memory(person: Person, record: str) -> None:
    await person.say(record)
    assert await person.contents() == []
