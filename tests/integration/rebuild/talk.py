"""A conversation with every kind of change to memories, in both languages."""

from typing import Any

from tests.system.person import Person

Turn = tuple[str, str, dict[str, Any]]
"""The session, the user's message, and the rest of the turn."""

TOOL = {"name": "calendar", "args": {"day": "2026-10-22"}, "result": {"status": "confirmed", "at": "2026-10-22T10:00"}}
TALK: tuple[Turn, ...] = (
    ("s1", "我喜欢喝龙井茶，我住在杭州。", {}),
    ("s1", "I like jazz and I live in Oslo.", {}),
    ("s1", "我对花生过敏。", {"assistant": "好的，记下了。"}),
    ("s1", "Marta called about the Kestrel lease.", {}),
    ("s2", "不是龙井，我现在喜欢喝碧螺春。", {"assistant": "已更正。"}),
    ("s2", "I no longer like jazz.", {}),
    ("s2", "我搬到苏州了，不住杭州了。", {}),
    ("s2", "Marta says that Kestrel is late.", {}),
    ("s1", "/remember 停车位是 B2-117", {}),
    ("s1", "Please remember that the spare key is with Marta.", {}),
    ("s1", "I like oat milk.", {}),
    ("s2", "I like oat milk.", {}),
    ("s2", "我们决定用 PostgreSQL 做主存储。", {"tool_calls": [TOOL]}),
    ("s1", "忘掉我对花生过敏这件事。", {}),
    ("s1", "My API key is sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34.", {}),
)
ITEMS: tuple[dict[str, Any], ...] = (
    {"type": "preference", "key": "pref:writing:tone", "value": "concise"},
    {"type": "preference", "key": "pref:writing:tone", "value": "detailed"},
    {"type": "task", "key": "task:billing:1", "text": "续签证书", "confirmed": True},
    {"type": "preference", "key": "pref:writing:tone", "retract": True},
)


async def talked(person: Person) -> None:
    """Commits all turns and waits for their outcomes."""
    for session, text, more in TALK:
        messages = [{"role": "user", "content": text}]
        if "assistant" in more:
            messages.append({"role": "assistant", "content": more["assistant"]})
        tools = {name: value for name, value in more.items() if name == "tool_calls"}
        await committed(person, {"session_id": session, "messages": messages, **tools})
    for item in ITEMS:
        await committed(person, {"session_id": "s2", "items": [item]})
    (first, *_) = [m for m in await person.memories() if "oat milk" in m["content"]]
    await person.system.http.delete(f"/v1/memories/{first['memory_id']}", params=person.whose)
    await person.system.settled()


async def committed(person: Person, body: dict[str, Any]) -> None:
    """Commits the turn and waits until it is settled."""
    answer = await person.post("/v1/turns", {**person.whose, **body})
    assert answer.status_code == 201, answer.text
    await person.outcome(answer.json()["turn_id"])
