"""Constraints: ceilings of price, allergies and diets by need, and standing directives on how to answer."""

import re

from services.observer.rules.clauses import Clause
from services.observer.rules.guards import Stance
from services.observer.rules.keys import preference_key, slot_of, slug, target_of, tidy
from services.observer.rules.model import Found

_AMOUNT = r"(?:[¥￥$€£]|RMB|USD|CNY)?\s*\d[\d,.]*\s*(?:k|K|w|W|千|万|百|亿)?\s*(?:元|块钱?|块|人民币|美元|美金|刀|欧元|港币|rmb|usd|eur|dollars?|bucks|euros?|pounds?)?"
_BUDGET_ZH = re.compile(rf"(?:预算|价格|价位|总价|单价|花费|费用|成本|房租|租金)(?:上限|最高|最多|大概|大约|在|是|为|控制|限制|就|只有|有限|不能|不要|不得|别|的话|一般|都|最好|：|:)*\s*(?:不超过|不高于|超过|低于|以内|在|到|不到)?(?P<amount>{_AMOUNT})(?P<tail>以内|以下|之内|左右|上下|内|封顶)?")
_OVER_ZH = re.compile(rf"(?:超过|高于|大于|贵过|贵于|超出)\s*(?P<amount>{_AMOUNT})(?:以上)?(?:的)?(?:都|就|一律|我)?(?:不要|不考虑|不买|不看|别|太贵|不行|免谈|不接受|pass|不用|不推荐)|(?P<amount2>{_AMOUNT})以上的?(?:都|就|一律|我)?(?:不要|不考虑|不买|不看|别推|别推荐|不行|不接受)|(?:不要|别|不能|不得|不可以|最好不要|最好别)(?:推荐|给我推荐|买|选)?(?:超过|高于|贵过)\s*(?P<amount3>{_AMOUNT})|(?:最多|顶多|上限|最高)(?:只能|能|可以)?(?:花|出|付|接受|是)?\s*(?P<amount4>{_AMOUNT})(?!\S*(?:人|天|次|岁|个|页|字))")
_BUDGET_EN = re.compile(rf"\b(?:my|our|the|a)\s+(?:\w+\s+)?budget(?:\s+for\s+[\w ]+?)?(?:\s+is|'s|\s+of|:)\s*(?:about\s+|around\s+|only\s+|roughly\s+|under\s+|at most\s+|max(?:imum)?\s+|up to\s+|capped at\s+)*(?P<amount>{_AMOUNT})|\b(?:nothing|anything|not|never)\s+(?:\w+\s+)?(?:over|above|more than|costing more than|exceeding)\s+(?P<amount2>{_AMOUNT})|\b(?:no more than|at most|maximum of|max|under|below|up to|keep (?:it|costs?|the price|everything) (?:under|below)|can't (?:spend|pay|afford) (?:more than|over)|(?:don't|won't) (?:want to )?(?:spend|pay) (?:more than|over)|can only (?:spend|afford))\s+(?P<amount3>(?:[$€£¥]\s*\d[\d,.]*k?|\d[\d,.]*k?\s*(?:dollars?|bucks|euros?|usd|yuan|rmb|pounds?)))", re.I)
_ALLERGY_ZH = re.compile(r"(?:^|我)(?P<neg>不)?(?:现在|一直|从小|严重|也|都|有点|是|真的|小时候起|天生)*对(?P<what>[\u4e00-\u9fffA-Za-z、和及 ]{1,20}?)(?:严重|有点|轻微|会|都|有|也|一直|从小)*(?P<neg2>不|没有?)?过敏|^(?:我)?(?:有)?(?P<what2>[\u4e00-\u9fff]{1,6})(?:严重)?过敏(?:体质|症)?$|^(?:我的?)?过敏原(?:是|有|：|:)(?P<what3>.{1,20})$")
_ALLERGY_EN = re.compile(r"\bI(?:'m| am|'ve been|'ve always been| have been)\s+(?:also\s+|severely\s+|deathly\s+|really\s+|very\s+|highly\s+|mildly\s+|a bit\s+|terribly\s+)*(?:(?P<neg>not)\s+)?allergic\s+to\s+(?P<what>.+)$|\bI\s+have\s+(?:an?\s+)?(?:severe\s+|bad\s+|serious\s+|mild\s+)?(?P<what2>[\w ]{3,24}?)\s+allerg(?:y|ies)\b|\bI\s+have\s+(?:an?\s+)?(?:severe\s+|bad\s+|serious\s+)?allerg(?:y|ies)\s+to\s+(?P<what3>.+)$|\bI(?:'m| am)\s+(?P<what4>lactose|gluten|dairy)[- ]intolerant|\bI\s+(?:can't|cannot)\s+(?:eat|have|tolerate|digest|drink)\s+(?P<what5>.+)$", re.I)
_CANNOT_ZH = re.compile(r"(?:^|我|本人|医生(?:说|让|建议)(?:我)?)(?:现在|一直|从小|也|都|因为\S{1,8}|完全|绝对|真的|天生|血糖高|痛风)*(?:不能|不可以|不得|不许|没法|忌|禁止|少|别)(?P<verb>吃|喝|碰|沾|摄入|抽|熬夜|久坐|剧烈运动)(?P<what>[\u4e00-\u9fffA-Za-z、和及或 ]{0,16}?)(?:的)?$")
_CANNOT_EN = re.compile(r"\b(?:the |my )?doctor (?:said|says|told me|advised me)\s*(?:that\s+)?(?:i\s+(?:can't|cannot|shouldn't|must not|have to avoid|should avoid|need to avoid)\s+(?:eat|have|drink)?|not to (?:eat|have|drink)|to avoid)\s*(?P<what>.+)$", re.I)
_DIRECTIVE_ZH = re.compile(r"^(?:那|好的?|嗯|对了|另外|还有|麻烦|拜托)?[，,]?(?:(?P<standing>以后|今后|之后|从现在(?:开始|起)|从今(?:以后|往后|天起)|每次|永远|始终|一律|所有)|请|你|麻烦你?|希望你|我希望你|我要求你|我想要你|跟我|给我|和我|对我)+(?P<mid>.{0,12}?)(?P<what>(?:总是|一直|一律|永远|必须|务必|都|尽量|始终|只|直接|统一|不要|别再?|不许|禁止|少|多|不用|用|先|说|回答|回复|给|推荐|叫|写|保持|简短|简洁|详细).{1,50})$")
_LASTING_ZH = re.compile(r"以后|今后|从现在|从今|每次|永远|始终|一律|所有|总是|一直|都要|别再|不要再|尽量|必须|务必|之后都|任何时候|平时")
_AGENT_ACT_ZH = re.compile(r"回答|回复|答复|说话|说|讲|推荐|解释|输出|写|用|称呼|叫我|给我|发|提醒|举例|翻译|代码|建议|提|问|默认|列|注释|总结|格式|语气|简短|简洁|详细|中文|英文")
_DIRECTIVE_EN = re.compile(r"^(?:and |but |also,? |ok(?:ay)?,? |so,? |then,? )*(?P<lead>(?:please|from now on|going forward|in (?:the )?future|henceforth|for all (?:future )?(?:answers|replies|responses)|in your (?:answers|replies|responses)|when (?:you )?(?:answer(?:ing)?|reply(?:ing)?|respond(?:ing)?|writ(?:e|ing) code)(?: to me| me)?|i(?:'d| would)? (?:want|like|need|prefer) you to|you (?:should|must|can))\b,?\s*)*(?P<what>(?P<adv>always|never|don't ever|do not ever|don't|do not|stop|avoid|only|keep|be|use|make sure|answer|reply|respond|write|give|include|speak|talk|format|start|no|skip|call|address|explain|limit)\b.+)$", re.I)
_LASTING_EN = re.compile(r"\b(?:always|never|from now on|going forward|in (?:the )?future|henceforth|every time|don't ever|do not ever|by default|all (?:your|future)|in your (?:answers|replies|responses)|whenever|when (?:you )?(?:answer|reply|respond|writ)\w*|stop (?:using|adding|giving|recommending|sending|suggesting)|anymore)\b", re.I)
_AGENT_ACT_EN = re.compile(r"\b(?:answer|repl|respon|explain|explanation|write|writing|speak|talk|recommend|suggest|use|using|format|include|give|call me|address me|code|example|emoji|bullet|table|list|concise|brief|short|language|english|chinese|spanish|japanese|french|german|tone|summar|cite|sources?|units?|metric|markdown|comments?|docstrings?|type hints?|ask|remind|send|message|assume|apologi[sz]|output)\w*", re.I)
_MUST_ZH = re.compile(r"^(?:我的?|我们的?|这个|项目|代码|系统)?(?P<what>(?:要求|底线|原则|硬性要求|规定)(?:是|：|:).{2,50}|[\u4e00-\u9fffA-Za-z]{0,10}(?:必须|一律|不得|不允许|严禁|绝不能|绝对不能|不能超过|不得超过|只能用|只支持|只接受|至少要?).{2,40})$")
_MUST_EN = re.compile(r"\b(?P<what>(?:our|my|the)\s+(?:[\w-]+\s+){1,4}(?:must(?: not)?|can't|cannot|may not|has to|have to|must never|should never|can only|is required to)\s+(?!be (?:wrong|right|kidding)).{3,80})$|\b(?:I|we)\s+(?P<what2>(?:only accept|can only|must never|never (?:deploy|merge|push|work|fly|travel|schedule|take meetings)|don't (?:work|take meetings|travel|fly|deploy|do meetings) (?:on|before|after|in)|can't (?:work|travel|fly|meet|do) (?:on|before|after|in)|am not available|'m not available|am only available|need (?:everything|all))\b.{2,80})$", re.I)


