"""A user manages memory in the console: correct, retract, restore, settle, and erase with its proof."""

import re
from collections.abc import AsyncGenerator
from html import escape
from typing import Any
from urllib.parse import quote

import pytest

from tests.system.conflicts import contradicted
from tests.system.console import Visitor, serving_console, visiting
from tests.system.person import Person, shown
from tests.system.running import System, listening
from tests.system.wait import wait_for

HOSTILE = '<script>alert("me")</script><img src=x onerror=alert(1)>'
ONE = re.compile(r"/memory/one/([0-9a-f-]{36})")


@pytest.fixture
async def url(system: System) -> AsyncGenerator[str]:
    """The console of a compose that needs no key on this machine."""
    async with listening(system) as compose_url, serving_console(compose_url) as address:
        yield address


@pytest.fixture
async def visitor(url: str, person: Person) -> AsyncGenerator[Visitor]:
    """The user at the console, signed in by name."""
    async with visiting(url) as arrived:
        await arrived.sign_in(user=person.user_id, tenant=person.tenant_id)
        yield arrived


async def remember(visitor: Visitor, text: str) -> str:
    """The id of the memory written in the console."""
    page = await visitor.send("/memory/remember", text=text)
    assert f"Remembered: {text[:60]}" in page
    found = ONE.search(await visitor.open("/memory/notes"))
    assert found
    return found.group(1)


async def test_a_written_memory_is_found_corrected_and_restored(visitor: Visitor) -> None:
    memory_id = await remember(visitor, "My bike is green")
    for path in ("/memory", "/memory/facts", "/memory/facts?type=note", "/memory/timeline", "/memory/search?q=bike"):
        assert "My bike is green" in await visitor.open(path), path
    assert "Nothing matches" in await visitor.open("/memory/search?q=xylophone")

    page = await visitor.send(f"/memory/one/{memory_id}/edit", text="My bike is blue")
    assert "Changed. The old text stays in the history." in page
    assert page.index("My bike is blue") < page.index("My bike is green"), "the newest version stands first"
    assert "replaced" in page
    assert "There is a newer version" in await visitor.open(f"/memory/one/{memory_id}")

    page = await visitor.send(f"/memory/one/{memory_id}/restore")
    assert "Restored." in page
    found = ONE.search(await visitor.open("/memory/notes"))
    assert found
    restored = found.group(1)
    page = await visitor.send(f"/memory/one/{restored}/take-back")
    assert "Retracted" in page
    assert f'action="/memory/one/{restored}/restore"' in page, "and it can be undone"
    assert "My bike is green" not in await visitor.open("/memory")
    assert "My bike is green" in await visitor.open("/memory/facts?status=retracted")


async def test_a_form_sent_twice_takes_effect_once(visitor: Visitor) -> None:
    for _ in range(2):
        await visitor.send("/memory/remember", text="I own two cats", once="the-same")
    page = await visitor.open("/memory/facts")
    assert page.count("I own two cats</a>") == 1


async def test_several_memories_are_retracted_and_restored_together(visitor: Visitor) -> None:
    chosen = [await remember(visitor, text) for text in ("My bike is green", "My desk is oak")]
    page = await visitor.send("/memory/chosen", memory_id=chosen, action="forget", back="/memory/facts")
    assert "2 retracted." in page
    assert "bike" not in await visitor.open("/memory")
    page = await visitor.send("/memory/chosen", memory_id=chosen, action="restore", back="/memory/facts")
    assert "2 restored." in page
    assert "Nothing was selected" in await visitor.send("/memory/chosen", action="forget", back="/memory/notes")


