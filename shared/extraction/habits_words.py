"""Words by which a short message tells what its speaker did, does or is about to do, in both languages."""

# ruff: noqa: E501, SIM905 - one family of words per line, words in a row

import re

from shared.extraction.guards_words import KIN_ZH
from shared.language.patterns import to_pattern

_WHEN_EN = (
    r"just|only just|finally|already|now|also|today|tonight|yesterday|this (?:morning|afternoon|evening|lunch(?:time)?)|last night"
    r"|and|so|ok(?:ay)?|alright|well|phew|yay|hey|hi|hello|good (?:morning|evening|afternoon)|morning|fyi|update|quick update"
)
LEAD_EN = to_pattern(rf"^(?:(?:{_WHEN_EN})\b[\s,:!.\-]*)+", re.I)
PART_EN = to_pattern(r"[,.!;:]+(?:\s+|$)|\s+[-–—]\s+|[\U0001F300-\U0001FAFF☀-➿️]+")
"""What parts one thing told from the next, and signs that tell nothing in words."""
WORKOUT_EN = to_pattern(r"\bwork(?:ed|ing)?[ -]out\b", re.I)
_PAST = (
    "went ate drank ran swam rode fed took made met woke slept drove bought played walked hiked jogged biked cycled cooked baked"
    " cleaned washed vacuumed mopped watered picked dropped practiced practised studied trained lifted stretched meditated journaled"
    " journalled finished completed wrapped visited called phoned brewed watched showered commuted skied surfed rowed climbed danced"
    " boxed weeded gardened mowed folded ironed packed prepped shopped read wrote taught sang drew painted knitted sewed attended"
    " tidied hoovered swept sanded hit started grabbed poured sipped enjoyed worked"
)
_DOING = (
    "walking running jogging making cooking baking having eating drinking watching feeding cleaning practicing practising playing"
    " studying reading driving heading leaving starting watering meditating stretching training lifting swimming cycling biking hiking"
    " going brewing washing folding ironing shopping vacuuming mopping tidying journaling commuting climbing rowing surfing skiing"
    " dancing gardening mowing sipping grabbing finishing picking dropping taking doing working"
)
_HAD = (
    r"(?:had|got|getting|having) (?:(?:my|a|an|some|the|another|our) )?(?:\w+ ){0,2}?(?:breakfast|brunch|lunch|dinner|supper|coffee|tea|espresso|latte"
    r"|flat white|cappuccino|americano|beer|wine|snack|nap|shower|bath|swim|run|walk|massage|lesson|class|session|shot|jab|physio|therapy)\b"
)
_ABOUT = (
    r"back (?:from|in from|home from|after)|home from|in from|done with|finished with|through with|off to|off for|out for|out on"
    r"|out (?:running|walking|jogging|cycling|hiking)|on (?:my|the) way (?:to|back|home)|headed (?:to|out|off|for|home)|about to|up for|time for my|over at|at the|at my"
    r"|(?:got|came|come|been|get|getting|coming) back (?:from|home)|been (?:to|at|out|for|in|\w+ing)\b|did (?:my|some|the|a|an|another|our|\d+)|done my"
)
_ENDS = r"(?:(?:is|are|was|were|'s|all|now)\s+)*(?:done|finished|over|complete|completed)"
ACT_EN = to_pattern(
    rf"^(?:(?:I|we)(?:['’](?:m|ve|re))?\s+(?:have\s+|am\s+|are\s+|had\s+)?|am\s+|im\s+|ive\s+)?(?:(?:{_WHEN_EN})\s+)*"
    rf"(?:(?:{'|'.join(_PAST.split())})\b|(?:{_ABOUT})|{_HAD}|done workout)"
    rf"|^(?:(?:I|we)['’](?:m|re)\s+|(?:I am|we are|am|im)\s+)?(?:(?:{_WHEN_EN})\s+)*(?:{'|'.join(_DOING.split())})\b(?!.*\b(?:is|was|are|were|has|makes?|feels?)\b)"
    rf"|^(?!(?:it|that|this|these|all|well|everything|nothing|what|you|he|she|they|i|we|there)\b)(?:my |the |a )?[\w'’-]+(?: [\w'’-]+){{0,4}}?\s+{_ENDS}$",
    re.I,
)
NOT_EN = to_pattern(
    r"\b(?:not|never|no|none|nothing|without|skip(?:ped|ping)?|missed|miss|forgot|cancel\w*|you|your|yours|u|please|pls|he|she|they|his|their|him|them"
    r"|want|wanted|wanna|like|need|needed|would|could|should|can|may|might|maybe|if|think|thinking|guess|wonder\w*|hope|sorry|thanks|thank|thx"
    r"|idea|question|problem|error|bug|enough|going to (?:be|have|need|try|ask|say|find|get|see)|let|me|it|left with|going out of"
    r"|file|code|test|tests|build|tool|api|server|function|option|reservation|booking)\b|n['’]t\b|[?？]|https?:|@\w|[\[\]{}<>=`|\\]",
    re.I,
)
"""What asks, denies, wishes, speaks to somebody or of somebody else, or of the work that is being done together."""
TOLD_EN = to_pattern(r"^(?:did|had|have|done|been)\b(?! (?:you|i|we|they|he|she|it|any\w*)\b)", re.I)
"""Begins like a question, and is a sentence whose speaker did not say `I`."""
_FRAME_EN = (
    "i i'm im i've ive we we've we're am is are was were 's be been just only finally already now also again today tonight yesterday this"
    " morning afternoon evening night last lunchtime a an the my our some another more quick little short long nice good great first second"
    " third daily usual finish finished finishing done did do doing complete completed wrapped wrapping up over all with from back home for to at in on of off out"
    " went going go gone came come coming got get getting had having has have took taking made making heading headed head leaving left start started starting"
    " way about time and so ok okay well phew yay hey hi hello fyi update through hit grabbed grabbing enjoyed enjoying here there session round"
    " it one two three four five six seven eight nine ten min mins minutes minute hour hours km k mile miles cup cups glass"
)
FRAME_EN = frozenset(_FRAME_EN.split())
"""Words that say that something begins, lasts or is over, when and how much: not what."""

