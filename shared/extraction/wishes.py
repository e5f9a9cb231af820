"""Finds wishes not to be remembered and their end, for the message, the session or the person, in both languages."""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from shared.extraction.clauses import Clause, split
from shared.extraction.gates import gate, mask
from shared.extraction.guards import Stance, stances
from shared.extraction.model import ReadingNote, TurnText
from shared.language.patterns import to_pattern

KEEP = (
    r"(?:remember|memori[sz]e|retain|save|store|record|log|learn(?: from)?|write down|note(?: down)?|collect|"
    r"keep(?: (?:a |any )?(?:records?|notes?|track|hold|memor(?:y|ies))(?: of| about| on)?)?|hold on to|make (?:a )?notes? of)"
)
KEEPING = (
    r"(?:remembering|memori[sz]ing|retaining|saving|storing|recording|logging|learning(?: from)?|writing down"
    r"|noting(?: down)?|collecting|keeping(?: (?:records?|notes?|track)(?: of| about| on)?)?|taking notes(?: of| about| on)?)"
)
KEPT = (
    r"(?:remembered|memori[sz]ed|retained|saved|stored|recorded|logged|kept|learn(?:ed|t)|written down|noted(?: down)?"
    r"|collected|put (?:in|into) (?:your |the )?memory|(?:on|in) (?:your |the |any )?(?:record|file|memory))"
)
_TALK = r"(?:conversation|chat|session|thread|discussion|dialog(?:ue)?|exchange|talk)"
_MINE = (
    r"(?:personal |private )?(?:information|info|data|details|messages|chats|conversations|words|preferences|habits|history"
    r"|secrets|facts|life)"
)
SESSION = (
    rf"(?:(?:anything|everything|nothing|none|any|all|what(?:ever)?|a word)(?: of what)?(?: (?:else|more))?"
    rf"(?: (?:I|we)(?:'ve)? (?:say|tell you|share|discuss|write|talk about|said|discussed))?"
    rf" (?:in|from|of|during|about) )?(?:this|our|the current|today's|this whole|this entire) {_TALK}"
)
PERSON = (
    rf"(?:(?:anything|everything|whatever|all|any(?: of the)? (?:information|info|details|data)|things|stuff|facts|details"
    rf"|information|info|data|notes)(?: about me\b| (?:that )?I(?:'ll| will| ever)? (?:say|tell you|share|write|mention)\b)"
    rf"|(?:any of )?(?:my|our) {_MINE}|what I (?:say|tell you|share|write)(?: to you)?\b|me\b)"
)
THIS = (
    r"(?:(?:any|all|some|none|part) of (?:this|that|it)\b|(?:what I(?:'m| am)(?: about to| going to)? (?:say|tell(?: you)?"
    r"|saying|telling(?: you)?)(?: now| next)?|what I(?:'ve)? just (?:said|told you|wrote|mentioned|shared)|the following|(?:this|that|the next|my next|these|the last|my last)"
    r" (?:message|bit|part|info(?:rmation)?|details?|fact|stuff|thing|one|sentence|story|secret|remark|statement)s?)\b)"
)
IT = r"(?:this|that|it|these|those|them)\b"
"""Words that may also mean something else that is saved, such as a file or a draft."""
NO = (
    r"(?:don'?t(?: you)?(?: ever| even| dare)?|do not(?: ever)?|never(?: ever)?|not(?: to)?|(?:you )?(?:must|should|may|can|need)"
    r"(?:n'?t| not)|you (?:are|'re) not(?: allowed| supposed)? to|cannot|(?:there(?:'s| is) )?no need to)"
)
_LEAD = (
    r"(?:(?:please|kindly|pls|and|but|so|ok(?:ay)?|hey|hi|just|also|actually|no|now|well|look|listen|from now on|from here on"
    r"|going forward|in (?:the )?future|henceforth|for now|by the way|btw|in this (?:chat|conversation|session)|you|let's"
    r"|(?:can|could|would|will) you(?: please)?|be sure(?: to)?|make sure(?: you| to| that you)?|I(?:'m| am)? (?:want|need|ask(?:ing)?"
    r"|beg|like|prefer|(?:would|'d) (?:like|prefer)) (?:for )?you to|I(?:'d| would) appreciate it if you)[,:]?\s+){0,6}"
)
_UNWANTED = (
    r"(?:I(?:'d| would) rather (?:that )?you (?:didn't|did not|don't)|I(?:'d| would) prefer (?:it if |that )?you"
    r" (?:didn't|did not|don't|not)|I (?:don't|do not|wouldn't|would not|never) (?:want|like|wish|need|allow) you(?: to)?(?: ever)?)"
)
_PLACE = (
    r"(?: (?:in|to|into|from) (?:your|the|any) (?:memory|memories|records?|notes|database|profile|history|files?))?"
)
_THEN = (
    r"(?:,? (?:please|pls|thanks|thank you|ok(?:ay)?|anywhere|at all|ever(?: again)?|any ?more|any longer|again|either|for later"
    r"|from now on|from here on|going forward|in (?:the )?future|beyond (?:this|today).*|after(?:wards| this).*|when .*|once .*"
    r"|because .*|since .*|as (?:it|I|this)\b.*|for .*))*"
)
END = rf"(?P<rest>{_PLACE}{_THEN}\s*(?:$|[:：,;–—-]))"
DENY_EN = to_pattern(
    rf"^{_LEAD}(?:(?:{NO}|{_UNWANTED}) {KEEP}|(?:stop|quit|avoid|refrain from|no|without) {KEEPING})"
    rf" (?:about )?(?:(?P<session>{SESSION})|(?P<person>{PERSON})|(?P<this>{THIS})|(?P<it>{IT})|(?P<all>anything|everything|things))"
    rf"(?: (?:that )?I(?:'m| am| just|'ve)? (?:say|said|tell|telling|told)(?:ing)?(?: you)?(?: now| next| here| in this message)?)?{END}",
    re.I,
)
SPLIT_EN = to_pattern(
    rf"^{_LEAD}(?:{NO}|{_UNWANTED}) (?:write|note|jot|take|put) (?:(?P<session>{SESSION})|(?P<person>{PERSON})|(?P<this>{THIS})|(?P<it>{IT}))"
    rf" (?:down|on (?:the |any )?record|in(?:to)? (?:your |the )?memory){END}",
    re.I,
)
PASSIVE_EN = to_pattern(
    rf"^{_LEAD}(?:I (?:don't|do not|would not|wouldn't|never) (?:want|like|wish)(?: for)? )?(?:that )?"
    rf"(?:(?P<session>{SESSION})|(?P<person>{PERSON})|(?P<this>{THIS})|(?P<it>{IT})|(?P<all>nothing|anything|none of this))"
    rf"(?: (?:I|we) (?:say|tell you|share|discuss)(?: here)?)?(?P<how>(?: (?:to|must|should|shall|is|are|may|can|need|needs|ought|will"
    rf"|ever|never|be|not)(?:n'?t)?){{0,5}}) {KEPT}{END}",
    re.I,
)
ASIDE_EN = to_pattern(
    rf"^{_LEAD}(?:(?:this|that|it|what follows|everything|(?:strictly|totally|completely)|keep (?:this|it|that))(?:'s| is| stays)?"
    r"(?: just| strictly| all)? ?)?off the record\b",
    re.I,
)
SWITCH_OFF_EN = to_pattern(
    rf"^{_LEAD}(?:(?:turn|switch) off (?:(?:your|the) )?memory|(?:turn|switch) (?:(?:your|the) )?memory off|(?:disable|pause|deactivate|stop)"
    r" (?:(?:your|the) )?memory|memory off|(?:go|enter|switch to|use|start)(?: an?)? (?:incognito|private|temporary)(?: mode| chat)?)"
    r"(?P<here> (?:for|in) (?:this|our|the current) (?:conversation|chat|session|thread))?(?:,? (?:please|for now|from now on|thanks))*\s*$",
    re.I,
)
HALT_EN = to_pattern(
    rf"^{_LEAD}(?:(?:stop|quit) (?:remembering|recording|taking notes|learning)|{NO} (?:remember|record|keep notes))"
    r"(?:,? (?:please|now|for now|any ?more|again))*\s*$",
    re.I,
)
LIFT_EN = to_pattern(
    rf"^{_LEAD}(?:(?:you(?:'re| are)? )?(?:may|can|could|(?:are )?(?:allowed|free|welcome) to)(?: now| again)?|feel free to|it'?s (?:ok(?:ay)?|fine|all right)"
    r"(?: for you)? to(?: now)?|go ahead and|please|(?:start|resume|begin|continue)(?: to)?)?(?: (?:start|resume|begin))?(?: again)? ?"
    rf"(?:{KEEP}|{KEEPING})(?: (?:about )?(?:(?P<session>{SESSION})|(?P<person>{PERSON})|(?P<all>things|anything|everything|what I say)))?"
    r"(?P<again>,? (?:again|once more|as before|like before|from now on|as usual))?(?:,? (?:now|please|thanks))*\s*$",
    re.I,
)
RESUMES_EN = to_pattern(r"\b(?:resume|again|once more)\b", re.I)
AGAIN_EN = to_pattern(r"\b(?:again|once more|as before|resume|restart|start|begin|continue)\b", re.I)
PERMITS_EN = to_pattern(r"\b(?:you )?(?:may|can|allowed|free|welcome|fine|okay|ok|all right|go ahead)\b", re.I)
SWITCH_ON_EN = to_pattern(
    rf"^{_LEAD}(?:(?:turn|switch) (?:(?:your|the) )?memory (?:back )?on|(?:turn|switch) (?:back )?on (?:(?:your|the) )?memory|(?:re-?)?(?:enable|activate)"
    r" (?:(?:your|the) )?memory|(?:leave|end|exit|stop|turn off|switch off) (?:incognito|private|temporary)(?: mode| chat)?|(?:we're |we are )?(?:back )?on the record)"
    r"(?P<here> (?:for|in) (?:this|our|the current) (?:conversation|chat|session|thread))?(?: again)?(?:,? (?:please|now|again|thanks))*\s*$",
    re.I,
)
_KEEP_ZH = (
    r"(?:记录(?:下来|下|在案)?|记(?:住|下来|下|着|忆|进去?|入|到)|记(?![错混仇反串岔恨挂漏者性号账帐过分工得叙事])|保(?:存|留)(?:下来|到|进)?"
    r"|储存|存(?:储|下来|下|档|起来|到|进去?|入|(?![钱款]))|留(?:存|档|下记录|底|下)|收集|采集|写(?:进|入|到))"
)
_ALL_ZH = r"(?:任何|所有|一切|全部|相关|个人|私人|这些|那些|的)*"
_TALK_ZH = r"(?:会话|对话|聊天|谈话|交谈|谈到|聊到)"
_SESSION_ZH = (
    rf"(?:(?:我们?)?(?:这|本|此|当前|这一?次|本次|这一?轮|今天)(?:个|次|段|场|轮|的)*{_TALK_ZH}(?:记录|内容)?"
    rf"(?:(?:的|里面?的?|中的?){_ALL_ZH}(?:内容|记录|信息|东西|话)?)?)"
)
_PERSON_ZH = (
    rf"(?:(?:关于|有关)我{_ALL_ZH}(?:信息|事情?|东西|内容|资料|数据|情况)?"
    rf"|我{_ALL_ZH}(?:信息|资料|数据|隐私|事情?|情况|偏好|喜好|习惯|记录|消息|聊天记录?|对话|内容)"
    rf"|我(?:跟你|和你|对你|告诉你)?(?:说|讲|聊)?的{_ALL_ZH}(?:话|内容|东西|事情?|信息)"
    rf"|(?:任何|所有|一切)(?:关于我|我说|我)?的?{_ALL_ZH}(?:信息|内容|事情?|东西|话|对话|聊天)"
    rf"|我们的{_ALL_ZH}(?:对话|聊天|谈话)(?:内容|记录)?|我)"
)
_THIS_ZH = (
    r"(?:(?:这|上|下|本|那)一?(?:条|句|段|番)(?:消息|信息|话|内容)?|(?:这|那)(?:件事情?|个事|事儿?|一?点|部分|些话?|些内容|些信息)"
    r"|(?:下面|以下|接下来|后面|上面)的?(?:这?[句段些]?(?:话|内容|信息|事)?)"
    r"|我(?:刚才|刚刚|现在|接下来|下面|马上)(?:要)?(?:跟你|对你|和你)?(?:说|讲|提)的(?:这?[句段些]?(?:话|内容|事)?))"
)
_IT_ZH = r"(?:这个?|它|那个?)"
_OBJECT_ZH = rf"(?:(?P<session>{_SESSION_ZH})|(?P<this>{_THIS_ZH})|(?P<person>{_PERSON_ZH})|(?P<it>{_IT_ZH}))"
_LEAD_ZH = (
    r"(?:请你?|麻烦你?|拜托你?|求你|我?(?:希望|要求|想|要|想要|需要)你|你|能不能|可不可以|可以|能否|以后|今后|往后|之后|从?现在(?:开始|起)|从今(?:天|以后)?(?:开始|起)?"
    r"|那么?|另外|对了|还有|嗯|好的?|先|千万|一定|绝对|都|也|就|还是|暂时|全部|一律|在?这次|(?:删除|删掉|清除)?并且?|[，,\s]){0,8}"
)
_NO_ZH = (
    r"(?:不要|别|不许|不准|不用|不必|不需要|无需|无须|请勿|勿|禁止|停止|不得|不可以?|不能|甭|我?(?:不想|不希望|不愿意?|不同意|不允许|不准许|不让)"
    r"(?:让|要|叫)?你?|我?(?:不想|不希望|不愿意?)(?:让|把)?)"
)
_HELP_ZH = r"(?:再|去|给我|帮我|替我|继续|把|将|擅自|随便|偷偷)*"
_PLACE_ZH = r"(?:你?的?(?:记忆|数据库|档案|记录|系统|脑子)(?:里面?|中|库)?)?(?:下来|进去|起来|存?下去|在案)?"
END_ZH = rf"(?P<rest>{_PLACE_ZH}(?:了|吧|哦|啊|呀|哈|啦|谢谢|好吗|好不好|可以吗|行吗|行不行|可以不|吗|[！!。.\s])*(?:$|[：:，,；;—-]))"
DENY_ZH = to_pattern(rf"^{_LEAD_ZH}{_NO_ZH}{_HELP_ZH}{_KEEP_ZH}{_OBJECT_ZH}{END_ZH}")
MOVED_ZH = to_pattern(
    rf"^{_LEAD_ZH}{_NO_ZH}{_HELP_ZH}(?:把|将|对){_OBJECT_ZH}(?:都|全部?|给我)?(?:进行)?{_KEEP_ZH}{END_ZH}"
)
FIRST_ZH = to_pattern(
    rf"^{_LEAD_ZH}(?:{_OBJECT_ZH}|(?P<all>什么(?:东西|事情?|内容|话|信息)?))(?:，|,)?(?:请你?|你|都|也|就|千万|一律|以后|绝对|可以|能不能)*{_NO_ZH}{_HELP_ZH}(?:被你?)?{_KEEP_ZH}{END_ZH}"
)
PASSIVE_ZH = to_pattern(rf"^{_LEAD_ZH}我?(?:不想|不希望|不愿意?)(?:让)?{_OBJECT_ZH}?被你?{_KEEP_ZH}{END_ZH}")
HALT_ZH = to_pattern(
    rf"^{_LEAD_ZH}(?:不要再?|别再?|停止|不用再?|不必再?)(?:给我|帮我)?(?:记录|记|记忆|学习记录|收集信息)(?:任何|所有)?(?:东西|内容|信息|话)?(?:了|吧|啦|谢谢|[！!\s])*$"
)
SWITCH_OFF_ZH = to_pattern(
    rf"^{_LEAD_ZH}(?:帮我|给我)?(?:(?:关闭|关掉|关了|停用|停掉|暂停|禁用|关上)你?的?(?P<here>(?:这|本|此|当前)(?:个|次)?{_TALK_ZH}的)?记忆(?:功能)?"
    rf"|把你?的?记忆(?:功能)?(?:关闭|关掉|关了|停用|停掉|关上)|(?P<private>(?:进入|打开|开启|开|用|使用|切换到)(?:无痕|隐私|临时)(?:模式|聊天|对话|会话)?))(?:了|吧|[！!\s])*$"
)
LIFT_ZH = to_pattern(
    rf"^{_LEAD_ZH}(?:(?:现在|以后|又)?(?:可以|能|允许你?|同意你?|准许你?))?(?:(?:又|再|重新|再次|恢复|继续|接着|开始|可以|把|帮我|给我)*){_KEEP_ZH}"
    rf"(?P<obj>(?P<session>{_SESSION_ZH})|(?P<person>{_PERSON_ZH}))?(?:下来|进去|起来)?(?P<now>[了吧啦！!\s]*)$"
)
PERMITS_ZH = to_pattern(r"可以|能|允许|同意|准许")
AGAIN_ZH = to_pattern(r"恢复|重新|再|继续")
SWITCH_ON_ZH = to_pattern(
    rf"^{_LEAD_ZH}(?:帮我|给我)?(?:(?:恢复|打开|开启|重新打开|重新开启|启用|重启)你?的?(?P<here>(?:这|本|此|当前)(?:个|次)?{_TALK_ZH}的)?记忆(?:功能)?"
    rf"|把你?的?记忆(?:功能)?(?:打开|开启|恢复|重新打开)|(?:退出|关闭|关掉|结束)(?:无痕|隐私|临时)(?:模式|聊天|对话|会话)?)(?:了|吧|[！!\s])*$"
)
SAVED = to_pattern(
    r"\b(?:files?|documents?|drafts?|images?|photos?|pictures?|pages?|scripts?|configs?|forms?|games?|docs?|spreadsheets?|videos?|songs?"
    r"|recordings?|changes|edits|code|functions?|scenes?|playlists?|passwords?|calls?|meetings?|tables?|columns?|variables?|tokens?|keys?"
    r"|folders?|settings|emails?|attachments?|logs?|cache|cookies?|database|disk|repo|branch|button|leftovers|food|fridge)\b"
    r"|文件|文档|草稿|图片?|照片|网页|脚本|配置|表单|游戏|表格|视频|歌|录音|修改|代码|函数|密码|会议|邮件|附件|日志|缓存|数据库|磁盘|硬盘|仓库|分支|按钮|剩菜|冰箱",
    re.I,
)
"""Things that are saved elsewhere: `this` and `it` beside them may mean one of them."""
KEEPS_MIND = to_pattern(r"remember|memori|retain|记(?!录)|忆", re.I)
"""Verbs that are only used for memory."""
LASTING = to_pattern(
    r"from now on|from here on|going forward|in (?:the )?future|ever\b|never|以后|今后|往后|从现在|从今|永远|任何时候",
    re.I,
)
ASKS = to_pattern(
    r"^(?:can|could|would|will) you\b|please|能不能|可不可以|能否|可以|好吗|好不好|行吗|行不行|请|麻烦", re.I
)
"""Opens a wish in the form of a question."""
WONDERS = to_pattern(
    r"^(?:why|how|what|when|who|did|do(?! not)|does|is|are|was|were|have|has|if|should)\b|为什么|为何|怎么|是不是|有没有|如果|会不会|要是|难道",
    re.I,
)
Scope = Literal["message", "session", "person", "here"]
READ = 2000
"""A wish is searched in so many characters at the beginning and at the end of a message."""
_KEEPS = gate(
    DENY_EN, SPLIT_EN, PASSIVE_EN, ASIDE_EN, SWITCH_OFF_EN, HALT_EN, LIFT_EN,
    DENY_ZH, MOVED_ZH, FIRST_ZH, PASSIVE_ZH, HALT_ZH, SWITCH_OFF_ZH, LIFT_ZH,
    SWITCH_ON_EN, SWITCH_ON_ZH,
)  # fmt: skip
_DENIES = (DENY_EN, SPLIT_EN, PASSIVE_EN, DENY_ZH, MOVED_ZH, FIRST_ZH, PASSIVE_ZH)


