"""Users with rows of every kind, in unique words; and which of these words a response contains."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from services.evolver import rounds
from shared.db import SCHEMA
from shared.domain.subjects import Subject
from tests.system.conflicts import contradicted
from tests.system.databases import rows
from tests.system.dead_letters import dead_letter
from tests.system.erasures import completed, erase
from tests.system.person import Person
from tests.system.wait import wait_for

SESSION, MEDIA = "monday", "picture-1"
"""Names that other users have too."""
_COLUMNS = """
SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind IN ('r', 'p')
    AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped)
"""
_ANSWER = """
INSERT INTO model_answers (tenant_id, user_id, answer_id, turn_id, prompt, prompt_version, model, problem, raw,
    expires_at)
VALUES (%(t)s, %(u)s, gen_random_uuid(), %(turn)s, 'extract', 'extract-2', 'm', 'malformed', %(word)s,
    now() + interval '1 day')
"""
_PROMOTION = """
INSERT INTO promotions (tenant_id, user_id, proposal_id, memory_id, class, visibility, status, figures, expires_at)
VALUES (%(t)s, %(u)s, %(p)s, %(memory)s, 'personal', 'store', 'pending_approval',
    '{"confidence": 0.9, "uses_30d": 3, "sessions": 2, "mentions": 3}', now() + interval '1 day')
"""
_EXPERIENCE = """
INSERT INTO agent_experience (tenant_id, user_id, experience_id, key, figures, confidence)
VALUES (%(t)s, %(u)s, gen_random_uuid(), 'tool:' || %(word)s,
    '{"calls": 9, "errors": 0, "pending": 0, "users": 1, "share": 1.0, "low": 0.7, "high": 1.0}', 0.9)
"""
_QUARANTINE = """
INSERT INTO quarantine (tenant_id, user_id, quarantine_id, stage, turn_id, event_id, reason)
VALUES (%(t)s, %(u)s, %(q)s, 'observer', %(turn)s, gen_random_uuid(), %(word)s)
"""
_RESOURCE = """
INSERT INTO resources (tenant_id, user_id, resource_id, turn_id, session_id, ordinal, ref_type, source_type, uri_hash,
    state, settled_at)
SELECT tenant_id, user_id, event_id, turn_id, session_id, ordinal, 'url', 'url', md5(%(word)s), 'ingested', now()
FROM conversation_events WHERE turn_id = %(turn)s AND event_type = 'ref'
"""


@dataclass(frozen=True)
class Known:
    """A user with rows of every kind; each word of `words` occurs only in this user's data."""

    person: Person
    words: tuple[str, ...]
    turn_id: str
    memory_id: str
    ended_id: str
    context_id: str
    conflict_id: str
    proposal_id: str
    tombstone_id: str
    letter_id: str
    quarantine_id: str

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the user's objects."""
        return (
            self.turn_id,
            self.memory_id,
            self.ended_id,
            self.context_id,
            self.conflict_id,
            self.proposal_id,
            self.tombstone_id,
            self.letter_id,
            self.quarantine_id,
        )

    def rows(self) -> dict[str, list[str]]:
        """Every row of the user, by table."""
        return rows_of(self.person)

    def shown_in(self, text: str) -> list[str]:
        """The user's words in a text, in any case."""
        return [word for word in self.words if word in text.lower()]


def rows_of(person: Person) -> dict[str, list[str]]:
    """Every row of the user, by table."""
    dsn = person.system.dsn
    names = [row["name"] for row in rows(dsn, _COLUMNS, schema=SCHEMA)]
    whose = "WHERE tenant_id = %(t)s AND user_id = %(u)s"
    parts = [f"SELECT '{name}' AS name, to_jsonb(t)::text AS row FROM {name} t {whose}" for name in names]  # noqa: S608 # names from the catalog
    found: dict[str, list[str]] = {name: [] for name in names}
    for row in rows(dsn, " UNION ALL ".join(parts) + " ORDER BY 1, 2", t=person.tenant_id, u=person.user_id):
        found[row["name"]].append(row["row"])
    return found


def _word() -> str:
    """A random word of letters."""
    return "zq" + "".join(chr(ord("a") + int(digit, 16)) for digit in uuid4().hex[:8])


async def known(person: Person) -> Known:
    """Commits, asks and registers data of every kind, and waits until all is processed."""
    gone = await person.commit("I used to live in Rome.", session="gone")
    await person.outcome(gone["turn_id"])
    erased = await completed(person, await erase(person, "session", session_ids=["gone"]))
    tea, city, page, picture, tool, raw, tone = words = tuple(_word() for _ in range(7))
    whose = {"t": person.tenant_id, "u": person.user_id}
    await person.system.http.put(
        f"/v1/media/{MEDIA}",
        json={**person.whose, "type": "image", "security_status": "safe", "recognized_text": f"a sign: {picture}"},
    )
    first = await person.commit(
        f"I like {tea} tea.",
        session=SESSION,
        refs=[{"ref_type": "url", "ref_uri": f"https://{page}.example.org/a", "title": page}],
        tool_calls=[{"name": "create_ticket", "args": {"title": tool}, "result": tool}],
    )
    await person.outcome(first["turn_id"])
    await person.say(f"我住在{city}。", session=SESSION)
    await person.say(f"我不住{city}了，现在住上海。我们决定用 PostgreSQL 做主存储。", session=SESSION)
    conflict = await contradicted(person, known=f"{tone} plain", said="ornate")
    package = await person.compose(f"我喜欢喝什么？ What {tea} tea do I like?", session=SESSION)
    recorded = "SELECT count(*) FROM injections WHERE context_id = %(c)s"
    await wait_for(lambda: person.system.number(recorded, c=package.context_id), "the package is recorded")
    answer = await person.post(f"/v1/sessions/{SESSION}/archive?tenant_id={whose['t']}&user_id={whose['u']}", {})
    await person.outcome(answer.json()["turn_id"])
    liked = next(m for m in await person.memories() if tea in m["content"])
    ended = next(m for m in await person.memories(status="all") if m["status"] != "active")
    proposal, given_up = str(uuid4()), str(uuid4())
    more: dict[str, Any] = {**whose, "turn": first["turn_id"], "memory": liked["memory_id"]}
    more |= {"p": proposal, "q": given_up}
    made = ((_ANSWER, raw), (_PROMOTION, tea), (_EXPERIENCE, raw), (_RESOURCE, page), (_QUARANTINE, raw))
    for statement, word in made:
        await person.system.change(statement, **more, word=word)
    await person.system.settled()
    await rounds.keep_now(person.system["evolver"].rt, Subject(person.tenant_id, person.user_id), forced=True)
    return Known(
        person,
        words,
        first["turn_id"],
        liked["memory_id"],
        ended["memory_id"],
        package.context_id,
        conflict["conflict_id"],
        proposal,
        erased["tombstone_id"],
        await dead_letter(person),
        given_up,
    )


def strangers(of: Known) -> dict[str, Person]:
    """Users who must see none of it: another of the tenant, and one of the same name in another tenant."""
    return {
        "of the same tenant": Person(of.person.system, tenant_id=of.person.tenant_id),
        "of the same name": Person(of.person.system, user_id=of.person.user_id),
    }
