"""Which memories a statement may be about: those near to it, those that contain what it corrects, the plan it names."""

from collections import Counter
from collections.abc import Sequence

from schemas.memory_types import types_with
from schemas.vocabulary import Assertion
from shared.domain.statements import SUPPOSED, ActiveMemory, Statement
from shared.extraction.habits import tell_same
from shared.extraction.retractions import PLAN
from shared.language.patterns import to_pattern
from shared.language.segment import has_word, stem
from shared.resolution.related import About, about

PLANNED = types_with("plan")
PLAN_WORDS = frozenset(
    map(
        stem,
        """plan trip travel vacation holiday visit deal meeting party dinner date event booking reservation appointment
        计划 旅行 旅游 行程 出差 会议 活动 聚会 约会 预约 安排 事 事情""".split(),  # noqa: SIM905 - a list of words reads best as one
    )
)
"""Words that say what kind of plan it is, not which."""
TOLD_ONCE: frozenset[Assertion] = frozenset({"declared", "inferred", "correction", "behaviour"})
"""How the words of a habit are taken where they are read one by one."""
_THING = to_pattern(r"(?:的|那|这)(?:件|个|回)?(?:事儿?|安排|计划)$")
"""Says `that thing` of a plan that the words before it name."""
NEWEST_MOST = 24
"""So many of the newest memories are looked at, whatever they share."""
NEAR_MOST = 32
"""Of the memories that share a word with a sentence so many of the newest are looked at."""
COMPARED, APART_MOST = 8, 4
"""So many memories at most are read beside a sentence: of those that share a word or sort with it, and of others."""


def find_near(said: About, known: Sequence[ActiveMemory]) -> list[ActiveMemory]:
    """The few that share most with what is said, of the newest that share anything, and the newest of all.

    A sort of thing counts less than a word. Which they are depends on what the user has said alone, not on what else
    was loaded.
    """
    newest = sorted(known, key=lambda k: (k.valid_at, k.memory_id), reverse=True)
    shares = {k.memory_id: 0.0 for k in newest[:NEWEST_MOST]}
    seen: Counter[str] = Counter()
    for k in newest:
        for sign in sorted(about(k.told).all & said.all):
            seen[sign] += 1
            if seen[sign] <= NEAR_MOST:
                shares[k.memory_id] = shares.get(k.memory_id, 0.0) + (len(sign) ** 0.5 if sign in said.terms else 0.5)
    found = sorted((k for k in newest if k.memory_id in shares), key=lambda k: -shares[k.memory_id])
    return [k for k in found if shares[k.memory_id]][:COMPARED] + [k for k in found if not shares[k.memory_id]][
        :APART_MOST
    ]


def find_replaced(new: Statement, known: Sequence[ActiveMemory]) -> list[ActiveMemory]:
    """What a correction or a denial says is no longer so."""
    if new.related and (new.retracts or new.assertion not in SUPPOSED):
        return [k for k in known if k.memory_id == new.related]
    if new.assertion != "correction" and not new.retracts:
        return []
    old = [k for k in known if k.key is not None and k.key == new.old_key]
    return old or find_meant_memory(new, known)


def find_counted(new: Statement, known: Sequence[ActiveMemory]) -> list[ActiveMemory]:
    """What was read of single tellings of a habit and not dictated or confirmed: the habit stands for it."""
    single = (k for k in known if k.key is None and k.type != "pattern" and k.assertion in TOLD_ONCE)
    return sorted((k for k in single if tell_same(k.text, new.text)), key=lambda k: (k.valid_at, k.memory_id))


def find_meant_memory(new: Statement, known: Sequence[ActiveMemory]) -> list[ActiveMemory]:
    """Of the memories that contain the old value, the newest that fits.

    A fact about the person corrects only such facts: who leaves Paris may still like it.
    """
    if PLAN in new.flags:
        return find_planned(new, known)
    if not new.old_value or _corrects_its_own(new, known):
        return []
    wanted = new.old_value
    said = [k for k in known if not k.name_alone and any(has_word(words, wanted) for words in k.words)]
    said.sort(key=lambda k: k.valid_at, reverse=True)
    fitting = [k for k in said if k.type == new.type and k.polarity >= 0]
    if not fitting and new.type != "profile":
        fitting = [k for k in said if k.type != "event"]
    return fitting[:1]


def find_planned(new: Statement, known: Sequence[ActiveMemory]) -> list[ActiveMemory]:
    """The newest plan that names all that the words name, words aside that any plan may be called by."""
    wanted = about(_THING.sub("", new.old_value or "")).terms
    telling = wanted - PLAN_WORDS or wanted
    plans = [k for k in known if k.type in PLANNED and telling and telling <= about(k.told).terms]
    return sorted(plans, key=lambda k: (k.valid_at, k.memory_id), reverse=True)[:1]


def _corrects_its_own(new: Statement, known: Sequence[ActiveMemory]) -> bool:
    """Whether the memory under the statement's own key is what it corrects: another that has the old words stays.

    The key of a preference may name its object: there the memory must say the old value.
    """
    own = next((k for k in known if new.key is not None and k.type == new.type and k.key == new.key), None)
    return own is not None and (new.type != "preference" or (new.old_value or "").lower() in own.text.lower())