@dataclass(frozen=True, slots=True)
class MemoryWish:
    """A wish to be remembered or not; the scope `here` ends whatever keeps this session from being remembered."""

    scope: Scope
    remember: bool
    start: int
    end: int


def find_wishes(text: str) -> tuple[MemoryWish, ...]:
    """The wishes that the text states, in their order; clauses are read only if their words may be a wish."""
    results: list[MemoryWish] = []
    for start, stretch in _cut_ends(text):
        clauses = split(stretch) if mask(stretch) & _KEEPS else ()
        # how clauses stand costs ten times as much as whether one is worded as a wish, which hardly any is
        if any(clause.mask & _KEEPS and _is_worded(clause, clauses) for clause in clauses):
            results += [
                MemoryWish(wish.scope, wish.remember, start + wish.start, start + wish.end)
                for clause, stance in zip(clauses, stances(clauses), strict=True)
                if clause.mask & _KEEPS and (wish := _read_wish(clause, stance, clauses))
            ]
    return tuple(results)


def list_wishes(turn: TurnText) -> tuple[MemoryWish, ...]:
    """The wishes in the user's messages, followed by the wish of the caller."""
    worded = (wish for message in turn.messages if message.role == "user" for wish in find_wishes(message.text))
    given = () if turn.remembered is None else (MemoryWish("session", turn.remembered, 0, 0),)
    return (*worded, *given)


