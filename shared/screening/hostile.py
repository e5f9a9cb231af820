"""Patterns of hostile text in both languages, applied to text without accents, spacing tricks or look-alikes."""

# ruff: noqa: E501, SIM905 - one pattern per line, lists of words as one text

import re

from shared.language.patterns import to_pattern

_FLAGS = re.IGNORECASE | re.DOTALL
_GAP_EN = r"[\s\W_]{1,4}"


def _words(pattern: str) -> str:
    """Each space of the pattern as a short gap without letters and digits."""
    return pattern.replace(" ", _GAP_EN)


_OBJECT = r"(?:instructions?|prompts?|rules?|guidelines?|directives?|directions|constraints?|restrictions?|polic(?:y|ies)|commands?|training|programming|guardrails?|safety|filters?|safeguards?|contexts?)"
_FORMER = r"(?:previous|prior|above|earlier|preceding|former|existing|initial|original|current|system|safety|security|content|ethical|developer|your|these|those|the|all|any|every|of|my|given|past|other|hidden)"
_DROP = r"(?:ignore|disregard|forget|bypass|override|overrule|overwrite|skip|dismiss|discard|neglect|circumvent|evade|violate|disobey|drop|void|nullify|abandon|stop following|do not follow|don t follow|no longer follow|pay no attention to|set aside)"
_ENGLISH: tuple[tuple[str, str], ...] = (
    ("ignore_instructions", _words(rf"\b{_DROP} (?:{_FORMER} ){{1,6}}{_OBJECT}\b")),
    (
        "ignore_instructions",
        _words(rf"\b{_DROP} {_OBJECT} (?:above|before|from before|you (?:were|have been|got|received))\b"),
    ),
    (
        "ignore_instructions",
        _words(
            rf"\b(?:ignore|bypass|disable|turn off|switch off|deactivate|remove|evade|circumvent) (?:{_FORMER} ){{0,3}}(?:safety|content|security|moderation|ethic\w*|guardrails?|safeguards?)\b(?: (?:guidelines?|polic(?:y|ies)|filters?|rules?|measures?|checks?|restrictions?))"
        ),
    ),
    (
        "ignore_instructions",
        _words(
            r"\b(?:forget|ignore|disregard|erase|discard) (?:about )?(?:(?:everything|all|anything)(?: (?:that|was|is|you|i|we|have|has|been|were|said|told|written|of|it|the))*|what(?: (?:that|was|is|you|have|has|been|were|told|written|it|the))*) (?:above|before|previous(?:ly)?|prior|earlier|know|learned|told)\b"
        ),
    ),
    (
        "new_instructions",
        r"\b(?:new|updated|revised|real|actual)\s+(?:system\s+)?(?:instructions?|prompts?|directives?)\s*[:：]",
    ),
    (
        "new_instructions",
        r"(?:^|[\n.!?;]\s{0,40}|\*\*|#+\s*|\[)(?:system|developer|admin(?:istrator)?|root)(?:\s+(?:prompt|message|override|note|instructions?|update))?\s*\]?\s*[:：]\s*(?:\w+\s+){0,4}?(?:ignore|forget|override|disregard|you|reveal|new|from|act|grant|transfer|send|disable)",
    ),
    ("new_instructions", r"(?:^|[\n.!?;]\s{0,40})(?:system\s+)?override\s*[:：]\s*\w"),
    (
        "role_takeover",
        _words(
            r"\byou (?:are|re|will be|must be) (?:now |henceforth |from now on )(?:in |an? |the |my |no longer |acting |going )?(?:\w+ ){0,3}?(?:mode|dan|jailbr\w+|unrestricted|unfiltered|uncensored|developer|root|admin\w*|evil|free of|without|bound|hacker|assistant|ai|bot|model|agent)\b"
        ),
    ),
    (
        "role_takeover",
        _words(
            r"\b(?:enter|enable|activate|switch to|go into|boot into|unlock) (?:the )?(?:developer|god|admin|root|jailbreak|dan|sudo|unrestricted) mode\b(?! (?:on|in|for) (?:my|the|your|his|her|an?|android|chrome|windows|ios))"
        ),
    ),
    (
        "role_takeover",
        _words(
            r"\b(?:pretend|imagine|act|behave|respond|roleplay|role play|operate|answer)(?: (?:that|as|if|though|like|to|be|you|are|were|an|a|the|have|had|having|with|under|ai|assistant|model|bot|chatbot|system|person|someone|something))*? (?:no|without|zero|free of|free from|not bound by)(?: (?:any|all|your|the|usual|ethical|moral|safety|content))* (?:restrictions?|limits?|limitations?|rules?|filters?|guidelines?|constraints?|censorship|polic(?:y|ies)|ethics|morals)\b"
        ),
    ),
    (
        "role_takeover",
        _words(
            r"\b(?:from now on|from this moment|henceforth|going forward) (?:you (?:will |must |shall |should |are |re )?)?(?:to )?(?:act as|behave as|pretend|obey|answer only to|only follow|do not refuse|ignore|never refuse|comply)\b"
        ),
    ),
    (
        "role_takeover",
        _words(
            r"\bi want you to (?:act|pretend|behave|respond) (?:as|like|to be) (?:an? )?(?:dan|jailbroken|unrestricted|unfiltered|evil|uncensored|hacker|system|administrator)\b"
        ),
    ),
    (
        "role_takeover",
        _words(
            r"\b(?:act|behave|respond|answer|operate) (?:as|like) (?:an? |the )?(?:dan|unrestricted|unfiltered|uncensored|jailbroken|amoral|evil)\b|\byou (?:are|re) (?:now )?(?:an? )?(?:dan|jailbroken|unrestricted|unfiltered|uncensored)\b"
        ),
    ),
    (
        "role_takeover",
        r"\bjail\s*break(?:ing|ed|s)?\b\s*(?::|mode|prompt|the\s+(?:model|ai|assistant)|yourself)|\bdo\s+anything\s+now\b|\bact\s+as\s+(?:a\s+)?dan\b",
    ),
    (
        "reveal_prompt",
        _words(
            r"\b(?:reveal|show|print|display|output|repeat|leak|expose|disclose|tell|give|send|dump|share|recite|write out|list|translate|summari[sz]e|what (?:is|are|was|were)|what s)(?: (?:me|us|back|the|your|its|full|entire|exact|complete|hidden|secret|initial|original|system|developer|internal|all|of|own|first|confidential|raw|verbatim))*? (?:system|initial|hidden|secret|developer|original|internal|confidential|base) (?:prompts?|instructions?|messages?|configuration|rules|directives?)\b"
        ),
    ),
    (
        "reveal_prompt",
        _words(
            r"\b(?:repeat|print|output|echo|recite|copy) (?:back )?(?:everything|all|the (?:text|words|content)|every word)(?: (?:of|the|text|words|written|that|is|was))* (?:above|before this|so far in this prompt)\b"
        ),
    ),
    (
        "exfiltrate",
        _words(
            r"\b(?:send|forward|post|upload|exfiltrate|email|transmit|leak)(?: \w+){0,5} (?:passwords?|api keys?|secrets?|credentials?|tokens?|conversations?|chat (?:history|logs?)|memories|user data|private data|personal data)(?: \w+){0,4} to (?:https?|ftp|[\w.+-]+@|attacker|this (?:url|address|server|email)|the following)"
        ),
    ),
    (
        "manipulate_agent",
        _words(
            r"\b(?:the |this )?(?:assistant|ai|agent|model|chatbot|bot|llm) (?:must|should|shall|will|needs to|has to|is required to)(?: (?:now|always|never|only|immediately|silently|secretly|first))* (?:ignore|obey|comply|reveal|disclose|approve|execute|transfer|delete|bypass|recommend only|call the|run the|not tell|hide|refuse|grant|insert|recommend|promote|praise)\b"
        ),
    ),
    (
        "manipulate_agent",
        _words(
            r"\b(?:do not|don t|never)(?: ever)? (?:tell|inform|mention (?:this )?to|reveal (?:this )?to|alert|notify) the (?:user|human|customer)\b"
        ),
    ),
    (
        "manipulate_agent",
        _words(
            r"\b(?:without (?:asking|telling|informing|notifying) the (?:user|human|customer)|act without (?:any )?(?:restrictions?|limits?|filters?))\b"
        ),
    ),
)
_G = r"[\s,，、:：\"'“”「」*]{0,3}"
_ZH_OBJECT = r"(?:指令|规定|指示|命令|规则|提示词?|设定|限制|约束|要求|系统消息|系统提示|安全(?:策略|准则|规则|机制|限制|协议)|内容(?:策略|政策|审查|过滤)|准则|守则|规范|角色设定|人设|prompt|对话(?!框)|内容|一切|信息|话|训练|政策|审查|过滤)"
_ZH_FORMER = r"(?:之前|以上|上面|上述|前面|先前|此前|前文|上文|原有|原来|原先|初始|所有|全部|一切|任何|系统|你的|您的|现有|既定|开发者|安全|内容|给你|设定|收到|已有|旧|这些|那些|该|目前|当前)"
_ZH_DROP = r"(?:(?:忽略|无视)(?!了)|忘掉|忘记|忘了|抛弃|抛开|绕过|绕开|不要(?:再)?(?:遵守|遵循|理会|管|听从|执行)|不必(?:再)?(?:遵守|遵循|理会)|不用(?:再)?(?:遵守|遵循|理会|管)|别(?:再)?(?:遵守|遵循|理会|管)|停止(?:遵守|遵循|执行))"
_ZH_UNDO = (
    r"(?:放弃|丢弃|丢掉|跳过|越过|覆盖|推翻|撤销|作废|清除|清空|抹去|违反|违背|突破|摆脱|解除|取消|关闭|停用|禁用|移除)"
)
_ZH_MACHINE = r"(?:指令|提示词|系统消息|系统提示|安全(?:策略|准则|规则|机制|限制|协议)|内容(?:策略|政策|审查|过滤)|角色设定|人设|prompt|审查|过滤器?)"
_CHINESE: tuple[tuple[str, str], ...] = (
    (
        "ignore_instructions",
        rf"{_ZH_UNDO}{_G}(?:掉|一下)?{_G}(?:{_ZH_FORMER}{_G}(?:的)?{_G}){{0,4}}{_ZH_MACHINE}|{_ZH_UNDO}{_G}(?:对)?(?:你|您)(?:的|身上的)?(?:所有|一切|任何|全部)?(?:的)?(?:限制|约束|规则|设定)",
    ),
    (
        "role_takeover",
        r"忘(?:记|掉|了)(?:你|您)?(?:自己)?(?:是|的)(?:一个|一名)?(?:AI|助手|人工智能|语言模型|机器人|身份|角色)",
    ),
    (
        "reveal_prompt",
        r"(?:把|将)[^。！？\n]{0,6}(?:系统|初始|隐藏|内部|原始|system)(?:的)?\s*(?:提示词?|指令|设定|prompt|消息)[^。！？\n]{0,10}(?:发|告诉|给我|输出|打印|念|写|贴|展示|复述|透露)",
    ),
    (
        "ignore_instructions",
        rf"{_ZH_DROP}{_G}(?:掉|了|一下)?{_G}(?:你|您|我|咱们)?(?:在|对|被|所)?{_G}(?:{_ZH_FORMER}{_G}(?:的|过的|给出的|说的|收到的|被告知的|设定的|地)?{_G}){{1,5}}(?:关于\w{{1,8}}的)?{_ZH_OBJECT}",
    ),
    (
        "ignore_instructions",
        rf"(?:把|将){_G}(?:{_ZH_FORMER}{_G}(?:的|说的)?{_G}){{1,4}}{_ZH_OBJECT}{_G}(?:都|全部|全|统统)?{_G}(?:忘掉|忘了|忘记|忽略|删掉|清除|清空|作废|丢掉|抛开)",
    ),
    (
        "ignore_instructions",
        rf"(?:从现在(?:开始|起)|接下来|此刻起|以后)?{_G}(?:以上|之前|上述|原有|前面)(?:的)?(?:所有|全部)?(?:指令|规则|设定|限制|提示词?|约束)(?:都|全部|均|已)?(?:无效|作废|失效|取消|不算|不再有效|解除)",
    ),
    (
        "role_takeover",
        r"(?:你|您|AI|助手)(?:现在|从现在(?:起|开始)|此刻起|接下来)?(?:就)?(?:已经?)?(?:是|进入|处于|切换(?:到|为|成)?|变成|变为|成为|化身(?:为)?|扮演|启用)(?:了)?\s*(?:一个|一名)?\s*(?:不受(?:任何)?(?:限制|约束)|没有(?:任何)?(?:限制|约束|道德|底线)|无限制|越狱|开发者|管理员|超级用户|上帝|调试|root|dan|admin|无审查|邪恶)(?:的)?\s*(?:模式|权限|状态|AI|助手|模型|人工智能|身份)?",
    ),
    (
        "role_takeover",
        r"(?:进入|开启|启用|启动|激活|切换到?|解锁|打开)\s*(?:开发者|管理员|上帝|越狱|无限制|无审查|超级|root|dan|admin|god)\s*(?:模式|权限)",
    ),
    (
        "role_takeover",
        r"(?:你|您)(?:现在|已经|从现在(?:起|开始)|接下来|从此)?(?:就|将)?(?:不|不再|不会再|无需)(?:再)?受(?:到)?(?:任何|一切)?(?:的)?(?:限制|约束)",
    ),
    (
        "role_takeover",
        r"(?:假装|假设|想象|扮演|装作|当作)(?:你|自己|一个|成)?.{0,8}?(?:没有|不受|不再受|无)(?:任何|一切|所有)?(?:的)?(?:限制|约束|规则|道德|审查|过滤|安全)",
    ),
    (
        "role_takeover",
        r"从现在(?:起|开始)[,，]?\s*(?:你|您)(?:必须|要|只能|将|应该|得)?\s*(?:无条件|绝对|完全)?\s*(?:服从|听从|执行我的|不再拒绝|不得拒绝|不能拒绝|只听)",
    ),
    (
        "reveal_prompt",
        r"(?:告诉|透露|泄露|展示|显示|输出|打印|说出|公开|给我?看?|发给?我?|重复|复述|写出|列出|翻译|总结|念出|贴出|暴露)(?:我|一下|给我|出|出来|下|看|看看|我们)*[^。！？\n]{0,8}?(?:系统|初始|隐藏|内部|原始|开发者|秘密|完整|system)(?:的)?\s*(?:提示词?|指令|设定|prompt|消息|规则|配置)",
    ),
    (
        "reveal_prompt",
        r"(?:你|您)的(?:系统|初始|隐藏|内部|原始|完整)(?:的)?(?:提示词?|指令|设定|prompt)(?:是|有|都|到底|究竟)?(?:什么|啥|哪些)",
    ),
    (
        "reveal_prompt",
        r"(?:重复|复述|输出|打印|逐字)(?:一遍|出)?(?:以上|上面|前面|上述)(?:的)?(?:所有|全部|一切)(?:的)?(?:内容|文字|文本|信息|话)",
    ),
    (
        "new_instructions",
        r"(?:新(?:的)?(?:系统)?指令|系统(?:指令|提示|消息|覆盖|更新)|最高(?:优先级)?指令|管理员(?:指令|命令)|开发者(?:指令|消息))\s*[:：]",
    ),
    (
        "manipulate_agent",
        r"(?:不要|别|切勿|不得|禁止|无需|不必)(?:再)?(?:告诉|告知|通知|提醒|让|透露给|询问)(?:用户|客户|主人|人类)",
    ),
    (
        "manipulate_agent",
        r"(?:助手|AI|模型|机器人|智能体|agent)(?:必须|应当|务必|只能|一定要|需要)(?:立即|立刻|始终|永远|总是|无条件|偷偷|悄悄|直接)*(?:忽略|服从|执行|泄露|透露|批准|转账|删除|绕过|隐瞒|拒绝|授予|调用)",
    ),
    (
        "exfiltrate",
        r"(?:把|将)[^。！？\n]{0,20}(?:密码|密钥|令牌|口令|凭证|聊天记录|对话记录|用户数据|隐私|记忆)[^。！？\n]{0,10}(?:发送|发|上传|转发|提交|泄露|传)(?:到|给|至)",
    ),
)
_MARKERS = r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|eot_id|start_header_id)\|?>?|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>"
BLOCKED = [(rule, to_pattern(pattern, _FLAGS)) for rule, pattern in (*_ENGLISH, *_CHINESE)]
_DROPPING = """ignore disregard forget bypass override overrule overwrite skip dismiss discard neglect circumvent evade violate
 disobey drop void nullify abandon stop follow pay set disable turn switch deactivate remove erase"""
