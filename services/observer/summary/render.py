"""A summary as text within its token limit: finished items are dropped first, then the oldest."""

from collections.abc import Sequence

from schemas.vocabulary import Language
from services.observer.summary.model import SECTIONS, Count, Section, SummaryItem, SummaryPolicy, TaskState

_ENGLISH: dict[Section, str] = {
    "profile": "Profile",
    "preferences": "Preferences",
    "constraints": "Constraints",
    "goals": "Goals",
    "decisions": "Decisions",
    "tasks": "Tasks",
    "context": "Context",
    "references": "Key References",
    "questions": "Open Questions",
}
_CHINESE: dict[Section, str] = {
    "profile": "用户情况",
    "preferences": "偏好",
    "constraints": "限制",
    "goals": "目标",
    "decisions": "决定",
    "tasks": "任务",
    "context": "对话要点",
    "references": "关键引用",
    "questions": "未决问题",
}
_STATES_ZH: dict[TaskState, str] = {"todo": "待办", "doing": "进行中", "done": "已完成", "blocked": "受阻"}
HEADING_TOKENS = 6
"""The maximum tokens of the heading of a section with its line break."""
_ASSISTANT, _ASSISTANT_ZH = "Assistant: ", "助手："
_DROPPED_FIRST: tuple[Section, ...] = (
    "references",
    "questions",
    "tasks",
    "goals",
    "decisions",
    "preferences",
    "constraints",
    "profile",
    "context",
)
"""Sentences of the conversation have their own space (`room_for_context`)."""


def render(items: Sequence[SummaryItem], language: Language, policy: SummaryPolicy, count: Count) -> str:
    """The sections with content, in the order of the template, in at most `text_tokens` tokens."""
    remaining = list(items)
    text = write_items(remaining, language)
    while remaining and count(text) > policy.text_tokens:
        remaining.remove(min(remaining, key=_staying_power))
        text = write_items(remaining, language)
    return text


def bound_items(items: Sequence[SummaryItem], policy: SummaryPolicy) -> tuple[SummaryItem, ...]:
    """The items within the maximum of each section, oldest first; finished tasks and old items are dropped first."""
    bounded: list[SummaryItem] = []
    for section in SECTIONS:
        ranked = sorted((item for item in items if item.section == section), key=_staying_power, reverse=True)
        bounded += sorted(ranked[: policy.maxima.get(section, 0)], key=lambda item: item.seq)
    return tuple(bounded)


def room_for_context(items: Sequence[SummaryItem], language: Language, policy: SummaryPolicy, count: Count) -> int:
    """The tokens that the other sections leave for sentences of the conversation, at least their share of the text."""
    others = [item for item in items if item.section != "context"]
    left = policy.text_tokens - count(write_items(others, language)) - HEADING_TOKENS
    return max(left, int(policy.context_share * policy.text_tokens))


def _staying_power(item: SummaryItem) -> tuple[bool, int, int]:
    return item.state != "done", _DROPPED_FIRST.index(item.section), item.seq


def write_items(items: Sequence[SummaryItem], language: Language) -> str:
    headings = _CHINESE if language == "zh" else _ENGLISH
    lines: list[str] = []
    for section in SECTIONS:
        own = [item for item in items if item.section == section]
        if own:
            lines += [headings[section], *(_line(item, language) for item in own)]
    return "\n".join(lines)


def _line(item: SummaryItem, language: Language) -> str:
    marks = [] if item.state is None else [_STATES_ZH[item.state] if language == "zh" else item.state]
    mark = "".join(f"[{each}] " for each in (*marks, item.day) if each)
    who = (_ASSISTANT_ZH if language == "zh" else _ASSISTANT) if item.role == "assistant" else ""
    return f"- {mark}{who}{item.text}"