def find_learning_wish(turn: TurnText) -> MemoryWish | None:
    """The last wish of the user about being remembered at all; `here` turns it on again."""
    worded = (wish for message in turn.messages if message.role == "user" for wish in find_wishes(message.text))
    return next((wish for wish in reversed([*worded]) if wish.scope in ("person", "here")), None)


def to_unread(turn: TurnText, why: str) -> tuple[ReadingNote, ...]:
    """Notes that no message of the turn was read, and why; one note if it has no messages."""
    spans = [((0, len(each.text)), each.ordinal) for each in turn.messages] or [((0, 0), 0)]
    return tuple(ReadingNote(span, "dropped", f"wish:{why}", ordinal) for span, ordinal in spans)


def _cut_ends(text: str) -> list[tuple[int, str]]:
    if len(text) <= 2 * READ:
        return [(0, text)]
    return [(0, text[:READ]), (len(text) - READ, text[-READ:])]


def _is_worded(clause: Clause, clauses: Sequence[Clause]) -> bool:
    """Whether the clause has the words of a wish, whatever its stance is."""
    return find_denied(clause.text, clause, clauses) is not None or find_lifted(clause.text) is not None


def _read_wish(clause: Clause, stance: Stance, clauses: Sequence[Clause]) -> MemoryWish | None:
    text = clause.text
    if stance.supposed or stance.reported or stance.ironic or WONDERS.search(text):
        return None
    if (stance.asked or clause.asked) and not ASKS.search(text):
        return None
    if denied := find_denied(text, clause, clauses):
        scope, end = denied
        return MemoryWish(scope, False, clause.start, clause.start + end)
    if stance.asked or clause.asked:
        return None
    lifted = find_lifted(text)
    return MemoryWish(lifted, True, clause.start, clause.end) if lifted else None


