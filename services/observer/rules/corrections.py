"""Corrections: what the user takes back and what replaces it (seed 004 section 2.3.0.1-A, X33)."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from services.observer.rules import dates, preferences
from services.observer.rules.clauses import Clause
from services.observer.rules.guards import Stance
from services.observer.rules.keys import preference_key, slot_of, slug, target_of, tidy
from services.observer.rules.model import Found

_X = r"[^，,。；;：:？?！!\n]{1,18}?"
_NOT_BUT_ZH = re.compile(rf"^(?P<topic>[^，,：:]{{0,14}}?)(?<![是要还总莫无])不是(?P<old>{_X})[，,、\s—-]*(?:我)?(?:而|应该|其实|现在|正确的?|准确说|已经)*(?:是|叫|改成|换成|改到|在)(?:的是)?(?P<new>[^，,。；;：:]{{1,24}})$")
_BUT_NOT_ZH = re.compile(rf"^(?P<topic>[^，,：:]{{0,14}}?)(?:应该|其实|现在)?(?:是|叫|住在?|在)(?P<new>{_X})[，,、\s—-]*(?:而)?不(?:是|叫|在|住)(?P<old>[^，,。；;：:了的]{{1,18}})(?:了|的)?$")
_NO_CONTRAST_ZH = re.compile(r"不是(?:说|因为|为了|我(?:不|没|的错|想|要|说|故意)|不|没|很|太|特别|吗|么|吧|只|所有|每|谁|什么|怎么|这个意思|那个意思|你|他|她|有点|非要|开玩笑|针对|单纯|一?件|一?回事|一天|一般|真|挺|故意|第一次|完全|十分|好|问题|在|要|想|觉得|该|都|早|已经|单)|是不是|不是吗|要不是|不是就是|就是|还不是|可不是|岂不是|莫不是|除非|是因为|是为了|是不|是没|是怎|是谁|是什么|是否|是吗|是说|是想|是觉得|是有点|是太|是很|是真|是你|是他|是她|是在|是要")
_DEICTIC_ZH = re.compile(r"(?:这|那|它|他|她|他们|她们|重点|关键|问题|目的|原因|本质|核心|成功|失败|爱情?|人生|生活|学习|工作|编程|幸福|重要的|难的|有的|谁|你|您|你们|别人|大家|错误|报错|瓶颈|bug)(?:们|个|里|的)?\S{0,6}$|^(?:他|她|它|这|那|你|您|人家|别人|老板|同事|朋友|函数|变量|参数|返回值)")
_NOW_LIKE_ZH = re.compile(r"(?:我)?(?:现在|如今|目前|这阵子以来)(?:已经|变得|反而|开始|倒是|都|又|是|我|其实|真的)*(?:更|改|只|比较|最|偏|转而|又|还是|特别|很|超|就|不太|不怎么|不再|不)*(?:喜欢|偏爱|爱(?=[吃喝看听用穿])|偏好|倾向于?|用|使用|吃|喝|穿|住在?|在|叫|讨厌)")
_NOW_PLAIN_ZH = re.compile(r"现在(?:我)?(?:已经|都|反而|开始|又|其实|真的|倒是|变得)*(?:更|改|只|比较|最|偏|转而|还是|特别|很|超|就)*(?P<neg>不太|不怎么|不)?(?:喜欢|偏爱|偏好|倾向于?|爱(?=[吃喝看听用穿])|讨厌)")
_NOW_SWITCH_ZH = re.compile(r"现在(?:我)?(?:已经|都|开始|只|就|改)*(?:改|只|都|换)?(?P<verb>用|喝|吃|穿|看|玩|住在?|在|做|从事|学|养|听|骑|开)(?P<new>[^，。]{1,20}?)(?P<end>了|工作了|上班了)$")
_NO_MORE_ZH = re.compile(r"(?:我|^|也|已经|现在|都|早就|早已|决定|以后|今后|从此)(?:不再|再也不|再不)(?P<verb>喜欢|需要|爱|使用|信任|相信|从事|负责|担任|是|住在?|在|用|吃|喝|抽|玩|看|穿|做|养|开|买|去|学|写|听|打|坚持|追|订阅|参加|接|当|练|骑)(?P<old>[^，。]{0,20}?)(?:了|工作了?|上班了?)?$")
_IDIOM_ZH = re.compile(r"不再(?:赘述|多说|打扰|追究|联系|说|提|犹豫|纠结|重复|啰嗦|见|年轻|是秘密)|再也不(?:见|敢|能|会|想)|不用(?:谢|客气|了|再|管|担心|麻烦|说)|不好意思|不在(?:乎|意|家|线|了)|不做了$|不学了$|不看了$|不买了$|不玩了$|不打扰|不去了$|不吃了$|不喝了$|不写了$|不开(?:心|玩笑)|不爱了$|不信了?$|不养生")
_QUIT_ZH = re.compile(r"(?:^|我)(?:现在|已经|早就|早已|都|也|基本|彻底|终于|其实|最近|从上周|从上个?月|去年|上个月|上周|今年)*(?:(?:不|不怎么|不太|很少)(?P<verb>喜欢|爱|吃|喝|用|抽|玩|穿|住在?|做|学|养|开|写|在|看|听|打|去|骑|订|练|是|当|叫|需要)(?P<old>[^，。]{1,16}?)(?:工作|上班|生活|干|住)?了|戒(?:掉)?了?(?P<old2>酒|烟|糖|咖啡|奶茶|可乐|甜食|肉|游戏|[\u4e00-\u9fff]{1,6}?)(?:了)?|(?:把)?(?P<old3>烟|酒|咖啡|奶茶|糖|游戏)(?:给)?戒(?:掉)?了|(?:放弃|弃用|卸载|抛弃|告别|停用)了(?P<old4>[^，。]{1,16}))$")
_SWITCH_ZH = re.compile(r"^(?P<head>.{0,24}?)(?:(?:从|由)(?P<old>[^，,]{1,16}?))?(?:已经|都|决定|刚|又|全部|全面|正式|彻底|我|就|也|还是)*(?P<how>换成|改成|改用|改为|换到|改到|换作|转用|转到|切换到|切到|迁移到|改吃|改喝|改去|改学|改叫|推迟到|提前到|延期到|延到|挪到|调到|改住|换用|转做|转行做|转行到|跳槽到|跳槽去|换了(?:台|个|部)?|改回|换回)(?:了)?(?P<new>[^，,。]{1,24}?)(?P<end>了|吧)?$")
_TO_AGENT_ZH = re.compile(r"帮我|帮忙|请|麻烦|你|能不能|可以|给我|把(?:这|那|上面|下面|标题|第|代码|函数|变量|它|图|文|表|段|颜色|背景|字|按钮|文件|参数|句|格式|单位|密码|结果)|代码|函数|变量|标题|字体|这[句段个篇]|第[一二三四五\d]")
_SLIP_ZH = re.compile(r"(?:^|我|刚才|刚刚|之前|前面|上面|上次)(?:我)?(?:说|记|写|打|讲|搞|弄|输|填|口)(?:错|误|反)了?|^(?:更正|纠正|口误|订正|修正|勘误)|更正一下|纠正一下|改一下口|说反了|我改(?:变)?主意了|改主意了|改变主意|变卦|收回刚才|收回之前|当我没说|^(?:不对|错了|不是|不不|哦不|啊不)$|(?:你|您)(?:说|记|搞|弄|理解)(?:得不对|错了?)|你误会了|那是以前|那是之前|早就不是了|已经不是了|情况变了|过时了|不是这样的?$")
_SLIP_ASKED_ZH = re.compile(r"如果|要是|是不是|有没有|吗|别|怕|可能|万一|哪里|帮我|请|什么|他|她|老师|纠正我")
_SHOULD_ZH = re.compile(r"^(?:我是?说的?|应该|正确的?|其实|实际上?|准确(?:地)?说|我的意思|准确来说|真正)?(?:应该)?(?:是|叫)(?P<new>[^，。]{1,20}?)(?:才对|才是)?$")
_ACTUALLY_ZH = re.compile(r"^(?:不|不对|啊|哦|嗯|但|不过)*[，, ]?(?:其实|实际上|事实上)")

_T = r"(?:an? |the |my )?[\w'+#./ -]{1,40}?"
_NOT_BUT_EN = re.compile(rf"^(?P<topic>.{{0,48}}?)\b(?:not|isn't|aren't|wasn't|ain't)\s+(?:called |named |in |at |on |an? |the |from )?(?P<old>{_T})\s*(?:,|;|-|–|—)?\s*(?:but|it's|it is|i'm|i am|they're|we're|rather|he's|she's)\s+(?:actually |really |rather |in |at |on |an? |the |from |now )*(?P<new>[\w'+#./: -]{{1,40}})$", re.I)
_BUT_NOT_EN = re.compile(rf"^(?P<topic>.{{0,60}}?)\b(?P<link>is|are|am|'m|'s|was|live in|work at|work for|work as|prefer|like|use|named|called|be|meant|said|on|at|in|in fact|want)\s+(?:actually |now |really |on |at |in |an? |the )*(?P<new>[\w'+#./: -]{{1,40}}?)\s*(?:,|-|–|—|\()?\s*(?:and )?(?:not|rather than|instead of)\s+(?:in |at |on |an? |the |with )*(?P<old>[\w'+#./: -]{{1,40}}?)(?:\s+any ?more|\s+as (?:i|you) said|\))?$", re.I)
_NO_CONTRAST_EN = re.compile(r"\bnot (?:only|just|sure|bad|that|because|necessarily|even|yet|really|entirely|too|so|very|all|every|always|much|many|to mention|a (?:big|bad|problem|huge)|able|going|working|interested|ideal|great|good|perfect|surprising|the point|the best|what|my fault|about|familiar|trying|saying|complaining|here|to be|everyone|exactly|quite|enough|allowed|supposed|ready|feeling|happy|afraid|used to|like|as|in the mood|looking|asking|an? (?:expert|fan|native))\b|\bit'?s not that\b|\bwhy not\b|\bif not\b|\bor not\b|\bnot (?:i|you|we|he|she|they)\b|\bbut (?:i|we|you|it|he|she|they|can|could|also|still|that|this|there|what|how|why|the \w+ (?:is|are)|only|please|maybe|if|when|not|my|just|very|close|good|getting)\b", re.I)
_DEICTIC_EN = re.compile(r"^(?:this|that|these|those|he|she|they|you|his|her|their|your|there|life|success|the (?:problem|issue|point|error|bug|question|key|goal|answer|result|function|variable)|what|who|why)\b", re.I)
_NO_MORE_EN = re.compile(r"\b(?:I|we)(?:'m|'ve| am| have)?\s+(?:really\s+|just\s+|also\s+)*(?P<neg>don't|do not|can't|cannot|am not|'m not|not|no longer|stopped|quit|gave up|given up|have stopped|have quit|'ve stopped|'ve quit|'ve given up|dropped|ditched|abandoned|am done with|'m done with|done with|off|'m off|got rid of|never)\s+(?P<old>.+?)(?P<end>\s+(?:any ?more|any longer|these days|now|altogether|for good|entirely|completely))?$", re.I)
_NOT_ANYMORE_EN = re.compile(r"^(?:no,?\s+)?not\s+(?:into\s+|a\s+|an\s+)?(?P<old>[\w'+#./ -]{2,40}?)\s+(?:any ?more|any longer|now)$|^no (?:more|longer)\s+(?P<old2>[\w'+#./ -]{2,40})(?:\s+for me)?$", re.I)
_NOW_EN = re.compile(r"\b(?:I|we|I'm|I've|we've)\s+(?:do |actually |really )*(?P<how>now\s+(?:actually\s+|much\s+)?(?:prefer|like|love|use|enjoy|live|work|hate|drink|eat|drive|go by|want|run|am|have)|'m now|am now|'ve now|have started to prefer|have come to (?:prefer|like|love)|prefer\b.*\bnow$|like\b.*\bnow$|love\b.*\bnow$|use\b.*\bnow$|live\b.*\bnow$|work\b.*\bnow$|hate\b.*\bnow$|drink\b.*\bnow$|eat\b.*\bnow$)|^(?:but |and |so |these days,? |nowadays,? )*now(?:adays)?,?\s+(?:that )?I\s+(?:prefer|like|love|use|enjoy|live|work|hate|drink|eat)\b|^these days,?\s+I\s+(?:prefer|like|love|use|enjoy|live|work|hate|drink|eat)\b", re.I)
_NOW_ASIDE_EN = re.compile(r"\bright now|for now|just now|until now|by now|now that|from now on|know\b|now and then\b|even now\b", re.I)
_SWITCH_EN = re.compile(r"\b(?:I|we|we've|I've|I'm|we're|I have|we have|my \w+(?: \w+)?|our \w+(?: \w+)?|the \w+(?: \w+){0,2})\s+(?:'ve\s+|have\s+|has\s+|had\s+|just\s+|recently\s+|finally\s+|also\s+|fully\s+|actually\s+|already\s+|am\s+|are\s+|is\s+|got\s+|been\s+|was\s+|completely\s+|now\s+|has been\s+)*(?P<how>switched|switching|migrated|changed|converted|swapped|transitioned|pivoted|upgraded|moved over|rescheduled|moved|pushed|postponed|shifted|renamed|bumped)(?:\s+back|\s+over|\s+my \w+| our \w+)?\s*(?:from\s+(?P<old>[\w'+#./ -]{1,32}?)\s+)?(?:to|for)\s+(?P<new>[\w'+#./: -]{1,40})$|^(?:switch(?:ed)?|change(?:d)?|reschedule(?:d)?)\s+from\s+(?P<old2>[\w'+#./ -]{1,32}?)\s+to\s+(?P<new2>[\w'+#./ -]{1,40})$|\b(?:I|we)\s+(?:'ve |have |just |recently )*(?:replaced|swapped|traded|ditched|dropped|left)\s+(?:my |our |out )?(?P<old3>[\w'+#./ -]{1,32}?)\s+(?:with|for|in for)\s+(?:an? |my )?(?P<new3>[\w'+#./ -]{1,40})$", re.I)
_INSTEAD_EN = re.compile(r"\b(?:I|we)(?:'m|'ve|'d| am| have)?\s+(?:now\s+|actually\s+|have\s+|prefer\s+|started\s+|switched to\s+)*(?P<verb>use|using|prefer|drink|drinking|eat|eating|like|want|wear|work at|live in|take)\s+(?P<new>[\w'+#./ -]{1,40}?)\s+(?:now\s+)?instead of\s+(?P<old>[\w'+#./ -]{1,40})$|^instead of\s+(?P<old2>[\w'+#./ -]{1,40}),\s*I\s+(?:now\s+)?(?:use|prefer|drink|eat|like|want)\s+(?P<new2>[\w'+#./ -]{1,40})$", re.I)
_SLIP_EN = re.compile(r"\bI (?:meant|misspoke|was wrong|made a mistake|mistyped|misremembered)\b|\bmy (?:mistake|bad)\b|^correction\b|\blet me correct\b|\bscratch that\b|\bchange(?:d)? my mind\b|\bI take (?:that|it) back\b|^(?:no,? )?wait\b|^sorry\b|^oops\b|\bmake that\b|\bthat'?s (?:wrong|not right|incorrect|outdated|no longer (?:true|right|correct|the case)|not (?:true|correct))\b|\byou(?:'ve)? (?:got|have) (?:it|that|my .{2,20}) wrong\b|\byou(?:'re| are) (?:wrong|mistaken)\b|\byou misunderstood\b|\bon second thought\b|\bno,? actually\b|\bto correct\b|\bupdate:|^update\b|\bi was mistaken\b", re.I)
_OPENER = re.compile(r"(?:no[, ]*)?(?:actually|in fact),?|no|nope|其实|实际上|事实上|不是?的?", re.I)
_ACTUALLY_EN = re.compile(r"^(?:no[,.]?\s+|oh,?\s+|well,?\s+|but\s+|wait,?\s+|sorry,?\s+)*(?:actually|in fact|as a matter of fact)\b", re.I)
_MEANT_EN = re.compile(r"\b(?:I meant|make that|it'?s|that'?s|should be|it should be|it is|i meant to say|correction:?)\s+(?:actually\s+|really\s+|supposed to be\s+)*(?P<new>[\w'+#./: -]{1,40}?)(?:\s*,?\s*not\s+(?P<old>[\w'+#./: -]{1,30}))?$", re.I)
_USED_TO_EN = re.compile(r"\bI\s+used to\s+(?:really\s+|always\s+)?(?P<verb>like|love|prefer|enjoy|use|live in|work at|work for|work as|drink|eat|hate|be|play|drive|smoke)\s+(?P<old>.+)$|\bI\s+was\s+(?P<was>an?\s+[\w ]{3,24})$", re.I)
_USED_TO_ZH = re.compile(r"^(?:我)?(?:以前|之前|过去|原来|曾经|原先|本来|小时候)(?:我)?(?:一直|很|最|都|是|更|比较|特别|总是|经常|总)*(?P<verb>喜欢|爱|用|住在?|在|吃|喝|讨厌|叫|做|是|习惯用?|偏爱|穿|看|玩)(?P<old>[^，,]{1,20}?)(?:工作|上班|的)?$")
_BACK = re.compile(r"^(?:但是?|不过|可是?|然而|后来|如今|现在|目前|but|now|and now|these days|however|nowadays)", re.I)
_DAY = re.compile(r"^(?:周|星期|礼拜|下周|本周|上周|明|后|今|\d{1,2}[月号点:：]|[一二三四五六七八九十]{1,3}[月点号]|上午|下午|晚上|早上|monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|today|next|january|february|march|april|may|june|july|august|september|october|november|december|\d{1,2}(?:st|nd|rd|th)|\d{1,2}\s?(?:am|pm)|\d{1,2}:\d\d|noon)", re.I)
_PERSONAL_EN = re.compile(r"\b(?:I|my|I'm|mine|me|we|our)\b|^(?:it|it's|the|no)\b", re.I)


def find(clauses: Sequence[Clause], stances: Sequence[Stance], plain: Sequence[list[Found]], today: date) -> dict[int, list[Found]]:
    """Corrections by the clause that states them; each replaces what the plain detectors found in that clause."""
    found: dict[int, list[Found]] = {}
    pending: Found | None = None
    armed = opened = -9
    before: tuple[int, str, str] | None = None
    for index, (clause, stance) in enumerate(zip(clauses, stances, strict=True)):
        if stance.asked or stance.supposed or stance.ironic or (stance.reported and stance.subject != "self"):
            continue
        following = clauses[index + 1] if index + 1 < len(clauses) and clauses[index + 1].sentence == clause.sentence else None
        if _slips(clause):
            armed = index
            corrected = _named(clause, following, stance, plain[index], today) or _meant(clause, today)
            if corrected:
                found[index] = corrected
            elif plain[index] and not _bare_slip(clause):
                found[index] = [_promote(one, "slip") for one in plain[index] if _promotable(one)]
            if not found.get(index):
                found.pop(index, None)
            continue
        if (old := _used_to(clause)) is not None:
            before = (index, *old)
            continue
        if before and index - before[0] <= 2 and plain[index] and (_BACK.match(clause.text) or "现在" in clause.text or re.search(r"\bnow\b", clause.text)):
            changed = [_promote(one, "used_to", before[2], _old_key(before[1], before[2])) for one in plain[index] if _promotable(one)]
            if changed:
                found[index] = changed
                before = None
                continue
        direct = _named(clause, following, stance, plain[index], today)
        if direct:
            found[index] = direct
            pending = direct[0]
            if following and index + 1 not in found and direct[0].retracts:
                armed = index
            continue
        if index - armed <= 2 and armed >= 0:
            changed = [_promote(one, "slip", pending.old_value if pending and pending.retracts else None, pending.key if pending and pending.retracts else None) for one in plain[index] if _promotable(one)]
            if not changed and not (pending and pending.retracts):
                changed = _bare_value(clause, today)
            if changed:
                found[index] = changed
                armed = -9
                continue
        if index - opened == 1 and stance.subject == "self":
            found |= {index: changed} if (changed := [_promote(one, "actually") for one in plain[index] if one.kind == "profile"]) else {}
    return found


def _promotable(one: Found) -> bool:
    return one.kind in ("preference", "profile", "constraint", "goal", "decision", "task", "event")


def _promote(one: Found, pattern: str, old: str | None = None, old_key: str | None = None) -> Found:
    value = dict(one.value)
    if old_key:
        value["old_key"] = old_key
    return replace(one, assertion="correction", detector="correction", pattern=pattern, old_value=old or one.old_value, value=value)


def _slips(clause: Clause) -> bool:
    if clause.language == "en":
        return bool(_SLIP_EN.search(clause.text)) and not re.match(r"(?:sorry|wait)\s+(?:for|to|about|i\b|a\b|until|what|but)", clause.text, re.I) and not re.search(r"\bif I\b|\bhelp me\b|\bplease correct\b", clause.text, re.I)
    return bool(_SLIP_ZH.search(clause.text)) and not _SLIP_ASKED_ZH.search(clause.text)


def _bare_slip(clause: Clause) -> bool:
    return len(clause.text) <= 5


def _old_key(verb: str, old: str) -> str | None:
    """The key under which the old value would have been stored, where the verb tells."""
    if re.match(r"住|live", verb):
        return "profile:user:city"
    if re.match(r"work (?:at|for)|在", verb):
        return "profile:user:employer"
    if re.match(r"叫", verb):
        return "profile:user:name"
    if re.match(r"做|是|work as|be", verb):
        return "profile:user:occupation"
    return preference_key(verb + old if re.match(r"[吃喝用穿看玩]", verb) else old)[0]


def _used_to(clause: Clause) -> tuple[str, str] | None:
    match = _USED_TO_EN.search(clause.text) if clause.language == "en" else _USED_TO_ZH.search(clause.text)
    if not match:
        return None
    groups = match.groupdict()
    if groups.get("was"):
        return "be", tidy(groups["was"])
    return match["verb"], tidy(match["old"])


def _meant(clause: Clause, today: date) -> list[Found]:
    match = _MEANT_EN.search(clause.text) if clause.language == "en" else _SHOULD_ZH.search(clause.text)
    if not match:
        return []
    old = tidy(match.groupdict().get("old") or "")
    new = tidy(match["new"])
    if re.match(r"(?:me|wrong|not|to|that|fine|okay?|right|true|the way|all|good|你|我|的|错|no|because|just|so|too|a (?:good|bad))\b", new, re.I):
        return []
    return [_value("", old, new, today, clause, "slip")]


def _bare_value(clause: Clause, today: date) -> list[Found]:
    """The value after `no, I misspoke`: a bare day or `it is X`."""
    if clause.language == "en":
        return _meant(clause, today) if _MEANT_EN.match(clause.text) and len(clause.text) < 48 else []
    match = _SHOULD_ZH.match(clause.text)
    if match and not re.match(r"我|你|这|那|的|因为|不|没|说|想", match["new"]):
        return [_value("", "", tidy(match["new"]), today, clause, "slip")]
    return []


def _named(clause: Clause, following: Clause | None, stance: Stance, plain: list[Found], today: date) -> list[Found]:
    """A correction by a pattern of its own."""
    if stance.subject == "other" or stance.subject == "agent":
        return _contrast(clause, following, stance, today) if clause.language == "zh" and stance.subject == "other" and not re.search(r"^(?:我|他|她|它)", clause.text) else []
    if clause.language == "en":
        return _english(clause, following, stance, plain, today)
    return _chinese(clause, following, stance, plain, today) or (
        _english(clause, None, stance, plain, today) if re.search(r"\b(?:switch|anymore|instead|no longer)", clause.text) else []
    )


def _chinese(clause: Clause, following: Clause | None, stance: Stance, plain: list[Found], today: date) -> list[Found]:
    text = clause.text
    if found := _contrast(clause, following, stance, today):
        return found
    if found := _switched_zh(text, stance, today, clause):
        return found
    if stance.trial or re.search(r"今天|今晚|这次|这顿|刚才|暂时|这周|先不", text):
        return []
    if not _IDIOM_ZH.search(text) and (match := _NO_MORE_ZH.search(text) or _QUIT_ZH.search(text)):
        groups = match.groupdict()
        old = tidy(groups.get("old") or groups.get("old2") or groups.get("old3") or groups.get("old4") or "")
        if stance.subject in ("self", "none", "group") and (stance.explicit or stance.subject == "self" or groups.get("verb")):
            return _denied(old, groups.get("verb") or "", "不再", clause)
    if _NOW_PLAIN_ZH.search(text) and stance.subject in ("self", "none"):
        return [_promote(one, "现在喜欢") for one in plain if one.kind == "preference"] or _feeling_gone(clause)
    if (match := _NOW_SWITCH_ZH.search(text)) and stance.subject == "self":
        changed = [_promote(one, "现在") for one in plain if one.kind in ("preference", "profile")]
        if changed:
            return changed
        new = tidy(match["new"])
        if match["verb"] in ("用", "喝", "吃", "穿", "玩", "骑", "开", "听", "看") and not re.match(r"不|的|这|那|什么|完|到", new):
            key, scope, _ = preference_key(match["verb"] + new)
            return [_made("preference", key, {"scope": scope, "target": target_of(new), "value": new}, f"现在{match['verb']}{new}", "现在", 1)]
    if _ACTUALLY_ZH.match(text) and stance.subject == "self":
        return [_promote(one, "其实") for one in plain if one.kind == "profile" or (one.kind == "preference" and one.polarity < 0) or "更" in text]
    return []


def _feeling_gone(clause: Clause) -> list[Found]:
    """`我现在不喜欢了`: something shown before is no longer liked; what it is, the conversation tells."""
    if re.search(r"现在(?:已经|都|又)?不(?:太|怎么)?(?:喜欢|爱)(?:了|它了|这个了|这种了|这样的?了)$", clause.text):
        return [Found("preference", None, {"value": "", "deictic": True}, clause.text, "correction", "现在不喜欢了", "preference", -1, "correction", True)]
    return []


def _denied(old: str, verb: str, pattern: str, clause: Clause) -> list[Found]:
    if not old or re.match(r"(?:这|那|你|他|她|它|谁|什么|多|下|的|出|到|起|上|懂|清|完|见|惯|it\b|that\b|this\b)", old) or len(old) > 18:
        return []
    if re.match(r"住", verb):
        return [_made("profile", "profile:user:city", {"slot": "city", "value": "", "old": old}, f"不再住在{old}", pattern, -1, old, True)]
    if verb == "在":
        slot = "employer" if "工作" in clause.text or "上班" in clause.text or "干" in clause.text else "city"
        return [_made("profile", f"profile:user:{slot}", {"slot": slot, "value": "", "old": old}, f"不再在{old}", pattern, -1, old, True)]
    if verb in ("是", "当", "做", "从事", "担任", "叫"):
        slot = "name" if verb == "叫" else "occupation"
        return [_made("profile", f"profile:user:{slot}", {"slot": slot, "value": "", "old": old}, f"不再{verb}{old}", pattern, -1, old, True)]
    key, scope, _ = preference_key((verb if len(verb) == 1 else "") + old)
    return [_made("preference", key, {"scope": scope, "target": target_of(old), "value": old}, f"不再{verb or '用'}{old}", pattern, -1, old, True)]


def _made(kind: str, key: str | None, value: dict[str, object], text: str, pattern: str, polarity: int = 0, old: str | None = None, retracts: bool = False) -> Found:
    assert kind in ("profile", "preference", "event", "entity", "note")  # noqa: S101 - narrows the type
    return Found(kind, key, dict(value), text, "correction", pattern, "preference" if kind == "preference" else "fact", -1 if polarity < 0 else 1 if polarity > 0 else 0, "correction", retracts, old)


def _contrast(clause: Clause, following: Clause | None, stance: Stance, today: date) -> list[Found]:
    """`不是X，是Y` in one clause or over two."""
    text = clause.text
    joined = [text] if not following else [f"{text}，{following.text}", text]
    for candidate in joined:
        if "不" not in candidate:
            continue
        for pattern in (_NOT_BUT_ZH, _BUT_NOT_ZH):
            match = pattern.search(candidate)
            if not match or _NO_CONTRAST_ZH.search(match.group()[match.start("topic") + len(match["topic"]) :]) or _NO_CONTRAST_ZH.search(candidate):
                continue
            topic, old, new = match["topic"].strip(), tidy(match["old"]), tidy(match["new"])
            if _DEICTIC_ZH.search(topic) or not old or not new or old == new or re.search(r"[吗呢]$|什么|怎么", new):
                continue
            taste = re.match(r"(?:我)?(?:现在|如今)?(?:更|最)?(?:喜欢|偏爱|爱|要的?)(?P<what>.+)$", new)
            made = _value(topic, old, tidy(taste["what"]) if taste else new, today, clause, "不是X,是Y")
            return [_joined(made) if following and candidate is joined[0] and candidate != text else made]
        if following and candidate is joined[0] and (match := re.match(r"^(?:不|不对)?(?:不是|不要|不喜欢|别用)(?P<old>[^，]{1,14})，(?:而)?(?:我)?(?:现在|如今|其实|更|改|要|是)*(?:喜欢|偏爱|爱|用)(?P<new>[^，]{1,20})$", candidate)) and not re.search(r"吗|什么|不是不", candidate) and re.match(r"不是|不(?:不|对)", candidate):
            return [_joined(_taste(tidy(match["new"]), tidy(match["old"]), "不是X,是Y"))]
    return []


def _joined(found: Found) -> Found:
    """The correction marked as having used up the clause after its own."""
    return replace(found, flags=(*found.flags, "joined"))


def _taste(new: str, old: str, pattern: str, verb: str = "喜欢") -> Found:
    key, scope, slot = preference_key(new)
    value: dict[str, object] = {"scope": scope, "target": target_of(new), "value": new, "old": old, "old_key": preference_key(old)[0]}
    if slot:
        value["slot"] = slot
    return _made("preference", key, value, f"{verb}{new}" if re.search(r"[\u3400-\u9fff]", verb) else f"{verb} {new}", pattern, 1, old or None)


def _value(topic: str, old: str, new: str, today: date, clause: Clause, pattern: str) -> Found:
    """The correction of a value: of a slot of the speaker, of a day, or of whatever the topic names."""
    bare = re.sub(r"^(?:其实|不对|错了|不|哦|啊|是的|no|actually|sorry|wait)[，, ]*", "", topic, flags=re.I).strip(" ，,")
    first = re.sub(r"^(?:我|本人|I'm|I am|I|my)\s*(?:的)?", "", bare, flags=re.I)
    mine = bool(re.match(r"(?:我(?!们)|本人|I\b|I'm\b|my\b)", bare, re.I))
    slot = _slot_of(bare, old, new) if mine or not bare or re.search(r"名字|生日|职业|name|birthday", bare) else None
    zh = clause.language != "en"
    if slot:
        return _made("profile", f"profile:user:{slot}", {"slot": slot, "value": new, "old": old}, _say(slot, new, zh), pattern, 0, old or None)
    if mine and re.search(r"喜欢|爱|偏好|要|用|prefer|like|love|use|want|favou?rite", bare):
        return _taste(new, old, pattern, "喜欢" if zh else "prefers")
    if _DAY.match(new) or _DAY.match(old):
        said = dates.find(new, today)
        value: dict[str, object] = {"topic": first, "value": new, "old": old}
        key = f"event:{slug(first)}:time" if first else None
        text = f"{first}是{new}" if zh else f"{first} {'' if re.search(r'(?:is|are|on|at)$', first) else 'is '}{new}".strip()
        made = _made("event", key, value, text if first else new, pattern, 0, old or None)
        return replace(made, event_date=said.day if said else None)
    if not bare and (slot_of(new) or slot_of(old) or target_of(new) != new or re.search(r"风|style", new + old)):
        return _taste(new, old, pattern, "喜欢" if zh else "prefers")
    key = f"entity:topic:{slug(first)}" if first else None
    text = (f"{first}是{new}" if zh else f"{first} {new}") if first else new
    return _made("entity" if first else "note", key, {"topic": first, "value": new, "old": old}, text, pattern, 0, old or None)


def _say(slot: str, new: str, zh: bool) -> str:
    if zh:
        return {"name": f"名字叫{new}", "city": f"住在{new}", "hometown": f"来自{new}", "employer": f"在{new}工作", "occupation": f"职业是{new}", "birthday": f"生日是{new}"}.get(slot, f"{slot}：{new}")
    return {"name": f"name is {new}", "city": f"lives in {new}", "hometown": f"is from {new}", "employer": f"works at {new}", "occupation": f"is a {new}", "birthday": f"birthday is {new}"}.get(slot, f"{slot}: {new}")


def _slot_of(topic: str, old: str, new: str) -> str | None:
    for slot, pattern in (
        ("name", r"叫|名字|姓名|\bname|called"), ("city", r"住|家在|\blive|based"), ("birthday", r"生日|birthday"), ("age", r"岁$|\bage\b"),
        ("employer", r"公司|工作在|在.*(?:工作|上班)|work (?:at|for)|employer|company"), ("occupation", r"职业|工作是|做$|\bjob\b|work as|profession"),
        ("hometown", r"来自|老家|家乡|from$|hometown"), ("email", r"邮箱|email"), ("phone", r"电话|手机号|phone number"),
    ):
        if re.search(pattern, topic, re.I):
            return slot
    joined = f"我是{new}"
    if re.search(r"(?:师|员|生|家|者|经理|医生|老师)$", new) or re.search(r"\b(?:engineer|developer|designer|teacher|doctor|nurse|manager|student|lawyer|analyst|scientist|writer)\b", new, re.I):
        return "occupation"
    if re.search(r"岁$", new):
        return "age"
    return "hometown" if joined.endswith("人") and old.endswith("人") else None


def _switched_zh(text: str, stance: Stance, today: date, clause: Clause) -> list[Found]:
    match = _SWITCH_ZH.search(text)
    if not match or re.search(r"怎么|如何|什么|要不|能|会不会|建议|考虑|想", text):
        return []
    head, old, new, how, done = match["head"], tidy(match["old"] or ""), tidy(match["new"]), match["how"], match["end"] == "了"
    if _TO_AGENT_ZH.search(text) and not slot_of(text):
        return []
    if re.match(r"[一二三两几]|这|那|大写|小写|粗体|红|绿|蓝|别的|其他|异步|同步|了", new) and not _DAY.match(new):
        return []
    if topic := re.match(r"^(?:我们?的?|把)?(?P<what>[\u4e00-\u9fffA-Za-z]{2,12}?)(?:的)?(?:时间|日期)?(?:已经|被|要|从\S+)?$", head):
        if _DAY.match(new):
            return [_value(topic["what"], old, new, today, clause, "换成" if "换" in how else "改成")]
    if _DAY.match(new):
        return [_value(re.sub(r"^把|从\S*$|已经|时间|的$", "", head), old, new, today, clause, "改成")]
    self_said = stance.subject in ("self", "group") or re.match(r"^(?:我|现在|最近|已经|以后|早就)", text)
    if how.startswith("跳槽"):
        return [_made("profile", "profile:user:employer", {"slot": "employer", "value": new, "old": old}, f"在{new}工作", "换成", 0, old or None)]
    if how.startswith(("转行", "转做")):
        return [_made("profile", "profile:user:occupation", {"slot": "occupation", "value": new, "old": old}, f"职业是{new}", "换成", 0, old or None)]
    if how == "改叫":
        return [_made("profile", "profile:user:name", {"slot": "name", "value": new, "old": old}, f"名字叫{new}", "换成", 0, old or None)]
    if not (self_said or done or old or slot_of(head + new)):
        return []
    before = re.sub(r"^(?:我们?的?|现在|以后|最近|已经|早就|决定|把|从|都|也|就|请|他|的)+|(?:已经|都|从|就|也)+$", "", head)
    if not old and head.startswith(("把", "我把", "我们把")):
        old = tidy(re.sub(r"^我?们?把", "", head))
    context = slot_of(head + new) or slot_of(new)
    found = _taste(new, old, "换成" if "换" in how else "改成", "改用" if not context else "使用")
    if context:
        return [replace(found, key=f"pref:{context[0]}:{context[1]}", value={**found.value, "scope": context[0], "slot": context[1]})]
    if before and before != old and re.search(r"手机|电脑|编辑器|浏览器|数据库|框架|语言|相机|键盘|输入法|系统|品牌|牌子", before):
        return [replace(found, key=f"pref:tools:{slug({'手机': 'phone', '电脑': 'computer', '编辑器': 'editor', '浏览器': 'browser'}.get(before, before))}", value={**found.value, "slot": before})]
    return [found]


def _english(clause: Clause, following: Clause | None, stance: Stance, plain: list[Found], today: date) -> list[Found]:
    text = re.sub(r"^(?:no|yes|well|oh|hey|hi|sorry|wait|and|but|so)[,.]?\s+(?=\S)", "", clause.text, flags=re.I)
    if match := _NOT_ANYMORE_EN.search(text):
        old = tidy(match["old"] or match["old2"])
        return [_gone_en(old, "not anymore")] if not re.match(r"(?:sure|at all|even|working|that|it|this|now|yet|bad|right|good|questions?|need|worries|problem)\b", old, re.I) else []
    if found := _switched_en(text, today, clause, stance):
        return found
    if found := _gone(text, stance):
        return found
    if (match := _INSTEAD_EN.search(text)) and (stance.subject in ("self", "group") or match["new2"]):
        verb = match["verb"] or "prefer"
        if re.search(r"\bnow\b|prefer|switched|started|'m|am\b|from now on|these days", text):
            return [_taste(tidy(match["new"] or match["new2"]), tidy(match["old"] or match["old2"]), "instead of", "uses" if verb.startswith("us") else "prefers")]
    if found := _contrast_en(text, following, stance, today, clause):
        return found
    if stance.subject in ("self", "none", "group") and _NOW_EN.search(clause.text) and not _NOW_ASIDE_EN.search(clause.text):
        return [_promote(one, "now") for one in (plain or preferences.find(clause, replace(stance, momentary=False))) if one.kind in ("preference", "profile")]
    if _ACTUALLY_EN.match(clause.text) and stance.subject == "self":
        return [_promote(one, "actually") for one in plain if one.kind == "profile" or (one.kind == "preference" and one.polarity < 0)]
    return []


def _gone(text: str, stance: Stance) -> list[Found]:
    match = _NO_MORE_EN.search(text)
    if not match or stance.subject not in ("self", "group"):
        return []
    neg, old, end = match["neg"].lower(), tidy(match["old"]), (match["end"] or "").strip().lower()
    lasting = end.startswith("any") or neg == "no longer" or neg.startswith(("stopped", "quit", "gave up", "given up", "have stopped", "have quit", "'ve", "ditched", "abandoned")) or "done with" in neg or neg in ("off", "'m off", "dropped") or "got rid" in neg
    if not lasting or re.search(r"\b(?:need|have) to\b|\bneed (?:help|it|this|that)|^(?:\w+ )?(?:this|it|that|them|these|those)$|\b(?:know|understand|remember|get|see|care|want to|think|believe|trust|worry|have (?:access|time|any|the)|be able|able)\b", old, re.I) or stance.momentary and neg == "off":
        return []
    if neg == "off" and not re.match(r"(?:coffee|sugar|dairy|meat|alcohol|caffeine|gluten|carbs)", old, re.I):
        return []
    if re.match(r"(?:my )?job\b|trying|working (?:on|here)$|here\b|at the\b|for the (?:day|night)", old):
        return []
    return [_gone_en(old, "no longer" if neg == "no longer" else "anymore")]


def _gone_en(old: str, pattern: str) -> Found:
    old = re.sub(r"\s+(?:any ?more|any longer|these days|now|altogether|for good|completely|entirely)$", "", old, flags=re.I)
    if place := re.match(r"(?:live|living|based)\s+(?:in|at)\s+(.+)$", old, re.I):
        return _made("profile", "profile:user:city", {"slot": "city", "value": "", "old": tidy(place[1])}, f"no longer lives in {tidy(place[1])}", pattern, -1, tidy(place[1]), True)
    if work := re.match(r"work(?:ing)?\s+(?:at|for)\s+(.+)$", old, re.I):
        return _made("profile", "profile:user:employer", {"slot": "employer", "value": "", "old": tidy(work[1])}, f"no longer works at {tidy(work[1])}", pattern, -1, tidy(work[1]), True)
    if job := re.match(r"(?:work(?:ing)? as\s+)?an?\s+(.+)$", old, re.I):
        return _made("profile", "profile:user:occupation", {"slot": "occupation", "value": "", "old": tidy(job[1])}, f"no longer a {tidy(job[1])}", pattern, -1, tidy(job[1]), True)
    target = re.sub(r"^(?:really\s+)?(?:like|love|enjoy|prefer|use|using|drink|drinking|eat|eating|wear|wearing|play|playing|watch|watching|want|smoke|smoking|into|a fan of|buy|buying|take|taking|do|doing|go to|going to|drive|driving|listen to)\s+", "", old, flags=re.I)
    key, scope, _ = preference_key(target)
    return _made("preference", key, {"scope": scope, "target": target_of(target), "value": target}, f"no longer {old}", pattern, -1, target, True)


def _switched_en(text: str, today: date, clause: Clause, stance: Stance) -> list[Found]:
    match = _SWITCH_EN.search(text)
    if not match or stance.trial or re.search(r"\b(?:how|should|want to|need to|could|would|tab|branch|directory|file|gears|topics?|channel|attention)\b", text, re.I):
        return []
    old = tidy(match["old"] or match["old2"] or match["old3"] or "")
    new = tidy(match["new"] or match["new2"] or match["new3"])
    how = (match["how"] or "switched").lower()
    new = tidy(re.sub(r"\s+(?:instead|now|recently|last \w+|this \w+|yesterday|today|completely|entirely)$", "", new, flags=re.I))
    if _DAY.match(new):
        topic = re.match(r"^(?:my|our|the)\s+(.+?)\s+(?:has|have|is|was|got|been|moved|changed|rescheduled|pushed|postponed|shifted|bumped)\b", text, re.I) or re.search(r"(?:moved|rescheduled|pushed|changed)\s+(?:my|our|the)\s+(.+?)\s+(?:from|to)\b", text, re.I)
        return [_value(topic[1] if topic else "", old, new, today, clause, "switched")]
    if how in ("moved", "pushed", "shifted", "bumped", "postponed", "rescheduled", "renamed", "upgraded"):
        return []
    if re.match(r"(?:the|a|an)\s", text, re.I) and not old:
        return []
    name = re.search(r"my name", text, re.I)
    if name:
        return [_made("profile", "profile:user:name", {"slot": "name", "value": new, "old": old}, f"name is {new}", "switched", 0, old or None)]
    found = _taste(new, old, "switched", "switched to")
    return [found]


def _contrast_en(text: str, following: Clause | None, stance: Stance, today: date, clause: Clause) -> list[Found]:
    for candidate in [text] if not following else [text, f"{text}, {following.text}"]:
        if not re.search(r"\bnot\b|n't\b|rather than|instead of", candidate):
            continue
        match = _NOT_BUT_EN.search(candidate) or _BUT_NOT_EN.search(candidate)
        if not match or _NO_CONTRAST_EN.search(candidate) or _DEICTIC_EN.search(match["topic"] + " "):
            continue
        if re.search(r"instead of|rather than", candidate) and not re.search(r"\bI\s+(?:now|actually)", candidate):
            continue
        topic, old, new = match["topic"].strip(), tidy(match["old"]), tidy(match["new"])
        link = match.groupdict().get("link") or ""
        if len(old.split()) > 5 or len(new.split()) > 6 or not new or not old or re.match(r"(?:to|going|working|sure|because|if|when|just|only|really|what|how)\b", old + " ", re.I) or re.match(r"(?:to|because|if|when|just|what|how|that|going|getting|more|too)\b", new, re.I):
            continue
        if not (_PERSONAL_EN.search(candidate) or _DAY.match(new) or not topic):
            continue
        made = _value(f"{topic} {link}".strip() if link not in ("is", "are", "'s", "was", "am", "'m", "on", "at", "in", "be") else topic, old, new, today, clause, "not X but Y")
        return [_joined(made) if following and candidate != text else made]
    return []

