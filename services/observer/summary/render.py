"""A summary as text within its token limit: what is finished goes first, then the oldest."""

from collections.abc import Sequence

from schemas.vocabulary import Language
from services.observer.summary.model import SECTIONS, Count, Section, SummaryItem, SummaryPolicy, TaskState

_ENGLISH: dict[Section, str] = {
    "goals": "Goals",
    "decisions": "Decisions",
    "tasks": "Tasks",
    "references": "Key References",
    "questions": "Open Questions",
}
_CHINESE: dict[Section, str] = {
    "goals": "目标",
    "decisions": "决定",
    "tasks": "任务",
    "references": "关键引用",
    "questions": "未决问题",
}
_STATES_ZH: dict[TaskState, str] = {"todo": "待办", "doing": "进行中", "done": "已完成", "blocked": "受阻"}
_DROPPED_FIRST: tuple[Section, ...] = ("references", "questions", "tasks", "goals", "decisions")


def render(items: Sequence[SummaryItem], language: Language, policy: SummaryPolicy, count: Count) -> str:
    """The sections that hold something, in the template's order, in at most `text_tokens` tokens."""
    kept = list(items)
    text = _written(kept, language)
    while kept and count(text) > policy.text_tokens:
        kept.remove(min(kept, key=_staying_power))
        text = _written(kept, language)
    return text


def bounded(items: Sequence[SummaryItem], policy: SummaryPolicy) -> tuple[SummaryItem, ...]:
    """At most so many items of each section, finished tasks and the oldest given up first; oldest first."""
    kept: list[SummaryItem] = []
    for section in SECTIONS:
        ranked = sorted((item for item in items if item.section == section), key=_staying_power, reverse=True)
        kept += sorted(ranked[: policy.maxima.get(section, 0)], key=lambda item: item.seq)
    return tuple(kept)


def _staying_power(item: SummaryItem) -> tuple[bool, int, int]:
    return item.state != "done", _DROPPED_FIRST.index(item.section), item.seq


def _written(items: Sequence[SummaryItem], language: Language) -> str:
    headings = _CHINESE if language == "zh" else _ENGLISH
    lines: list[str] = []
    for section in SECTIONS:
        own = [item for item in items if item.section == section]
        if own:
            lines += [headings[section], *(_line(item, language) for item in own)]
    return "\n".join(lines)


def _line(item: SummaryItem, language: Language) -> str:
    if item.state is None:
        return f"- {item.text}"
    return f"- [{_STATES_ZH[item.state] if language == 'zh' else item.state}] {item.text}"
