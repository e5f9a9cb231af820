"""Recognises opinions: sentences that mark a view of their speaker and judge a thing.

Plans (`I think I'll move`), facts in doubt (`I think we met in 2019`) and what somebody thinks of themself are none.
"""

# ruff: noqa: E501 - one family of words per line

import re

from schemas.vocabulary import Epistemic
from shared.extraction.model import Finding
from shared.language.patterns import to_pattern

LONGEST = 300
"""A longer sentence says more than an opinion."""
_LEAD_EN = r"(?:(?:and|but|so|well|oh|ok|also|honestly|frankly|actually|personally|to be honest|tbh|sorry(?: but)?|remember that)[\s,]+)*"
_VIEW_EN = (
    r"I(?:['’]ve| have|['’]d| would| do)?(?: (?:really|honestly|still|always|personally|just|do|firmly|strongly|also))*"
    r" (?:think|thought|believed?|feel|felt|reckon|find|found|consider|say|don['’]t (?:really )?(?:think|believe|feel|find))\b(?: that)?"
    r"|in my (?:humble |honest |own |personal )?(?:opinion|view|eyes|book)|imh?o|to me|if you ask me|as far as I['’]m concerned|for my money"
    r"|(?:the way|as) I see it|my (?:honest )?(?:opinion|view|take|feeling)(?: (?:of|on|about) [\w' -]{1,40})? is(?: that)?|personally"
)
_MARK_EN = to_pattern(rf"^{_LEAD_EN}(?:{_VIEW_EN})(?:[\s,:]+|$)", re.I)
_END_EN = to_pattern(
    r"[\s,]+(?:in my (?:humble |honest )?(?:opinion|view)|imh?o|if you ask me|as far as I['’]m concerned|I think|I find)$",
    re.I,
)
_SELF_EN = to_pattern(
    r"^(?:that |like )?(?:I|we|me|us|myself)(?:['’]\w+)?\b|^(?:that )?my (?:\w+ )?(?:knees?|back|head|stomach|skin|hair|eyes?|sleep|health|weight|memory|mood|body|foot|feet|leg|arm|shoulder|throat|teeth|tooth|blood|heart)\b",
    re.I,
)
_WORTH_EN = (
    "good|bad|great|terrible|awful|horrible|dreadful|amazing|brilliant|excellent|fantastic|wonderful|superb|perfect|lovely|beautiful|gorgeous|ugly|hideous"
    "|boring|dull|tedious|bland|exciting|interesting|fascinating|fun|funny|hilarious|annoying|irritating|frustrating|confusing|misleading|useless|useful|helpful"
    "|pointless|worthless|valuable|silly|stupid|dumb|ridiculous|absurd|crazy|insane|unfair|fair|unreliable|reliable|dishonest|rude|arrogant|lazy|incompetent|talented"
    "|mean|greedy|selfish|creepy|overrated|underrated|overpriced|overhyped|overvalued|undervalued|overengineered|overcomplicated|expensive|noisy|loud|cramped|cosy|cozy"
    "|gloomy|depressing|exhausting|draining|stressful|pleasant|unpleasant|clumsy|clunky|bloated|elegant|intuitive|unintuitive|complicated|convoluted|messy|chaotic|sloppy"
    "|slow|important|unimportant|essential|unnecessary|dangerous|harmful|unhealthy|toxic|evil|cruel|immoral|unethical|outdated|old-fashioned|tacky|pretentious|delicious"
    "|disgusting|tasteless|charming|soulless|impressive|disappointing|mediocre|inspiring|childish|naive|shallow|weak"
)
_VERDICT_EN = (
    rf"too (?!late|early|soon|far|many|much|long ago)\w+|(?:{_WORTH_EN})\b"
    r"|(?:better|worse|nicer|smarter|safer|more \w+|less \w+) than|(?:the )?(?:best|worst|greatest|finest)\b|the (?:most|least) \w+"
    r"|(?:not |isn['’]t |aren['’]t )?worth (?!(?:about |around |roughly |nearly )?[\d$€£¥])\w+|waste of (?:time|money|space|energy)"
    r"|(?:a|an|such a) (?:\w+ )?(?:mistake|mess|joke|scam|disaster|gem|masterpiece|nightmare|shame|disgrace|rip-?off|bad idea|good idea)|overkill|nonsense|rubbish|garbage"
)
_THINKS_EN = to_pattern(
    rf"\w.*?(?:\b(?:is|are|was|were|be|being|been|seems?|looks?|feels?|sounds?|tastes?|becom(?:es?|ing)|became|gets?|getting|has gotten|remains?)\b|\w['’](?:s|re)\b|n['’]t\b)"
    rf"(?: (?:\w+ly|so|very|pretty|quite|just|not|a|an|the|bit|little|much|far|way|rather|such|kind of|sort of|simply|still|even|always|become|gotten))*? (?:{_VERDICT_EN})"
    r"|\w.*?\b(?:sucks?|stinks?|rocks|beats|makes? (?:no |little )?sense|made no sense|deserves?|works? better)\b"
    r"|\w.*?\bshould(?:n['’]t| not| never)? (?:be (?:banned|allowed|free|taught|paid|illegal|legal|mandatory|abolished|forbidden|taxed|required|ashamed)|ban|pay|teach|treat|respect|invest)\b",
    re.I,
)
_FINDS_EN = to_pattern(
    rf"^{_LEAD_EN}I (?:\w+ )?(?:(?:find|consider)\b (?!(?:it|that) (?:is|was))\w.*?|found (?:(?!(?:in|on|at|under|behind|near|by|from|of|for)\b)[\w'’-]+ )*?[\w'’-]+) (?:{_VERDICT_EN})(?=\s*$|[,;:]| (?:to|when|because|and|but|of|than|at times|these days|lately)\b)",
    re.I,
)
_SENTENCE = to_pattern(r"[.!?。！？；;\n]+(?=\s|$|[\u3400-\u9fff])")

