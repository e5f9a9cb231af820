"""The topics of a broker, made before anything runs on it."""

from collections.abc import Collection

from shared import db
from shared.bus.access import open_access
from shared.bus.topics import ensure_topics
from shared.settings import Settings
from shared.store import topics_made


async def make_topics(settings: Settings, client: str) -> list[str]:
    """The names of the topics that had to be made; a broker that refuses us is named first."""
    kafka = open_access(settings, client)
    await kafka.check()
    return await ensure_topics(kafka)


async def note_topics(dsn: str, made: Collection[str]) -> None:
    """What a broker lost with the topics that it had before is driven again."""
    async with db.owner(dsn) as conn:
        await topics_made.note(conn, made)