async def test_several_memories_are_merged_and_separated_again(visitor: Visitor) -> None:
    texts = ("The boat is called Nightjar", "The boat key hangs by the door", "My desk is oak")
    first, second, desk = [await remember(visitor, text) for text in texts]
    page = await visitor.send("/memory/chosen", memory_id=[first, second], action="merge", back="/memory/notes")
    assert "Which one is kept?" in page
    assert page.count('name="keep"') == 2
    page = await visitor.send("/memory/merge", memory_id=[first, second], keep=first, text="Nightjar; key by the door")
    assert "2 memories were merged." in page
    assert "Nightjar; key by the door</h1>" in page
    listed = await visitor.open("/memory/notes")
    assert "hangs by the door" not in listed
    assert "My desk is oak" in listed

    undo: dict[str, Any] = {"action": "restore", "back": "/memory/facts", "memory_id": second}
    assert all(f'name="{name}" value="{value}"' in page for name, value in undo.items())
    page = await visitor.send("/memory/chosen", **undo)
    assert "1 restored." in page
    assert all(f"{text}</a>" in page for text in texts)

    page = await visitor.send("/memory/chosen", memory_id=[desk], action="merge", back="/memory/notes")
    assert "Select at least two" in page
    await visitor.send("/memory/merge", 422, memory_id=[desk], keep=desk)
    await visitor.send("/memory/merge", 404, memory_id=[desk], keep="00000000-0000-7000-8000-000000000000")


async def test_a_pinned_memory_says_so_and_can_be_unpinned(visitor: Visitor) -> None:
    memory_id = await remember(visitor, "My bike is green")
    page = await visitor.send(f"/memory/one/{memory_id}/pin")
    assert "Pinned: the agent" in page
    assert "<span>pinned</span>" in page
    page = await visitor.send(f"/memory/one/{memory_id}/unpin")
    assert "<span>pinned</span>" not in page
    page = await visitor.send("/memory/chosen", memory_id=[memory_id], action="pin", back="/memory/notes")
    assert "1 pinned." in page
    assert "<span>pinned</span>" in page


async def test_a_suppressed_memory_says_so_until_it_is_allowed_again(visitor: Visitor, person: Person) -> None:
    memory_id = await remember(visitor, "My bike is green")
    path = f"/memory/one/{memory_id}"
    page = await visitor.send(f"{path}/judge", verdict="never_again")
    assert "It stays stored but is never mentioned" in page
    assert "Not mentioned since" in page
    assert f'action="{path}/bring-up"' in page.split("<h1")[0], "and it can be undone"
    assert 'value="never_again"' not in page
    assert "never mentioned" in await visitor.open("/memory/notes")
    assert "green" not in shown(await person.compose("What colour is my bike?"))
    page = await visitor.send(f"{path}/bring-up")
    assert "It may be mentioned again." in page
    assert "Not mentioned since" not in page
    assert "green" in shown(await person.compose("What colour is my bike?", session="s2"))


async def test_a_wrong_memory_is_retracted_and_restored_and_other_verdicts_are_shown(visitor: Visitor) -> None:
    memory_id = await remember(visitor, "My bike is green")
    path = f"/memory/one/{memory_id}"
    assert "its confidence is higher now" in await visitor.send(f"{path}/judge", verdict="right")
    assert "Noted. Memories that are often not useful" in await visitor.send(f"{path}/judge", verdict="not_useful")
    page = await visitor.send(f"{path}/judge", verdict="wrong")
    assert "Retracted as wrong" in page
    assert f'action="{path}/restore"' in page.split("<h1")[0]
    assert 'name="verdict"' not in page, "nobody is asked about what is taken back"
    assert "Restored." in await visitor.send(f"{path}/restore")
    assert "verdict" in await visitor.send(f"{path}/judge", 422, verdict="perhaps")
    visitor.form_token = "0" * 64
    await visitor.send(f"{path}/judge", 403, verdict="right")


