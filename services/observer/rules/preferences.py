"""Tastes and habits: like, dislike, favourite, usual tool and diet, in Chinese and English."""

import re

from services.observer.rules.clauses import Clause
from services.observer.rules.guards import Stance
from services.observer.rules.keys import fold, preference_key, scope_of, slot_of, slug, target_of, tidy
from services.observer.rules.model import Found, Polarity

_DEGREE_ZH = r"(?:真的|真|还是|都|就|也|又|仍然|始终|其实|一般|通常|平时|平常|从小|向来|一直|总是|现在|已经|个人|本人|从来|特别|非常|很|最|更|更加|比较|超级?|蛮|挺|最最|尤其|相当|巨|十分|越来越|确实|有点|一向|打小|天生|本来|同样|主要|个人更|，)*"
_NEG_ZH = r"(?:不太|不怎么|不是很|不大|不是特别|没那么|并不|从不|从来不|不|绝不|一点都?也?不|根本不|实在不|没有很)"
_LIKE_ZH = r"(?:喜欢|喜爱|偏爱|偏好|爱好是|爱好|钟爱|热爱|中意|倾向于?|迷上了?|痴迷于?|酷爱|爱(?=[吃喝看听玩穿用逛买读写打跑喝]))"
_HATE_ZH = r"(?:讨厌|厌恶|反感|受不了|恨|嫌弃|害怕|怕(?=[辣冷热吵黑高])|接受不了|忍受不了|看不惯|厌烦|烦(?=[这那人]|别人))"
_ZH = re.compile(rf"(?:^|我|本人|个人|[，\s])(?P<lead>{_DEGREE_ZH})(?P<neg>{_NEG_ZH})?(?P<deg>{_DEGREE_ZH})(?:(?P<like>{_LIKE_ZH})|(?P<hate>{_HATE_ZH}))(?P<target>.+)$")
_OVER_ZH = re.compile(r"(?:比起|相比|相较于?|跟|和|与)(?P<over>.{1,20}?)(?:相比|比|来说)?[，,]?\s*(?:我)?(?:还是|更|会)*(?:更|比较|还是)(?:喜欢|爱|偏爱|倾向于?)(?P<target>.+)$")
_RATHER_ZH = re.compile(r"(?:我)?(?:宁愿|宁可|宁肯)(?P<target>.{1,20}?)(?:也不|而不)(?:想|愿意?|要)?(?P<over>.{1,20})$")
_HABIT_EAT_ZH = re.compile(
    r"(?:^|我|本人|从来?|一般|平时|基本|都)(?:现在|已经|从来|一直|一般|平时|基本上?|平常|向来|完全|真的|几乎|都|就|也|个人)*(?P<neg>不怎么|不太|从不|不|不能|没法|吃不了|很少)(?P<verb>吃|喝|抽|碰|沾|用|穿|看|玩|听)(?P<target>[^了着过]{1,16}?)(?:的)?$"
)
_HABIT_USE_ZH = re.compile(
    r"(?:^|我|本人)(?:们)?(?:平时|平常|一般|通常|日常|基本上?|主要|现在|从来|都|就|也|个人|写代码|写作|办公|工作|上班|每天|早上|早餐|晚上|开发|编程|记笔记|出门)*(?P<habit>一直|一般|通常|习惯了?|总是|平时|每天都?|每天早上都?|主力|主要|常年|长期|经常|每周都?|基本上?都?|天天|从来只|只)(?:都|是|就|在|会|还|还是|喜欢|主要)*(?P<verb>用|使用|喝|吃|穿|看|听|玩|坐|开|买|选|去|骑|跑|睡|起)(?:的是|的|着)?(?P<target>.{1,24})$"
)
_OWN_TOOL_ZH = re.compile(r"^(?:我)(?:的)?(?P<what>手机|电脑|笔记本|编辑器|浏览器|主力机|开发机|键盘|耳机|相机|IDE|终端|操作系统|系统)(?:一直|现在|都|就|主要)*(?:是|用的是|用|使用)(?P<target>.{1,20})$", re.I)
_USE_PHONE_ZH = re.compile(r"^(?:我)(?:现在|平时|一直|都|就|的)*(?:用|使用)(?:的|的是)?(?P<target>.{1,12}?)(?P<what>手机|电脑|笔记本|编辑器|浏览器|键盘|耳机|相机|系统)$")
_FAVOURITE_ZH = re.compile(r"^(?:我)(?:个人)?最(?:喜欢|爱|喜爱|中意|欣赏)的(?P<what>[^是]{1,10})(?:是|就是|叫|：|:)(?P<target>.{1,24})$|^(?:我)(?:的)?(?P<what2>爱好|兴趣(?:爱好)?|业余爱好)(?:是|有|包括|：|:)(?P<target2>.{1,40})$")
_OPEN_ZH = re.compile(r"对(?P<target>.{1,16})(?P<how>很|非常|特别|比较|不|没|不太|没什么|一直很|完全没|不怎么)*(?P<what>感兴趣|有兴趣|兴趣|无感|上瘾|着迷)")
_DIET_ZH = re.compile(r"(?:^|我|我是)(?:个|一个|是|一直|现在|长期|已经|平时|目前)*(?P<diet>素食主义者|素食者|纯素|全素|吃素|吃全素|吃纯素|吃清真|清真|生酮|低碳饮食|蛋奶素|无麸质)(?:的|饮食|主义者?|了)?(?:\S{0,4})$")