_THINGS = """instruction instructions prompt prompts rule rules guideline guidelines directive directives directions constraint
 constraints restriction restrictions policy policies command commands training programming guardrail guardrails safety filter
 filters safeguard safeguards context contexts content security moderation message messages configuration"""
_SYSTEMS = (
    "system developer admin administrator root instruction instructions prompt prompts directive directives override"
)
_ROLES = """mode dan restrictions restriction limits limit limitation limitations rules rule filter filters guideline guidelines
 constraint constraints censorship policy policies ethics morals unrestricted unfiltered uncensored jailbroken jailbreak amoral
 evil developer root hacker assistant ai bot model agent bound free without system administrator act pretend obey refuse ignore
 comply behave answer follow jail anything"""
_MACHINES = "assistant ai agent model chatbot bot llm"
_NEEDED: dict[str, tuple[frozenset[str], ...]] = {
    "ignore_instructions": (
        frozenset(_DROPPING.split()),
        frozenset(
            f"{_THINGS} ethic ethics ethical above before previous previously prior earlier know learned told".split()
        ),
    ),
    "new_instructions": (frozenset(_SYSTEMS.split()),),
    "role_takeover": (frozenset(_ROLES.split()), frozenset(f"{_ROLES} you now on".split())),
    "reveal_prompt": (
        frozenset(
            """reveal show print display output repeat leak expose disclose tell give send dump share recite write list translate
            summarize summarise what echo copy""".split()
        ),
        frozenset(f"{_THINGS} everything all text words content word".split()),
    ),
    "exfiltrate": (
        frozenset("send forward post upload exfiltrate email transmit leak".split()),
        frozenset(
            "password passwords key keys secret secrets credential credentials token tokens conversation conversations chat"
            " memories data".split()
        ),
    ),
    "manipulate_agent": (
        frozenset(f"{_MACHINES} not don never without".split()),
        frozenset(f"{_MACHINES} user human customer restriction restrictions limit limits filter filters".split()),
    ),
}
"""Groups of words; a text that matches an English pattern of the rule has one word of each group."""
_OF_ENGLISH = [(rule, pattern) for rule, pattern in BLOCKED[: len(_ENGLISH)]]
_OF_CHINESE = BLOCKED[len(_ENGLISH) :]

