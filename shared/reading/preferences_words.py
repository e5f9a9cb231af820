"""Patterns for tastes and habits."""

import re

from shared.text.patterns import to_pattern

DEGREE_ZH = (
    r"(?:真的|真|还是|都|就|也|又|仍然|始终|其实|一般|通常|平时|平常|从小|向来|一直|总是|现在"
    r"|已经|个人|本人|从来|特别|非常|很|最|更|更加|比较|超级?|蛮|挺|最最|尤其|相当|巨|十分|越来越"
    r"|确实|有点|一向|打小|天生|本来|同样|主要|个人更|，)*"
)
NEG_ZH = r"(?:不太|不怎么|不是很|不大|不是特别|没那么|并不|从不|从来不|不|绝不|一点都?也?不|根本不|实在不|没有很)"
LIKE_ZH = (
    r"(?:喜欢|喜爱|偏爱|偏好|爱好是|爱好|钟爱|热爱|中意|倾向于?"
    r"|迷上了?|痴迷于?|酷爱|爱(?=[吃喝看听玩穿用逛买读写打跑喝])|习惯(?=[用吃喝穿早晚先睡边在]))"
)
HATE_ZH = (
    r"(?:讨厌|厌恶|反感|受不了|恨|嫌弃|害怕|怕(?=[辣冷热吵黑高])|接受不了"
    r"|不太?能接受|无法接受|很难接受|[吃喝用穿]不惯|吃不了|忍受不了|看不惯|厌烦|烦(?=[这那人]|别人))"
)
ZH = to_pattern(
    rf"(?:^|我|本人|个人|[，\s])(?P<lead>{DEGREE_ZH})(?P<neg>{NEG_ZH})?(?P<deg>{DEGREE_ZH})"
    rf"(?:(?P<like>{LIKE_ZH})|(?P<hate>{HATE_ZH}))(?P<target>.+)$"
)
OVER_ZH = to_pattern(
    r"(?:比起|相比|相较于?|跟|和|与)(?P<over>.{1,20}?)(?:相比|比|来说)?[，,]?\s*(?:我)?(?:还是"
    r"|更|会)*(?:更|比较|还是)(?:喜欢|爱|偏爱|倾向于?)(?P<target>.+)$"
)
RATHER_ZH = to_pattern(r"(?:我)?(?:宁愿|宁可|宁肯)(?P<target>.{1,20}?)(?:也不|而不)(?:想|愿意?|要)?(?P<over>.{1,20})$")
HABIT_EAT_ZH = to_pattern(
    r"(?:^|我|本人|从来?|一般|平时|基本|都)(?:现在|已经|从来|一直|一般|平时|基本上?|平常|向来"
    r"|完全|真的|几乎|都|就|也|个人)*(?P<neg>不怎么|不太|从不|不|不能|没法|吃不了|很少)(?P<verb>吃"
    r"|喝|抽|碰|沾|用|穿|看|玩|听)(?P<target>[^了着过]{1,16}?)(?:的)?$"
)
HABIT_USE_ZH = to_pattern(
    r"(?:^|我|本人)(?:们)?(?:平时|平常|一般|通常|日常|基本上?|主要|现在|从来|都|就|也|个人|写代码"
    r"|写作|办公|工作|上班|每天|早上|早餐|晚上|开发|编程|记笔记|出门)*(?P<habit>一直|一般|通常"
    r"|习惯了?|总是|平时|每天都?|每天早上都?|主力|主要|常年|长期|经常|每周都?|基本上?都?|天天"
    r"|从来只|只)(?:都|是|就|在|会|还|还是|喜欢|主要)*(?P<verb>用|使用|喝|吃|穿|看|听|玩|坐|"
    r"开|买|选|去|骑|跑|睡|起)(?:的是|的|着)?(?P<target>.{1,24})$"
)
OWN_TOOL_ZH = to_pattern(
    (
        r"^(?:我)(?:的)?(?P<what>手机|电脑|笔记本|编辑器|浏览器|主力机|开发机|键盘|耳机|相机|IDE"
        r"|终端|操作系统|系统)(?:一直|现在|都|就|主要)*(?:是|用的是|用|使用)(?P<target>.{1,20})$"
    ),
    re.I,
)
USE_PHONE_ZH = to_pattern(
    r"^(?:我)(?:现在|平时|一直|都|就|的)*(?:用|使用)(?:的|的是)?(?P<target>.{1,12}?)(?P<what>手机"
    r"|电脑|笔记本|编辑器|浏览器|键盘|耳机|相机|系统)$"
)
FAVOURITE_ZH = to_pattern(
    r"^(?:我)(?:个人)?最(?:喜欢|爱|喜爱|中意|欣赏)的(?P<what>[^是]{1,10})(?:是|就是|叫|：|:)"
    r"(?P<target>.{1,24})$|^(?:我)(?:的)?(?P<what2>爱好|兴趣(?:爱好)?|业余爱好)(?:是|有|包括"
    r"|：|:)(?P<target2>.{1,40})$"
)
OPEN_ZH = to_pattern(
    r"对(?P<target>.{1,16}?)(?P<how>很|非常|特别|比较|不|没|不太|没什么|一直很|完全没|不怎么)*(?P<what>感兴趣|有兴趣|兴趣|无感|上瘾|着迷)"
)
DIET_ZH = to_pattern(
    r"(?:^|我|我是)(?:个|一个|是|一直|现在|长期|已经|平时|目前)*(?P<diet>素食主义者|素食者|纯素"
    r"|全素|吃素|吃全素|吃纯素|吃清真|清真|生酮|低碳饮食|蛋奶素|无麸质)(?:的|饮食|主义者?|了)?"
    r"(?:\S{0,4})$"
)
ADV_EN = (
    r"(?:really|absolutely|truly|always|generally|usually|typically|normally|mostly|just|still"
    r"|also|actually|definitely|strongly|much|personally|kind of|kinda|sort of|particularly|"
    r"especially|rather|totally|simply|so|do|would|'d|have always|'ve always|tend to|quite|genuinely"
    r"|honestly|now|currently|mainly|primarily|hardly|both)"
)
NEG_EN = (
    r"(?:don't|do not|dont|never|don't really|do not really|can't|cannot|no longer|didn't|am"
    r" not|'m not|don't think i|don't even)"
)
EN = to_pattern(
    (
        rf"(?:^|\b(?:I|i)\b\s*|^我(?:[\u4e00-\u9fff]{{0,4}})\s*|\band\s+|\bbut\s+|\b(?:I|i)'(?:d|"
        rf"ve)\s+)(?:{ADV_EN}\s+)*(?P<neg>{NEG_EN})?\s*(?:{ADV_EN}\s+)*(?:(?P<like>prefer|like"
        r"|love|enjoy|adore|favou?r|am (?:a (?:big |huge )?fan of|fond of|into|keen on|obsessed with"
        r"|passionate about|crazy about)|'?m (?:a (?:big |huge )?fan of|fond of|into|keen on|obsessed"
        r" with|passionate about|crazy about)|(?:am |'m )?really into|(?:would |'d )rather|lean towards?)"
        r"|(?P<hate>hate|dislike|detest|loathe|despise|can't stand|cannot stand|can't bear|avoid"
        r"|abhor))\s+(?P<target>.+)$"
    ),
    re.I,
)
NOT_FAN_EN = to_pattern(
    (
        r"\bI(?:'m| am)\s+(?:really\s+|definitely\s+)?not\s+(?:really\s+|much of\s+)?(?:a (?:big"
        r" |huge )?fan of|fond of|into|keen on|crazy about|a .{1,20} person\b)\s*(?P<target>.+)$"
    ),
    re.I,
)
FAVOURITE_EN = to_pattern(
    (
        r"\bmy\s+(?:all[- ]time\s+)?(?:favou?rite|preferred|go-to|default|usual|main|primary)\s+"
        r"(?P<what>[\w -]{2,28}?)\s+(?:is|are|has always been|will always be|would be|of all time"
        r" is)\s+(?P<target>.+)$|(?P<target2>[A-Z][\w .'-]{1,30}?)\s+is\s+my\s+(?:all[- ]time\s+)?"
        r"(?:favou?rite|go-to)\s+(?P<what2>[\w -]{2,28})$"
    ),
    re.I,
)
HABIT_EN = to_pattern(
    (
        rf"(?:^|\bI\s+|\bI've\s+|\bwe\s+)(?:(?:{ADV_EN})\s+)*(?P<habit>always|usually|normally|typically"
        r"|generally|mostly|mainly|exclusively|only|never|rarely|(?:have |'ve )?always)\s+(?P<verb>use"
        r"|used|drink|eat|wear|buy|order|choose|take|drive|ride|run|code in|write in|work in|listen"
        r" to|watch|read|pick|go for|have|cook|start|wake up|get up|commute|travel|deploy|format"
        r"|name|write|test|shop at|work out|exercise|jog|swim|meditate|go to bed|go to|go for|skip|walk|study"
        r"|train|do|play"
        r"|sleep|grab|bring|pack|park|fly)\s+(?P<target>.+)$"
    ),
    re.I,
)
DONT_EAT_EN = to_pattern(
    (
        r"\bI\s+(?:really\s+)?(?P<neg>don't|do not|never|can't|cannot|won't)\s+(?:ever\s+)?(?P<verb>eat"
        r"|drink|smoke|wear|use|watch|consume)\s+(?P<target>.+)$"
    ),
    re.I,
)
OWN_TOOL_EN = to_pattern(
    (
        r"\bmy\s+(?P<what>phone|laptop|computer|editor|ide|browser|shell|terminal|keyboard|camera"
        r"|os|operating system|text editor)\s+is\s+(?:an?\s+)?(?P<target>.+)$|\bI\s+(?:daily[- ]drive"
        r"|use)\s+(?:an?\s+)?(?P<target2>[\w .+-]{2,30}?)\s+(?:as my|for my)\s+(?:main\s+|daily\s+"
        r"|primary\s+)?(?P<what2>phone|laptop|computer|editor|ide|browser|shell|terminal|notes?|"
        r"os|operating system|text editor)"
    ),
    re.I,
)
HOBBY_EN = to_pattern(
    r"\bmy\s+(?:main\s+)?(?:hobby|hobbies|passion|interests?)\s+(?:is|are|include)\s+(?P<target>.+)$", re.I
)
DIET_EN = to_pattern(
    (
        r"\bI(?:'m| am|'ve been| have been)\s+(?:an?\s+|on a\s+|strictly\s+|mostly\s+|now\s+)*(?P<diet>vegan"
        r"|vegetarian|pescatarian|keto|ketogenic|gluten[- ]free|halal|kosher|low[- ]carb|dairy[-"
        r" ]free|paleo)\b"
    ),
    re.I,
)
EAT_DIET_EN = to_pattern(
    (
        r"\bI\s+(?:only\s+)?(?:eat|follow|keep)\s+(?:a\s+|an\s+)?(?:strict\s+|strictly\s+)?(?P<diet>vegan"
        r"|vegetarian|keto|gluten[- ]free|halal|kosher|low[- ]carb|dairy[- ]free|plant[- ]based|"
        r"paleo)\b"
    ),
    re.I,
)
VAGUE = to_pattern(
    (
        r"^[了啊呀的过吧呢]+$|^(?:这|那|它|他|她|你(?!(?:的?回|说|用|直接|先|简|多|少|给))|您|你们"
        r"|一个人$|谁|什么|的|上了?(?:一个|某)|一下|同一|他们|一个女|一个男|自己$|他的|她的|得|过$"
        r"|吗|呢)|^(?:it|that|this|these|those|them|him|her|you|your|what|how|when|where|who|if|"
        r"to (?:know|see|ask|hear|get|have|say|think|be|order|book|make sure|add|point|thank|report"
        r"|buy|try|go|start|schedule|make|return|change|cancel|learn more|talk)|the (?:way|idea|"
        r"look|sound|first|second|third|last|one|other|new|above|suggestion|answer|result|fact|following)"
        r"|one of|more info|your|some (?:help|advice|info)|a (?:refund|copy|list|summary|word)|everything"
        r"|anything|nothing|something|someone|both|either|neither|so|or|and|my|his|their|our new)\b"
    ),
    re.I,
)
WANT_EN = to_pattern(r"\b(?:would|'d)\s+(?:really\s+|also\s+|just\s+)?(?:like|love|enjoy)\b", re.I)
RELATIVE_ZH = to_pattern(r"^(?:的|就?是|不是)(?=\S)|^你的?(?:回[答复]|答案|说法|建议)$")
DOUBLE_ZH = to_pattern(
    r"不是不|并非不|没有不|不讨厌|不反感|不排斥|说不上|谈不上|算不上|不代表|不等于|不一定|未必"
    r"|没说|没有说|不是说|曾经|以前|过去|小时候|原来|原先|当年|年轻时|大学时|想(?:喜欢|要喜欢)"
    r"|开始|怕你|是否|让你喜欢"
)
PAST_EN = to_pattern(
    (
        r"\b(?:used to|once (?:liked|loved)|when i was|back in|as a (?:kid|child)|previously|in the"
        r" past|would have|don't (?:hate|dislike|mind)|do not (?:hate|dislike|mind)|not that i|never"
        r" said|didn't say|don't know if|not saying|wish|hope|want to like|try(?:ing)? to (?:like"
        r"|enjoy|avoid)|not sure (?:if|whether)|whether)\b"
    ),
    re.I,
)
LIKE_AS_EN = to_pattern(
    (
        r"\b(?:looks?|feels?|sounds?|seems?|something|things|stuff|just|more|was|were|is|are|be|"
        r"been)\s+like\b|\bI'm like\b|\bI was like\b"
    ),
    re.I,
)
LIST = to_pattern(
    r"、|，|,\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+|\s+&\s+|(?<=[\u3400-\u9fff])(?:和|跟|以及"
    r"|还有|或者?)(?=[\u3400-\u9fff])"
)
SET_PHRASES = to_pattern(
    (
        r"rock and roll|black and white|mac and cheese|fish and chips|r&b|trial and error|pros and"
        r" cons|drum and bass|salt and|rock & roll|arts and crafts|bed and breakfast|long walks and"
        r"|between\b|和平|和谐|暖和|温和|柔和|和服|和牛|跟团|跟着|combination|both\b.*\band\b.*\bat"
    ),
    re.I,
)
OBJECT_FIRST_ZH = to_pattern(
    r"^(?P<target>[^我，,？?]{2,18}?)我(?:真的|特别|很|非常|挺|超级?|最|都|一直|还是|是|蛮|可|也)*"
    r"(?P<neg>不太|不怎么|不)?(?:(?P<like>喜欢|爱(?=[吃喝看听用穿]))(?:[吃喝看听用穿])?|(?P<hate>讨厌|受不了|吃不惯|喝不惯))(?:的)?$"
)
NOT_OBJECT_ZH = to_pattern(
    r"^(?:这|那)(?:个|种|些|样|次|点|件|款|部|首|家|道|本)?[^的]{0,4}$|知道|觉得|因为|所以|告诉|说|问|如果"
)