def find(clause: Clause, stance: Stance) -> list[Found]:
    """The constraints that the clause sets."""
    if stance.asked or stance.ironic or (stance.reported and not stance.doctor) or (stance.subject == "other" and not stance.doctor):
        return []
    text = clause.text
    if found := _budget(text, stance):
        return [found]
    if stance.supposed:
        return []
    if found := _body(text, stance):
        return found
    if stance.doctor:
        return []
    if found := _directive(text, stance):
        return [found]
    return _rule(text, stance)


def _group(match: re.Match[str], prefix: str) -> str:
    return tidy(next((value for name, value in match.groupdict().items() if value and name.startswith(prefix)), ""))


def _limit(name: str, value: str, text: str, pattern: str, polarity: int = 0, **more: object) -> Found:
    return Found("constraint", f"constraint:{name}", {"value": value, **more}, text, "limits", pattern, "preference", -1 if polarity < 0 else 0, "directive")


def _budget(text: str, stance: Stance) -> Found | None:
    if stance.momentary and not re.search(r"这次|this time", text):
        pass
    for pattern, name in ((_OVER_ZH, "ceiling"), (_BUDGET_ZH, "budget"), (_BUDGET_EN, "budget")):
        if (match := pattern.search(text)) and (amount := _group(match, "amount")) and re.search(r"\d", amount):
            if name == "budget" and pattern is _BUDGET_ZH and not re.search(r"预算", text) and not re.search(r"不超过|以内|以下|不要|不能|控制|最多|不高于", text):
                continue
            if pattern is _BUDGET_EN and "budget" not in text.lower() and stance.subject == "none" and not re.match(r"(?:nothing|no more|keep|at most|max|under|not|never|please)", text, re.I):
                continue
            return _limit("budget", re.sub(r"\s+", "", amount), tidy(re.sub(r"^(?:我的|我|my |I )", "", text)), name, amount=re.sub(r"\s+", "", amount))
    return None