CODE: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (rule, to_pattern(pattern, _FLAGS))
    for rule, pattern in (
        (
            "sql",
            r"\b(?:drop|truncate)\s+(?:table|database|schema|view|index|user|role)\s+(?:if\s+exists\s+)?[\w.\"`\[\]]+(?:\s+cascade)?\s*;?(?:\s*--[^\n]*)?",
        ),
        (
            "sql",
            r"\bdelete\s+from\s+[\w.\"`]+(?:\s+where\s+[^;\n]{1,200})?\s*;(?:\s*--[^\n]*)?|\bdelete\s+from\s+[\w.\"`]+\s+where\s+[\w.\"`]+\s*(?:=|<|>|like|in)[^\n;]{0,200}",
        ),
        (
            "sql",
            r"\b(?:insert\s+into\s+[\w.\"`]+\s*(?:\([^)]{0,300}\)\s*)?values\s*\([^;\n]{0,300}|update\s+[\w.\"`]+\s+set\s+[\w.\"`]+\s*=[^;\n]{1,200}|alter\s+(?:table|user|role)\s+[\w.\"`]+[^;\n]{0,200}|grant\s+(?:all|select|insert|update|delete)\b[^;\n]{0,40}\bto\s+\w+)\s*;?",
        ),
        (
            "sql",
            r"\bunion\s+(?:all\s+)?select\b[^;\n]{0,200};?|['\"]\s*(?:or|and)\s+['\"]?(\d+)['\"]?\s*=\s*['\"]?\1['\"]?(?:\s*--[^\n]*)?|;\s*--|\bxp_cmdshell\b|\bexec\s*\(\s*['\"@]",
        ),
        (
            "code",
            r"<\s*script\b.*?(?:<\s*/\s*script\s*>|$)|<\s*iframe\b[^>]*>?|\bjavascript\s*:|\bon(?:error|load|click)\s*=\s*[\"'][^\"']*[\"']?",
        ),
        (
            "code",
            r"\b(?:rm\s+-[rf]{1,3}\s+[/~*.]\S*|(?:curl|wget)\s+[^\n|]{1,200}\|\s*(?:ba|z)?sh\b|:\(\)\s*\{.{0,20}\};:|mkfs\.\w+\s+\S+|dd\s+if=\S+\s+of=/dev/\S+)",
        ),
        ("code", r"\b(?:os\.system|subprocess\.(?:run|call|popen)|__import__|eval|exec)\s*\(\s*[\"'f][^)\n]{0,200}\)?"),
        ("marker", _MARKERS),
    )
)