_ADV_EN = r"(?:really|absolutely|truly|always|generally|usually|typically|normally|mostly|just|still|also|actually|definitely|strongly|much|personally|kind of|kinda|sort of|particularly|especially|rather|totally|simply|so|do|would|'d|have always|'ve always|tend to|quite|genuinely|honestly|now|currently|mainly|primarily|hardly|both)"
_NEG_EN = r"(?:don't|do not|dont|never|don't really|do not really|can't|cannot|no longer|didn't|am not|'m not|don't think i|don't even)"
_EN = re.compile(
    rf"(?:^|\b(?:I|i)\b\s*|\band\s+|\bbut\s+|\b(?:I|i)'(?:d|ve)\s+)(?:{_ADV_EN}\s+)*(?P<neg>{_NEG_EN})?\s*(?:{_ADV_EN}\s+)*(?:(?P<like>prefer|like|love|enjoy|adore|favou?r|am (?:a (?:big |huge )?fan of|fond of|into|keen on|obsessed with|passionate about|crazy about)|'?m (?:a (?:big |huge )?fan of|fond of|into|keen on|obsessed with|passionate about|crazy about)|(?:am |'m )?really into|(?:would |'d )rather|lean towards?)|(?P<hate>hate|dislike|detest|loathe|despise|can't stand|cannot stand|can't bear|avoid|abhor))\s+(?P<target>.+)$",
    re.I,
)
_NOT_FAN_EN = re.compile(rf"\bI(?:'m| am)\s+(?:really\s+|definitely\s+)?not\s+(?:really\s+|much of\s+)?(?:a (?:big |huge )?fan of|fond of|into|keen on|crazy about|a .{{1,20}} person\b)\s*(?P<target>.+)$", re.I)
_FAVOURITE_EN = re.compile(r"\bmy\s+(?:all[- ]time\s+)?(?:favou?rite|preferred|go-to|default|usual|main|primary)\s+(?P<what>[\w -]{2,28}?)\s+(?:is|are|has always been|will always be|would be|of all time is)\s+(?P<target>.+)$|(?P<target2>[A-Z][\w .'-]{1,30}?)\s+is\s+my\s+(?:all[- ]time\s+)?(?:favou?rite|go-to)\s+(?P<what2>[\w -]{2,28})$", re.I)
_HABIT_EN = re.compile(
    rf"(?:^|\bI\s+|\bI've\s+|\bwe\s+)(?:(?:{_ADV_EN})\s+)*(?P<habit>always|usually|normally|typically|generally|mostly|mainly|exclusively|only|never|rarely|(?:have |'ve )?always)\s+(?P<verb>use|used|drink|eat|wear|buy|order|choose|take|drive|ride|run|code in|write in|work in|listen to|watch|read|pick|go for|have|cook|start|wake up|get up|commute|travel|deploy|format|name|write|test|shop at)\s+(?P<target>.+)$",
    re.I,
)
_DONT_EAT_EN = re.compile(r"\bI\s+(?:really\s+)?(?P<neg>don't|do not|never|can't|cannot|won't)\s+(?:ever\s+)?(?P<verb>eat|drink|smoke|wear|use|watch|consume)\s+(?P<target>.+)$", re.I)
_OWN_TOOL_EN = re.compile(r"\bmy\s+(?P<what>phone|laptop|computer|editor|ide|browser|shell|terminal|keyboard|camera|os|operating system|text editor)\s+is\s+(?:an?\s+)?(?P<target>.+)$|\bI\s+(?:daily[- ]drive|use)\s+(?:an?\s+)?(?P<target2>[\w .+-]{2,30}?)\s+(?:as my|for my)\s+(?:main\s+|daily\s+|primary\s+)?(?P<what2>phone|laptop|computer|editor|ide|browser|shell|terminal|notes?|os|operating system|text editor)", re.I)
_HOBBY_EN = re.compile(r"\bmy\s+(?:main\s+)?(?:hobby|hobbies|passion|interests?)\s+(?:is|are|include)\s+(?P<target>.+)$", re.I)
_DIET_EN = re.compile(r"\bI(?:'m| am|'ve been| have been)\s+(?:an?\s+|on a\s+|strictly\s+|mostly\s+|now\s+)*(?P<diet>vegan|vegetarian|pescatarian|keto|ketogenic|gluten[- ]free|halal|kosher|low[- ]carb|dairy[- ]free|paleo)\b", re.I)
_EAT_DIET_EN = re.compile(r"\bI\s+(?:only\s+)?(?:eat|follow|keep)\s+(?:a\s+|an\s+)?(?:strict\s+|strictly\s+)?(?P<diet>vegan|vegetarian|keto|gluten[- ]free|halal|kosher|low[- ]carb|dairy[- ]free|plant[- ]based|paleo)\b", re.I)

