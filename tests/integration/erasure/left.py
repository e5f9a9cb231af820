"""Rows left in the tables after races, as the superuser sees them, without using the product's own scan."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import psycopg

from schemas.events import TurnOutcome
from shared.db import SCHEMA
from tests.integration.erasure.race import Race
from tests.integration.erasure.turns import Said
from tests.integration.erasure.words import NEEDLE
from tests.system.databases import OPTIONS

Rows = Mapping[str, Sequence[str]]
"""By table the rows of one user, as JSON."""
LOG = frozenset(
    {"conversation_events", "turns", "sessions", "media", "resources", "tool_receipts", "quarantine", "wishes"}
)
SKELETONS = frozenset({"turns", "conversation_events"})
_TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id'
WHERE c.relnamespace = %s::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1
"""
_WITHOUT_USERS = """
SELECT c.relname FROM pg_class c WHERE c.relnamespace = %s::regnamespace AND c.relkind IN ('r', 'p')
    AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'user_id') ORDER BY 1
"""


@dataclass(frozen=True)
class Tables:
    """Every row of every table, by user; rows without a user are under an empty name."""

    users: Mapping[str, Rows]


def tables(dsn: str) -> Tables:
    """The current content of the database."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    with psycopg.connect(dsn, autocommit=True, options=OPTIONS) as conn:
        for (table,) in conn.execute(_TABLES, (SCHEMA,)).fetchall():
            for user, row in conn.execute(f"SELECT user_id, to_jsonb(t)::text FROM {table} t"):  # noqa: S608 # names from the catalog
                found[user or ""][table].append(row)
        for (table,) in conn.execute(_WITHOUT_USERS, (SCHEMA,)).fetchall():
            found[""][table] += [row for (row,) in conn.execute(f"SELECT to_jsonb(t)::text FROM {table} t")]  # noqa: S608
    return Tables(found)


def faults(race: Race, all_rows: Tables) -> list[str]:
    """The faults in the rows of the user of this race."""
    rows = all_rows.users.get(race.subject.user_id, {})
    view = _View(race, rows, {name: [orjson.loads(row) for row in found] for name, found in rows.items()})
    return [
        *view.words(),
        *view.kept(),
        *view.rows_of_turns(),
        *view.search(),
        *view.entities(),
        *view.outcomes(),
        *view.erasures(),
        *view.later(),
    ]


def strayed(races: Iterable[Race], all_rows: Tables) -> list[str]:
    """Made-up words in rows of other users."""
    owners = {word: race.subject.user_id for race in races for said in race.said for word in said.all_words}
    return [
        f"{word} of {owners[word]} in {table} of {user or 'nobody'}"
        for user, rows in all_rows.users.items()
        for table, found in rows.items()
        for row in found
        for word in set(re.findall(NEEDLE, row))
        if word in owners and owners[word] != user
    ]


@dataclass(frozen=True)
class _View:
    race: Race
    rows: Rows
    parsed: Mapping[str, Sequence[dict[str, Any]]]

    def of(self, table: str) -> Sequence[dict[str, Any]]:
        return self.parsed.get(table, ())

    def covering(self, said: Said) -> set[str]:
        """The scopes of the erasures that cover the turn."""
        epochs = {row["turn_id"]: row["epoch"] for row in self.of("turns")}
        return {
            t["scope"]
            for t in self.of("tombstones")
            if epochs[str(said.turn_id)] < t["epoch"]
            and (t["scope"] in ("all", "personal") or said.session_id in t["session_ids"])
        }

    def items(self) -> set[str]:
        """Words of memories that were erased singly and neither stated again later nor stated by
        another speaker before.
        """
        epochs = {row["turn_id"]: row["epoch"] for row in self.of("turns")}
        gone: set[str] = set()
        for t in self.of("tombstones"):
            texts = [text for id, text in self.race.named.items() if str(id) in t["memory_ids"]]
            since = {w for s in self.race.said if epochs[str(s.turn_id)] >= t["epoch"] for w in s.words}
            said = {(w, s.speaker) for s in self.race.said for w in s.words}
            erased = {(w, name) for w, name in said if any(w in text and self.speaker(text) == name for text in texts)}
            gone |= {w for w, _ in erased} - since - {w for w, _ in said - erased}
        return gone

    def speaker(self, text: str) -> str:
        """The speaker of a memory."""
        return next((s.speaker for s in self.race.said if s.speaker and text.startswith(f"{s.speaker}: ")), "")

    def taken(self, said: Said) -> set[str]:
        """Words of the turn that were erased with memories."""
        (epoch,) = (row["epoch"] for row in self.of("turns") if row["turn_id"] == str(said.turn_id))
        ids = {id for t in self.of("tombstones") if epoch < t["epoch"] for id in t["memory_ids"]}
        texts = [text for id, text in self.race.named.items() if str(id) in ids]
        return {word for word in said.words if any(word in text for text in texts)}

    def blanked(self, said: Said) -> bool:
        """Whether words of the turn were erased with a memory of it, or with one that it confirmed."""
        found = [row["content"] for row in self.of("conversation_events") if row["turn_id"] == str(said.turn_id)]
        texts = [each["text"] for each in found if each and "text" in each]
        return bool(self.items_asked) and any(re.search(r" {4}", text) for text in texts)

    @property
    def items_asked(self) -> bool:
        return any(t["scope"] == "items" for t in self.of("tombstones"))

    def words(self) -> Iterator[str]:
        """Words that must occur nowhere, or only in the log, and where they occur."""
        gone = {each.word for plan in self.race.refused for each in plan.sentences} | self.items()
        unlearnt = set(gone)
        logged, learnt = set[str](), set[str]()
        for said in self.race.said:
            scopes = self.covering(said)
            (gone if scopes & {"all", "session"} else logged).update(said.all_words)
            (unlearnt if scopes else learnt).update(said.all_words)
        logged, learnt = logged - self.items(), learnt - self.items()
        told = {"published": [event.envelope.model_dump_json() for event in self.race.published]}
        shelf = {"knowledge": [str(kept) for kept in self.race.shelf.kept.values()]}
        for table, found in {**self.rows, **told, **shelf}.items():
            joined = "\n".join(found)
            banned = gone - logged if table in LOG | {"knowledge"} else unlearnt - learnt
            yield from (f"{word} in {table}" for word in banned if word in joined)

    def kept(self) -> Iterator[str]:
        """Words that no erasure covers and that are missing."""
        log = "\n".join(self.rows.get("conversation_events", ()))
        spoken = {row["turn_id"]: row["text"] for row in self.of("memory_chunks") if row["role"] == "user"}
        states = {row["turn_id"]: (row["outcome"] or {}).get("status") for row in self.of("turns")}
        for said in self.race.said:
            scopes, words = self.covering(said), said.all_words - self.taken(said)
            if self.blanked(said):
                continue
            if not scopes & {"all", "session"}:
                yield from (f"{word} is no longer in the log" for word in words if word not in log)
            if not scopes and states[str(said.turn_id)] != "quarantined":
                text = spoken.get(str(said.turn_id), "")
                left = words - {said.aside}
                yield from (f"{word} is not found any more" for word in left if word not in text)

    def rows_of_turns(self) -> Iterator[str]:
        """Rows that refer to erased turns, and rows that are still hidden."""
        gone = {str(s.turn_id) for s in self.race.said if self.covering(s) & {"all", "session"}}
        unlearnt = {str(s.turn_id) for s in self.race.said if self.covering(s)}
        for table, found in self.parsed.items():
            banned = set[str]() if table in SKELETONS else gone if table in LOG else unlearnt
            yield from (
                f"{table} of turn {row[name]}" for row in found for name in ("turn_id", "source_turn_id")
                if row.get(name) in banned
            )  # fmt: skip
            if table not in (*SKELETONS, "sessions", "session_summaries", "context_packages"):
                hidden = [row for row in found if row.get("tombstone_id") and table not in PROOF]
                yield from (f"hidden row of {table}" for _ in hidden)
        for event in self.of("conversation_events"):
            if event["turn_id"] in gone and (event["content"] is not None or event["name"] is not None):
                yield f"event {event['ordinal']} of turn {event['turn_id']} has words"

    def search(self) -> Iterator[str]:
        """Postings without chunks, and statistics that differ from a recount."""
        active = {row["chunk_id"]: row for row in self.of("memory_chunks") if row["active"]}
        yield from (f"posting {p['term']} of no chunk" for p in self.of("postings") if p["chunk_id"] not in active)
        if not active:
            return
        found = {row["chunk_id"] for row in self.of("postings")}
        yield from (f"chunk {id} has no posting" for id, row in active.items() if row["term_count"] and id not in found)
        (stats,) = self.of("search_stats")
        counted = (len(active), sum(row["term_count"] for row in active.values()))
        if (stats["chunks"], stats["terms"]) != counted:
            yield f"search_stats {stats['chunks'], stats['terms']} is not {counted}"
        names = {row["name"] for row in active.values() if row["name"] and row["role"] != "tool"}
        if set(stats["names"]) != names:
            yield f"search_stats {stats['names']} is not {names}"

    def entities(self) -> Iterator[str]:
        """Entities without mentions."""
        counts = Counter(row["entity_id"] for row in self.of("entity_mentions"))
        for entity in self.of("entities"):
            if entity["mention_count"] != counts[entity["entity_id"]]:
                yield f"entity is mentioned {entity['mention_count']} times, not {counts[entity['entity_id']]}"
        there = {entity["entity_id"] for entity in self.of("entities")}
        yield from (f"mention of no entity {id}" for id in counts if id not in there)

    def outcomes(self) -> Iterator[str]:
        """Turns without exactly one outcome."""
        told = Counter(
            event.envelope.payload["turn_id"]
            for event in self.race.published
            if event.envelope.event_type == TurnOutcome.event_type
        )
        turns = {row["turn_id"]: row for row in self.of("turns")}
        for said in self.race.said:
            row = turns[str(said.turn_id)]
            if row["outcome_at"] is None or row["observed_at"] is None:
                yield f"turn {said.turn_id} has no outcome"
                continue
            status = TurnOutcome.model_validate(row["outcome"]).status
            if told[str(said.turn_id)] > 1 or (told[str(said.turn_id)] == 0 and status != "erased"):
                yield f"turn {said.turn_id} is {status}, told {told[str(said.turn_id)]} times"

    def erasures(self) -> Iterator[str]:
        """Tombstones that are not completed or do not have exactly one audit event."""
        audits = Counter(row["tombstone_id"] for row in self.of("audit_events") if row["tombstone_id"])
        found = {row["tombstone_id"]: row for row in self.of("tombstones")}
        asked = {str(each.tombstone.tombstone_id) for each in self.race.erasures}
        if set(found) != asked or set(audits) != asked:
            yield f"{len(asked)} erasures, {len(found)} tombstones, {len(audits)} audited"
        yield from (f"{n} audit events of one tombstone" for n in audits.values() if n != 1)
        yield from (f"a tombstone is {row['status']}" for row in found.values() if row["status"] != "completed")

    def later(self) -> Iterator[str]:
        """Statements from after all erasures that were not learnt as usual."""
        last = self.race.last
        if last is None:
            yield "nothing was said at the end"
            return
        (word,) = last.words
        known = [row for row in self.of("memory_items") if word in row["content_text"] and row["status"] == "active"]
        if not known:
            yield f"{word} was not learnt"
        if not any(row["turn_id"] == str(last.turn_id) and word in row["text"] for row in self.of("memory_chunks")):
            yield f"{word} cannot be searched"


PROOF = ("tombstones", "erasure_steps", "erasure_suppressions", "audit_events")
"""Tables whose subject is a tombstone."""
