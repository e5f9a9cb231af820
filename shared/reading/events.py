"""Dated things that happened to the user or will, and turning points of a life with or without a date."""

import re
from collections.abc import Callable
from datetime import date

from shared.reading import dates
from shared.reading.clauses import Clause
from shared.reading.gates import gate
from shared.reading.guards import Stance
from shared.reading.keys import slug, tidy
from shared.reading.model import Found
from shared.text.patterns import to_pattern

_LIFE_ZH = to_pattern(
    r"^(?:我|我们|我家|我和\S{1,5}|我跟\S{1,5})?(?:家)?(?:最近|刚刚?|刚才|终于|已经|上个?月|"
    r"上周|去年|今年|今天|昨天|前天|正式|总算|成功|顺利|也|又|就|都|于)*(?P<what>(?:升职|加薪"
    r"|结婚|订婚|离婚|领证|分手|毕业|辞职|离职|入职|跳槽|退休|失业|被裁|怀孕|生了|当爸|当妈|"
    r"搬家|搬到|搬进|买了(?:房|车|一?[套辆台])|买房|买车|收养了|领养了|养了一|考上|考过|通过了"
    r"|拿到(?:了)?|拿了|获得(?:了)?|得了(?:第|奖|冠)|中奖|转正|转岗|创业|开了一?家|确诊|做了"
    r"(?:个)?手术|住院|出院|骨折|丢了|报名了|跑完了|完成了(?:人生|第一)|发表了|出版了|参加了"
    r"|移民|出国|回国|去世|戒烟|戒酒).{0,30}?)(?:了)?$"
)
_PAST_ZH = to_pattern(
    r"^(?:我|我们|我和\S{1,6}|我跟\S{1,6}|全家|一家人|我家\S{0,4}|我带\S{1,6})?(?:就|也|又|终于"
    r"|刚|还|都|一起|一个人|第一次|正好|和\S{1,5}|跟\S{1,5}|带\S{1,5}|在\S{1,8})*(?P<what>[^了过]{0,8}?"
    r"(?:去|买|看|见|参加|完成|拿|收到|做|吃|跑|爬|学|考|开|搬|回|面试|认识|遇到|交|办|换|丢"
    r"|摔|生|养|接|送|庆祝|拜访|旅行|旅游|出差|露营|入职|毕业|签|谈|聊|举办|组织|报|打|听|读"
    r"|种|画|写|拍|体检|拔|到|飞|玩|逛|修|装|退|订|滑|骑|住|陪|请|得|过)(?:完|到|好|上|成)?(?:了"
    r"|过).{1,30}|.{0,10}(?:去|到|回)(?:了)?.{2,12}(?:出差|旅游|旅行|玩|度假|爬山|露营|看展|"
    r"体检|面试|开会|比赛|看病|滑雪))$"
)
_FUTURE_ZH = to_pattern(
    r"^(?:我|我们|我和\S{1,6}|全家|我家\S{0,4}|一家人)?(?:就|也|将|会|要|打算|准备|计划|还|都"
    r"|一起|一个人|第一次|得|有个?|有一?[场次]|是|的|和\S{1,5}|跟\S{1,5})*(?P<what>(?:去|到|"
    r"飞|回|参加|办|举办|举行|结婚|搬|入职|做|考|面试|出差|旅行|手术|生日|婚礼|考试|体检|开学"
    r"|毕业|答辩|演讲|比赛|聚会|生孩子|动手术|住院|离职|休假|度假|当|看|跑|出国|移民|开业).{0,24})$"
)
_MOOD_ZH = to_pattern(
    (
        r"没睡|没|不舒服|心情|累|困|好冷|好热|下雨|天气|加班到|头疼|无聊|烦|生气|开心$|难过|想|报错"
        r"|错误|bug|代码|脚本|跑通|编译|运行|部署|接口|聊到|问了你|说过|提到|告诉你|讨论|怎么|什么"
        r"|看了一下|试了|发现|觉得|吃撑|睡过|改了|更新了|升级了|测试|修了|配置|模型|函数|文档|你"
    ),
    re.I,
)
_PAST_VERB = (
    r"(?:went|got|had|met|bought|saw|took|made|started|finished|ran|won|lost|gave|came|left|"
    r"began|flew|drove|rode|swam|spoke|taught|learned|learnt|built|sold|broke|fell|found|held"
    r"|wrote|read|sang|ate|threw|hosted|attended|visited|joined|adopted|moved|graduated|celebrated"
    r"|received|passed|completed|signed|launched|published|volunteered|traveled|travelled|hiked"
    r"|camped|painted|planted|tried|performed|participated|organized|competed|married|proposed"
    r"|retired|quit|resigned|enrolled|registered|applied|interviewed|accepted|donated|booked"
    r"|cooked|baked|played|watched|helped|spent|stayed|hurt|injured|underwent|recovered|opened"
    r"|closed|created|designed|presented|won|turned|welcomed|became|was (?:promoted|hired|fired"
    r"|laid off|diagnosed|accepted|born|invited|hospitalized|selected|awarded)|were (?:married"
    r"|invited)|gave birth|checked out|signed up|picked up|set up|ended up|caught up|dropped"
    r"|sprained|earned|raised|welcomed|toured|explored|rescued|fostered|renovated|repaired|bumped"
    r" into|ran into|came out|reconnected|talked|called|hung out|worked on|took up|walked|biked"
    r"|surfed|skied|danced)"
)
_PAST_EN = to_pattern(
    (
        r"\b(?:I|we|my (?:family|friends?|wife|husband|partner|kids?|son|daughter|mom|dad|team|girlfriend"
        r"|boyfriend)(?: and I)?|me and my \w+)(?:'ve| have)?\s+(?:just\s+|finally\s+|also\s+|recently\s+"
        rf"|actually\s+|even\s+|both\s+|all\s+|really\s+|officially\s+)*(?P<what>{_PAST_VERB}\b.*)$"
    ),
    re.I,
)
_LIFE_EN = to_pattern(
    (
        r"\b(?:I|we)(?:'ve| have)?\s+(?:just\s+|finally\s+|also\s+|recently\s+|officially\s+)*(?P<what>"
        r"(?:got|gotten|been|was|were)\s+(?:married|engaged|divorced|promoted|laid off|fired|hired"
        r"|accepted|diagnosed|pregnant|a (?:new )?(?:job|puppy|dog|cat|kitten|promotion|raise|offer)"
        r"|my (?:degree|license|driver's license|phd|visa|green card))\b.*|graduated\b.*|adopted\b.*"
        r"|(?:had|welcomed) (?:a|our) (?:baby|son|daughter|first|second).*|gave birth.*|bought (?:a"
        r"|our|my) (?:\w+ )?(?:house|home|car|apartment|condo|boat|bike|motorcycle|guitar|piano).*"
        r"|broke up.*|(?:quit|lost|left) my job.*|started (?:a|my) (?:new )?(?:job|business|company"
        r"|position|own .*)|retired\b.*|moved (?:in|out|into)\b.*|passed (?:my|the) .*(?:exam|test"
        r"|bar|certification|interview).*|ran (?:a|my first) .*marathon.*|won (?:a|an|the|first|"
        r"second|third)\b.*|published (?:my|a)\b.*|lost my (?:mom|dad|mother|father|dog|cat|grand\w+"
        r"|brother|sister|friend).*|broke my (?:arm|leg|wrist|ankle|foot|hand|nose|collarbone).*"
        r"|had (?:knee |back |heart |eye )?surgery.*|signed up for .*|enrolled in .*)$"
    ),
    re.I,
)
_FUTURE_EN = to_pattern(
    (
        r"\b(?:I'm|I am|we're|we are|I'll|we'll|I will|we will)\s+(?:also\s+|just\s+|probably\s+"
        r"|actually\s+)*(?P<what>(?:going (?:to|on|camping|hiking|skiing|out)|flying|traveling|travelling"
        r"|visiting|moving|getting married|starting|leaving|having|hosting|attending|running|taking"
        r"|giving|presenting|speaking|driving|heading|interviewing|graduating|volunteering|seeing"
        r"|meeting|performing|be (?:in|traveling|visiting|flying|attending|speaking|moving|on vacation)"
        r"|visit|fly|travel|attend|host|start|move|go)\b.+)$|\b(?:my|our)\s+(?P<what2>(?:[\w' -]{0,24}?\b)?"
        r"(?:exam|wedding|birthday|appointment|interview|flight|surgery|graduation|presentation|"
        r"trip|vacation|anniversary|defense|due date|conference|recital|concert|race|marathon|checkup"
        r"|meeting|demo|move|party)\s+(?:is|are|starts|begins|will be|got moved|is scheduled|was)\b.+)$"
        r"|\b(?:I|we)\s+have\s+(?P<what3>(?:an?|my|our)\s+(?:[\w'-]+\s+){0,3}(?:exam|wedding|appointment"
        r"|interview|flight|surgery|graduation|presentation|trip|vacation|anniversary|defense|conference"
        r"|recital|concert|race|marathon|checkup|party|reservation|meeting|test|deadline)\b.*)$"
    ),
    re.I,
)
_DULL_EN = to_pattern(
    (
        r"\b(?:error|exception|bug|crash\w*|code|script|function|deploy\w*|compile|test failed|headache"
        r"|(?:saw|watched) an? (?:movie|film|video|show)$|(?:saw|watched) an? (?:movie|film|show) (?:yesterday"
        r"|last night|today)"
        r"|tired|bored|sick of|weather|rained|slept|woke|lunch|breakfast|coffee|this (?:error|message"
        r"|email)|your (?:answer|suggestion|advice)|it (?:worked|failed)|you (?:said|told)|said that"
        r"|asked you|tried (?:your|that|this|the|to)|stuck|confused|question|no luck|rid of|used"
        r" to|to go\b|going to (?:need|have|be|ask|use|try)|had to|got (?:it|that|this)\b|saw (?:that"
        r"|your)|read (?:that|your|this)|found (?:that|it)|sense|idea)\b"
    ),
    re.I,
)

