"""What knowledge answered lately, in this process: to a user, whose own documents may be in it (seed 004 4.4, X28)."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from schemas.retrieval_plan import RetrievalPlan
from shared.knowledge.port import Bundle, Scope

Key = tuple[Scope, int, str]
"""Tenant, organisation and profile; the version of their knowledge; the plan."""


@dataclass
class KnowledgeCache:
    """At most so many bundles, each so long; a version that has changed is another key. `clock`: monotonic seconds."""

    clock: Callable[[], float]
    most: int
    keep_s: float
    _kept: OrderedDict[Key, tuple[float, Bundle]] = field(default_factory=OrderedDict[Key, tuple[float, Bundle]])

    def get(self, key: Key) -> Bundle | None:
        """The bundle, if it is still good."""
        found = self._kept.get(key)
        if found is None:
            return None
        if self.clock() - found[0] > self.keep_s:
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return found[1]

    def put(self, key: Key, bundle: Bundle) -> None:
        """The bundle is kept; the one that was not wanted for longest makes room."""
        if self.most <= 0 or self.keep_s <= 0:
            return
        self._kept[key] = (self.clock(), bundle)
        self._kept.move_to_end(key)
        while len(self._kept) > self.most:
            self._kept.popitem(last=False)

    def forget(self, tenant_id: str, user_id: str) -> None:
        """Nothing is left of what was answered to this user, in whose name documents may be."""
        for key in [key for key in self._kept if (key[0].tenant_id, key[0].user_id) == (tenant_id, user_id)]:
            del self._kept[key]

    def clear(self) -> None:
        """Nothing is left."""
        self._kept.clear()


def key_of(scope: Scope, version: int, plan: RetrievalPlan) -> Key:
    """Equal for the same question on the same knowledge; it holds no word of the question."""
    said = plan.model_dump_json(exclude={"request_id", "debug"})
    return (scope, version, hashlib.sha256(said.encode()).hexdigest())
