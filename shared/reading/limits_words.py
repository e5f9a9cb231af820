"""Patterns for ceilings, allergies and standing directives."""

import re

from shared.text.patterns import to_pattern

_UNIT_ZH = r"(?:元|块钱?|块|人民币|美元|美金|欧元|港币|日元|英镑)"
AMOUNT = (
    rf"(?:[一二两三四五六七八九十百千万亿半]{{2,8}}{_UNIT_ZH}?(?![\u4e00-\u9fff]?[天个人次])|"
    r"(?:[¥￥$€£]|RMB|USD|CNY)?\s*\d[\d,.]*\s*(?:k|K|w|W|千|万|百|亿)?\s*(?:元|块钱?|块|人民币"
    r"|美元|美金|刀|欧元|港币|rmb|usd|eur|dollars?|bucks|euros?|pounds?)?)"
)
BUDGET_ZH = to_pattern(
    r"(?:预算|价格|价位|总价|单价|花费|费用|成本|房租|租金)(?:上限|最高|最多|大概|大约|在|是"
    r"|为|控制|限制|就|只有|有限|不能|不要|不得|别|的话|一般|都|最好|：|:)*\s*(?:不超过|不高于"
    rf"|超过|低于|以内|在|到|不到)?(?P<amount>{AMOUNT})(?P<tail>以内|以下|之内|左右|上下|内|"
    r"封顶)?"
)
OVER_ZH = to_pattern(
    rf"(?:超过|高于|大于|贵过|贵于|超出)\s*(?P<amount>{AMOUNT})(?:以上)?(?:的)?(?:都|就|一律"
    rf"|我)?(?:不要|不考虑|不买|不看|别|太贵|不行|免谈|不接受|pass|不用|不推荐)|(?P<amount2>{AMOUNT})以上"
    r"的?(?:都|就|一律|我)?(?:不要|不考虑|不买|不看|别推|别推荐|不行|不接受)|(?:不要|别|不能"
    rf"|不得|不可以|最好不要|最好别)(?:推荐|给我推荐|买|选)?(?:超过|高于|贵过)\s*(?P<amount3>{AMOUNT})"
    rf"|(?:最多|顶多|上限|最高)(?:只能|能|可以)?(?:花|出|付|接受|是)?\s*(?P<amount4>{AMOUNT})"
    r"(?!\S*(?:人|天|次|岁|个|页|字))"
)
BUDGET_EN = to_pattern(
    (
        r"\b(?:my|our|the|a)\s+(?:\w+\s+)?budget(?:\s+for\s+[\w ]+?)?(?:\s+is|'s|\s+of|:)\s*(?:about\s+"
        r"|around\s+|only\s+|roughly\s+|under\s+|at most\s+|max(?:imum)?\s+|up to\s+|capped at\s+)*"
        rf"(?P<amount>{AMOUNT})|\b(?:nothing|anything|not|never)\s+(?:\w+\s+)?(?:over|above|more"
        rf" than|costing more than|exceeding)\s+(?P<amount2>{AMOUNT})|\b(?:no more than|at most|"
        r"maximum of|max|under|below|up to|keep (?:it|costs?|the price|everything) (?:under|below)"
        r"|can't (?:spend|pay|afford) (?:more than|over)|(?:don't|won't) (?:want to )?(?:spend|pay)"
        r" (?:more than|over)|can only (?:spend|afford))\s+(?P<amount3>(?:[$€£¥]\s*\d[\d,.]*k?|\d[\d,.]*k?\s*"
        r"(?:dollars?|bucks|euros?|usd|yuan|rmb|pounds?)))"
    ),
    re.I,
)
ALLERGY_ZH = to_pattern(
    r"(?:^|我)(?P<neg>不)?(?:现在|一直|从小|严重|也|都|有点|是|真的|小时候起|天生)*对(?P<what>[\u4e00-\u9f"
    r"ffA-Za-z、和及 ]{1,20}?)(?:严重|有点|轻微|会|都|有|也|一直|从小)*(?P<neg2>不|没有?)?过敏"
    r"|^(?:我)?(?:有)?(?P<what2>[\u4e00-\u9fff]{1,6})(?:严重)?(?:过敏(?:体质|症)?|不耐受)$|^(?:我的?)?过敏原"
    r"(?:是|有|：|:)(?P<what3>.{1,20})$"
)
ALLERGY_EN = to_pattern(
    (
        r"\bI(?:'m| am|'ve been|'ve always been| have been)\s+(?:also\s+|severely\s+|deathly\s+|"
        r"really\s+|very\s+|highly\s+|mildly\s+|a bit\s+|terribly\s+)*(?:(?P<neg>not)\s+)?allergic\s+to\s+"
        r"(?P<what>.+)$|\bI\s+have\s+(?:an?\s+)?(?:severe\s+|bad\s+|serious\s+|mild\s+)?(?P<what2>[\w"
        r" ]{3,24}?)\s+allerg(?:y|ies)\b|\bI\s+have\s+(?:an?\s+)?(?:severe\s+|bad\s+|serious\s+)?allerg"
        r"(?:y|ies)\s+to\s+(?P<what3>.+)$|\bI(?:'m| am)\s+(?P<what4>lactose|gluten|dairy)[- ]intolerant"
        r"|\bI\s+(?:can't|cannot)\s+(?:eat|have|tolerate|digest|drink)\s+(?P<what5>.+)$"
    ),
    re.I,
)
NO_ALLERGY_ZH = to_pattern(
    r"^(?:我)?(?:其实|已经|现在|早就|并|也|都|真的|根本|从来)*(?:不|没有?)?(?:再|会)?"
    r"对(?P<what>[\u4e00-\u9fffA-Za-z、和及 ]{1,20}?)"
    r"(?:其实|已经|现在|早就|并|也|都|真的|根本|从来)*(?P<neg>不|没有?)?(?:再|会)*过敏(?:了|的)?$"
)
_LATELY = r"(?:\s+(?:any ?more|any longer|after all|now|at all))?$"
NO_ALLERGY_EN = to_pattern(
    r"\bI(?:'m| am)\s+(?:actually\s+|really\s+|definitely\s+)*(?:not|no longer)\s+(?:actually\s+|really\s+)*"
    rf"allergic\s+to\s+(?P<what>.+?){_LATELY}"
    r"|\bI\s+(?:don't|do not|no longer)\s+(?:actually\s+|really\s+)?have\s+(?:an?\s+|any\s+)?"
    rf"(?:allerg(?:y|ies)\s+to\s+(?P<what2>.+?)|(?P<what3>[\w ]{{3,24}}?)\s+allerg(?:y|ies)){_LATELY}",
    re.I,
)
CANNOT_ZH = to_pattern(
    r"(?:^|我|本人|医生(?:说|让|建议)(?:我)?)(?:现在|一直|从小|也|都|因为\S{1,8}|完全|绝对|真的"
    r"|天生|血糖高|痛风)*(?:不能|不可以|不得|不许|没法|忌|禁止|少|别)(?P<verb>吃|喝|碰|沾|摄入"
    r"|抽|熬夜|久坐|剧烈运动)(?P<what>[\u4e00-\u9fffA-Za-z、和及或 ]{0,16}?)(?:的)?$"
)
CANNOT_EN = to_pattern(
    (
        r"\b(?:the |my )?doctor (?:said|says|told me|advised me)\s*(?:that\s+)?(?:i\s+(?:can't|cannot"
        r"|shouldn't|must not|have to avoid|should avoid|need to avoid)\s+(?:eat|have|drink)?|not"
        r" to (?:eat|have|drink)|to avoid)\s*(?P<what>.+)$"
    ),
    re.I,
)
DIRECTIVE_ZH = to_pattern(
    r"^(?:那|好的?|嗯|对了|另外|还有|麻烦|拜托)?[，,]?(?:(?P<standing>以后|今后|之后|从现在(?:开始"
    r"|起)|从今(?:以后|往后|天起)|每次|永远|始终|一律|所有)|请|你|麻烦你?|希望你|我希望你|我要求你"
    r"|我想要你|跟我|给我|和我|对我)+(?P<mid>.{0,12}?)(?P<what>(?:总是|一直|一律|永远|必须|务必"
    r"|都|尽量|始终|只|直接|统一|不要|别再?|不许|禁止|少|多|不用|用|先|说|回答|回复|给|推荐|"
    r"叫|写|保持|简短|简洁|详细).{1,50})$"
)
LASTING_ZH = to_pattern(
    r"以后|今后|从现在|从今|每次|永远|始终|一律|所有|总是|一直|都要|别再|不要再|尽量|必须|务必|之后都|任何时候|平时"
)
AGENT_ACT_ZH = to_pattern(
    r"回答|回复|答复|说话|说|讲|推荐|解释|输出|写|用|称呼|叫我|给我|发|提醒|举例|翻译|代码|建议"
    r"|提|问|默认|列|注释|总结|格式|语气|简短|简洁|详细|中文|英文"
)
DIRECTIVE_EN = to_pattern(
    (
        r"^(?:and |but |also,? |ok(?:ay)?,? |so,? |then,? )*(?P<lead>(?:please|from now on|going"
        r" forward|in (?:the )?future|henceforth|for all (?:future )?(?:answers|replies|responses)"
        r"|in your (?:answers|replies|responses)|when (?:you )?(?:answer(?:ing)?|reply(?:ing)?|respond"
        r"(?:ing)?|writ(?:e|ing) code)(?: to me| me)?|i(?:'d| would)? (?:want|like|need|prefer) you"
        r" to|you (?:should|must|can))\b,?\s*)*(?P<what>(?P<adv>always|never|don't ever|do not ever"
        r"|don't|do not|stop|avoid|only|keep|be|use|make sure|answer|reply|respond|write|give|include"
        r"|speak|talk|format|start|no|skip|call|address|explain|limit)\b.+)$"
    ),
    re.I,
)
LASTING_EN = to_pattern(
    (
        r"\b(?:always|never|from now on|going forward|in (?:the )?future|henceforth|every time|don't"
        r" ever|do not ever|by default|all (?:your|future)|in your (?:answers|replies|responses)"
        r"|whenever|when (?:you )?(?:answer|reply|respond|writ)\w*|stop (?:using|adding|giving|recommending"
        r"|sending|suggesting)|anymore)\b"
    ),
    re.I,
)
AGENT_ACT_EN = to_pattern(
    (
        r"\b(?:answer|repl|respon|explain|explanation|write|writing|speak|talk|recommend|suggest"
        r"|use|using|format|include|give|call me|address me|code|example|emoji|bullet|table|list"
        r"|concise|brief|short|language|english|chinese|spanish|japanese|french|german|tone|summar"
        r"|cite|sources?|units?|metric|markdown|comments?|docstrings?|type hints?|ask|remind|send"
        r"|message|assume|apologi[sz]|output)\w*"
    ),
    re.I,
)
MUST_ZH = to_pattern(
    r"^(?:我的?|我们的?|这个|项目|代码|系统)?(?P<what>(?:要求|底线|原则|硬性要求|规定)(?:是|"
    r"：|:).{2,50}|[\u4e00-\u9fffA-Za-z]{0,10}(?:必须|一律|不得|不允许|严禁|绝不能|绝对不能|"
    r"不能超过|不得超过|只能用|只支持|只接受|至少要?).{2,40})$"
)
MUST_EN = to_pattern(
    (
        r"\b(?P<what>(?:our|my|the)\s+(?:[\w-]+\s+){1,4}(?:must(?: not)?|can't|cannot|may not|has"
        r" to|have to|must never|should never|can only|is required to)\s+(?!be (?:wrong|right|kidding)).{3,80}"
        r")$|\b(?:I|we)\s+(?P<what2>(?:only accept|can only|must never|never (?:deploy|merge|push"
        r"|work|fly|travel|schedule|take meetings)|don't (?:work|take meetings|travel|fly|deploy"
        r"|do meetings) (?:on|before|after|in)|can't (?:work|travel|fly|meet|do) (?:on|before|after"
        r"|in)|can't (?:do|have|take|make|attend|join|schedule|hold)\s+(?:[\w-]+\s+){1,3}?(?:on|before|after|during)"
        r"|am not available|'m not available|am only available|need (?:everything|all))\b.{2,80})$"
    ),
    re.I,
)
NO_CALL = to_pattern(
    r"^(?:please\s+)?(?:don't|do not|never|stop)\s+call(?:ing)?\s+me\s+(?P<name>[\w' .-]{2,24})$"
    r"|^(?:请|以后|你|就|可以)*(?:别|不要|别再|不要再)(?:再)?(?:叫|喊|称呼)我(?P<name2>[\u4e00-\u9fffA-Za-z]{1,8}?)(?:了|吧|哦|啦)?$",
    re.I,
)
ADVERBS = to_pattern(r"^(?:总是|都|一律|必须|不要|别再?|always|never|please|do not|don.t)+ *", re.I)