_VAGUE = re.compile(
    r"^[了啊呀的过吧呢]+$|^(?:这|那|它|他|她|你(?!(?:的?回|说|用|直接|先|简|多|少|给))|您|你们|一个人$|谁|什么|的|上了?(?:一个|某)|一下|同一|他们|一个女|一个男|自己$|他的|她的|得|过$|吗|呢)|^(?:it|that|this|these|those|them|him|her|you|your|what|how|when|where|who|if|to (?:know|see|ask|hear|get|have|say|think|be|order|book|make sure|add|point|thank|report|buy|try|go|start|schedule|make|return|change|cancel|learn more|talk)|the (?:way|idea|look|sound|first|second|third|last|one|other|new|above|suggestion|answer|result|fact|following)|one of|more info|your|some (?:help|advice|info)|a (?:refund|copy|list|summary|word)|everything|anything|nothing|something|someone|both|either|neither|so|or|and|my|his|their|our new)\b",
    re.I,
)
_WANT_EN = re.compile(r"\b(?:would|'d)\s+(?:really\s+|also\s+|just\s+)?(?:like|love|enjoy)\b", re.I)
_RELATIVE_ZH = re.compile(r"^的(?=\S)")
_DOUBLE_ZH = re.compile(r"不是不|并非不|没有不|不讨厌|不反感|不排斥|说不上|谈不上|算不上|不代表|不等于|不一定|未必|没说|没有说|不是说|曾经|以前|过去|小时候|原来|原先|当年|年轻时|大学时|想(?:喜欢|要喜欢)|开始|怕你|是否|让你喜欢")
_PAST_EN = re.compile(r"\b(?:used to|once (?:liked|loved)|when i was|back in|as a (?:kid|child)|previously|in the past|would have|don't (?:hate|dislike|mind)|do not (?:hate|dislike|mind)|not that i|never said|didn't say|don't know if|not saying|wish|hope|want to like|try(?:ing)? to (?:like|enjoy|avoid)|not sure (?:if|whether)|whether)\b", re.I)
_LIKE_AS_EN = re.compile(r"\b(?:looks?|feels?|sounds?|seems?|something|things|stuff|just|more|was|were|is|are|be|been)\s+like\b|\bI'm like\b|\bI was like\b", re.I)
_LIST = re.compile(r"、|，|,\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+|\s+&\s+|(?<=[\u3400-\u9fff])(?:和|跟|以及|还有|或者?)(?=[\u3400-\u9fff])")
_SET_PHRASES = re.compile(r"rock and roll|black and white|mac and cheese|fish and chips|r&b|trial and error|pros and cons|drum and bass|salt and|rock & roll|arts and crafts|bed and breakfast|long walks and|between\b|和平|和谐|暖和|温和|柔和|和服|和牛|跟团|跟着|combination|both\b.*\band\b.*\bat", re.I)