def _body(text: str, stance: Stance) -> list[Found]:
    match = _ALLERGY_ZH.search(text) or _ALLERGY_EN.search(text)
    if match and (what := _group(match, "what")):
        groups = match.groupdict()
        if groups.get("neg") or groups.get("neg2") or re.match(r"什么|啥|皮肤$|换季|季节|这|那|it\b|this|that|what|more|another", what):
            return []
        can = bool(groups.get("what5"))
        if can and (stance.momentary or not re.search(r"\b(?:gluten|dairy|nuts?|peanuts?|milk|lactose|seafood|shellfish|pork|beef|meat|sugar|wheat|eggs?|soy|fish|spicy|alcohol|caffeine|coffee)\b", what, re.I)):
            return []
        zh = bool(re.search(r"[\u3400-\u9fff]", text))
        return [_limit(f"{'diet' if can else 'allergy'}:{slug(target_of(one))}", one, f"对{one}过敏" if zh else f"cannot have {one}" if can or groups.get("what4") else f"allergic to {one}", "allergy", -1, target=target_of(one)) for one in _each(what)]
    match = _CANNOT_ZH.search(text) or _CANNOT_EN.search(text)
    if match and (not stance.momentary or stance.doctor):
        verb = match.groupdict().get("verb") or ""
        what = _group(match, "what")
        if (what or verb in ("熬夜", "久坐", "剧烈运动")) and not re.match(r"完|下|这|那|太|到|多|亏|it\b", what) and (stance.subject in ("self", "none") or stance.doctor):
            zh = bool(re.search(r"[\u3400-\u9fff]", text))
            return [_limit(f"diet:{slug(target_of(one or verb))}", one or verb, f"不能{verb}{one}" if zh else f"must avoid {one}", "cannot", -1, target=target_of(one or verb)) for one in (_each(what) or [""])]
    return []


