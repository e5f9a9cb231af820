"""What is to be done, was decided, is aimed at: tasks with their state, decisions and goals."""

import re
from datetime import UTC, date, datetime, time

from shared.reading import dates
from shared.reading import plans_words as words
from shared.reading.clauses import Clause
from shared.reading.gates import gate
from shared.reading.guards import Stance
from shared.reading.keys import slug, target_of, tidy
from shared.reading.model import Found

_ENDS = gate(words.CANCEL_ZH, words.CANCEL_EN, words.DONE_ZH, words.DONE_EN)
_MARKS = gate(words.REMIND_ZH, words.REMIND_EN)
_OUGHT = gate(words.MUST_ZH, words.DUE_ZH, words.MUST_EN, words.DUE_EN)
_DECIDES = gate(words.DECIDE_ZH, words.DECIDE_EN)
_AIMS = gate(words.GOAL_ZH, words.GOAL_EN)


def find_tasks(
    clause: Clause, stance: Stance, today: date, directed: bool = False, after: Clause | None = None
) -> list[Found]:
    """Tasks stated with a deadline or as such, tasks done, and tasks called off."""
    text = clause.text
    if stance.asked or stance.supposed or stance.reported or stance.subject == "other":
        return []
    zh = clause.language != "en"
    for pattern, status in (
        (words.CANCEL_ZH if zh else words.CANCEL_EN, "cancelled"),
        (words.DONE_ZH if zh else words.DONE_EN, "done"),
    ):
        if (
            clause.mask & _ENDS
            and (match := pattern.search(text))
            and (what := _what(match))
            and not (zh and words.NOT_DONE_ZH.search(what))
        ):
            if (
                re.match(
                    r"(?:it|that|this|them|everything|worry|eating|the (?:movie|show|game))\b|meeting$", what, re.I
                )
                and status == "done"
            ):
                return []
            return [_task(what, status, None, text, status, directed)]
    marked = words.MARK.match(text)
    if not marked and clause.mask & _MARKS:
        marked = (zh and words.REMIND_ZH.search(text)) or words.REMIND_EN.search(text)
    if marked and (what := _what(marked)):
        said = dates.coming(text, today) or (
            dates.coming(after.text, today) if after and words.BY.search(after.text) and len(after.text) < 24 else None
        )
        return [_task(what, "todo", said, text, "reminder", directed)]
    said = dates.find(text, today) if clause.mask & dates.NAMED and (directed or clause.mask & _OUGHT) else None
    if said is None or said.day < today or stance.ironic:
        return []
    if not zh and (match := words.DUE_EN.search(text)):
        return [_task(match["what"] or match["what2"] or "deadline", "todo", said, text, "due", directed)]
    match = words.MUST_EN.search(text) if not zh else words.MUST_ZH.search(text) or words.DUE_ZH.search(text)
    if not match and zh and directed:
        match = re.search(rf"(?P<what>{words.VERBS_ZH}.{{1,20}})$", text[said.end :])
    if match is None or (zh and words.STALE.search(match.group())) or not (what := _what(match)):
        return []
    if zh and re.search(r"出差|旅游|旅行|度假|去.{0,6}玩|婚礼|结婚|搬[去到家]", what):
        return []
    if not zh and words.AGENT_WORK_EN.search(what):
        return []
    return [_task(what, "todo", said, text, "deadline", directed)]


def _what(match: re.Match[str]) -> str:
    return tidy(next((value for name, value in match.groupdict().items() if value and name.startswith("what")), ""))


def _task(what: str, status: str, said: dates.Said | None, text: str, pattern: str, directed: bool) -> Found:
    if said and said.text in what:
        bare = re.sub(
            rf"\s*(?:\b(?:by|before|on|until|till|at|due)\s+)?{re.escape(said.text)}(?:之?以?前|截止|之内)?",
            "",
            what,
            flags=re.I,
        )
        what = tidy(re.sub(r"\s+(?:at|by|before|on)$", "", bare)) or what
    bare = words.TASK_HEAD_EN.sub("", words.TASK_HEAD_ZH.sub("", what)) or what
    value: dict[str, object] = {"task": what, "status": status, "value": what}
    if said:
        value |= {"due": said.day.isoformat(), "due_said": said.text}
    zh = bool(re.search(r"[\u3400-\u9fff]", text))
    shown = {
        "done": f"已完成：{what}" if zh else f"finished: {what}",
        "cancelled": f"不再需要：{what}" if zh else f"no longer needed: {what}",
    }.get(status)
    due = (f"（截止{said.text}，{said.day.isoformat()}）" if zh else f" (due {said.day.isoformat()})") if said else ""
    until = datetime.combine(said.day, time(23, 59, 59), UTC) if said and status == "todo" else None
    return Found(
        "task",
        task_key(bare),
        value,
        shown or ((f"待办：{what}" if zh else f"to do: {what}") + due),
        "plans",
        pattern,
        "fact",
        0,
        "directive",
        status == "cancelled",
        None,
        (),
        said.day if said else None,
        until,
    )


