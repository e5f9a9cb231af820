"""Makes observations of structured input: items that the client extracted, results of tools, cited resources."""

import json
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any, cast

from schemas.memory_types import KEY_PREFIXES, types_with
from schemas.vocabulary import MemoryType
from shared.extraction.clauses import language_of
from shared.extraction.keys import fold, is_known, profile_key, slug
from shared.extraction.model import MessageText, Observation, RefText, StructuredStatement, ToolText
from shared.language.patterns import to_pattern

_ALIASES = {
    "user.name": "profile:user:name",
    "user.language": "pref:writing:language",
    "user.response_style": "pref:writing:response_style",
    "user.call_me": "profile:user:call_me",
    "project.name": "entity:topic:project",
    "project.repo": "entity:repo:project",
    "project.stack": "decision:project:stack",
}
WANTED = types_with("wanted")
_CREATES = to_pattern(
    (
        r"(?:^|[_.-])(?:create|add|update|close|complete|finish|resolve|assign|cancel|delete|schedule"
        r"|book|reserve|merge|approve|submit|open|reopen|move|set|transition|insert|post|send|order"
        r"|pay|register|publish|deploy|release)(?:$|[_.-])"
    ),
    re.I,
)
_KINDS_OF_TOOLS: dict[MemoryType, re.Pattern[str]] = {
    "task": to_pattern(r"ticket|issue|task|todo|card|story|bug|reminder|jira|linear|trello|asana", re.I),
    "decision": to_pattern(r"decision|approve|merge|adr", re.I),
    "event": to_pattern(
        r"event|calendar|meeting|appointment|book|reserv|schedul|order|deploy|release|send|email"
        r"|payment|pay|register|publish",
        re.I,
    ),
}
"""What a tool changes, by its name; the first match counts."""
_READS = to_pattern(r"^(?:get|list|search|find|read|fetch|query|lookup|show|describe|check|view|load)(?:$|[_.-])", re.I)


_IDS = ("id", "key", "number", "uid")
_NOT_ITS_ID = to_pattern(r"(?:user|project|parent|request|trace|session|account|tenant|org|team|owner)_")
_STATES = {
    **dict.fromkeys(("done", "closed", "complete", "completed", "finished", "resolved", "merged", "fixed"), "done"),
    **dict.fromkeys(("todo", "to-do", "open", "new", "created", "pending", "backlog", "reopened"), "todo"),
    **dict.fromkeys(("doing", "in-progress", "in_progress", "started", "active", "wip"), "doing"),
    **dict.fromkeys(("blocked", "on-hold", "on_hold", "waiting"), "blocked"),
    **dict.fromkeys(("cancelled", "canceled", "wontfix", "rejected"), "cancelled"),
}


def from_item(item: StructuredStatement, ordinal: int, slots: Set[str] | None = frozenset()) -> Observation:
    """The observation of a client's item; a note if its key is not allowed or its type is not for users.

    `slots` are slots of a profile in addition to the built-in ones.
    """
    key = _ALIASES.get(item.key or "", item.key)
    key = key and (profile_key(key, slots) or key)
    shown = item.text or show_value(item.value)
    kind: MemoryType = "note" if item.type == "agent_experience" else item.type
    value: dict[str, Any] = (
        dict(cast("Mapping[str, Any]", item.value)) if isinstance(item.value, Mapping) else {"value": item.value}
    )
    if key is not None and not (
        is_known(key)
        and profile_key(key, slots)
        and (kind in ("note", "summary") or key.startswith(KEY_PREFIXES.get(kind, "\0")) or item.key in _ALIASES)
    ):
        kind, value, shown, key = "note", {"value": shown, "asked_key": item.key}, f"{item.key}: {shown}", None
    elif item.key in _ALIASES and key:
        kind = _kind_of(key)
    if item.confidence is not None:
        value = {**value, "confidence": item.confidence}
    return Observation(
        kind,
        key,
        value,
        shown,
        "directive" if item.confirmed else "declared",
        "preference" if kind in WANTED else "fact",
        0,
        "normal",
        item.retract,
        None,
        "structured",
        "item",
        language_of(shown),
        "user",
        ordinal,
        (0, 0),
    )


def _kind_of(key: str) -> MemoryType:
    return next(name for name, prefix in KEY_PREFIXES.items() if key.startswith(prefix))


