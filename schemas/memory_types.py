"""The types of memory, one row each: what is true of a type stands here, and the modules that ask read it.

A new type is a name in `MemoryType` and a row. Types lie with the contracts, since contracts, search labels and the
reading all go by them. `docs/reference/memory_types.md` has the table that is made of the rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

MemoryType = Literal[
    "profile",
    "preference",
    "goal",
    "task",
    "decision",
    "entity",
    "event",
    "case",
    "pattern",
    "constraint",
    "note",
    "summary",
    "agent_experience",
]
MemoryTypeV1 = Literal["observation", "preference", "pattern", "summary", "agent_experience"]
CoreBlock = Literal["core_profile", "preferences", "goals", "policies", "other"]
SummarySection = Literal["profile", "preferences", "constraints", "goals", "decisions", "tasks"]
Trait = Literal[
    "overwritten",
    "wanted",
    "lasting",
    "plan",
    "happening",
    "correctable",
    "beside_correction",
    "ordered",
    "judged",
    "of_others",
    "keyed_by_slot",
    "undoubted",
    "unmerged",
    "wish",
    "taste",
    "view",
    "personal",
]
TRAITS: Mapping[Trait, str] = {
    "overwritten": "a correction may replace it by another type with this trait",
    "wanted": "what it says is epistemically a preference, else a fact",
    "lasting": "no sentence ends or amends it: what has happened has happened",
    "plan": "words of plans and appointments may mean it",
    "happening": "passing words and results of tools may tell it; they never say what the user is or wants",
    "correctable": "a statement of it can be a correction of its like",
    "beside_correction": "a clause may state it beside what the clause corrects",
    "ordered": "an order to the agent may be kept as it",
    "judged": "a judgement of a thing may be read as it, and is none: that is a note, held lightly",
    "of_others": "a clause about somebody else may state it",
    "keyed_by_slot": "slots and allergies in its words give it a key, or another type",
    "undoubted": "what a model says of it takes nothing of the rules back",
    "unmerged": "alike memories of it do not become one",
    "wish": "it is likelier to help whoever asks for advice",
    "taste": "a rule of the enterprise may overrule it",
    "view": "a rule of the enterprise may overrule it where its words are a taste or a view",
    "personal": "it speaks of the user whatever its words are, and is promoted as personal only",
}


@dataclass(frozen=True, slots=True)
class MemoryTypeRow:
    """A type; its rows stand in the order in which a person reads a list of memories.

    `key_prefix` is how its keys begin, none where it has no keys; an item with another key becomes a note. `core_order`
    is its place among the core memories, none where it is found by search alone. `label_zh` is what search reads in
    front of Chinese texts, the name of the type where it is empty.
    """

    type: MemoryType
    meaning: str
    title_en: str
    title_zh: str
    key_prefix: str | None = None
    label_zh: str = ""
    v1: MemoryTypeV1 = "observation"
    core_order: int | None = None
    block: CoreBlock = "other"
    section: SummarySection | None = None
    traits: frozenset[Trait] = frozenset()


def _traits(*names: Trait) -> frozenset[Trait]:
    return frozenset(names)


ROWS: tuple[MemoryTypeRow, ...] = (
    MemoryTypeRow(
        "profile",
        "who the user is",
        title_en="About the user",
        title_zh="关于用户",
        key_prefix="profile:",
        label_zh="用户资料",
        core_order=0,
        block="core_profile",
        section="profile",
        traits=_traits("correctable", "ordered", "judged", "of_others", "keyed_by_slot", "personal"),
    ),
    MemoryTypeRow(
        "preference",
        "taste and habit",
        title_en="Likes and dislikes",
        title_zh="喜好",
        key_prefix="pref:",
        label_zh="用户偏好",
        v1="preference",
        core_order=2,
        block="preferences",
        section="preferences",
        traits=_traits(
            "overwritten", "wanted", "correctable", "ordered", "judged", "keyed_by_slot", "wish", "taste", "personal"
        ),
    ),
    MemoryTypeRow(
        "constraint",
        "what must or must not be",
        title_en="Limits and standing orders",
        title_zh="限制与长期要求",
        key_prefix="constraint:",
        label_zh="约束",
        v1="preference",
        core_order=1,
        block="preferences",
        section="constraints",
        traits=_traits(
            "overwritten", "wanted", "correctable", "ordered", "keyed_by_slot", "undoubted", "wish", "personal"
        ),
    ),
    MemoryTypeRow(
        "goal",
        "what is aimed at",
        title_en="Goals",
        title_zh="目标",
        key_prefix="goal:",
        label_zh="目标",
        core_order=3,
        block="goals",
        section="goals",
        traits=_traits("overwritten", "wanted", "plan", "correctable", "judged", "personal"),
    ),
    MemoryTypeRow(
        "decision",
        "what was settled",
        title_en="Decisions",
        title_zh="决定",
        key_prefix="decision:",
        label_zh="决定",
        section="decisions",
        traits=_traits("plan", "happening", "correctable", "beside_correction", "judged"),
    ),
    MemoryTypeRow(
        "task",
        "what is to be done, with its state",
        title_en="To do",
        title_zh="待办",
        key_prefix="task:",
        label_zh="任务",
        section="tasks",
        traits=_traits(
            "overwritten",
            "plan",
            "happening",
            "correctable",
            "beside_correction",
            "ordered",
            "of_others",
            "personal",
        ),
    ),
    MemoryTypeRow(
        "event",
        "what happened or is planned, with its date",
        title_en="Happenings and appointments",
        title_zh="经历与日程",
        key_prefix="event:",
        label_zh="事件",
        traits=_traits("plan", "happening", "correctable", "beside_correction", "of_others", "personal"),
    ),
    MemoryTypeRow(
        "pattern",
        "what repeats",
        title_en="Habits",
        title_zh="习惯",
        key_prefix="pattern:",
        v1="pattern",
        block="preferences",
        traits=_traits("keyed_by_slot", "wish", "taste"),
    ),
    MemoryTypeRow(
        "case",
        "a problem with its solution",
        title_en="Experiences",
        title_zh="经验",
        key_prefix="case:",
        traits=_traits("lasting", "happening", "of_others"),
    ),
    MemoryTypeRow(
        "note",
        "what the user dictates, and what fits no other type; its words are its identity",
        title_en="Notes",
        title_zh="备注",
        label_zh="笔记",
        traits=_traits("plan", "ordered", "of_others", "keyed_by_slot", "wish", "view"),
    ),
    MemoryTypeRow(
        "entity",
        "a person, place, file, repository, address",
        title_en="People and things",
        title_zh="人与事物",
        key_prefix="entity:",
        label_zh="实体",
        traits=_traits("judged", "of_others", "unmerged"),
    ),
    MemoryTypeRow(
        "summary",
        "reserved, not written",
        title_en="Summaries",
        title_zh="摘要",
        v1="summary",
        traits=_traits("lasting", "unmerged", "personal"),
    ),
    MemoryTypeRow(
        "agent_experience",
        "what the agent has learnt of its own tools: in a table of its own, never listed or searched as a memory",
        title_en="Experience of the agent",
        title_zh="智能体的经验",
        v1="agent_experience",
        traits=_traits("unmerged", "personal"),
    ),
)
MEMORY_TYPES: Mapping[MemoryType, MemoryTypeRow] = {row.type: row for row in ROWS}
KEY_PREFIXES: Mapping[MemoryType, str] = {row.type: row.key_prefix for row in ROWS if row.key_prefix}


def types_with(trait: Trait) -> frozenset[MemoryType]:
    """The types that have the trait."""
    return frozenset(row.type for row in ROWS if trait in row.traits)
