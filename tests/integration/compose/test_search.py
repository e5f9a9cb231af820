"""The search arms on real conversations: words in both languages, names, time; ended memories excluded."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.domain.subjects import Subject
from shared.store.search import SearchScope, load_near
from tests.system.person import Person, shown
from tests.system.wait import wait_for


async def search_turns(person: Person, question: str, mode: str = "exact", **filters: Any) -> list[str]:
    """The turns that a plan of one query finds without a deadline, best first."""
    bounds = {"source_uri_prefix": ["smartbrain://turn/"], **filters}
    plan = {"version": "0.1", "queries": [{"text": question, "mode": mode}], "global_filters": bounds}

    async def whole() -> Any:
        answer = await person.post("/v1/retrieve", {**person.whose, **plan})
        assert answer.status_code == 200, answer.text
        pack = answer.json()
        return None if pack["explain"]["degraded_reason"] else pack

    pack = await wait_for(whole, "an answer that lacks nothing")
    return [each["snippet"] for each in pack["evidences"] if each["kind"] == "turn"]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("我昨天在图书馆门口丢了雨伞。", "雨伞"),
        ("奶奶做的红烧茄子很好吃。", "茄子"),
        ("刚才三楼的会议室里有人在唱歌。", "三楼会议室"),
        ("下午有人在楼下喝茶。", "喝茶"),
        ("The committees were discussing new budgets.", "committee budget"),
        ("She has been running marathons.", "run marathon"),
        ("刚看完一篇讲 Kubernetes 部署服务的文章。", "kubernetes"),
    ],
)
async def test_a_turn_is_found_by_its_words(person: Person, said: str, asked: str) -> None:
    await person.say(said)
    await person.say("完全无关的一句话。 An unrelated sentence.")
    assert (await search_turns(person, asked))[0] == said


async def test_unknown_words_find_nothing(person: Person) -> None:
    await person.say("我昨天在图书馆门口丢了雨伞。")
    assert await search_turns(person, "菠萝") == []
    assert await search_turns(person, "？！") == []


async def test_a_name_finds_the_turns_that_mention_it(person: Person) -> None:
    said = ["Yesterday I called Marta.", "I met Marta at the harbour.", "The weather is fine."]
    for text in said:
        await person.say(text)
    assert sorted(await search_turns(person, "What about Marta?", "relational")) == sorted(said[:2])


async def test_a_time_range_limits_the_search(person: Person) -> None:
    for day in (1, 10, 20):
        await person.say(f"The harbour report of day {day}.", created_at=f"2026-03-{day:02}T12:00:00Z")
    middle = {"from": "2026-03-05T00:00:00Z", "to": "2026-03-15T00:00:00Z"}
    assert await search_turns(person, "harbour report", time_range=middle) == ["The harbour report of day 10."]
    assert sorted(await search_turns(person, "harbour report", time_range={"from": "2026-03-05T00:00:00Z"})) == [
        "The harbour report of day 10.",
        "The harbour report of day 20.",
    ]


async def test_an_ended_memory_is_not_found(person: Person) -> None:
    await person.say("我喜欢运动风。")
    await person.say("不是运动风, 我现在喜欢简约的")
    answer = (await person.get("/v1/memories", query="运动风 简约")).json()["memories"]
    assert [m["memory_id"] for m in answer] == [m["memory_id"] for m in await person.memories()]
    assert "我喜欢运动风。" not in await search_turns(person, "运动风")


async def test_turns_of_others_are_not_found(person: Person) -> None:
    await person.say("The harbour report of March.")
    other = Person(person.system, tenant_id=person.tenant_id)
    assert await search_turns(other, "harbour report") == []


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("There is a nice article about dashboards in Grafana.", "grafanna"),
        ("刚看完一篇讲 Kubernetes 部署服务的文章。", "kuberntes 部署在哪里"),
        ("Read about somebody called Anna in Melbourne in spring.", "Who lives in Melborne?"),
    ],
)
async def test_a_misspelt_word_finds_the_most_similar_word(person: Person, said: str, asked: str) -> None:
    await person.say(said)
    await person.say("完全无关的一句话。 An unrelated sentence about gardens and kubler ranks.")
    assert (await search_turns(person, asked))[0] == said


async def test_a_word_similar_to_none_finds_nothing(person: Person) -> None:
    await person.say("There is a nice article about dashboards in Grafana.")
    assert await search_turns(person, "gramophone") == []


@pytest.mark.parametrize("asked", ["上周我们聊了什么？", "What did we talk about last week?"])
async def test_a_question_with_only_a_time_finds_turns_of_that_time(person: Person, asked: str) -> None:
    now = datetime.now(UTC)
    monday = now - timedelta(days=now.weekday())
    await person.say("海港的清单写完了。", created_at=(monday - timedelta(days=4)).isoformat())
    await person.say("The gardens were closed.", created_at=(monday - timedelta(days=40)).isoformat())
    package = await person.compose(asked)
    assert "海港的清单写完了" in shown(package)
    assert "gardens" not in shown(package)


async def test_a_vector_is_compared_only_with_vectors_of_its_own_model(person: Person) -> None:
    await person.say("我喜欢喝龙井茶。 I prefer green tea.")
    embedded = await person.system.change(
        "UPDATE memory_chunks SET embedding = '[1,0,0]'::public.halfvec, embedding_model_id = 'of before'"
        " WHERE user_id = %(u)s RETURNING chunk_id",
        u=person.user_id,
    )
    assert embedded
    db, subject = person.system["compose"].rt.db, Subject(person.tenant_id, person.user_id)
    for model, there in (("of before", True), ("of today", False)):
        (read,) = await db.read(
            subject, load_near(subject, "other", {model: [1.0, 0.0, 0.0]}, SearchScope(), set_id=model)
        )
        assert [each.model_id for each in read.newer] == [model] * there, model