_OURS_EN = to_pattern(r"(?:last|on|yesterday|two|this|my)\b", re.I)


_TELLS = gate(_LIFE_ZH, _PAST_ZH, _FUTURE_ZH, _LIFE_EN, _PAST_EN, _FUTURE_EN)


def find(
    clause: Clause, stance: Stance, today: date, said_before: Callable[[], dates.Said | None] = lambda: None
) -> list[Found]:
    """The event that the clause tells, with its day; a date said earlier in the sentence counts."""
    if not clause.mask & _TELLS:
        return []
    if stance.asked or stance.supposed or stance.reported or stance.ironic or stance.subject == "agent":
        return []
    if stance.subject == "other" and not (clause.language == "en" and _OURS_EN.match(clause.text)):
        return []
    said = (dates.find(clause.text, today) if clause.mask & dates.NAMED else None) or said_before()
    return (
        _english(clause.text, stance, today, said)
        if clause.language == "en"
        else _chinese(clause.text, stance, today, said)
    )


def _chinese(text: str, stance: Stance, today: date, said: dates.Said | None) -> list[Found]:
    if (
        re.search(r"一般|通常|经常|每[天周年月个]|总是|平时|习惯", text)
        or _MOOD_ZH.search(text)
        or re.search(r"[不没]", text[:6])
    ):
        return []
    bare = _without(text, said)
    bare = re.sub(
        (
            r"^(?:[，,、的]|晚上|早上|上午|下午|中午|凌晨|傍晚|周末|晚|早|那天|的时候|那会儿|份|初|底"
            r"|末|[上中下]旬|春天|夏天|秋天|冬天|寒假|暑假|春节|国庆|五一|\d{1,2}点半?)+"
        ),
        "",
        bare,
    )
    if match := _LIFE_ZH.search(bare):
        if not (stance.explicit or said) or re.search(r"想|打算|准备|计划|要|可能|会$", text):
            return []
        return [_event(tidy(match["what"]), said.day if said else None, said, today, "zh")]
    if said is None:
        return []
    if (
        said.day <= today
        and (match := _PAST_ZH.search(bare))
        and not (said.day == today and not re.search(r"第一次|面试|婚|手术|考试|毕业|入职", text))
    ):
        return [_event(tidy(match["what"]), said.day, said, today, "zh")]
    if said.day > today and (match := _FUTURE_ZH.search(bare)) and stance.subject in ("self", "group", "none"):
        return [_event(tidy(match["what"]), said.day, said, today, "zh")]
    return []


