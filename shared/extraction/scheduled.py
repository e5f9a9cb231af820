"""Finds appointments; the key of an appointment names what it is, so that a new day replaces the old one."""

import re
from collections.abc import Sequence
from datetime import date

from shared.extraction import dates
from shared.extraction.clauses import Clause
from shared.extraction.gates import gate
from shared.extraction.guards import Stance
from shared.extraction.keys import fold, slug, tidy
from shared.extraction.model import Finding
from shared.language.patterns import to_pattern

_NOUN_EN = (
    r"(?:meetings?|review|appointment|interview|call|demo|stand-?up|sync|exam|test|wedding|flight|party|presentation"
    r"|lunch|dinner|breakfast|brunch|class|lesson|session|workshop|conference|kick-?off|retro(?:spective)?|planning"
    r"|check-?up|surgery|operation|concert|webinar|1:1|one-on-one|one on one|visit|training|hearing|ceremony"
    r"|graduation|recital|game|match|launch|release|rehearsal|audition|defen[cs]e|dentist|doctor|physio|haircut"
    r"|event|hackathon|offsite|town hall|all-hands|reunion|barbecue|picnic|date|delivery|move|viewing|inspection)"
)
_THING_EN = (
    rf"(?:[\w'/-]+\s+){{0,4}}?{_NOUN_EN}(?:\s+(?:with|for|of|at)\s+(?:the\s+|my\s+"
    rf"|our\s+)?[\w'-]+(?:\s+(?-i:[A-Z])[\w'-]+)?)?"
)
_IS_EN = (
    r"(?:is|are|'s|will be|takes place|starts|begins|happens)(?:\s+(?:now|scheduled|set|planned|booked|confirmed))*"
    r"|(?:has been|was|got|is)\s+(?:scheduled|set|booked|planned|fixed)"
)
_AT_EN = to_pattern(
    rf"^(?:the|my|our|a|an)\s+(?P<thing>{_THING_EN})\s*(?P<link>{_IS_EN})\s+(?:for\s+|on\s+|at\s+|in\s+)?(?P<when>.+)$",
    re.I,
)
_HAVE_EN = to_pattern(
    rf"^(?:I|we)(?:'ve got|\s+have(?:\s+got)?|'ve)\s+(?:an?|my|our|the)\s+(?P<thing>{_THING_EN})\s+(?P<when>.+)$", re.I
)
_MOVED_EN = to_pattern(
    rf"^(?:the|my|our)\s+(?P<thing>{_THING_EN})\s+(?:has\s+|have\s+|was\s+|is\s+|got\s+|been\s+|just\s+|now\s+)*"
    r"(?:moved|rescheduled|postponed|pushed(?: back)?|shifted|changed|brought forward|bumped)\s+"
    r"(?:from\s+(?P<old>.+?)\s+)?(?:to|until)\s+(?P<when>.+)$",
    re.I,
)
_NOT_BUT_EN = to_pattern(
    r"^(?P<head>.*?)(?:\b(?:it|is|it's|it is)\s+)?\b(?:not|isn't)\s+(?:on\s+|at\s+|in\s+)?(?P<old>[\w: ]{2,24}?)\s*,\s*"
    r"(?:but\s+|it's\s+|it is\s+|now\s+|it's now\s+)*(?:on\s+|at\s+)?(?P<when>.+)$",
    re.I,
)
_SOME_EN = to_pattern(rf"\b(?:the|my|our)\s+(?P<thing>{_THING_EN})\b", re.I)
_WHEN_EN = to_pattern(
    r"^(?:on |at |in |this |next |coming )*(?:mon|tues|wednes|thurs|fri|satur|sun)day|^(?:on )?(?:jan|feb|mar"
    r"|apr|may|jun"
    r"|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|^(?:today|tonight|tomorrow|the day after|next (?:week|month)"
    r"|in (?:\d+|a|two"
    r"|three) (?:days?|weeks?)|(?:on )?the \d+(?:st|nd|rd|th)|(?:at )?\d{1,2}(?::\d\d)?\s*(?:am|pm)?\b|noon)",
    re.I,
)
_GENERIC_EN = to_pattern(r"\s+(?:appointment|meeting|session|visit)$")
_NOUN_ZH = (
    r"(?:评审会?|会议|周会|例会|晨会|站会|早会|面试|约会|预约|考试|体检|聚会|婚礼|演唱会|音乐会|培训|答辩|比赛|手术"
    r"|航班|飞机|火车|高铁|复查|复诊|牙医|汇报|演示|路演|发布会|讲座|典礼|饭局|聚餐|团建|面谈|电话会|直播|活动|展览"
    r"|家长会|年会|研讨会|分享会|见面会|发版|开庭|彩排|演出|讨论会|启动会|复盘会?|课|会)"
)
_ON_ZH = to_pattern(
    rf"^(?:我们?|咱们?|公司|团队)?的?(?P<thing>[\u4e00-\u9fffA-Za-z0-9 ]{{0,12}}?{_NOUN_ZH})(?:的?(?:时间|日期))?"
    r"(?:现在|就|已经|还是?|暂)*(?P<link>是在|是|在|定在|安排在|约在|定于|放在|订在|约了|定了)(?P<when>.+?)(?:举行|开始|开|进行)?$"
)
_WITH_ZH = to_pattern(
    r"^(?:我们?|要|得|有|还|也|会|，|的|点|半|整|\s)*(?P<thing>(?:和|跟|与|同|约了?)[\u4e00-\u9fffA-Za-z ]{1,10}?"
    r"(?:开会|见面|面谈|吃饭|聚餐|约会|讨论|开个?会|碰面|碰头|通话|打球|看电影|对需求|评审)"
    rf"|(?:有|参加)(?:一?[个场次节])?(?P<noun>[\u4e00-\u9fffA-Za-z]{{0,10}}{_NOUN_ZH}(?:要开|要参加)?)"
    r"|(?:去|要去)?(?:看牙医?|体检|复查|复诊|面试|拔牙|打疫苗|做手术|答辩))(?:的)?$"
)
_SOME_ZH = to_pattern(rf"(?P<thing>[\u4e00-\u9fffA-Za-z0-9]{{0,8}}?{_NOUN_ZH})")
_TIME_ZH = to_pattern(
    r"^(?:上午|下午|早上|晚上|中午|傍晚|凌晨|早|晚)?(?:\d{1,2}(?:[点:：时]\d{0,2}(?:分|半)?)?|[一二两三四五六七八九十]{1,3}点"
    r"(?:半|一刻|三刻|整|[一二三四五六七八九十]{1,3}分?)?)?"
)
_LOOSE_ZH = to_pattern(r"一般|通常|每|经常|总是|平时|什么|哪|几点|怎么|问题|意思|没")
APPOINTS = gate(_AT_EN, _HAVE_EN, _ON_ZH, _WITH_ZH)
MOVES = gate(_MOVED_EN, _NOT_BUT_EN)


