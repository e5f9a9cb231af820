"""Patterns for tasks, decisions and goals."""

import re

from shared.text.patterns import to_pattern

VERBS_ZH = (
    r"(?:提交|上交|交付|交|完成|写完|写|发送|发给|发|准备|修复|修|预约|续费|续签|续|缴纳|缴|"
    r"交房租|联系|打电话|回电|整理|更新|部署|上线|复习|提醒|开会|参加|面试|考|报名|申请|办理"
    r"|办|取|寄|退|还|买|订|付|支付|接|送|去|做|搬|体检|汇报|演示|评审|上传|出差|归还|回复|确认"
    r"|审核|测试|检查|搞定|给|把|跟|和|带|看|签|领|改|补|催|赶|拿|洗|打|安排|开|敲定|出|收|过"
    r"|处理|对接|递交|跑)"
)
MARK = to_pattern(
    (
        r"^(?:(?:my\s+)?to-?do(?: item| list)?|task|待办(?:事项)?|任务|action item|行动项)\s*[:：\-]\s*"
        r"(?P<what>.+)$|^(?:\[ \]|- \[ \])\s*(?P<what2>.+)$"
    ),
    re.I,
)
REMIND_ZH = to_pattern(
    r"(?:(?<![别不])(?<!不要)(?<!不用)(?<!不必)提醒我|记得提醒我|到时候提醒我|叫我记得|别让我忘了)(?P<what>.{2,60})$|(?:我|帮我|把)?"
    r"(?:加|添加|新建|创建|新增|开|记|建)(?:一?[个条张])?(?:新的?)?(?:待办|任务|提醒"
    r"|工单)(?:事项)?[:：，, ]*(?P<what2>.{2,60})$"
    r"|把(?P<what3>.{2,40})(?:加到|加入|放进|记到)(?:我的)?(?:待办|任务|清单)"
)
REMIND_EN = to_pattern(
    (
        r"\bremind me\s+(?:to|about|that i (?:need|have) to)\s+(?P<what>.+)$|\b(?:add|create|make|open|file|log|set)\s+"
        r"(?:me\s+)?(?:an?\s+|another\s+|one\s+)?(?:new\s+)?(?:task|to-?do|reminder|ticket)\s*(?:to|for|:|called)\s*"
        r"(?P<what2>.+)$|\badd\s+(?P<what3>.+?)\s+to my (?:to-?do"
        r"|task)(?: list)?s?$|\bi (?:still )?(?:need|have|must) to remember to\s+(?P<what4>.+)$|"
        r"\bdon't let me forget to\s+(?P<what5>.+)$"
    ),
    re.I,
)
MUST_ZH = to_pattern(
    r"(?:我们?|还|就|也|，|^|日|前|天|[一二三四五六日]|月|号|点|底|上|午|完)(?:就)?(?P<modal>得"
    rf"|要|需要|必须|还要|还得|应该要|务必|一定要|该|打算|准备|需)(?:在)?(?P<what>.*?{VERBS_ZH}.{{0,40}})$"
)
DUE_ZH = to_pattern(
    (
        rf"(?:之前|以前|前|截止|到期|内)(?P<what>[^，]*?{VERBS_ZH}.{{1,30}})$|(?P<what2>.{{2,20}}?)"
        r"(?:的)?(?:截止日期|截止时间|截止|deadline|ddl|到期日?|交付日期)(?:日期|时间)?(?:就)?(?:是"
        r"|在|为|：|:|还剩)"
    ),
    re.I,
)
DONE_ZH = to_pattern(
    r"^(?:我们?|我已经|已经|刚刚?|终于|今天|昨天|上周|总算)*(?:把)?(?P<what>[\u4e00-\u9fffA-Za-z0-9"
    r" ]{2,20}?)(?:我|我们)?(?:已经|刚刚?|终于|都|今天|昨天|总算)*(?:提交|上交|交|做完|写完|"
    r"完成|搞定|弄完|发出去|发|办好|办完|修好|修完|处理完|处理好|寄出去?|付|缴|上线|部署好|部署完"
    r"|部署|整理好|整理完|改完|审完|签|还|收尾)(?:完|好|掉|过)?了$|^(?:我们?|我已经|已经|刚刚?"
    r"|终于|今天|昨天)+(?:提交|上交|交|做完|写完|完成|搞定|弄完|办好|修好|处理完|寄出|付清?|"
    r"缴|部署|整理好|改完)(?:完|好)?了(?P<what2>[\u4e00-\u9fffA-Za-z0-9 ]{2,20})$"
)
NOT_DONE_ZH = to_pattern(
    r"^(?:他|她|你|钱|话|天|时间|电话|快递|外卖|机会|运气|心|班|课|年|病|火|烧|脾气|现在|这|"
    r"那|什么|怎么|全部|都|一直|最近|工资|红包|消息|朋友圈|邮件被|女朋友|男朋友)|没|不|喜欢"
)
CANCEL_ZH = to_pattern(
    rf"^(?:我们?)?(?:现在|已经)?(?:不用|不需要|不必|用不着)(?:再)?(?P<what>{VERBS_ZH}[^，]{{1,20}}?)了$"
    rf"|^(?P<what2>[\u4e00-\u9fffA-Za-z]{{2,14}})(?:的)?(?:任务|待办|安排|计划|提醒)?(?:已经|"
    r"被)?取消了$"
)
MUST_EN = to_pattern(
    (
        r"\b(?:I|we|I've|we've)\s+(?:still\s+|also\s+|really\s+|just\s+|only\s+)*(?P<modal>need to"
        r"|have to|must|gotta|got to|should|am supposed to|are supposed to|need|ought to|'ve got"
        r" to|'m supposed to)\s+(?:remember to\s+)?(?P<what>.+)$|\bI'm supposed to\s+(?P<what2>.+)$"
    ),
    re.I,
)
DUE_EN = to_pattern(
    (
        r"^(?:the\s+|my\s+|our\s+)?(?P<what>[\w' -]{3,50}?)\s+(?:is|are)\s+due\s+(?P<when>.+)$|(?:the\s+"
        r"|my\s+|our\s+)?(?:deadline|due date)\s+(?:for\s+(?:the\s+|my\s+|our\s+)?(?P<what2>.+?)\s+)?"
        r"(?:is|:)\s*(?P<when2>.+)$"
    ),
    re.I,
)
DONE_EN = to_pattern(
    (
        r"\b(?:I|we|I've|we've|I have|we have)\s+(?:already\s+|just\s+|finally\s+|now\s+)*(?:finished"
        r"|completed|submitted|sent(?: off| out)?|delivered|wrapped up|turned in|handed in|shipped"
        r"|filed|paid|renewed|fixed|done with|booked|deployed|merged|signed|mailed)\s+(?:writing\s+"
        r"|preparing\s+|the\s+|my\s+|our\s+|off\s+)*(?P<what>[\w' /#.-]{3,60})$|^(?:the\s+|my\s+"
        r"|our\s+)?(?P<what2>[\w' -]{3,40}?)\s+(?:is|are|has been|have been|was|got)\s+(?:now\s+"
        r"|already\s+|finally\s+)?(?:done|finished|completed|submitted|sent|delivered|shipped|merged|deployed)"
        r"(?:\s+and\s+\w+)?(?:\s+(?:now|today|already))?$|^(?:done|finished|completed)\s*[:：]\s*(?P<what3>.+)$"
    ),
    re.I,
)
CANCEL_EN = to_pattern(
    (
        r"\b(?:I|we)\s+(?:no longer|don't|do not)\s+(?:need|have) to\s+(?P<what>.+?)(?:\s+any ?more)?$"
        r"|^(?:the\s+|my\s+)?(?P<what2>[\w' -]{3,40}?)\s+(?:is|was|has been|got)\s+(?:cancell?ed"
        r"|called off)$"
    ),
    re.I,
)
AGENT_WORK_EN = to_pattern(
    (
        r"^(?:know|understand|ask|say|be\b|see\b|find out|figure|admit|think|mention|add that|make"
        r" sure|check\b(?!.*\bby\b)|thank|apologi|get a (?:function|script)|learn how|tell you|clarify"
        r"|have a|go\b$|sleep|eat\b|rest)"
    ),
    re.I,
)
STALE = to_pattern(
    r"我要(?:的是|是)|要不|要是|不要|只要|主要|重要|需要(?:的|你|帮|知道|了解|什么)|得(?:到|"
    r"了|很|太|好|多|不|出|住|懂|见|意)|觉得|显得|值得|获得|取得|懂得|记得|舍得|难得|免得|省得"
    r"|使得|认得|应该(?:是|不|没|会|可以)|要求|要么|快要|简要|摘要|概要|必要"
)
DECIDE_ZH = to_pattern(
    r"(?:最终|最后|已经|经过讨论|讨论后|商量后|评审后|开会|一致|还是|现在|今天|昨天)*(?P<how>决定"
    r"(?:了|好了)?|敲定(?:了)?|拍板(?:了)?|定下来(?:了)?|选定(?:了)?|确定(?:了|下来)?(?:要|用"
    r"|采用|选|使用)|商定(?:了)?|达成一致|一致同意|方案定了)[，,：: ]*(?:要|是|就)?(?P<what>.{2,60})$"
    r"|^(?:那|那么|好|行|OK|ok)?[，, ]?(?:我们|咱们)?就(?P<act>用|选|按|采用|上|定)(?P<what2>[^，]{1,30}?)"
    r"(?:吧|了|好了|来(?:做|写|实现)?(?:吧|了)?|这个方案(?:吧|了)?|方案(?:吧|了))$"
)
UNDECIDED_ZH = to_pattern(
    r"(?:没|没有|尚未|未|还未|难以|不能|无法|不|还在|等|如何|怎么|帮我|你来?|由你|他|她|他们"
    r"|老板|领导|取决|才能|再|待|自己)(?:能|做)?(?:最终|最后|想好)?(?:决定|确定|敲定)|决定(?:权"
    r"|不了|因素|性|于|命运|论|书|一切|要不要|是否)|(?:做|的|个|项|下|这|那|好的?)决定$|不确定"
    r"|决定了?(?:吗|没)|细节决定"
)
DECIDE_EN = to_pattern(
    (
        r"\b(?:we|I|the team|we've|I've|our team|team)\s+(?:have\s+|has\s+|had\s+|'ve\s+)?(?:just\s+"
        r"|finally\s+|also\s+|already\s+|all\s+|both\s+|collectively\s+|unanimously\s+)*(?P<how>decided"
        r"|agreed|chose|chosen|settled|opted|picked|committed|voted|resolved|signed off|are going"
        r" with|'re going with|am going with|'m going with|will go with|'ll go with|went with|are"
        r" sticking with|'ll stick with|will use|'ll use|standardized|standardised)\s*(?P<link>on"
        r"|to|for|that|with|against|upon)?\s+(?P<what>.+)$|\b(?:we're|I'm)\s+(?:going|sticking)\s+with\s+"
        r"(?P<what2>.+)$|^(?:ok(?:ay)?,?\s+|so,?\s+|alright,?\s+|then,?\s+|yes,?\s+|great,?\s+)*let'?s\s+"
        r"(?:go\s+with|go\s+for|use|stick\s+with|adopt|settle\s+on|choose|pick|standardi[sz]e\s+on)\s+"
        r"(?P<what3>.+)$|^(?:final\s+)?decision\s*(?:is|was)?\s*[:：]?\s*(?:to\s+)?(?P<what4>.{4,})$"
        r"|\b(?:the|our) (?:final )?decision (?:is|was) (?:to\s+|that\s+)?(?P<what5>.+)$"
    ),
    re.I,
)
UNDECIDED_EN = to_pattern(
    (
        r"\b(?:not|n't|never|yet to|haven't|hasn't|help (?:me|us)|can't|cannot|couldn't|need to|"
        r"have to|trying to|should|want to|before)\s+(?:yet\s+|fully\s+|finally\s+)?(?:decide|decided"
        r"|agree|agreed|settle|settled|chosen|choose|pick)\b|\bundecided\b|\bdecide (?:whether|between"
        r"|if)\b|\b(?:this|that|it|these|those|them)(?:\s+(?:one|for now|then|instead|here))?$"
    ),
    re.I,
)
GOAL_ZH = to_pattern(
    r"(?:我|我们|个人)(?:们)?(?:的)?(?:今年|明年|这个月|本月|下半年|上半年|长期|短期|最终|最大"
    r"|近期|主要|首要|季度|年度|人生|现阶段|接下来|未来)*(?:的)?(?P<noun>目标|梦想|心愿|志向"
    r"|愿望|OKR|计划)(?:就|一直)?(?:是|：|:)(?P<what>.{2,60})$|^(?:我|我们)(?:今年|明年|这个月"
    r"|本月|下半年|上半年|接下来|未来|年底前?|最近|一直|正在|在|现在|也|其实|真的|三年内|五年内)*"
    r"(?P<verb>立志|志在|在自?学(?=[\u4e00-\u9fffA-Za-z])|力争|争取|致力于|努力|备考|准备考|准备转行|打算转行|想转行|想成为|想考"
    r"(?!虑)|想学会|希望能?(?:成为|考上|学会|通过|减|存|攒|在.{1,8}(?:前|内))|计划(?:在|今年"
    r"|明年|学|考|减|存|攒|创业|跑|读|写|转|开|买|去)|打算(?:今年|明年|在|学|考|减|存|攒|创业"
    r"|跑|读|转|开|辞职|买房|买车)|准备(?:学|减|创业|跑马|转行|考)|想(?:在.{1,8}(?:前|之前|内)"
    r"|今年|明年)|想(?:学(?!校|生|想)|减肥|减重|瘦到|戒烟|戒酒|创业|攒钱|存钱|买房))(?P<what2>.{0,60})$"
)
GOAL_EN = to_pattern(
    (
        r"\b(?:my|our)\s+(?:main\s+|ultimate\s+|long[- ]term\s+|short[- ]term\s+|big\s+|personal\s+"
        r"|career\s+|current\s+|biggest\s+|primary\s+|fitness\s+|new year'?s\s+)*(?P<noun>goal|dream"
        r"|aim|objective|ambition|resolution|target)(?:\s+(?:for|this|by|in|right now|here)\b[\w"
        r" ]{0,24}?)?\s+(?:is|are|has always been|:)\s*(?:to\s+)?(?P<what>.+)$|\b(?:I|we)(?:'m|'re"
        r"| am| are|'ve been| have been)?\s+(?:currently\s+|also\s+|really\s+|actively\s+|now\s+"
        r"|still\s+|ultimately\s+|eventually\s+)*(?P<verb>aim(?:ing)? to|hop(?:e|ing) to|plan(?:ning)?"
        r" to|plan(?:ning)? on|working (?:toward|towards|on)|work(?:ing)? to|striving to|striv(?:e"
        r"|ing) for|training for|preparing for|studying for|saving (?:up )?for|want to|would love"
        r" to|'d love to|trying to|intend to|determined to|aspire to|dream of|set a goal to|set myself"
        r" a goal to|am learning|learning|committed to)\s+(?P<what2>.+)$"
    ),
    re.I,
)
LIFE_EN = to_pattern(
    (
        r"^(?:(?:eventually|someday|one day|finally)\s+)?(?:learn(?!\s+(?:more|how|about|what|why))\b"
        r"|los(?:e|ing)\b|quit\b|sav(?:e|ing)\b|becom(?:e|ing)\b|improv(?:e|ing) my\b|get (?:in(?:to)?"
        r" (?:shape|better shape|college|grad school)|fit|healthier|promoted|certified|better at"
        r"|a (?:promotion|degree|new job|job))|eat(?:ing)? (?:healthier|less|more)|exercis|read(?:ing)?"
        r" (?:\d+|more)|build (?:a|an|my|up) .*(?:habit|business|career|muscle|company|startup)|"
        r"reduce my|cut (?:down|back)|start (?:a|my own) (?:business|company|startup|family|podcast"
        r"|blog)|run (?:a|my) |running (?:a|my) |pass\b|passing|sleep(?:ing)? (?:more|better|earlier)"
        r"|master\b|retire\b|buy(?:ing)? (?:a|my) (?:first )?(?:house|home|car|apartment)|graduate\b"
        r"|travel to|move to|publish|writ(?:e|ing) (?:a|my) (?:book|novel|thesis)|earn|make (?:the"
        r"|my first)|pay off|stop smoking|give up|launch|finish (?:my|a) (?:degree|phd|thesis|book"
        r"|novel|marathon|dissertation)|speak|be(?:come)? (?:a|an|more|fluent)|change careers?|switch"
        r" careers?|transition|qualify|compete|win|grow (?:my|our|the)|reach|hit|(?:a|the|my) (?:marathon"
        r"|half|exam|certification|degree|phd|promotion|thesis|ironman|triathlon|house|down payment"
        r"|new car|bar exam|gre|gmat|toefl|ielts|sat|wedding|trip)|(?:spanish|french|german|japanese"
        r"|korean|chinese|mandarin|italian|guitar|piano|rust|python|swimming|violin|machine learning"
        r"|portuguese|arabic|russian|sign language))"
    ),
    re.I,
)
HORIZON = to_pattern(
    (
        r"\bthis (?:year|month|quarter|summer|semester)\b|\bby (?:the end|december|\d{4}|next|june"
        r"|summer)|\bnext (?:year|month|quarter)\b|\bwithin \w+ (?:months?|years?)\b|\bsomeday\b"
        r"|\bone day\b|\bin (?:20\d\d)\b"
    ),
    re.I,
)
DEBUG = to_pattern(
    (
        r"\b(?:error|exception|bug|issue|fails?|failing|doesn't work|not working|traceback|stack"
        r" ?trace|compile|npm|pip|install|query|function|script|regex|json|css|html|api|endpoint"
        r"|class|method|variable|array|dataframe|figure out|find|understand why|fix)\b"
    ),
    re.I,
)
TOPICS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "database",
        to_pattern(
            (
                r"postgres\w*|mysql|sqlite|mongo\w*|mariadb|oracle|数据库|database|cassandra|dynamodb|clickhouse"
                r"|tidb|cockroach\w*"
            ),
            re.I | re.A,
        ),
    ),
    (
        "queue",
        to_pattern(r"kafka|rabbitmq|redis streams?|nats|pulsar|sqs|消息队列|message queue|rocketmq", re.I | re.A),
    ),
    ("cache", to_pattern(r"\bredis\b|memcached|缓存|\bcache\b|valkey", re.I | re.A)),
    ("frontend", to_pattern(r"\breact\b|\bvue\b|svelte|angular|next\.?js|前端|frontend|solidjs", re.I | re.A)),
    ("backend", to_pattern(r"fastapi|django|flask|spring|rails|express|后端|backend|nest\.?js|gin\b", re.I | re.A)),
    ("language", to_pattern(r"\bpython\b|\brust\b|\bgo(?:lang)?\b|typescript|kotlin|\bjava\b|编程语言", re.I | re.A)),
    ("cloud", to_pattern(r"\baws\b|azure|\bgcp\b|阿里云|腾讯云|kubernetes|\bk8s\b|terraform", re.I | re.A)),
)
TASK_HEAD_ZH = to_pattern(
    rf"^(?:(?:把|给\S{{1,4}}|跟\S{{1,4}}|和\S{{1,4}}|去|来|要|得|再|就|先|还|在|完|我|的|一下)*{VERBS_ZH}"
    rf"(?:完|好|掉|一下|给\S{{1,3}})?(?:一?[个份篇封次张本])?)+"
)
TASK_HEAD_EN = to_pattern(
    (
        r"^(?:to\s+)?(?:submit|finish|complete|send|prepare|write|fix|book|renew|pay|call|schedule"
        r"|review|turn in|hand in|file|deliver|update|deploy|buy|get|pick up|do|make|email|mail|"
        r"clean|return|ship|attend|merge|sign|upload|draft|wrap up|work on|order|cancel|organize"
        r"|plan|arrange)\s+(?:off\s+|out\s+|up\s+|in\s+|for\s+)?(?:a\s+|an\s+|the\s+|my\s+|our\s+"
        r"|some\s+)?"
    ),
    re.I,
)
BY = to_pattern(r"前|截止|完成|之内|以内|\bby\b|\bdue\b|\bbefore\b|deadline", re.I)
TICKET = to_pattern(r"(?:ticket |task |issue |工单)?#?([A-Za-z][A-Za-z0-9]{1,9}-\d{1,7})", re.I)