_CHINESE_CUES = """忽略 无视 忘 抛弃 丢弃 丢掉 抛开 放弃 绕过 绕开 跳过 越过 覆盖 推翻 撤销 作废 清除 清空 抹去 违反 违背 突破 摆脱 解除 遵守 遵循 理会 听从 指令
    指示 命令 规则 提示 设定 限制 约束 系统 安全 准则 守则 规范 人设 政策 审查 过滤 模式 权限 道德 底线 越狱 开发者 管理员 超级 上帝 服从 拒绝 只听
    执行我 配置 重复 复述 逐字 打印 输出 告诉 告知 通知 提醒 透露 询问 让用户 让客户 让主人 让人类 助手 模型 机器人 智能体 密码 密钥 令牌 口令 凭证 聊天记录 对话记录 用户数据
    隐私 记忆 无效 失效 要求 prompt agent root dan admin 内容 一切 训练 规定 身份 角色 助手 ai""".split()
_CHINESE_CUE = to_pattern("|".join(sorted(set(_CHINESE_CUES), key=len)))
_WORD = to_pattern("[a-z]+")
_CODE_CUES = to_pattern(
    r"\b(?:table|database|schema|delete|insert|update|alter|grant|union|script|iframe|javascript|drop|truncate|exec|eval|curl|wget|subprocess)\b|--|xp_|\brm -|os\.system|__import__|mkfs|\bdd if|:\(\)|['\"] *(?:or|and)\b|<\||inst\]|sys>>|_turn>|\bon(?:error|load|click)\b",
    re.IGNORECASE,
)
_CODE_SIGNS = (
    *"""table database schema delete insert update alter grant union script iframe drop truncate exec eval curl wget subprocess
    -- xp_ os.system __import__ mkfs :() <| inst] sys>> _turn> onerror onload onclick""".split(),
    *("rm -", "dd if", "' or", "'or", "' and", "'and", '" or', '"or', '" and', '"and', "'  or", "'  and"),
)
"""Each match of the cues contains one of these."""


def looks_like_code(text: str) -> bool:
    """False only where no code pattern can match."""
    low = text.lower()
    return any(sign in low for sign in _CODE_SIGNS) and _CODE_CUES.search(text) is not None


def foreseen(form: str) -> str | None:
    """The rule by which the text, in its plain form, gives orders to the agent."""
    words = set(_WORD.findall(form))
    open_rules = {rule for rule, needed in _NEEDED.items() if _may(words, needed)}
    if open_rules:
        for rule, pattern in _OF_ENGLISH:
            if rule in open_rules and pattern.search(form):
                return rule
    if _may_chinese(form):
        return next((rule for rule, pattern in _OF_CHINESE if pattern.search(form)), None)
    return None


def _may(words: set[str], needed: tuple[frozenset[str], ...]) -> bool:
    return not any(map(words.isdisjoint, needed))


def _may_chinese(text: str) -> bool:
    return not text.isascii() and _CHINESE_CUE.search(text) is not None