def show_value(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def from_tool(tool: ToolText) -> Observation | None:
    """The task, event or decision that a tool changed with success; None for reads and failures."""
    if tool.status.lower() not in ("ok", "success", "succeeded", "completed", "done", "200") or _READS.match(tool.name):
        return None
    try:
        result: Any = json.loads(tool.result_text)
    except ValueError:
        return None
    if not isinstance(result, dict) or not result or not _CREATES.search(tool.name):
        return None
    fields = {
        str(name): value
        for name, value in cast("dict[Any, Any]", result).items()
        if isinstance(value, str | int | float | bool)
    }
    kinds: list[MemoryType] = [each for each, pattern in _KINDS_OF_TOOLS.items() if pattern.search(tool.name)]
    identity = next(
        (str(fields[name]) for name in (*_IDS, *_own_ids(fields), "name", "title") if fields.get(name)), None
    )
    if not kinds or identity is None or any(fields.get(name) for name in ("error", "errors")):
        return None
    kind = kinds[0]
    title = _find_title(fields, tool.args)
    status = str(fields.get("status") or fields.get("state") or "")
    state = _STATES.get(slug(status)) if kind == "task" else None
    if state:
        fields |= {"status": state, "state": state}
    due = next((str(one["due"]) for one in (fields, tool.args) if one.get("due")), "")
    if kind == "task" and due:
        fields["due"] = due
    text = (
        (f"{tool.name}: " if kind != "task" or not title else "")
        + identity
        + (f" {title}" if title and title != identity else "")
        + (f" ({state or status})" if status else "")
    )
    return Observation(
        kind,
        f"{kind}:tool:{slug(identity)}",
        {"tool": tool.name, "value": identity, "title": title, **fields},
        text,
        "tool",
        "fact",
        0,
        "normal",
        False,
        None,
        "tool",
        "state_change",
        language_of(text),
        "tool",
        tool.ordinal,
        (0, 0),
    )


def _find_title(*sources: Mapping[str, Any]) -> str:
    named = ((source, name) for source in sources for name in ("title", "summary", "subject", "name", "text"))
    return next((str(source[name]) for source, name in named if source.get(name)), "")


def _own_ids(fields: Mapping[str, Any]) -> list[str]:
    """Names of fields such as `ticket_id`, which identify what a tool changed."""
    return [name for name in fields if re.search(r"_(?:id|key|number)$", name) and not _NOT_ITS_ID.match(name)]


def remove_twins(
    observed: list[Observation], told: Sequence[Observation], messages: Sequence[MessageText]
) -> list[Observation]:
    """The observations without tasks that a tool of the same turn states too; the tool's task gets the due day."""
    tools = [one for one in told if one.kind == "task"]
    if not tools:
        return observed
    single: list[Observation] = []
    for one in observed:
        twin = next((tool for tool in tools if one.kind == "task" and _same_task(one, tool, messages)), None)
        if twin is None:
            single.append(one)
        elif "due" in one.value:
            twin.value.setdefault("due", one.value["due"])
    return single


def _same_task(observed: Observation, tool: Observation, messages: Sequence[MessageText]) -> bool:
    number = str(tool.value["value"]).lower()
    spoken = next((message.text.lower() for message in messages if message.ordinal == observed.message_ordinal), "")
    if number in spoken and re.search(r"\d", number):
        return True
    one, other = (_parts(str(text)) for text in (observed.value.get("task", ""), tool.value.get("title", "")))
    return bool(one and other) and len(one & other) >= 0.6 * min(len(one), len(other))


def _parts(text: str) -> set[str]:
    """The words of a text that distinguish tasks; for Chinese its pairs of letters."""
    low = fold(text)
    words = {word.rstrip("s") for word in re.findall(r"[a-z0-9]{3,}", low)} - {"the", "for", "and", "with", "task"}
    return words | {low[at : at + 2] for at in range(len(low) - 1) if low[at] >= "\u3400" and low[at + 1] >= "\u3400"}


def from_ref(ref: RefText, ordinal: int) -> Observation:
    """The entity of a cited resource, which always passes the entity gate."""
    repo = re.match(r"https?://(?:www\.)?(?:github|gitlab|gitee)\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?$", ref.ref_uri)
    kind = "repo" if repo or ref.ref_type == "repo" else "url" if re.match(r"https?://", ref.ref_uri) else "file"
    canonical = (repo[1] if repo else ref.ref_uri).lower() if kind != "file" else fold(ref.ref_uri)
    text = f"{ref.title} ({ref.ref_uri})" if ref.title else ref.ref_uri
    value: dict[str, Any] = {
        "kind": kind,
        "canonical": canonical,
        "uri": ref.ref_uri,
        "title": ref.title,
        "value": canonical,
    }
    return Observation(
        "entity",
        f"entity:{kind}:{canonical[:120]}",
        value,
        text,
        "tool",
        "fact",
        0,
        "low",
        False,
        None,
        "ref",
        "structural signal",
        language_of(ref.title or "") if ref.title else "other",
        "tool",
        ordinal,
        (0, 0),
    )