def task_key(what: str) -> str:
    """The key of a task as told in words: a ticket by its number, anything else by what is to be done."""
    ticket = words.TICKET.fullmatch(what.strip())
    bare = words.TASK_HEAD_EN.sub("", words.TASK_HEAD_ZH.sub("", what)) or what
    return f"task:tool:{slug(ticket[1])}" if ticket else f"task:user:{slug(target_of(bare))}"


def find_decisions(clause: Clause, stance: Stance) -> list[Found]:
    """Decisions of the user or the user's team."""
    text = clause.text
    if stance.asked or stance.supposed or stance.reported or stance.ironic or stance.subject == "other" or stance.trial:
        return []
    zh = clause.language != "en"
    if (words.UNDECIDED_ZH if zh else words.UNDECIDED_EN).search(text):
        return []
    match = words.DECIDE_ZH.search(text) or (words.DECIDE_EN.search(text) if re.search(r"[A-Za-z]", text) else None)
    if (
        not match
        or not (what := _what(match))
        or re.match(r"(?:这样|这么|这个|那个|它|他|她|你|是|了|it\b|that\b$|this\b|whether|not sure)", what)
    ):
        return []
    groups = match.groupdict()
    how = groups.get("act") or ""
    what = f"{how}{what}" if how else what
    if (
        groups.get("how", "")
        and re.match(r"picked|chose|voted|resolved|committed|went with", groups.get("how") or "", re.I)
        and not groups.get("link")
        and stance.subject != "group"
        and not re.search(r"\bfor\b|\bover\b", what)
    ):
        return []
    topic = next((name for name, pattern in words.TOPICS if pattern.search(what)), None)
    purpose = re.search(r"\b(?:for|as)\s+(?:the\s+|our\s+|my\s+)?([\w -]{3,30})$", what)
    topic = topic or (
        slug(purpose[1], 32)
        if purpose
        else slug(target_of(re.sub(r"^(?:用|采用|选|选择|使用|to use|use|on|to)\s*", "", what)), 32)
    )
    return [
        Found(
            "decision",
            f"decision:general:{topic}",
            {"topic": topic, "decision": what, "value": what},
            f"决定{what}" if re.search(r"[\u3400-\u9fff]", text) else f"decided: {what}",
            "plans",
            "decision",
            "fact",
            0,
            "directive",
        )
    ]


def find_goals(clause: Clause, stance: Stance) -> list[Found]:
    """Goals the user names as such or works towards."""
    text = clause.text
    if stance.asked or stance.supposed or stance.reported or stance.ironic or stance.subject in ("other", "agent"):
        return []
    zh = clause.language != "en"
    if not clause.mask & _AIMS or not (match := (words.GOAL_ZH if zh else words.GOAL_EN).search(text)):
        return []
    groups = match.groupdict()
    verb, what = groups["verb"] or "", _what(match)
    if zh:
        if not groups["noun"] and (
            stance.momentary
            or stance.trial
            or re.search(r"今天|今晚|明天|一下|这个|这道|怎么|看看|努力工作$|努力的", text)
        ):
            return []
        what = tidy(verb + (groups["what2"] or "")) if verb else what
        if len(what) < 3 or re.match(r"什么|想让你|让你", what):
            return []
    elif verb:
        plain = verb.lower()
        strong = re.search(r"training|preparing|studying|saving|aspire|dream|determined|goal|learning", plain)
        if not words.LIFE_EN.search(what) and not (
            words.HORIZON.search(what) and not re.search(r"want|trying|love", plain)
        ):
            return []
        if (words.DEBUG.search(what) and not strong) or (stance.momentary and not words.HORIZON.search(text)):
            return []
        what = (
            f"{'learn' if plain.endswith('learning') else plain.removeprefix(chr(39) + 'd ')} {what}"
            if strong
            else what
        )
    elif not what or re.match(r"(?:unclear|not|what|that you)\b", what):
        return []
    bare = re.sub(
        r"^(?:打算|计划|准备|想|希望|争取|正?在|努力)+|^(?:to|in|the|a)\s+|\b(?:this|next) year\b|今年|明年",
        "",
        what,
        flags=re.I,
    )
    return [
        Found(
            "goal",
            f"goal:user:{slug(target_of(bare))}",
            {"goal": what, "value": what},
            f"目标：{what}" if zh else f"goal: {what}",
            "plans",
            "goal",
            "preference",
            0,
            "directive" if groups["noun"] else "declared",
        )
    ]