def find_denied(text: str, clause: Clause, clauses: Sequence[Clause]) -> tuple[Scope, int] | None:
    """The scope that the clause excludes from memory, and where the words of the wish end."""
    if aside := ASIDE_EN.match(text):
        return "message", aside.end()
    if off := SWITCH_OFF_EN.match(text) or SWITCH_OFF_ZH.match(text):
        here = off["here"] or "private" in text or off.groupdict().get("private")
        return ("session" if here else find_scope(text)), len(text)
    for pattern in _DENIES:
        if (match := pattern.match(text)) and (scope := _read_scope(match.groupdict(), text, clause, clauses)):
            lasting = [each.end() for each in LASTING.finditer(text)]
            return scope, max([match.start("rest"), *lasting])
    return ("session", len(text)) if HALT_EN.match(text) or HALT_ZH.match(text) else None


def find_scope(text: str) -> Scope:
    return "session" if "incognito" in text.lower() or "temporary" in text.lower() else "person"


def _read_scope(match: dict[str, str | None], text: str, clause: Clause, clauses: Sequence[Clause]) -> Scope | None:
    how = match.get("how")
    if how is not None and not _negates(how, text):
        return None
    if match.get("session"):
        return "session"
    if match.get("person"):
        return "person"
    if match.get("all"):
        lasting = any(LASTING.search(each.text) for each in clauses if each.sentence == clause.sentence)
        return "person" if lasting else "session"
    if match.get("this"):
        return "message"
    if match.get("it") is None:
        return "person" if how is None else None
    return None if _speaks_of_things(text, clause, clauses) else "message"