def find(clause: Clause, stance: Stance) -> list[Found]:
    """The tastes that the clause states about its speaker."""
    if stance.subject in ("other", "agent", "group") or stance.asked or stance.supposed or stance.reported or stance.ironic:
        return []
    if stance.momentary or stance.trial:
        return []
    found = _english(clause, stance) if clause.language == "en" else _chinese(clause, stance)
    return found or ([] if clause.language == "en" else _english(clause, stance, mixed=True))


def _chinese(clause: Clause, stance: Stance) -> list[Found]:
    text = clause.text
    if _DOUBLE_ZH.search(text):
        return []
    if match := _FAVOURITE_ZH.search(text):
        if match["what2"]:
            return _tastes(match["target2"], 1, "爱好是", "zh", "favourite")
        return [_favourite(match["what"], match["target"], "zh")]
    if match := _OVER_ZH.search(text):
        return _tastes(match["target"], 1, "更喜欢", "zh", "like", over=tidy(match["over"]))
    if match := _RATHER_ZH.search(text):
        return _tastes(match["target"], 1, "宁愿", "zh", "like", over=tidy(match["over"]))
    if match := _ZH.search(text):
        negative = bool(match["neg"])
        if match["hate"] and negative:
            return []
        polarity: Polarity = -1 if negative or match["hate"] else 1
        said = (match["neg"] or "") + ("更" if "更" in match["lead"] + match["deg"] else "") + (match["like"] or match["hate"])
        return _tastes(match["target"], polarity, said, "zh", "like" if polarity > 0 else "dislike")
    return _habits_zh(text, stance)


def _habits_zh(text: str, stance: Stance) -> list[Found]:
    if match := _DIET_ZH.search(text):
        return [_slot("food", "diet", match["diet"], f"饮食：{match['diet']}", "diet")]
    for pattern in (_OWN_TOOL_ZH, _USE_PHONE_ZH):
        if match := pattern.search(text):
            return [_slot("tools", slug(_tool(match["what"])), tidy(match["target"]), f"{match['what']}用{tidy(match['target'])}", "uses")]
    if match := _HABIT_EAT_ZH.search(text):
        return _tastes(match["verb"] + match["target"], -1, match["neg"], "zh", "abstains")
    if match := _HABIT_USE_ZH.search(text):
        target = tidy(match["target"])
        return _tastes(match["verb"] + target, 1, match["habit"], "zh", "habit")
    if stance.explicit and (match := _OPEN_ZH.search(text)):
        negative = bool(match["how"] and re.search(r"不|没", match["how"])) or match["what"] == "无感"
        return _tastes(match["target"], -1 if negative else 1, "不感兴趣：" if negative else "感兴趣：", "zh", "interest")
    return []


def _tool(what: str) -> str:
    return {"手机": "phone", "主力机": "phone", "电脑": "computer", "笔记本": "computer", "编辑器": "editor", "浏览器": "browser"}.get(what, fold(what))


def _english(clause: Clause, stance: Stance, mixed: bool = False) -> list[Found]:
    text = clause.text
    if _PAST_EN.search(text) or _LIKE_AS_EN.search(text) or _WANT_EN.search(text):
        return []
    if match := _FAVOURITE_EN.search(text):
        return [_favourite(match["what"] or match["what2"], match["target"] or match["target2"], "en")]
    if match := _HOBBY_EN.search(text):
        return _tastes(match["target"], 1, "enjoys", "en", "favourite")
    if match := _NOT_FAN_EN.search(text):
        return _tastes(match["target"], -1, "dislikes", "en", "dislike")
    for pattern in (_DIET_EN, _EAT_DIET_EN):
        if (match := pattern.search(text)) and " not " not in text:
            return [_slot("food", "diet", match["diet"].lower(), f"diet: {match['diet'].lower()}", "diet")]
    if match := _OWN_TOOL_EN.search(text):
        what, target = match["what"] or match["what2"], tidy(match["target"] or match["target2"])
        return [_slot("tools", slug(what), target, f"uses {target} as {what.lower()}", "uses")]
    if (match := _EN.search(text)) and (stance.explicit or match.start() == 0) and not (mixed and not stance.explicit):
        if match["hate"] and match["neg"]:
            return []
        polarity: Polarity = -1 if match["neg"] or match["hate"] else 1
        verb = re.sub(r"^(?:am|'?m|would|'d)\s+", "", (match["like"] or match["hate"]).lower().removeprefix("'"))
        return _tastes(match["target"], polarity, _third(verb, polarity), "en", "like" if polarity > 0 else "dislike")
    if match := _DONT_EAT_EN.search(text):
        return _tastes(match["target"], -1, f"does not {match['verb'].lower()}", "en", "abstains")
    if stance.subject == "self" and (match := _HABIT_EN.search(text)):
        negative = match["habit"].lower() in ("never", "rarely")
        return _tastes(f"{match['verb']} {match['target']}", -1 if negative else 1, match["habit"].lower().removeprefix("'ve ").removeprefix("have "), "en", "habit")
    return []