def _each(what: str) -> list[str]:
    return [one for part in re.split(r"、|和|及|或|,\s*(?:and\s+)?|\s+and\s+|\s+or\s+", re.split(r"\s(?:so|because|and I)\b", what)[0]) if (one := tidy(part))]


def _directive(text: str, stance: Stance) -> Found | None:
    zh = bool(re.search(r"[\u3400-\u9fff]", text))
    match = _DIRECTIVE_ZH.search(text) if zh else _DIRECTIVE_EN.search(text)
    slot = slot_of(text)
    if match is None and slot is None:
        return None
    lasting = bool((_LASTING_ZH if zh else _LASTING_EN).search(text))
    if match is None:
        if not lasting or not re.search(r"回[答复]|输出|说话|\b(?:answer|repl|respon)", text, re.I) or stance.subject == "self":
            return None
        what = text
    else:
        what = match["what"]
    if stance.momentary and not lasting:
        return None
    if not lasting and not (slot and match and (match.groupdict().get("standing") or re.search(r"请|希望你|\bplease\b|want you|like you|keep|be\b", text, re.I)) and slot[0] == "writing" and not re.search(r"这[段个篇封]|下面|以下|本文|帮我|翻译|\b(?:this|the (?:following|above|article|text|paragraph|email)|an? )\b", text, re.I)):
        return None
    if not (_AGENT_ACT_ZH if zh else _AGENT_ACT_EN).search(text) or stance.subject == "other":
        return None
    if re.search(r"我(?:会|要|就|想|再也|都|一定|自己|也)(?!求你)", text) or re.match(r"(?:always|never)\s+(?:mind|say never|knew|thought|been|wanted|again)\b", what, re.I):
        return None
    negative = bool(re.search(r"不要|别|不许|禁止|不用|少|\b(?:never|don't|do not|stop|avoid|no|skip)\b", what, re.I))
    said = tidy(text)
    if slot:
        key, scope, name = preference_key(text)
        return Found("preference", key, {"scope": scope, "slot": name, "value": said, "target": tidy(what)}, said, "limits", "directive", "preference", -1 if negative else 1, "directive")
    return _limit(f"reply:{slug(target_of(re.sub(r'^(?:总是|都|一律|必须|不要|别再?|always|never|please|do not|don.t)+ *', '', tidy(what), flags=re.I)), 40)}", said, said, "directive", -1 if negative else 0)


def _rule(text: str, stance: Stance) -> list[Found]:
    if stance.momentary or stance.trial or stance.subject == "agent":
        return []
    zh = bool(re.search(r"[\u3400-\u9fff]", text))
    match = _MUST_ZH.search(text) if zh else _MUST_EN.search(text)
    if match is None or not (what := _group(match, "what")) or (zh and stance.subject not in ("self", "group") and not re.match(r"(?:要求|底线|原则|硬性要求|规定)", what) and not re.search(r"项目|代码|系统|接口|部署|会议", text)):
        return []
    if zh and re.match(r"^我(?:必须|一律)", text):
        return []
    return [_limit(f"rule:{slug(target_of(what), 40)}", what, what, "rule")]
