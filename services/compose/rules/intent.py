"""What the user wants from this turn, by rules in both languages (seed 004 section 2.2, seed 001 section 2)."""

# ruff: noqa: E501 - one family of cues per line

import re
from dataclasses import dataclass

from schemas.vocabulary import Intent, Purpose

Cues = tuple[tuple[re.Pattern[str], float], ...]


@dataclass(frozen=True, slots=True)
class Understood:
    """The intent with its confidence and the words that spoke for it."""

    intent: Intent
    confidence: float
    cues: tuple[str, ...]


def _cues(*patterns: tuple[str, float]) -> Cues:
    return tuple((re.compile(pattern, re.IGNORECASE), weight) for pattern, weight in patterns)


# Possessive throughout: a pleasantry once read is never read another way, so the time is linear.
_GREETING = re.compile(
    r"(?:[\s,，。.!！~～?？、'\u2764\u263a\U0001f300-\U0001faff]++"
    r"|最近(?:怎么样|还好吗|好吗|忙吗)|今天(?:天气)?(?:真|很|好|挺)?(?:不错|好|舒服|热|冷|开心|累)|天气(?:真|很|挺)?(?:不错|好|热|冷)|你(?:是谁|叫什么(?:名字)?|会(?:做)?什么|怎么样|还好吗)|周末愉快|节日快乐|新年快乐|生日快乐|祝你.{0,8}|无聊(?:死了)?|陪我聊(?:聊|会儿)?(?:天)?|聊聊天?|讲个笑话"
    r"|(?:上午|中午|下午|晚上)好|晚安|再见|拜拜|回头见|明天见|早(?:上好|安)?|(?:你|您|大家|各位)?好(?:的|呀|啊|哇|吧|嘞|呢)?|嗨|哈喽|哈啰|嘿++|喂|在吗|在不在|(?:非常|十分|太|多)?(?:谢谢|感谢|谢啦|谢了|多谢)(?:你|您|啦|了|你的帮助)?|辛苦(?:了|啦)?|哈++|呵++|嗯++|哦++|行|没事|不客气|吃(?:饭)?了"
    r"|good (?:morning|afternoon|evening|night|day)|see (?:you|ya)(?: (?:later|soon|tomorrow))?|take care|thank(?:s| you)(?: (?:so|very) much| a lot| again)?|much appreciated|no problem|you're welcome|got it|sounds good|how(?:'s| is| are| have) (?:it going|you(?: doing| been)?(?: today)?|things|life|your day(?: going)?)|what'?s up|nice (?:to meet you|weather(?: today)?|day)|(?:it's )?(?:a )?(?:lovely|beautiful|nice|great) (?:day|weather)(?: today)?|(?:what a |i'm having a )(?:lovely|beautiful|nice|great|good) (?:day|weekend)|who are you|what(?:'s| is) your name|long time no see|happy (?:new year|birthday|holidays)|have a (?:nice|good|great) (?:day|one|weekend|night)|tell me a joke|i'?m (?:so )?(?:bored|fine|good|ok|tired)"
    r"|(?:hi+|hello|hey+|yo|howdy|hiya|greetings|morning|bye+|goodbye|thanks|thx|ty|cheers|welcome|nice|cool|great|awesome|lol|haha+|sure|alright|ok(?:ay)?|sup|there|everyone|again|friend|buddy)\b|[呀啊哦呢吗啦吧了没])++",
    re.IGNORECASE,
)
_INTENTS: tuple[tuple[Intent, Cues], ...] = (
    ("complaint", _cues(
        (r"投诉|退款|退货|退换|换货|差评|赔偿|索赔|维权|举报|假货|骗(?:人|子|我|钱)|太(?:差|慢|坑|烂|离谱|过分)|质量(?:很|太|真|有)?(?:差|问题|烂)|很?不满意|(?:很|太|非常|特别)?(?:失望|生气|恼火|气愤)|气死", 1.0),
        (r"(?:还|一直|至今|到现在|都)?(?:没|未)(?:有)?(?:收到|到货|发货|送到|处理|解决|人(?:理|管|回复))|坏(?:了|的)|破损|开线|掉色|漏发|少发|发错|错发|寄错|迟到|延误|超时|用不了|开不了机|多扣|重复扣|扣了(?:我)?(?:两|二|2|多)次", 0.9),
        (r"客服|售后|保修|维修", 0.5),
        (r"\b(?:complain(?:t|ing)?|refund|money back|compensat\w+|unacceptable|disappoint(?:ed|ing)|terrible|awful|horrible|worst|ridiculous|rip-?off|scam(?:med)?|furious|fed up|frustrat(?:ed|ing))\b", 1.0),
        (r"\b(?:broken|damaged|defective|faulty|ripped|torn|leaking|wrong (?:item|size|order|colou?r)|never (?:arrived|came|received|got)|(?:has|have|had)n'?t (?:arrived|received|come)|not (?:arrived|received)|still waiting|late (?:again|delivery)|overcharged|charged (?:me )?twice|double charged|stopped working|poor (?:quality|service)|bad (?:quality|service))\b", 0.9),
        (r"\b(?:return (?:it|this|these|them|my)|customer (?:service|support)|warranty)\b", 0.5),
    )),
    ("recommend", _cues(
        (r"推荐|推介|安利|种草", 1.2),
        (r"(?:买|吃|喝|穿|看|听|读|玩|送|选|挑|用|点|做|学|去|住|带|订)(?:点|些|个)?(?:什么|啥|哪(?:个|款|家|种|里|儿|部|本|件|双)?)(?:样的|样|东西|礼物|衣服|菜|书|电影)?(?:比较|最|更)?(?:好|合适|适合|呢)?(?:[?？呢啊]|$)|(?:什么|哪(?:个|款|家|种|里|部|本|件|双)?).{0,8}(?:好(?:吃|玩|看|用|喝|听)|适合(?:我|送)|比较(?:好|合适)|值得)|有(?:什么|没有|啥).{0,10}(?:建议|好(?:吃|玩|看|用|喝)|适合|值得)", 1.3),
        (r"给(?:我|点|些)?.{0,4}(?:建议|意见|主意|灵感)|帮我(?:挑|选|搭|配|参谋|看看.{0,6}(?:买|穿|选))|怎么(?:搭|穿|选|挑)|(?:怎么|如何)(?:搭配|挑选|选择)|适合我(?:的|吗)?|搭配|送(?:礼|给)|礼物", 0.8),
        (r"\b(?:recommend\w*|suggest(?:ion|ions|ed)?|any (?:ideas?|tips|suggestions?|recommendations?)|gift ideas?)\b", 1.2),
        (r"\bwhat (?:should|shall|can|could|would) (?:i|we) (?:buy|get|wear|eat|cook|make for|watch|read|order|drink|listen|play|pick|choose|bring|visit|see|try|do (?:this|on|for|in))|\bwhich (?:\w+ ){0,4}(?:should|would|is best|is better|suits)|\bwhere (?:should|can|could) (?:i|we) (?:go|eat|stay|travel|visit|shop)|\bwhat(?:'s| is| are) (?:a |some |the )?(?:good|best|nice)\b.{0,40}\b(?:for|to)\b", 1.1),
        (r"\b(?:help me (?:choose|pick|decide|find)|looking for (?:a|an|some|something)|something (?:to (?:wear|eat|read|watch|drink)|nice|good)|good (?:place|restaurant|book|movie|gift|present)s?\b|outfit|best .{1,30} for me|what to (?:wear|eat|cook|watch|read|buy|get))\b", 0.8),
    )),
    ("preference_check", _cues(
        (r"(?:还|是否)?记(?:得|不记得)(?:我|咱|上次|之前|吗)|(?:你|您)(?:都)?(?:知道|了解|记住)(?:了)?我|关于我(?:的|你)?|我(?:是谁|叫什么|叫啥|姓什么|多大|几岁|住(?:在)?哪|来自哪|在哪(?:里|儿)?(?:工作|上班|住))", 1.3),
        (r"我(?:最|更|比较|一般|平时|通常|到底|是不是|是否)?(?:喜欢|爱|偏好|偏爱|讨厌|不喜欢|不爱|习惯|常|想要|需要|忌口|过敏|怕).{0,14}(?:什么|啥|哪|吗|呢|还是|谁|怎样|多少|几|[?？])|我(?:对)?(?:什么|啥|哪些).{0,6}(?:过敏|感兴趣|忌口)|(?:什么|哪(?:些|个|种)?|啥).{0,10}是我(?:最)?(?:喜欢|爱|讨厌)", 1.3),
        (r"我的.{1,12}(?:是什么|是啥|是谁|是多少|是哪|在哪|叫什么|有哪些|几号|几岁|是.{1,8}吗|对吗|没错吧|[?？])", 1.2),
        (r"我(?:是不是|是否|有没有|会不会|能不能)(?:不)?(?:喜欢|爱|吃|喝|怕|住|在|去过|说过|买过|有|过敏)", 1.2),
        (r"我(?:上次|之前|以前|曾经|刚才|上周|昨天|前几天|前面|上个月|去年|早前)?(?:跟你|和你|向你|对你)?(?:说|提|讲|告诉|聊|问|决定|买|订|选|去|做|写|看|吃|约|答应)(?:过|到|了|的)?.{0,16}(?:什么|啥|哪|谁|多少|几|吗|[?？])|我们(?:上次|之前|以前|上周|昨天|前几天|去年)?.{0,6}(?:聊|说|讨论|决定|商量|约)(?:过|到|了|的|定)?.{0,14}(?:什么|啥|哪|谁|吗|[?？])", 1.4),
        (r"(?:核对|确认|检查|看看|列出|查看|总结)(?:一下|下)?(?:你)?(?:记(?:住|得|录)的|关于)?我的(?:偏好|喜好|资料|信息|记忆|习惯|画像|档案)|我的(?:偏好|喜好|口味|习惯|资料|记忆)(?:有|都|是)", 1.4),
        (r"\b(?:do|did|am|was|have|can|would|will) i\b.{0,60}\?|\b(?:what|which|who|where|when|why|how)(?: \w+){0,4} (?:do|did|am|was|have|had) i\b(?! (?:do (?:this|that|it)|need to|have to))", 1.0),
        (r"\b(?:what|who|where|when|which|how \w+)(?:'s| is| are| was| were) my\b|\bwhat(?:'s| is) my\b|\bmy (?:favou?rite|preferred|name|birthday|allerg\w+|preferences?|usual|diet|size)\b.{0,30}\?", 1.3),
        (r"\b(?:do you |can you |you )?(?:still )?(?:remember|recall|know)\b.{0,20}\b(?:me|my|i|about me|we)\b|\b(?:what do you|tell me what you|everything you) (?:know|remember|have)(?: about| on| of)? me\b|\bwho am i\b|\bwhat did (?:i|we) (?:say|tell|mention|decide|discuss|talk|agree|plan)", 1.4),
        (r"\b(?:check|confirm|verify|review|list|show)(?: me)? my (?:preferences?|profile|memor\w+|settings|likes|details)\b", 1.4),
    )),
    ("task", _cues(
        (r"^(?:请|麻烦|劳驾)?(?:你|您)?(?:帮(?:我|忙)?|替我|给我|为我)?(?:来)?(?:写|起草|撰写|改写|修改|润色|翻译|总结|概括|归纳|摘要|整理|生成|创建|新建|建立|制作|设计|画|计算|算一?下|转换|部署|实现|修复|重构|优化|测试|安排|预订|预定|订(?!单)|提醒|设置|设(?:个|一个)|添加|加上|删除|删掉|取消|更新|发送|发(?:一?封|邮件|消息)|查(?:一下|询)|搜(?:一下|索)|列(?:出|一?个)|继续|接着|运行|执行|分析|编写|做(?:一?个|一?份)|规划|制定|把)", 1.2),
        (r"(?:帮我|替我|麻烦(?:你)?|请(?:你)?).{0,12}(?:写|改|做|翻译|总结|整理|生成|创建|安排|预订|订|提醒|设置|添加|删除|取消|发送|查|搜|算|分析|修|部署|实现|画|规划|制定)", 1.0),
        (r"^(?:please |can you |could you |would you |pls |now |ok,? |then )*(?:help me (?:to )?(?:write|fix|make|create|plan|build|draft|finish|set|translate|debug)|write|draft|create|make (?:a|an|the|me)|generate|translate|summari[sz]e|rewrite|rephrase|proofread|edit|fix|debug|implement|refactor|deploy|schedule|book|remind|add|update|delete|remove|cancel|send|email|convert|calculate|compute|build|run|plan|design|list|continue|finish|complete|set up|set a|install|configure|analy[sz]e|format|test|code|prepare|organi[sz]e|extract|turn this|give me (?:a|the) (?:summary|list|draft|plan|code)|let'?s (?:continue|start|do|build|write))\b", 1.2),
        (r"代码|函数|接口|脚本|报错|异常|bug\b|\b(?:code|function|script|api|endpoint|unit tests?|pull request|traceback|stack trace|exception|error message)\b", 0.5),
    )),
    ("knowledge_qa", _cues(
        (r"(?:是|为)什么|什么(?:是|叫|意思|原因|区别|时候)|为啥|为何|怎么(?!样|办|搭|穿|选|挑)|如何|怎样|哪(?:个|些|年|里|国|种)|多少|多久|多大|几(?:个|种|点|年)|谁|区别|原理|定义|含义|介绍|解释|讲讲|说明|(?:吗|呢|么)[?？]?$", 0.6),
        (r"政策|规定|流程|规则|条款|标准|规范|制度|手册|文档|资料|引用|出处|文献|论文", 0.8),
        (r"\b(?:what|why|how|when|where|who|which|whose)\b|\b(?:explain|describe|define|definition|difference between|meaning of|tell me about|compare|versus|vs)\b|[?？]\s*$|^(?:is|are|does|do|did|can|could|was|were|has|have|will|should) ", 0.6),
        (r"\b(?:polic(?:y|ies)|documentation|docs|manual|handbook|guideline|specification|regulations?|terms|cite|citations?|references?|sources?|papers?)\b", 0.8),
    )),
)  # fmt: skip

