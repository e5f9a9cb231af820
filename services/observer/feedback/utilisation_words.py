"""Words and phrases by which an answer refers to memory, and a message continues a topic."""

import re

from shared.language.patterns import to_pattern

_FRAME = """
user users prefer prefers preferred preference preferences like likes liked love loves loved enjoy enjoys hate hates
dislike dislikes favorite favourite name named call called live lives lived living work works working worked use uses
using used usually always often sometimes never every day week month year today tomorrow yesterday time times good
great best better new old big small remember remembered mention mentioned tell told note notes goal plan plans planning
want wanted decide decided decision project answer answers reply replies response responses
way ways lot different right sure example option options
用户 喜欢 不喜欢 最喜欢 喜爱 爱 爱好 偏好 偏爱 讨厌 反感 习惯 希望 想要 打算 计划 目标 决定 记住 记得
名字 姓名 叫 住 住在 工作 上班 使用 用 通常 平时 一般 每天 每周 每月 每年 今天 明天 昨天 今年 去年 明年
时间 时候 回答 回复 答复 项目 东西 事情 方面 情况 方式 方法 内容 选择 更 好 新 旧 大 小 多 少 现在 目前 最近
一个人 尽量 喝 吃 买 卖 养 租 修 读 跑 学 推荐 建议 不能 不要 不想 不吃 不喝
"""
FRAME: frozenset[str] = frozenset(_FRAME.split())
"""Words that occur in memories of any content, and in answers too."""


def _any(*patterns: str) -> re.Pattern[str]:
    return to_pattern("|".join(patterns))


_YOU, _EARLIER = "[您你]", "(?:之前|以前|上次|先前|早先|曾经?|过去|此前|前面|前几天|上周|上个?月)"
_SAID = "(?:提到|提过|提起|说|讲|告诉|聊|表示|透露|交代|要求|分享)"
_BY = "(?:根据|按照?|依照?|结合|基于|参考|遵照|依据|照|考虑到|鉴于|针对)"
_TRAIT = "(?:偏好|喜好|习惯|口味|爱好|风格|情况|资料|档案|背景|目标|记录|忌口|过敏|身体状况|饮食限制|作息|预算|兴趣)"
_TASTE = "(?:喜欢|偏好|偏爱|爱|习惯|不喜欢|讨厌|对|不吃|不喝|不能|有|住在|正在)"
_BEFORE = (
    "(?:before|earlier|previously|in the past|last (?:time|week|month|year)|the other day|once|a while (?:ago|back))"
)
_TOLD = "(?:mentioned|said|told me|shared|noted|asked me to|brought up|let me know|specified|stated|indicated)"
_HAVE = "(?:'ve| have|'d| had)?"
_LIKE = (
    "(?:prefer|like|love|enjoy|dislike|hate|allergic|vegan|vegetarian|live|work|avoid|favou?r|use|own|have an? "
    "|(?:don't|do not) (?:like|eat|drink|want)|(?:can't|cannot) (?:eat|have|stand))"
)
_TRAIT_EN = (
    "(?:preferences?|tastes?|habits?|routine|allerg(?:y|ies)|diet(?:ary)?|background|history|interests?|goals?|profile"
    "|love of|dislike|favou?rites?|lifestyle|schedule|budget|style|liking|fondness|aversion)"
)
PHRASES = _any(
    f"{_YOU}{_EARLIER}也?[^，。,]{{0,6}}?{_SAID}",
    f"(?:之前|以前|上次|先前|此前|曾经?)听?{_YOU}[^，。,]{{0,4}}?{_SAID}",
    f"{_BY}(?:我(?:所)?(?:了解|记得|知道)的)?{_YOU}(?:平时|一贯|一直|平常)?的?"
    f"(?:个人|一些|以往|过往|既往|历史|日常|饮食)?的?{_TRAIT}",
    f"(?:我|还|都)记得{_YOU}",
    f"记得{_YOU}(?:说|提|喜欢|不|是|在|对|有|想|爱|住)",
    f"我(?:了解|知道){_YOU}(?:一向|一直|平时|喜欢|偏好|不|对|有|是)",
    f"(?:既然|因为|由于|考虑到|鉴于|知道){_YOU}(?:比较|更|一向|一直|平时|最)?{_TASTE}",
    f"(?:照|按)(?:老样子|老规矩|惯例|{_YOU}的?老习惯)",
    f"{_YOU}(?:一贯|一向|一直以来|平时)(?:的|喜欢|偏好|习惯|都)",
    f"{_YOU}(?:常|平时|最爱|爱)(?:喝|吃|用|去|看|听)的",
    rf"\bas you{_HAVE} (?:\w+ )?{_TOLD} {_BEFORE}",
    rf"\byou{_HAVE} {_BEFORE} (?:\w+ )?{_TOLD}",
    rf"\byou{_HAVE} (?:\w+ )?{_TOLD} (?:[\w' ]{{1,40}} )?{_BEFORE}",
    rf"\b{_BEFORE},? you {_TOLD}",
    r"\b(?:i|we) (?:do |still |also )?(?:remember|recall|know)(?: that)? you(?:r|'re|'ve|'d)?\b",
    rf"\bfrom what (?:i know|you{_HAVE} told)",
    r"\b(?:since|because|as|given that|seeing that|knowing(?: that)?|considering(?: that)?) you"
    rf"(?:'re| are| usually| always| generally| really| also| tend to)* {_LIKE}",
    r"\b(?:given|based on|considering|knowing|in line with|in keeping with|per|respecting|keeping in mind|with) your"
    rf" (?:\w+ ){{0,2}}{_TRAIT_EN}",
    r"\byour (?:usual|go-to|favou?rite|preferred)\b",
    r"\b(?:the way|just how) you (?:like|prefer)",
    r"(?:^|[,;] )as (?:usual|always),|\bas you (?:prefer|like)\b",
)
"""Ways to say that something was known of the user before."""
WEAK_PHRASES = _any(
    f"(?:正如|如|就像|像|按照?|照)?{_YOU}所?(?:提到|提过|说过|讲过|告诉过我|提及)",
    rf"\bas you{_HAVE} (?:\w+ )?{_TOLD}",
    rf"\byou{_HAVE} (?:\w+ )?{_TOLD}",
    r"\blike you said",
)
"""Ways that may as well mean the message just before."""
UNSURE = _any(
    "(?:如果|要是|假如|是否|有没有|没有?|不|未|并未|无法|若)[^，,。]{0,6}$",
    r"\b(?:if|whether|unless|don't|do not|didn't|did not|haven't|have not|hasn't|can't|cannot|no|never|not|without)\b"
    r"[\w ']{0,16}$",
)
"""What stands before a phrase that says nothing was known."""
NOT_MEMORY = _any(
    "不(?:出来|起来|清)",
    "过?的?(?:这个?)?(?:问题|提问|描述|代码|输入|消息|文件|附件|需求|要求)",
    r",? (?:that you (?:just )?asked|question|request|message|query|input|code|description|nothing|file)",
)
"""What stands after a phrase that speaks of the message at hand."""