_WHEN_ZH = r"今天|今晚|今早|今儿|早上|上午|中午|下午|晚上|昨晚|昨天|傍晚|凌晨|一早|现在|刚刚才|刚刚|刚才|刚|才|已经|终于|又|也|还|正|先|都|就|总算|自己"
LEAD_ZH = to_pattern(
    r"^(?:(?:嗯+|哦+|啊+|哈+|嘿|呼|唉|嗨|早安?|早上好|大家好|你好|好啦?|ok|okay|汇报)[\s，,。.!！~～:：]+)+", re.I
)
OWN_ZH = to_pattern(r"(?:今天|今日|今早|今晚|每天|每日|我)的")
SIGNED_ZH = to_pattern(r"打卡[\s:：]+")
PART_ZH = to_pattern(r"[\s，,。.!！；;、~～…:：]+|[\U0001F300-\U0001FAFF☀-➿️]+")
TAIL_ZH = to_pattern(r"[哈嘿呀啊哦喔哟呢的]+$")
_DONE = r"[了啦咯喽嘞]"
_DOES = r"跑|喝|吃|做|洗|游|骑|遛|练|读|写|背|弹|煮|泡|冲|买|接(?![近受触着])|送|爬|听|睡|浇|喂|擦|扫|拖|跳|唱|收拾|打扫|锻炼|健身|冥想|拉伸|看(?!来)|打|晒|剪|修|取|溜"
_OF = r"[\u4e00-\u9fffA-Za-z0-9]"
ACT_ZH = to_pattern(
    rf"^(?:我们?|俺|咱们?|本人)?(?:{_WHEN_ZH})*(?:"
    rf"从?{_OF}{{1,14}}?(?:回来|到家|出来|结束|完成|打卡|搞定|收工|完毕){_DONE}?"
    rf"|{_OF}{{1,12}}?完{_DONE}"
    rf"|(?:做|煮|收拾|洗|写|练|画|泡|炒|打扫|整理){_OF}{{0,6}}?好{_DONE}"
    rf"|{_OF}{{1,10}}?去{_DONE}"
    rf"|(?:出门|出发|下楼|准备|正要|要|正在|在|马上|这就|赶着)*去{_OF}{{1,12}}?{_DONE}"
    rf"|(?:出门|出发|下楼|准备|正要|正在|马上|这就|赶着)去?{_OF}{{2,10}}?{_DONE}?"
    rf"|在(?:{_DOES}){_OF}{{1,8}}?"
    rf"|开始(?:{_DOES}){_OF}{{0,6}}?{_DONE}?"
    rf"|[加上下教录排]完{_OF}{{1,8}}?{_DONE}?"
    rf"|(?:{_DOES})[了完过]{_OF}{{1,12}}?{_DONE}?"
    rf"|(?:{_DOES}){_OF}{{1,8}}?{_DONE}"
    rf"|打卡{_OF}{{2,10}}"
    rf"|[上下]班{_DONE}"
    rf")$"
    rf"|^(?:我|俺|本人)?(?:{_WHEN_ZH})*刚刚?(?!好|需|性|强|毅|开始|说|问|才){_OF}{{2,12}}$"
)
OTHERS_ZH = to_pattern(rf"^(?:我|我家|俺)?(?:的)?{KIN_ZH}")
NOT_ZH = to_pattern(
    r"[\[\]{}<>=`|你您他她它谁哪吗么嘛?？不没别请帮这那]|(?<!冥)想|什么|怎么|为啥|多少|几点|有没有|能不能|可以|希望|喜欢|觉得|感觉|认为|知道|明白|懂|谢|好的|如果|要是|应该|可能|也许|一下|一定|吧$|让我|给我"
    r"|错|打扰|够|饱|腻|清楚|忘|看到|看见|听到|听说|算|对了|太|很|问题|推荐|介绍|评分|地址|电话|价格|门票|营业|酒店|景点|餐馆|饭店|多久|远|名字|叫做|所以|但是|不过|因为|文件|代码|报错|接口"
)
FRAME_ZH = to_pattern(
    rf"^(?:我们?|俺|咱们?|本人)|{_WHEN_ZH}|[了过](?:杯|碗|瓶|个|份|点|些|场|节|本|部|次|趟|圈|顿|会儿)|完毕|完(?!全|美|整|善|成)|回来|到家|出来|结束|完成|打卡|搞定|收工"
    r"|开始|出门|出发|下楼|准备|正要|正在|马上|这就|赶着|去|[了啦咯喽嘞过]|好$|^[要从在]|(?<=^我)[要从在]"
    r"|第?[\d一二三两四五六七八九十几半多]+(?:杯|个|公里|千米|米|圈|次|分钟|小时|组|页|碗|瓶|顿|场|节|趟|套|遍|km|KM|k|K)"
)
"""What says that something begins, lasts or is over, when and how much: not what."""
LIGHT = frozenset(
    "喝 吃 买 卖 做 看 打 洗 读 写 听 接 送 养 修 取 拿 租 play watch read make pick take drop meet call feed walk drink eat buy cook clean wash visit".split()
)
"""What may be done to many things: without its thing it does not say what was done."""
ACTING = frozenset("跑游爬骑跳唱")
"""Verbs that say by themselves what was done, with or without their thing."""