_PURPOSES: tuple[tuple[Purpose, re.Pattern[str]], ...] = (
    ("research", re.compile(r"引用|出处|来源|文献|论文|调研|研究|考证|查(?:阅|证)|综述|\b(?:cit(?:e|es|ed|ation|ations)|references?|sources?|bibliography|literature|research|survey of|investigate|papers on|evidence (?:for|that))\b", re.IGNORECASE)),
    ("debug", re.compile(r"报错|错误(?:信息|码|日志)?|异常|崩溃|调试|排查|故障|堆栈|跑不(?:起来|通)|编译(?:失败|不过)|\b(?:bugs?|debug|error|exception|traceback|stack ?trace|crash(?:es|ed|ing)?|segfault|fail(?:s|ed|ing|ure)|not working|broken build|500|404)\b", re.IGNORECASE)),
    ("continue_task", re.compile(r"^(?:请|那|好|那么|我们)?[,，]?(?:继续|接着|下一步|然后呢)|(?:继续|接着|推进).{0,12}(?:上次|刚才|之前|昨天|任务|工作|项目|写|做|改|完成)|上次(?:的|那个)?(?:任务|进度|做到|停在|没做完)|进度(?:如何|怎么样|到哪)|\b(?:continue|carry on|go on|keep going|resume|pick up where|where (?:did )?we (?:left|leave) off|next steps?|what'?s next|finish (?:the|what|our|my))\b", re.IGNORECASE)),
    ("summarize", re.compile(r"总结|概括|摘要|归纳|要点|小结|复盘|回顾(?:一下)?|梳理|\b(?:summari[sz]e|summary|recap|tl;?dr|key points|overview of|digest|main points|wrap[- ]up)\b", re.IGNORECASE)),
    ("research", re.compile(r"对比|比较|\b(?:compare|comparison|versus|vs\.?|trade-?offs?|pros and cons)\b", re.IGNORECASE)),
)  # fmt: skip
_QUESTION = re.compile(
    r"[?？]|(?:吗|呢|么)[。.!！]?$|什么|怎么|为什么|如何|哪|谁|多少|^(?:what|why|how|when|where|who|which|is|are|do|does|did|can|could)\b",
    re.IGNORECASE,
)
_ABOUT_RULES = re.compile(
    r"(?:退货|退款|退换|换货|售后|保修|赔偿|投诉)(?:的)?(?:政策|流程|规定|规则|条款|标准|期限|条件|渠道|电话)|\b(?:refund|return|warranty|complaints?) (?:polic(?:y|ies)|process|procedure|period|terms|window)\b|^(?:如何|怎么|怎样|how (?:do|can) (?:i|we|you))",
    re.IGNORECASE,
)


