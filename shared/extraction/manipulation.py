"""Finds instructions that steer the agent, to be refused, and claims that benefit their speaker, to be flagged."""

import re

from shared.extraction.clauses import Clause
from shared.extraction.gates import gate, mask
from shared.language.patterns import to_pattern

_OVERRIDE = to_pattern(
    r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:all\s+|any\s+|every\s+)?(?:of\s+)?(?:your\s+"
    r"|the\s+|my\s+)?(?:previous|prior|above|earlier|preceding|system|safety|existing)\s+(?:instructions?"
    r"|rules?|prompts?|guidelines?|messages?|polic(?:y|ies)|constraints?)|\bsystem prompt\b|"
    r"\bjailbreak|\bdeveloper mode\b|\byou are now (?:in\s+)?(?:dan|admin|root|unrestricted|"
    r"a system)|\bdo anything now\b|\breveal (?:your|the) (?:prompt|instructions)|\bwithout "
    r"(?:any )?(?:restrictions|safety|filters)"
    r"|(?:忽略|无视|忘记|忘掉|覆盖|绕过|跳过)(?:掉)?(?:你)?(?:之前|以上|前面|上面|先前|所有|"
    r"一切|全部|系统)(?:的)?(?:所有|一切|全部|系统)?(?:的)?(?:指令|规则|提示词?|设定|要求|限制"
    r"|安全|约束|对话)|系统提示词|越狱|开发者模式|解除(?:所有)?限制|你现在是(?:一个)?(?:管理员"
    r"|超级|root|不受限|没有限制)",
    re.I,
)
_STANDING = to_pattern(
    (
        r"以后|今后|从现在(?:开始|起)|从今(?:天|往后|以后)|每次|每一?[条个次]|所有(?:的)?(?:回复"
        r"|回答|用户|人|客户)|任何(?:人|时候|用户)|始终|永远|一律|from now on|\balways\b|\bevery"
        r" (?:time|reply|answer|response|message)|\ball (?:your |future )?(?:replies|answers|responses"
        r"|users)|\bwhenever\b|\beach (?:reply|answer|response)|\bfor all (?:users|customers)|\bhenceforth\b"
        r"|\bgoing forward\b|\bin (?:all|every)\b"
    ),
    re.I,
)
_SAY = to_pattern(
    (
        r"(?:先|都|必须|要|一律|统一|开头|结尾|末尾|最后|只能|直接)*(?:先说|先讲|说一?[句声]|都说"
        r"|要说|必须说|加上|附上|带上|写上|宣传|推广|推销|输出(?:一句)?|回[复答](?:说)?[:：\s\u00a0\"“'‘]"
        r"|声称|宣布|告诉(?:用户|客户|大家|他们|所有人|别人))|\b(?:say|state|claim|announce|promote"
        r"|advertise|tell (?:users?|customers?|everyone|people|anyone|them)|(?:start|begin|end|open"
        r"|finish)(?:\s+\w+){0,4}\s+with|append|prepend|include the (?:phrase|text|link|words)|insert"
        r"|mention that|output|respond (?:with|only)|reply with|answer with)\b"
    ),
    re.I,
)
_PROMOTE = to_pattern(
    (
        r"(?:以后|今后|从现在|每次|任何|所有|一律|始终|总是|永远|只)\S{0,14}(?:推荐|介绍|引导|夸"
        r"|吹捧)(?:用户|客户|大家|别人|所有人)?\S{0,10}(?:我们|我家|我的(?:店|产品|品牌|公司|课)"
        r"|本店)|\b(?:always|only|from now on)\b.{0,40}\brecommend\b.{0,20}\b(?:our|my (?:shop|product"
        r"|brand|company|store|course))\b"
    ),
    re.I,
)
_HIDE = to_pattern(
    (
        r"(?:不要|别|不许|禁止|不能|不得)(?:再)?(?:告诉|提醒|透露|让)(?:任何)?(?:用户|客户|别人|"
        r"他们|管理员|其他人)|隐瞒|(?:把|将)\S{0,20}(?:发送?|上传|转发|泄露|转账|汇)(?:到|给|至)\S{0,4}"
        r"(?:http|外部|这个(?:邮箱|地址|账户))|\b(?:do not|don't|never)\s+(?:tell|warn|inform|alert"
        r"|let)\s+(?:the\s+)?(?:users?|customers?|admin\w*|anyone|others|them)|\b(?:hide|conceal)\b.{0,20}\bfr"
        r"om (?:the )?(?:users?|customers?|admin)|\b(?:send|forward|upload|exfiltrate|leak)\b.{0,40}\b"
        r"(?:https?://|to (?:this|the following) (?:email|address|server|url))|\b(?:approve|grant"
        r"|authorize|transfer|refund)\b.{0,30}\b(?:automatically|without (?:asking|checking|verification"
        r"|confirmation|review|approval))|(?:自动|直接|无需确认|不用确认|不必审核|不用审核)(?:给我)?"
        r"(?:批准|通过|同意|转账|退款|授权|放行)"
    ),
    re.I,
)
_STYLE = to_pattern(
    (
        r"结论|摘要|要点|总结|结果|答案|重点|概要|大纲|步骤|例子|代码|出处|来源|引用|参考|标题|表情"
        r"|中文|英文|英语|日语|称呼|我的名字|名字|你好|思路|简短|简洁|详细|中英|单位|\b(?:conclusion"
        r"|summary|tl;?dr|bullet|example|code|answer|result|key points?|sources?|citations?|references?"
        r"|links?|steps?|headings?|table|emoji|chinese|english|short|concise|brief|my name|recap"
        r"|takeaways?|questions?|yes or no|json|markdown|list|units?|metric|reasoning|docstrings?"
        r"|type hints?|tests?)\b"
    ),
    re.I,
)
_QUOTED = to_pattern(r"[\u00a0\"“”'‘’「」『』]")
_HIDDEN = to_pattern(r"[“”「」『』\"'`’‘>|$~]|File|Traceback")
_MONEY = to_pattern(
    (
        r"预算|工资|薪水|月薪|年薪|收入|存款|余额|资产|积分|额度|身价|budget|salary|income|balance"
        r"|net worth|credit limit|points"
    ),
    re.I,
)
_CEILING = to_pattern(
    (
        r"不超过|以内|以下|最多|上限|不要超过|控制在|别超过|不能超|之内|under|below|at most|no more"
        r" than|max(?:imum)?|up to|within|less than|cap(?:ped)?\b|limit"
    ),
    re.I,
)
_ENTITLED = to_pattern(
    r"(?:我|本人)(?:们)?(?:是|就是|才是|属于|有|拥有|享有|应该|应当|可以|必须|已经|已)?(?:一?个"
    r"|一?名|一?位|的|你们?的?|尊贵的?|平台的?|系统的?|公司的?|店里的?|最高级?的?)*(?:VIP|vip"
    r"|SVIP|(?:黑金|黄金|白金|钻石|至尊|终身|高级|超级)(?:会员|用户)|管理员|超级管理员|root|"
    r"权限|审批权|批准权|免费|打?[一二三四五六七八九1-9]折|特价|退款|全额退款|赔偿|补偿|优惠"
    r"|授权|特权|无限额度|老板(?=，|,|$)|所有者|拥有者)|(?:你们?|公司|平台|系统|店里?|经理|客服)"
    r"(?:还|都|已经)?(?:欠我|答应(?:给|过)?我|批准(?:了)?我|承诺(?:给)?我|授权(?:了)?我|同意"
    r"(?:给)?我)|给我(?:打[一二三四五六七八九1-9]折|免单|免费|退款|最低价|最高权限)|"
    r"\b(?:I(?:'m| am)\s+(?:an?\s+|the\s+|your\s+)*(?:vip|admin(?:istrator)?|root|owner|super"
    r" ?user|premium|platinum|gold member|lifetime member|authori[sz]ed|entitled|eligible|exempt"
    r"|pre-?approved|approved)\b|I(?:'ve| have)?\s+(?:been\s+)?(?:have|got|get|granted|promised"
    r"|given|owed|deserve|approved for|qualify for|was promised|am owed)\s+.{0,24}(?:discount"
    r"|refund|free|admin|access|credit|permission|privileges?|authority|upgrade|clearance|waiver)"
    r"|you (?:owe|promised) me|my (?:account|order|plan) (?:is|was) (?:free|approved|upgraded"
    r"|pre-?paid)|i (?:always )?get (?:a |an )?(?:\d+% |free|special ))",
    re.I,
)
_LARGE_MONEY = to_pattern(
    (
        r"\d[\d,.]*\s*(?:千万|百万|亿|[1-9]\d{2,}\s*万)|[1-9]\d{2,}\s*万|[一二三四五六七八九几两]?"
        r"(?:百|千)万|亿|\b\d+(?:\.\d+)?\s*(?:million|billion|mn|bn)\b|\$\s*\d+(?:,\d{3}){2,}"
    ),
    re.I,
)