def find_appointments(clause: Clause, stance: Stance, today: date) -> list[Finding]:
    """The appointment that the clause states with its day."""
    if not clause.mask & APPOINTS or not clause.mask & dates.NAMED:
        return []
    if stance.asked or stance.supposed or stance.reported or stance.ironic or stance.trial:
        return []
    return _find_english(clause.text, today) if clause.language == "en" else _find_chinese(clause.text, today)


def _find_english(text: str, today: date) -> list[Finding]:
    if re.search(r"\bnot\b|n't\b|\b(?:usually|always|every|never)\b", text, re.I):
        return []
    for pattern in (_AT_EN, _HAVE_EN):
        match = pattern.search(text)
        if not match or not _WHEN_EN.match(match["when"]):
            continue
        when = dates.find_coming(match["when"], today)
        if when is None or when.is_over(today):
            return []
        moved = pattern is _AT_EN and re.search(r"\bnow\b", match["link"], re.I)
        return [make_appointment(match["thing"], match["when"], when, "en", correction=bool(moved))]
    return []


def _find_chinese(text: str, today: date) -> list[Finding]:
    if _LOOSE_ZH.search(text):
        return []
    if (match := _ON_ZH.search(text)) and not re.search(r"[不没]", text):
        day = dates.find_coming(match["when"], today)
        if day and day.start <= 1 and not day.is_over(today) and len(match["when"]) <= 20:
            return [
                make_appointment(
                    match["thing"], match["when"], day, "zh", correction="现在" in text[: match.start("link")]
                )
            ]
    day = dates.find_date(text, today)
    if day is None or day.is_over(today) or day.start > 3:
        return []
    rest = text[day.end :]
    at = _TIME_ZH.match(rest)
    when = day.text + (at.group() if at else "")
    match = _WITH_ZH.match(rest[at.end() :] if at else rest)
    return [make_appointment(match["noun"] or match["thing"], when, day, "zh")] if match else []


