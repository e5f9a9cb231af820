"""Patterns by which corrections are said, and by which contrast corrects nothing."""

import re

from shared.text.patterns import to_pattern

X = r"[^，,。；;：:？?！!\n]{1,18}?"
NOT_BUT_ZH = to_pattern(
    rf"^(?P<topic>[^，,：:]{{0,14}}?)(?<![是要还总莫无])不是(?P<old>{X})[，,、\s—-]*(?:我)?(?:而"
    rf"|应该|其实|现在|正确的?|准确说|已经)*(?:是|叫|改成|换成|改到|在)(?:的是)?(?P<new>[^，,。；;：:]{{1,2"
    rf"4}})$"
)
BUT_NOT_ZH = to_pattern(
    rf"^(?P<topic>[^，,：:]{{0,14}}?)(?:应该|其实|现在)?(?:是|叫|住在?|在)(?P<new>{X})[，,、\s—-]*"
    rf"(?:而)?不(?:是|叫|在|住)(?P<old>[^，,。；;：:了的]{{1,18}})(?:了|的)?$"
)
NO_CONTRAST_ZH = to_pattern(
    r"不是(?:说|因为|为了|我(?:不|没|的错|想|要|说|故意)|不|没|很|太|特别|吗|么|吧|只|所有|每"
    r"|谁|什么|怎么|这个意思|那个意思|你|他|她|有点|非要|开玩笑|针对|单纯|一?件|一?回事|一天"
    r"|一般|真|挺|故意|第一次|完全|十分|好|问题|在|要|想|觉得|该|都|早|已经|单)|是不是|不是吗"
    r"|要不是|不是就是|就是|还不是|可不是|岂不是|莫不是|除非|是因为|是为了|是不|是没|是怎|是谁"
    r"|是什么|是否|是吗|是说|是想|是觉得|是有点|是太|是很|是真|是你|是他|是她|是在|是要"
)
DEICTIC_ZH = to_pattern(
    r"(?:这|那|它|他|她|他们|她们|重点|关键|问题|目的|原因|本质|核心|成功|失败|爱情?|人生|生活"
    r"|学习|工作|编程|幸福|重要的|难的|有的|谁|你|您|你们|别人|大家|错误|报错|瓶颈|bug)(?:们"
    r"|个|里|的)?\S{0,6}$|^(?:他|她|它|这|那|你|您|人家|别人|老板|同事|朋友|函数|变量|参数|返回值)"
)
NOW_LIKE_ZH = to_pattern(
    r"(?:我)?(?:现在|如今|目前|这阵子以来)(?:已经|变得|反而|开始|倒是|都|又|是|我|其实|真的)*"
    r"(?:更|改|只|比较|最|偏|转而|又|还是|特别|很|超|就|不太|不怎么|不再|不)*(?:喜欢|偏爱|爱"
    r"(?=[吃喝看听用穿])|偏好|倾向于?|用|使用|吃|喝|穿|住在?|在|叫|讨厌)"
)
NOW_PLAIN_ZH = to_pattern(
    r"现在(?:我)?(?:已经|都|反而|开始|又|其实|真的|倒是|变得)*(?:更|改|只|比较|最|偏|转而|还是"
    r"|特别|很|超|就)*(?P<neg>不太|不怎么|不)?(?:喜欢|偏爱|偏好|倾向于?|爱(?=[吃喝看听用穿])"
    r"|讨厌)"
)
NOW_SWITCH_ZH = to_pattern(
    r"现在(?:我)?(?:已经|都|开始|只|就|改)*(?:改|只|都|换)?(?P<verb>用|喝|吃|穿|看|玩|住在?|"
    r"在|做|从事|学|养|听|骑|开)(?P<new>[^，。]{1,20}?)(?P<end>了|工作了|上班了)$"
)
NO_MORE_ZH = to_pattern(
    r"(?:我|^|也|已经|现在|都|早就|早已|决定|以后|今后|从此)(?:不再|再也不|再不)(?P<verb>喜欢"
    r"|需要|爱|使用|信任|相信|从事|负责|担任|是|住在?|在|用|吃|喝|抽|玩|看|穿|做|养|开|买|去"
    r"|学|写|听|打|坚持|追|订阅|参加|接|当|练|骑)(?P<old>[^，。]{0,20}?)(?:了|工作了?|上班了?)?$"
)
IDIOM_ZH = to_pattern(
    r"不再(?:赘述|多说|打扰|追究|联系|说|提|犹豫|纠结|重复|啰嗦|见|年轻|是秘密)|再也不(?:见|"
    r"敢|能|会|想)|不用(?:谢|客气|了|再|管|担心|麻烦|说)|不好意思|不在(?:乎|意|家|线|了)|不做了$"
    r"|不学了$|不看了$|不买了$|不玩了$|不打扰|不去了$|不吃了$|不喝了$|不写了$|不开(?:心|玩笑)"
    r"|不爱了$|不信了?$|不养生"
)
QUIT_ZH = to_pattern(
    r"(?:^|我)(?:现在|已经|早就|早已|都|也|基本|彻底|终于|其实|最近|从上周|从上个?月|去年|上个月"
    r"|上周|今年)*(?:(?:不|不怎么|不太|很少)(?P<verb>喜欢|爱|吃|喝|用|抽|玩|穿|住在?|做|学|养"
    r"|开|写|在|看|听|打|去|骑|订|练|是|当|叫|需要)(?P<old>[^，。]{1,16}?)(?:工作|上班|生活|"
    r"干|住)?了|戒(?:掉)?了?(?P<old2>酒|烟|糖|咖啡|奶茶|可乐|甜食|肉|游戏|[\u4e00-\u9fff]{1,6}?)"
    r"(?:了)?|(?:把)?(?P<old3>烟|酒|咖啡|奶茶|糖|游戏)(?:给)?戒(?:掉)?了|(?:放弃|弃用|卸载|抛弃"
    r"|告别|停用)了(?P<old4>[^，。]{1,16}))$"
)
SWITCH_ZH = to_pattern(
    r"^(?P<head>.{0,24}?)(?:(?:从|由)(?P<old>[^，,]{1,16}?))?(?:已经|都|决定|刚|又|全部|全面"
    r"|正式|彻底|我|就|也|还是)*(?P<how>换成|改成|改用|改为|换到|改到|换作|转用|转到|切换到|"
    r"切到|迁移到|改吃|改喝|改去|改学|改叫|推迟到|提前到|延期到|延到|挪到|调到|改住|换用|转做"
    r"|转行做|转行到|跳槽到|跳槽去|换了(?:台|个|部)?|改回|换回)(?:了)?(?P<new>[^，,。]{1,24}?)"
    r"(?P<end>了|吧)?$"
)
TO_AGENT_ZH = to_pattern(
    r"帮我|帮忙|请|麻烦|你|能不能|可以|给我|把(?:这|那|上面|下面|标题|第|代码|函数|变量|它|图"
    r"|文|表|段|颜色|背景|字|按钮|文件|参数|句|格式|单位|密码|结果)|代码|函数|变量|标题|字体"
    r"|这[句段个篇]|第[一二三四五\d]"
)
SLIP_ZH = to_pattern(
    r"(?:^|我|刚才|刚刚|之前|前面|上面|上次)(?:我)?(?:说|记|写|打|讲|搞|弄|输|填|口)(?:错|误"
    r"|反)了?|^(?:更正|纠正|口误|订正|修正|勘误)|更正一下|纠正一下|改一下口|说反了|我改(?:变)?主意了"
    r"|改主意了|改变主意|变卦|收回刚才|收回之前|当我没说|^(?:不对|错了|不是|不不|哦不|啊不)$"
    r"|(?:你|您)(?:说|记|搞|弄|理解)(?:得不对|错了?)|你误会了|那是以前|那是之前|早就不是了|已经不是了"
    r"|情况变了|过时了|不是这样的?$"
)
SLIP_ASKED_ZH = to_pattern(r"如果|要是|是不是|有没有|吗|别|怕|可能|万一|哪里|帮我|请|什么|他|她|老师|纠正我")
SHOULD_ZH = to_pattern(
    r"^(?:我是?说的?|应该|正确的?|其实|实际上?|准确(?:地)?说|我的意思|准确来说|真正)?(?:应该)?"
    r"(?:是|叫)(?P<new>[^，。]{1,20}?)(?:才对|才是)?$"
)
ACTUALLY_ZH = to_pattern(r"^(?:不|不对|啊|哦|嗯|但|不过)*[，, ]?(?:其实|实际上|事实上)")
T = r"(?:an? |the |my )?[\w'+#./ -]{1,40}?"
NOT_BUT_EN = to_pattern(
    (
        rf"^(?P<topic>.{{0,48}}?)\b(?:not|isn't|aren't|wasn't|ain't)\s+(?:called |named |in |at |"
        rf"on |an? |the |from )?(?P<old>{T})\s*(?:,|;|-|–|—)?\s*(?:but|it's|it is|i'm|i am|they're"
        r"|we're|rather|he's|she's)\s+(?:actually |really |rather |in |at |on |an? |the |from |now"
        rf" )*(?P<new>[\w'+#./: -]{{1,40}})$"
    ),
    re.I,
)
BUT_NOT_EN = to_pattern(
    (
        r"^(?P<topic>.{0,60}?)\b(?P<link>is|are|am|'m|'s|was|live in|work at|work for|work as|"
        r"prefer|like|use|named|called|be|meant|said|on|at|in|in fact|want)\s+(?:actually |now |"
        r"really |on |at |in |an? |the )*(?P<new>[\w'+#./: -]{1,40}?)\s*(?:,|-|–|—|\()?\s*(?:and"
        r" )?(?:not|rather than|instead of)\s+(?:in |at |on |an? |the |with )*(?P<old>[\w'+#./: -]{1,40}?)"
        r"(?:\s+any ?more|\s+as (?:i|you) said|\))?$"
    ),
    re.I,
)
NO_CONTRAST_EN = to_pattern(
    (
        r"\bnot (?:only|just|sure|bad|that|because|necessarily|even|yet|really|entirely|too|so|very"
        r"|all|every|always|much|many|to mention|a (?:big|bad|problem|huge)|able|going|working|interested"
        r"|ideal|great|good|perfect|surprising|the point|the best|what|my fault|about|familiar|trying"
        r"|saying|complaining|here|to be|everyone|exactly|quite|enough|allowed|supposed|ready|feeling"
        r"|happy|afraid|used to|like|as|in the mood|looking|asking|an? (?:expert|fan|native))\b|"
        r"\bit'?s not that\b|\bwhy not\b|\bif not\b|\bor not\b|\bnot (?:i|you|we|he|she|they)\b|"
        r"\bbut (?:i|we|you|it|he|she|they|can|could|also|still|that|this|there|what|how|why|the"
        r" \w+ (?:is|are)|only|please|maybe|if|when|not|my|just|very|close|good|getting)\b"
    ),
    re.I,
)
DEICTIC_EN = to_pattern(
    (
        r"^(?:this|that|these|those|he|she|they|you|his|her|their|your|there|life|success|the (?:problem"
        r"|issue|point|error|bug|question|key|goal|answer|result|function|variable)|what|who|why)\b"
    ),
    re.I,
)
NO_MORE_EN = to_pattern(
    (
        r"\b(?:I|we)(?:'m|'ve| am| have)?\s+(?:really\s+|just\s+|also\s+)*(?P<neg>don't|do not|can't"
        r"|cannot|am not|'m not|not|no longer|stopped|quit|gave up|given up|have stopped|have quit"
        r"|'ve stopped|'ve quit|'ve given up|dropped|ditched|abandoned|am done with|'m done with"
        r"|done with|off|'m off|gone off|got rid of|never)\s+(?P<old>.+?)(?P<end>\s+(?:any ?more|any longer"
        r"|these days|now|altogether|for good|entirely|completely))?$"
    ),
    re.I,
)
NOT_ANYMORE_EN = to_pattern(
    (
        r"^(?:no,?\s+)?not\s+(?:into\s+|a\s+|an\s+)?(?P<old>[\w'+#./ -]{2,40}?)\s+(?:any ?more|any"
        r" longer|now)$|^no (?:more|longer)\s+(?P<old2>[\w'+#./ -]{2,40})(?:\s+for me)?$"
    ),
    re.I,
)
NOW_EN = to_pattern(
    (
        r"\b(?:I|we|I'm|I've|we've)\s+(?:do |actually |really )*(?P<how>now\s+(?:actually\s+|much\s+)?"
        r"(?:prefer|like|love|use|enjoy|live|work|hate|drink|eat|drive|go by|want|run|am|have)|'m"
        r" now|am now|'ve now|have started to prefer|have come to (?:prefer|like|love)|prefer\b.*\bnow$"
        r"|like\b.*\bnow$|love\b.*\bnow$|use\b.*\bnow$|live\b.*\bnow$|work\b.*\bnow$|hate\b.*\bnow$"
        r"|drink\b.*\bnow$|eat\b.*\bnow$)|^(?:but |and |so |these days,? |nowadays,? )*now(?:adays)?,?\s+"
        r"(?:that )?I\s+(?:prefer|like|love|use|enjoy|live|work|hate|drink|eat)\b|^these days,?\s+I\s+"
        r"(?:prefer|like|love|use|enjoy|live|work|hate|drink|eat)\b"
    ),
    re.I,
)
NOW_ASIDE_EN = to_pattern(
    (
        r"\bright now|for now|just now|until now|by now|now that|from now on|know\b|now and then\b"
        r"|even now\b"
    ),
    re.I,
)
SWITCH_EN = to_pattern(
    (
        r"\b(?:I|we|we've|I've|I'm|we're|I have|we have|my \w+(?: \w+)?|our \w+(?: \w+)?|the \w+"
        r"(?: \w+){0,2})\s+(?:'ve\s+|have\s+|has\s+|had\s+|just\s+|recently\s+|finally\s+|also\s+"
        r"|fully\s+|actually\s+|already\s+|am\s+|are\s+|is\s+|got\s+|been\s+|was\s+|completely\s+"
        r"|now\s+|has been\s+)*(?P<how>switched|switching|migrated|changed|converted|swapped|transitioned"
        r"|pivoted|upgraded|moved over|rescheduled|moved|pushed|postponed|shifted|renamed|bumped)"
        r"(?:\s+back|\s+over|\s+(?:my|our|the) \w+)?\s*(?:from\s+(?P<old>[\w'+#./ -]{1,32}?)\s+)?"
        r"(?:to|for)\s+(?P<new>[\w'+#./: -]{1,40})$|^(?:switch(?:ed)?|change(?:d)?|reschedule(?:d)?)\s+from\s+"
        r"(?P<old2>[\w'+#./ -]{1,32}?)\s+to\s+(?P<new2>[\w'+#./ -]{1,40})$|\b(?:I|we)\s+(?:'ve |"
        r"have |just |recently )*(?:replaced|swapped|traded|ditched|dropped|left)\s+(?:my |our |"
        r"out )?(?P<old3>[\w'+#./ -]{1,32}?)\s+(?:with|for|in for)\s+(?:an? |my )?(?P<new3>[\w'+#./"
        r" -]{1,40})$"
    ),
    re.I,
)
INSTEAD_EN = to_pattern(
    (
        r"\b(?:I|we)(?:'m|'ve|'d|'re| am| are| have)?\s+(?:now\s+|actually\s+|have\s+|prefer\s+|started\s+"
        r"|switched to\s+)*(?P<verb>use|using|prefer|drink|drinking|eat|eating|like|want|wear|work"
        r" at|live in|take)\s+(?P<new>[\w'+#./ -]{1,40}?)\s+(?:now\s+)?instead of\s+(?P<old>[\w'+#./"
        r" -]{1,40})$|^instead of\s+(?P<old2>[\w'+#./ -]{1,40}),\s*I\s+(?:now\s+)?(?:use|prefer|"
        r"drink|eat|like|want)\s+(?P<new2>[\w'+#./ -]{1,40})$"
    ),
    re.I,
)
SLIP_EN = to_pattern(
    (
        r"\bI (?:meant|misspoke|was wrong|made a mistake|mistyped|misremembered)\b|\bmy (?:mistake"
        r"|bad)\b|^correction\b|\blet me correct\b|\bscratch that\b|\bchange(?:d)? my mind\b|\bI"
        r" take (?:that|it) back\b|^(?:no,? )?wait\b|^sorry\b|^oops\b|\bmake that\b|\bthat'?s (?:wrong"
        r"|not right|incorrect|outdated|no longer (?:true|right|correct|the case)|not (?:true|correct))\b"
        r"|\byou(?:'ve)? (?:got|have) (?:it|that|my .{2,20}) wrong\b|\byou(?:'re| are) (?:wrong|"
        r"mistaken)\b|\byou misunderstood\b|\bon second thought\b|\bno,? actually\b|\bto correct\b"
        r"|\bupdate:|^update\b|\bi was mistaken\b"
    ),
    re.I,
)
TOOLS = {"手机": "phone", "电脑": "computer", "编辑器": "editor", "浏览器": "browser"}
OPENER = to_pattern(r"(?:no[, ]*)?(?:actually|in fact),?|no|nope|其实|实际上|事实上|不是?的?", re.I)
ACTUALLY_EN = to_pattern(
    (
        r"^(?:no[,.]?\s+|oh,?\s+|well,?\s+|but\s+|wait,?\s+|sorry,?\s+)*(?:actually|in fact|as a"
        r" matter of fact)\b"
    ),
    re.I,
)
MEANT_EN = to_pattern(
    (
        r"\b(?:I meant|make that|it'?s|that'?s|should be|it should be|it is|i meant to say|correction:?)\s+"
        r"(?:actually\s+|really\s+|supposed to be\s+)*(?P<new>[\w'+#./: -]{1,40}?)(?:\s*,?\s*not\s+"
        r"(?P<old>[\w'+#./: -]{1,30}))?$"
    ),
    re.I,
)
USED_TO_EN = to_pattern(
    (
        r"\bI\s+used to\s+(?:really\s+|always\s+)?(?P<verb>like|love|prefer|enjoy|use|live in|work"
        r" at|work for|work as|drink|eat|hate|be|play|drive|smoke)\s+(?P<old>.+)$|\bI\s+was\s+(?P<was>an?\s+["
        r"\w ]{3,24})$"
    ),
    re.I,
)
USED_TO_ZH = to_pattern(
    r"^(?:我)?(?:以前|之前|过去|原来|曾经|原先|本来|小时候)(?:我)?(?:一直|很|最|都|是|更|比较"
    r"|特别|总是|经常|总)*(?P<verb>喜欢|爱|用|住在?|在|吃|喝|讨厌|叫|做|是|习惯用?|偏爱|穿|看"
    r"|玩)(?P<old>[^，,]{1,20}?)(?:工作|上班|的)?$"
)
BACK = to_pattern(r"^(?:但是?|不过|可是?|然而|后来|如今|现在|目前|but|now|and now|these days|however|nowadays)", re.I)
DAY = to_pattern(
    (
        r"^(?:周|星期|礼拜|下周|本周|上周|明|后|今|\d{1,2}[月号点:：]|[一二三四五六七八九十]{1,3}[月点号]"
        r"|上午|下午|晚上|早上|monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow"
        r"|today|next|january|february|march|april|may|june|july|august|september|october|november"
        r"|december|\d{1,2}(?:st|nd|rd|th)|\d{1,2}\s?(?:am|pm)|\d{1,2}:\d\d|noon)"
    ),
    re.I,
)
PERSONAL_EN = to_pattern(r"\b(?:I|my|I'm|mine|me|we|our)\b|^(?:it|it's|the|no)\b", re.I)
CHANGED = to_pattern(
    r"搬家了|换了?(?:个|份)?(?:工作|公司|城市|地方)了?$|跳槽了|改名了|changed jobs|new job|moved house|changed my name",
    re.I,
)