def _third(verb: str, polarity: Polarity) -> str:
    plain = {"like": "likes", "love": "loves", "enjoy": "enjoys", "prefer": "prefers", "adore": "adores", "favor": "favors", "favour": "favours", "hate": "hates", "dislike": "dislikes", "detest": "detests", "loathe": "loathes", "avoid": "avoids", "despise": "despises"}.get(verb)
    if plain is None:
        return "likes" if polarity > 0 and "rather" not in verb else "prefers to" if polarity > 0 else "cannot stand"
    if polarity < 0 and verb in ("like", "love", "enjoy", "prefer", "adore"):
        return f"does not {verb}"
    return plain


def _favourite(what: str, target: str, language: str) -> Found:
    what, target = tidy(what), _cut(target)
    text = f"最喜欢的{what}是{target}" if language == "zh" else f"favourite {what} is {target}"
    value = {"slot": f"favourite {what}", "target": target, "scope": scope_of(what), "value": target}
    return Found("preference", f"pref:{value['scope']}:favourite-{slug(target_of(what))}", value, text, "preference", "favourite", "preference", 1)


def _slot(scope: str, slot: str, target: str, text: str, pattern: str) -> Found:
    value = {"scope": scope, "slot": slot, "target": target, "value": target}
    return Found("preference", f"pref:{scope}:{slot}", value, text, "preference", pattern, "preference", 1)


def _cut(target: str) -> str:
    """The target without what follows a dash, a bracket or a purpose that is not part of it."""
    return tidy(re.split(r"\s[-–—]\s|[（(]|\s(?:because|since|so that|but|which is why)\s|因为|所以|，", target, maxsplit=1)[0])


def _tastes(target: str, polarity: Polarity, said: str, language: str, pattern: str, over: str | None = None) -> list[Found]:
    target = _cut(target)
    if over is None and language == "en" and (match := re.search(r"\s+(?:over|rather than|instead of|than|more than)\s+(.+)$", target, re.I)):
        over, target = tidy(match[1]), tidy(target[: match.start()])
        target = re.sub(r"\s+(?:more|better)$", "", target, flags=re.I)
    if not target or _VAGUE.match(target) or _RELATIVE_ZH.match(target) or len(target) > 100:
        return []
    parts = _parts(target)
    return [found for part in parts if (found := _taste(part, polarity, said, language, pattern, over))]


def _parts(target: str) -> list[str]:
    if _SET_PHRASES.search(target) or slot_of(target):
        return [target]
    parts = [part for raw in _LIST.split(target) if (part := tidy(raw))]
    short = all(len(part) <= 8 if re.search(r"[\u3400-\u9fff]", part) else len(part.split()) <= 3 for part in parts)
    return parts if 1 < len(parts) <= 6 and short else [target]


def _taste(target: str, polarity: Polarity, said: str, language: str, pattern: str, over: str | None) -> Found | None:
    canonical = target_of(target)
    if not canonical or _VAGUE.match(target):
        return None
    key, scope, slot = preference_key(target)
    value: dict[str, object] = {"scope": scope, "target": canonical, "value": target}
    if slot:
        value["slot"] = slot
    if over:
        value["over"] = over
    tail = (f" over {over}" if language == "en" else f"（胜过{over}）") if over else ""
    text = f"{said}{target}{tail}" if language == "zh" else f"{said} {target}{tail}"
    return Found("preference", key, value, text, "preference", pattern, "preference", polarity)