def find_moved(clauses: Sequence[Clause], index: int, today: date) -> tuple[list[Finding], bool]:
    """The appointment that the clause moves, and whether the clause after it belongs to the move."""
    clause = clauses[index]
    after = clauses[index + 1] if index + 1 < len(clauses) and clauses[index + 1].sentence == clause.sentence else None
    if clause.language != "en" or not clause.mask & MOVES:
        return [], False
    if (match := _MOVED_EN.search(clause.text)) and (day := _find_day(match["when"], today)):
        return [
            make_appointment(match["thing"], match["when"], day, "en", tidy(match["old"] or ""), correction=True)
        ], False
    for joined in (False, True):
        if joined and after is None:
            continue
        text = f"{clause.text}, {after.text}" if joined and after else clause.text
        match = _NOT_BUT_EN.search(text)
        if not match or not _WHEN_EN.match(match["old"]) or not (day := _find_day(match["when"], today)):
            continue
        thing = find_thing(match["head"], clauses, index)
        if thing:
            return [make_appointment(thing, match["when"], day, "en", tidy(match["old"]), correction=True)], joined
    return [], False


def _find_day(when: str, today: date) -> dates.ResolvedDate | None:
    return dates.find_coming(when, today) if _WHEN_EN.match(when) else None


def find_thing(text: str, clauses: Sequence[Clause], index: int) -> str | None:
    """The appointment that the text or one of the two clauses before it names."""
    for said in (text, *(clause.text for clause in reversed(clauses[max(0, index - 2) : index]))):
        match = _SOME_EN.search(said) or _SOME_ZH.search(said)
        if match:
            return match["thing"]
    return None


def to_appointment_key(thing: str) -> str:
    """The key of an appointment: what it is, without the person if something else names it."""
    plain = re.sub(r"^(?:the|my|our|an?)\s+", "", fold(thing))
    plain = re.sub(r"^(?:我们?|咱们?|这个?|那个?|本)?的?|(?:的?(?:时间|日期))$", "", plain)
    head = re.split(r"\s+(?:with|for|of|at)\s+", plain)[0]
    if " " in head:
        plain = head
    return f"event:{slug(_GENERIC_EN.sub('', plain) or plain, 40)}"


def make_appointment(
    thing: str, when: str, day: dates.ResolvedDate | None, language: str, old: str = "", *, correction: bool = False
) -> Finding:
    """The finding of the appointment with its day."""
    thing, when = tidy(re.sub(r"^(?:my|our|the)\s+", "", thing, flags=re.I)), tidy(when)
    value: dict[str, object] = {"event": thing, "value": when, "topic": thing}
    if day:
        value |= {"date": day.iso, "date_said": when, "precision": day.precision, **dates.to_value_date(day)}
    if old:
        value["old"] = old
    on = "on " if re.match(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|[a-z]{3,9} \d", when, re.I) else ""
    return Finding(
        "event",
        to_appointment_key(thing),
        value,
        f"{thing}：{when}" if language == "zh" else f"{thing} is {on}{when}",
        "correction" if correction else "events",
        "moved" if correction else "scheduled",
        "fact",
        0,
        "correction" if correction else "declared",
        False,
        old or None,
        (),
        day.day if day else None,
    )
