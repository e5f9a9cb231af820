"""Creates the topics of a broker before anything runs on it."""

from collections.abc import Collection

from shared import db
from shared.bus.access import open_access
from shared.bus.topics import ensure_topics
from shared.settings import Settings
from shared.store import topics_made


async def make_topics(settings: Settings, client: str) -> list[str]:
    """Creates missing topics; their names. A broker that refuses the connection is reported first."""
    kafka = open_access(settings, client)
    await kafka.check()
    return await ensure_topics(kafka)


async def note_topics(dsn: str, made: Collection[str]) -> None:
    """Redrives work that a broker lost with its previous topics."""
    async with db.owner(dsn) as conn:
        await topics_made.note(conn, made)