_LEAD_ZH = r"(?:(?:说实话|老实说|坦白说|说真的|其实|但是?|不过|而且|所以|反正|总之|就是)[，,\s]*)*"
_MARK_ZH = to_pattern(
    rf"^{_LEAD_ZH}(?:(?:我个人|我|个人|本人)(?:一直|始终|真心|还是|倒是|总是?|都|真的|从来|也|就|不|并不|向来)*(?:觉得|认为|感觉)"
    r"|依我看|在我看来|照我看|要我说|叫我说|以我之见|对我来说|我的(?:看法|观点|意见)[是：:，]|我(?:这人)?看(?=.{2,12}(?:不如|不值|不行|没用)))[，,：:\s]*"
)
_END_ZH = to_pattern(r"[，,\s](?:我(?:个人)?(?:觉得|认为|感觉)|依我看|在我看来)$")
_SELF_ZH = to_pattern(
    r"^(?:最近|这几天|今天|现在|这段时间)*(?:我(?!们?的|们?(?:公司|学校|小区|领导|经理|老板|家|单位|部门|班|这|那))|自己|咱|我的?(?:睡眠|身体|胃|腰|头|血压|记性|视力|状态|心情|皮肤|膝盖|体力|精神|体重|眼睛|嗓子|肚子|脖子|背|腿|牙))"
    r"|^(?:最近|这几天|今天)*(?:睡眠|身体|胃|腰|头|血压|记性|视力|状态|心情|皮肤|膝盖|体力|精神|眼睛|嗓子|肚子|脖子)"
    r"|^(?:有点|有些|很|太|挺|好|特别|非常|越来越)"
)
_WORTH_ZH = (
    "好|棒|差|烂|乱|吵|闷|贵|土|丑|美|漂亮|舒服|方便|麻烦|复杂|幼稚|聪明|笨|傻|自私|虚伪|霸道|强势|冷漠|真诚|专业|重要|危险|压抑|拥挤|落后|保守|死板|灵活|浪费|实用|有趣|有意思|优秀|可爱|可怕|可惜"
    "|恶心|讨厌|合理|公平|咸|淡|腻|油|甜|卷|假|夸张|敷衍|负责|靠谱|友好|好用|好吃|好看|难吃|难看|难用|无聊|枯燥|糟|糟糕|过分|离谱|值|划算|宜居|精彩|成功|失败|高效|低效|僵化|混乱|严格|苛刻|商业化"
)
_THINKS_ZH = to_pattern(
    r"[^，,]+?.{0,24}?(?:太(?!晚|早|远|迟|久)[\u4e00-\u9fff]{1,4}"
    rf"|(?:很|挺|非常|特别|十分|相当|有点|有些|比较|越来越|最|更|真|不够|不太|过于|够|蛮|超|并?不|一点也?不|毫不)(?:是)?(?:{_WORTH_ZH})"
    r"|不值|值得|值[这那]个?[价钱]|不如|没必要|有必要|没意思|没意义|有意义|没用|有用(?!过)|高估|低估|浪费(?:时间|钱|精力)|好用|好吃|好看|好听|难吃|难看|难听|难用|无聊|枯燥|糟糕|垃圾|多余|鸡肋|智商税|坑人|离谱|荒唐|可笑|过分|虚伪|靠谱|过誉|一流|名不副实|言过其实"
    r"|比.{1,12}?(?:好|强|差|舒服|划算|有趣|方便|靠谱|重要|合适|宜居|安全|自由|有意思|专业)(?!友)"
    r"|应该(?:被)?(?:禁止|取消|免费|重视|尊重|普及|改革|严惩|废除)|性价比(?:很|太|不|最|更|挺|真|超)?(?:高|低))"
)


def judge_epistemic(found: Finding) -> Epistemic:
    """`opinion` if the words judge a thing; a finding with a key stays a fact or a preference."""
    judged = found.key is None and found.epistemic in ("fact", "preference") and gives_opinion(found.text)
    return "opinion" if judged else found.epistemic


def gives_opinion(text: str) -> bool:
    """Whether the text judges a thing and marks this as the view of its speaker."""
    sentences = (sentence.strip(" ,，") for sentence in _SENTENCE.split(text))
    return any(_judges(sentence) for sentence in sentences if 0 < len(sentence) <= LONGEST)


def _judges(sentence: str) -> bool:
    if _FINDS_EN.search(sentence) and not _SELF_EN.match(take_after(_MARK_EN, sentence) or ""):
        return True
    for mark, end, own, thinks in (
        (_MARK_EN, _END_EN, _SELF_EN, _THINKS_EN),
        (_MARK_ZH, _END_ZH, _SELF_ZH, _THINKS_ZH),
    ):
        said = take_after(mark, sentence) or (end.sub("", sentence) if end.search(sentence) else "")
        if said and not own.match(said) and thinks.match(said):
            return True
    return False


def take_after(mark: re.Pattern[str], sentence: str) -> str:
    found = mark.match(sentence)
    return sentence[found.end() :] if found else ""