def _without(text: str, said: dates.Said | None) -> str:
    if said is None or said.text not in text:
        return text
    head, _, tail = text.partition(said.text)
    return (
        (head + tail).strip()
        if re.fullmatch(r"(?:我|我们|我和\S{1,4}|我家|我家\S{1,3}|全家|大概|就|在|于|是|从)*\s*", head)
        else tail.strip() or head.strip()
    )


def _english(text: str, stance: Stance, today: date, said: dates.Said | None) -> list[Found]:
    if _DULL_EN.search(text) or re.search(r"\b(?:not|n't|never|no)\b|n't\b", text, re.I):
        return []
    if match := _LIFE_EN.search(text):
        return [_event(_done(match, stance), said.day if said else None, said, today, "en")]
    if said is None:
        return []
    if said.day <= today and (match := _PAST_EN.search(text)):
        return [_event(_done(match, stance), said.day, said, today, "en")]
    ahead = dates.coming(text, today) or said
    if ahead.day >= today and (match := _FUTURE_EN.search(text)):
        what = match["what"] or match["what2"] or match["what3"]
        what = re.sub(r"^going to (?=\w+ )(?!the |[A-Z])", "", what)
        if re.match(r"(?:need|have to|be able|ask|use|try|go with|implement|write|add|refactor|fix)\b", what):
            return []
        return [_event(tidy(what), ahead.day, ahead, today, "en")]
    return []


def _done(match: re.Match[str], stance: Stance) -> str:
    """What happened; of another person with who it was."""
    return tidy(match.string[: match.end("what")] if stance.subject == "other" else match["what"])


def _event(what: str, day: date | None, said: dates.Said | None, today: date, language: str) -> Found:
    shown = re.sub(r"\bmy\b", "their", re.sub(r"\b(?:our)\b", "their", what)) if language == "en" else what
    when = day or today
    value: dict[str, object] = {"event": shown, "value": shown}
    if said:
        value |= {"date": when.isoformat(), "date_said": said.text, "exact": said.exact}
    text = f"{shown}（{when.isoformat()}）" if language == "zh" else f"{shown} ({when.isoformat()})"
    bare = what.replace(said.text, "") if said else what
    return Found(
        "event",
        f"event:{when.isoformat()}:{slug(bare, 40)}",
        value,
        text if said else shown,
        "events",
        "happened" if when <= today else "planned",
        "fact",
        0,
        "declared",
        False,
        None,
        (),
        day,
    )
