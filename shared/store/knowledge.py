"""knowledge_versions: changes of an enterprise's knowledge. Written by compose and librarian, read per request."""

from typing import LiteralString

from shared.db import Connection, Read
from shared.knowledge.port import Scope

_VERSION: LiteralString = """
SELECT coalesce(sum(version), 0)::bigint AS version FROM knowledge_versions
WHERE tenant_id = %(tenant)s AND org_id IN ('', %(org)s) AND profile_id IN ('', %(profile)s)
"""


def version(scope: Scope) -> Read[int]:
    """A number that grows with every change in the scope: the profile, its organisation or the whole tenant."""
    params = {"tenant": scope.tenant_id, "org": scope.org_id, "profile": scope.profile_id}
    return Read(_VERSION, params, lambda rows: rows[0]["version"])


_CHANGED: LiteralString = """
INSERT INTO knowledge_versions AS v (tenant_id, org_id, profile_id, version)
VALUES (%(tenant)s, %(org)s, %(profile)s, 1)
ON CONFLICT (tenant_id, org_id, profile_id) DO UPDATE SET version = v.version + 1, changed_at = now()
RETURNING version
"""


async def note_change(conn: Connection, scope: Scope) -> int:
    """Increments the scope's version; cached answers are not used once this commits."""
    params = {"tenant": scope.tenant_id, "org": scope.org_id, "profile": scope.profile_id}
    row = await (await conn.execute(_CHANGED, params)).fetchone()
    return row["version"] if row else 0