def _negates(how: str, text: str) -> bool:
    """Whether the words deny that the thing shall be kept."""
    low = f"{text[:60]} {how}".lower()
    return any(sign in low for sign in ("not", "n't", "never", "nothing", "none"))


def _speaks_of_things(text: str, clause: Clause, clauses: Sequence[Clause]) -> bool:
    """Whether `this` or `it` may mean something that is saved elsewhere."""
    if KEEPS_MIND.search(text):
        return False
    return any(SAVED.search(each.text) for each in clauses if each.sentence <= clause.sentence)


def find_lifted(text: str) -> Scope | None:
    if on := SWITCH_ON_EN.match(text) or SWITCH_ON_ZH.match(text):
        return "session" if on["here"] else "here"
    if match := LIFT_EN.match(text):
        again, permits = AGAIN_EN.search(text), PERMITS_EN.search(text)
        whose: Scope | None = "session" if match["session"] else "person" if match["person"] else None
        if whose:
            return whose if again or permits else None
        sure = permits or match["all"] or "rememb" in text.lower() or RESUMES_EN.search(text)
        return "here" if again and sure else None
    if match := LIFT_ZH.match(text):
        may, again = PERMITS_ZH.search(text), AGAIN_ZH.search(text)
        if match["obj"]:
            return ("session" if match["session"] else "person") if may or again else None
        return "here" if again or (may and match["now"]) else None
    return None