async def test_a_memory_can_be_rated_where_a_package_shows_it(visitor: Visitor, person: Person) -> None:
    memory_id = await remember(visitor, "My bike is green")
    await visitor.send(f"/memory/one/{memory_id}/pin")
    package = await person.compose("What colour is my bike?")
    path = f"/explain/packages/{package.context_id}"
    recorded = "SELECT count(*) FROM injections WHERE context_id = %(c)s"
    await wait_for(lambda: person.system.number(recorded, c=package.context_id), "the package is recorded")
    judged = f"/memory/one/{memory_id}/judge"
    assert f'action="{judged}"' in await visitor.open(path)
    page = await visitor.send(judged, verdict="not_useful", context_id=str(package.context_id))
    assert "Noted. Memories that are often not useful" in page
    assert "For the model" in page, "the package is open again"
    assert "you said: Not useful" in page, "and tells the verdict"
    page = await visitor.open(f"/memory/one/{memory_id}")
    assert f'href="{path}"' in page, "and its page says where it was used"
    assert "What colour is my bike?" in page
    assert "no answer yet" in page
    assert "you said: Not useful" in page


async def test_all_data_can_be_exported(visitor: Visitor) -> None:
    await remember(visitor, "My bike is green")
    for kind, media_type in (("json", "application/json"), ("markdown", "text/markdown")):
        answer = await visitor.http.get(f"/memory/export?format={kind}")
        assert answer.headers["content-type"].startswith(media_type)
        assert "attachment" in answer.headers["content-disposition"]
        assert "My bike is green" in answer.text
    await visitor.open("/memory/export?format=exe", 404)


async def test_an_export_can_be_imported(visitor: Visitor, url: str, person: Person) -> None:
    await person.say("I live in Oslo.")
    document = (await visitor.http.get("/memory/export?format=json")).content
    async with visiting(url) as other:
        await other.sign_in(user=f"{person.user_id}-elsewhere", tenant=person.tenant_id)
        await other.open("/memory/settings")

        async def send(file: bytes, status: int = 200, path: str = "/memory/import") -> str:
            chosen = {"file": ("memory.json", file, "application/json")}
            answer = await other.http.post(path, data={"csrf": other.form_token}, files=chosen)
            assert answer.status_code == status, answer.text
            return answer.text

        assert "Imported: 1 memories, 1 turns, 1 conversations. Already known: 0." in await send(document)

        async def known() -> bool:
            return "Oslo" in await other.open("/memory/facts")

        await wait_for(known, "what was brought in is known")
        await other.open("/memory/settings")
        assert "Imported: 0 memories, 0 turns, 0 conversations. Already known: 2." in await send(document)
        assert "counts.turns" in await send(document.replace(b'"turns":1', b'"turns":7'), 422), "the field is named"
        assert "This is not an exported file" in await send(b"# Markdown", 422)
        assert "file: choose an exported file" in await send(b"", 422)
        other.form_token = "0" * 64
        await send(document, 403)
    async with visiting(url) as stranger:
        answer = await stranger.http.post("/memory/import", files={"file": ("memory.json", document)})
        assert answer.status_code == 403


async def test_an_erasure_can_be_followed_to_its_proof(visitor: Visitor) -> None:
    memory_id = await remember(visitor, "My bike is green")
    page = await visitor.send("/memory/chosen", memory_id=[memory_id], action="erase")
    assert "Erase this permanently?" in page
    assert "My bike is green" in page
    await visitor.send("/memory/erase", 422, scope="items", id=memory_id)
    page = await visitor.send("/memory/erase", scope="items", id=memory_id, sure="yes")
    assert "Hidden." in page
    found = re.search(r"/memory/erasures/[0-9a-f-]{36}", page)
    assert found or "Proof" in page
    path = found.group() if found else ""

    async def proved() -> bool:
        return not path or "0 matching rows were left" in await visitor.open(path)

    await wait_for(proved, "the erasure has its proof")
    assert "erased and proved" in await visitor.open("/memory/erasures")
    await visitor.open(f"/memory/one/{memory_id}", 404)


async def test_a_conflict_is_settled(visitor: Visitor, person: Person) -> None:
    conflict = await contradicted(person, "concise", "wordy")
    assert "contradicts a memory" in await visitor.open("/memory")
    page = await visitor.open("/memory/conflicts")
    assert "concise" in page
    assert "wordy" in page
    page = await visitor.send(f"/memory/conflicts/{conflict['conflict_id']}", keep="said")
    assert "Settled" in page
    assert "instead of: concise" in page


