"""Turns with references and products, committed until the knowledge side has them."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.system.person import Json, Person, user

PAGE = {
    "zh": "海森堡压缩机的保养规范：每五百小时更换一次滤芯，并检查皮带的张力。" * 8,
    "en": "Maintenance manual of the Heisenberg compressor: replace the filter every five hundred hours. " * 8,
}
SPEC = {
    "zh": "北极光接口规范第一版：所有请求都必须携带签名，超时为三秒，重试两次。" * 8,
    "en": "Aurora interface specification: all requests are signed, time out after three seconds, are tried twice. "
    * 8,
}
SECRET = "sk-proj-9f8e7d6c5b4a39281706f5e4d3c2b1a0"


def work(language: str, **ref: Any) -> Json:
    """A turn that reads a page and writes a document, with some other messages."""
    url = f"https://docs.example.org/{language}/compressor"
    return {
        "messages": [user("我今天心情不错，天气也好。" if language == "zh" else "I am in a good mood today.")],
        "refs": [{"ref_type": "url", "ref_uri": url, "title": "Compressor", **ref}],
        "tool_calls": [
            {"name": "fetch_url", "args": {"url": url}, "result": {"content": f"{PAGE[language]} token {SECRET}"}},
            {
                "name": "write_file",
                "args": {"path": f"specs/aurora.{language}.md", "content": f"{SPEC[language]} 13812345678"},
                "result": "ok",
            },
            {"name": "get_weather", "args": {"city": "Oslo"}, "result": "sunny " * 100},
        ],
    }


async def commit(person: Person, body: Json, session: str = "s1") -> str:
    answer = await person.post("/v1/turns", {**person.whose, "session_id": session, **body})
    assert answer.status_code == 201, answer.text
    return answer.json()["turn_id"]


async def resources(person: Person, **query: Any) -> list[Json]:
    answer = await person.get("/v1/resources", **query)
    assert answer.status_code == 200, answer.text
    return answer.json()["resources"]


def settled(person: Person, count: int) -> Callable[[], Awaitable[list[Json]]]:
    """This many of the user's resources are no longer pending."""

    async def all_of_them() -> list[Json]:
        found = await resources(person)
        done = [each for each in found if each["state"] != "pending"]
        return found if len(done) == len(found) == count else []

    return all_of_them