def understand(message: str) -> Understood:
    """The intent whose cues weigh most; short pleasantries are small talk; `other` where nothing speaks."""
    text = message.strip()
    if len(text) <= 60 and _GREETING.fullmatch(text):
        return Understood("small_talk", 0.9, (text[:20],))
    scores: dict[Intent, float] = {}
    found: dict[Intent, list[str]] = {}
    for intent, cues in _INTENTS:
        for pattern, weight in cues:
            if match := pattern.search(text[:1000]):
                scores[intent] = scores.get(intent, 0.0) + weight
                found.setdefault(intent, []).append(match.group()[:20])
    if "complaint" in scores and _ABOUT_RULES.search(text):
        scores["complaint"] -= 1.2
    if not scores:
        return Understood("small_talk", 0.5, ()) if not re.search(r"\w", text) else Understood("other", 0.3, ())
    best = max(scores, key=lambda intent: (scores[intent], -_RANK[intent]))
    if scores[best] < 0.5:
        return Understood("other", 0.3, tuple(found[best]))
    total = sum(max(score, 0.0) for score in scores.values())
    return Understood(
        best, round(min(0.95, 0.4 + 0.5 * scores[best] / total + 0.05 * len(found[best])), 2), tuple(found[best])
    )


_RANK: dict[Intent, int] = {intent: place for place, (intent, _) in enumerate(_INTENTS)}


def purpose_of(message: str, intent: Intent) -> Purpose:
    """Why evidence is looked for; decides the executor's defaults (seed 001 section 2)."""
    if intent == "small_talk":
        return "other"
    for purpose, pattern in _PURPOSES:
        if pattern.search(message[:1000]):
            return purpose
    asks = intent in ("knowledge_qa", "preference_check", "recommend") or _QUESTION.search(message[:1000])
    return "qa" if asks else "other"