async def test_a_session_is_shown_ended_and_cleared(visitor: Visitor, person: Person) -> None:
    session = "week 3/日记?"
    await person.say("I live in Berlin.", session=session)
    assert session in await visitor.open("/memory/sessions")
    page = await visitor.open(f"/memory/session?id={quote(session, safe='')}")
    assert session in page
    page = await visitor.send("/memory/session/end", id=session)
    assert "The conversation has ended" in page

    async def summed_up() -> bool:
        return "Berlin" in await visitor.open(f"/memory/session?id={quote(session, safe='')}")

    await wait_for(summed_up, "the summary stands")
    assert "The summary was cleared" in await visitor.send("/memory/session/clear", id=session)


async def test_user_text_is_escaped(visitor: Visitor, person: Person) -> None:
    text = f"My motto is {HOSTILE}"
    memory_id = await remember(visitor, text)
    await person.say(f"I live in {HOSTILE}.", session=HOSTILE)
    places = ("/memory", "/memory/facts", f"/memory/one/{memory_id}", "/memory/timeline", "/memory/sessions")
    asked = f"/memory/search?q={quote(HOSTILE)}"
    for path in (*places, asked, f"/memory/session?id={quote(HOSTILE, safe='')}", f"/memory/erase?id={memory_id}"):
        answer = await visitor.http.get(path)
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text, path
        assert "<img" not in answer.text, path
        assert escape(HOSTILE)[:20] in answer.text.replace("&#34;", "&quot;"), path


async def test_data_of_others_is_not_found(url: str, visitor: Visitor, person: Person) -> None:
    memory_id = await remember(visitor, "My bike is green")
    erasure = await visitor.send("/memory/erase", scope="items", id=memory_id, sure="yes")
    found = re.search(r"/memory/erasures/[0-9a-f-]{36}", str(erasure))
    memory_id = await remember(visitor, "My desk is oak")
    async with visiting(url) as other:
        await other.sign_in(user="somebody-else", tenant=person.tenant_id)
        paths = [f"/memory/one/{memory_id}", f"/memory/erase?id={memory_id}", "/memory/session?id=remember"]
        for path in (*paths, *([found.group()] if found else [])):
            page = await other.open(path, 404)
            assert "Nothing was found here" in page
            assert "oak" not in page
        for act in ("edit", "take-back", "restore"):
            await other.send(f"/memory/one/{memory_id}/{act}", 404, text="mine now")
    assert "My desk is oak" in await visitor.open("/memory")


async def test_settings_are_chosen_and_reset(visitor: Visitor) -> None:
    page = await visitor.open("/memory/settings")
    assert "Learn from what I say" in page
    assert "Nothing was changed." in await visitor.send("/memory/settings", learning="")
    page = await visitor.send("/memory/settings", learning="false", retention_days="30", language="zh")
    assert '<html lang="zh-CN"' in page, "the language of the settings is that of the pages"
    assert '<option value="false" selected>' in page
    assert 'value="30"' in page
    page = await visitor.send("/memory/settings", learning="", language="", retention_days="")
    assert "Saved." in page
    assert "selected" not in page
    await visitor.send("/memory/settings", 422, learning="perhaps")
    await visitor.send("/memory/settings", 422, retention_days="soon")
    await visitor.send("/memory/settings", 422, retention_days="99999")


async def test_a_secret_is_refused_with_a_message(visitor: Visitor) -> None:
    page = await visitor.send("/memory/remember", 422, text="my password is hunter2hunter2")
    assert "This looks like a secret" in page
    assert "hunter2" not in page


@pytest.mark.parametrize(
    ("language", "said", "told"),
    [
        ("en", "Don't remember anything about me.", "You said so in a conversation"),
        ("zh", "别记我的任何事。", "这是您在对话里说的"),
    ],
)
async def test_a_setting_that_was_stated_in_a_message_says_so(
    visitor: Visitor, person: Person, language: str, said: str, told: str
) -> None:
    await person.say(said)
    await visitor.send("/appearance", language=language, next="/memory")
    assert told in await visitor.open("/memory/settings")