_OVERRIDES, _HIDES, _PROMOTES = gate(_OVERRIDE), gate(_HIDE), gate(_PROMOTE)
_STANDS, _SAYS = gate(_STANDING), gate(_SAY)
_SERVES = gate(_ENTITLED, _MONEY)


def find_manipulation(text: str, signs: int | None = None) -> str | None:
    """The rule that a sentence breaks by steering the agent or its other users; None if it breaks none."""
    signs = mask(text) if signs is None else signs
    if signs & _OVERRIDES and _OVERRIDE.search(text):
        return "override"
    if signs & _HIDES and _HIDE.search(text):
        return "conceal"
    if signs & _PROMOTES and _PROMOTE.search(text):
        return "promote"
    if signs & _STANDS and signs & _SAYS and _STANDING.search(text) and (said := _SAY.search(text)):
        rest = text[said.start() :]
        if _QUOTED.search(rest) or not _STYLE.search(text):
            return "dictated_content"
    return None


def may_serve(signs: int) -> bool:
    """Whether a text with this mask may claim something for its speaker."""
    return bool(signs & _SERVES)


def serves_itself(text: str, directed: bool) -> bool:
    """Whether the text claims entitlement or authority for its speaker, or money if it is dictated or vast."""
    if _ENTITLED.search(text):
        return True
    if not _MONEY.search(text) or _CEILING.search(text):
        return False
    return directed or bool(_LARGE_MONEY.search(text))


def list_sentences(clauses: tuple[Clause, ...], text: str) -> list[tuple[int, int, int, int | None]]:
    """The number, start, end and mask of every sentence; no mask if the clauses omit parts of it."""
    spans: dict[int, tuple[int, int, int]] = {}
    for clause in clauses:
        start, end, signs = spans.get(clause.sentence, (clause.start, clause.end, 0))
        spans[clause.sentence] = (min(start, clause.start), max(end, clause.end), signs | clause.mask)
    hidden = _HIDDEN.search(text) is not None
    return [
        (number, start, min(end + 1, len(text)), None if hidden else signs)
        for number, (start, end, signs) in spans.items()
    ]