GOES_ON = _any(
    "^(?:那|那么|所以|然后|还有|继续|接着|具体|详细|展开|再|前者|后者|它|哪个|哪一|哪家|其中|除了|换一?个|除此)",
    "^(?:为什么|为啥|怎么)[^，。]{0,5}$",
    "^第[一二三四五六1-9]个?",
    "^[这那]个(?!周|月|星期|年)",
    "^.{0,8}(?:呢|的话)[?]?$",
    "还有(?:别的|其他|吗)|刚才|上面|[你您](?:说|推荐)的|这(?:家|种|款|些|样|里)|那(?:家|种|款|些)|它",
    r"^(?:and|so|but|then|how so|how come|what about|how about|what else|anything else|any other|go on|continue)\b",
    r"^(?:more|tell me more|explain|elaborate|could you (?:explain|expand|elaborate)|which (?:one|of))\b",
    r"^why(?:\?|$| not| so| (?:is|was|would) (?:it|that|this))",
    r"^(?:is|does|can|will|would) (?:it|that|this)\b|^(?:do|are) (?:they|those|these)\b",
    r"\b(?:it|that one|this one|those|these|the former|the latter)\b",
    r"\bthe (?:first|second|third|last|other) (?:one|option)\b",
    r"\byour (?:suggestion|answer|recommendation)\b|\byou (?:suggested|recommended|mentioned)\b",
)
"""How a message goes on with what was just said, whatever its words."""
TURNS_AWAY = _any(
    "换个(?:话题|问题|事)|说点别的|聊点别的|另外一?(?:个问题|件事|问)|另一个问题|顺便问|题外话",
    "不说这个|先不(?:说|管|聊)这个|^对了|回到正题|下一个问题",
    r"\bby the way\b|\bbtw\b|\bon (?:another|a different|an unrelated) note\b|\boff topic\b",
    r"\bsomething else entirely\b|\bchang(?:e|ing) (?:of |the )?subject",
    r"\b(?:different|unrelated|another|separate|new) (?:question|topic|subject)\b",
    r"\bchang(?:e|ing) (?:the )?topic|\bswitching (?:gears|topics)\b|\blet's (?:talk about something else|move on)\b",
)
"""How a message says itself that it is about something else."""
