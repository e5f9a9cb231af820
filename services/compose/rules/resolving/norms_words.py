"""The vocabulary of rules and wishes in both languages: manners, forbidding, requiring, wanting."""

# ruff: noqa: E501 - one family of words per line

import re

from shared.language.patterns import to_pattern
from shared.language.segment import stem

Manner = tuple[str, str]
"""A dimension of style, and one of its poles."""

_MANNERS: dict[Manner, str] = {
    ("slang", "yes"): r"网络(?:流行)?(?:用)?语(?!言)|网络热?词|流行语|热梗|玩梗|烂梗|梗(?!概)|俚语|黑话|饭圈(?:用)?语|\b(?:slang|memes?|netspeak|internet speak|buzz ?words?|gen[- ]z speak)\b",
    ("emoji", "yes"): r"表情(?:符号|包)?|颜文字|\b(?:emojis?|emoticons?|smileys?|smiley faces|stickers)\b",
    ("humour", "yes"): r"幽默|玩笑|搞笑|段子|俏皮话|\b(?:jok(?:es?|ing)|humou?r(?:ous)?|funny|puns?|banter|witty|sarcas(?:m|tic))\b",
    ("register", "formal"): r"(?<!非)正式|书面语|庄重|严肃|专业(?:的)?(?:语气|口吻|用语)|\b(?<!in)(?:formal(?:ly|ity)?|businesslike|professional (?:tone|language|register))\b",
    ("register", "casual"): r"随意|口语|轻松|活泼|俏皮|非正式|接地气|\b(?:casual(?:ly)?|informal(?:ly)?|chatty|laid[- ]back|colloquial(?:ly|isms)?|playful|relaxed|conversational)\b",
    ("length", "short"): r"简短|简洁|精简|简明|言简意赅|短句|短一点|一句话|\b(?:concise(?:ly)?|brief(?:ly)?|short(?:er)?|terse|succinct(?:ly)?|to the point)\b",
    ("length", "long"): r"详细|长篇|详尽|细致|长文|展开(?:说|讲)|\b(?:detailed|long(?:er)?|lengthy|in[- ]depth|elaborate|verbose|thorough|comprehensive)\b(?! (?:as|term|time|run))",
    ("language", "zh"): r"中文|汉语|普通话|\b(?:chinese|mandarin)\b",
    ("language", "en"): r"英文|英语|\benglish\b",
    ("language", "ja"): r"日语|日文|\bjapanese\b",
    ("language", "fr"): r"法语|法文|\bfrench\b",
    ("language", "de"): r"德语|德文|\bgerman\b",
    ("language", "es"): r"西班牙(?:语|文)|\bspanish\b",
    ("language", "dialect"): r"方言|粤语|四川话|\b(?:dialects?|cantonese)\b",
    ("script", "simplified"): r"简体|\bsimplified\b",
    ("script", "traditional"): r"繁体|\btraditional (?:chinese|characters|script)\b",
    ("mixing", "yes"): r"中英(?:文)?(?:夹杂|混用|混排|混杂)|夹杂英文|\b(?:code[- ]switch(?:ing)?|mix(?:es|ing)? (?:of )?(?:languages|chinese and english|english and chinese))\b",
    ("exclamation", "yes"): r"感叹号|惊叹号|\bexclamation (?:marks?|points?)\b",
    ("abbreviation", "yes"): r"缩写|简写|首字母缩略|\b(?:abbreviations?|acronyms?|text speak)\b",
    ("capitals", "yes"): r"全大写|全部大写|大写字母|\b(?:all[- ]caps|capital letters|upper ?case|block capitals)\b",
    ("address", "familiar"): r"昵称|外号|亲昵|宝子|(?:叫|称呼?)[^，。]{0,4}亲|直呼其?名|\b(?:nicknames?|first[- ]names?|pet names?|terms of endearment)\b",
    ("address", "polite"): r"您|敬语|尊称|敬称|\b(?:honorifics?|surnames?|last names?|sir or madam)\b",
    ("swearing", "yes"): r"脏话|粗口|粗话|骂人|\b(?:swear(?:ing| ?words?)?|profanit(?:y|ies)|curs(?:e|ing)(?: words)?|vulgar(?:ity)?)\b",
    ("layout", "list"): r"列表|要点|项目符号|分点|条目|\b(?:bullet(?:s|ed)?(?: points?| lists?)?|numbered lists?|lists)\b",
    ("layout", "prose"): r"纯文本|段落|成段|散文|\b(?:plain text|prose|paragraphs|full sentences)\b",
    ("layout", "table"): r"表格|\btables?\b",
    ("layout", "markdown"): r"\bmarkdown\b",
    ("units", "metric"): r"公制|公里|千米|摄氏|\b(?:metric|celsius|kilomet(?:er|re)s?)\b",
    ("units", "imperial"): r"英制|英里|华氏|\b(?:imperial|fahrenheit|miles)\b",
    ("clock", "24"): r"24小时制|\b24[- ]hour\b",
    ("clock", "12"): r"12小时制|\b(?:12[- ]hour|am/pm)\b",
    ("theme", "dark"): r"(?:深色|暗色|黑暗)(?:模式|主题)?|\bdark (?:mode|theme)\b",
    ("theme", "light"): r"(?:浅色|亮色|白色)(?:模式|主题)|\blight (?:mode|theme)\b",
    ("indent", "tabs"): r"制表符|\btabs\b",
    ("indent", "spaces"): r"空格(?:缩进)?|\bspaces\b",
    ("place", "remote"): r"远程(?:办公|工作)?|(?:居家|在家)(?:办公|工作|上班)|\b(?:remote(?:ly)?(?: work(?:ing)?)?|work(?:ing)? from home|wfh|home office)\b",
    ("place", "office"): r"到岗|坐班|现场办公|到公司(?:上班|办公)|\b(?:on[- ]?site|in[- ]office|in the office|at the office|from the office)\b",
    ("competitors", "yes"): r"竞品|友商|竞争对手|\b(?:competitors?|rival brands?)\b",
    ("discount", "yes"): r"打折|折扣|优惠(?:券|码)?|\b(?:discounts?|coupons?|vouchers?|price cuts?)\b",
    ("superlatives", "yes"): r"夸张|绝对化|最好的|第一名?|\b(?:superlatives?|exaggerat(?:e|ed|ion|ions)|hype|hyperbole)\b",
}  # fmt: skip
MANNERS: tuple[tuple[Manner, re.Pattern[str]], ...] = tuple(
    (manner, to_pattern(words, re.IGNORECASE)) for manner, words in _MANNERS.items()
)
ANY_MANNER = to_pattern("|".join(_MANNERS.values()), re.IGNORECASE)
EXCLUSIVE = frozenset(
    {"register", "length", "language", "script", "units", "clock", "theme", "indent", "place", "layout", "address"}
)
"""Dimensions whose poles exclude each other."""
EXCLUDES: dict[Manner, frozenset[Manner]] = {
    ("register", "formal"): frozenset({("slang", "yes"), ("swearing", "yes"), ("language", "dialect")}),
    ("language", "zh"): frozenset({("mixing", "yes")}),
    ("language", "en"): frozenset({("mixing", "yes")}),
}
"""What a required manner excludes besides the other poles of its dimension."""

FORBID_ZH = r"严禁|严格禁止|禁止|不得(?![不已少低])|不准|不许|不允许|不可(?!或缺|不|避免|思议)以?|不能(?![不够])|不应该?|不要(?!紧|忘|错过|客气)|请勿|切勿|勿|避免|杜绝|禁用|拒绝使用|不宜|不建议|不使用|不再使用"
REQUIRE_ZH = r"必须|务必|应当|应该|(?<![相对适响反供])应(?=使用|采用|用|以|保持|称|写)|(?<![必无不])须|一律(?!禁|不)|统一|只能|仅限|仅可|仅能|只允许|只使用|(?<!不)要求|(?:请)?(?:全部|均)?(?:需|需要)(?=使用|采用|用|以|保持)|请(?:使用|用|保持)"
FORBID_EN = r"\b(?:must|may|shall|should|can|do|does|did|will)(?: not|n['’]t)\b(?! (?:forget|hesitate|be afraid|worry|only|just|limited))|\bcannot\b|\bnever\b|\bavoid(?:s|ing)?\b|\brefrains? from\b|\b(?:forbid|prohibit|ban|disallow)s?\b|\b(?:forbids|prohibits|bans) the use of\b|\bsteer clear of\b|\bwithout\b|\bfree of\b|(?:^|[:;]\s*)no\b(?! (?:longer|need|problem|limit|restrictions?))|\bthere (?:must|shall|should) be no\b"
FORBIDDEN_EN = r"\b(?:is|are|be|being)(?: strictly| expressly| generally)? (?:not (?:allowed|permitted|acceptable|welcome|to be used)|forbidden|prohibited|banned|disallowed|off[- ]limits)\b|\b(?:not allowed|strictly prohibited|not permitted)\b"
REQUIRE_EN = r"\b(?:must|shall|should|has to|have to|needs? to|ought to)\b(?!(?: not|n['’]t))|\balways\b|\bonly\b|\b(?:requires?|mandates?)\b|\bmandatory:|(?:^|[:;]\s*)(?:please )?(?:use|write|keep|reply|answer|address|speak)\b|\bstandardi[sz]e on\b"
REQUIRED_EN = r"\b(?:is|are|be)(?: strictly)? (?:required|mandatory|obligatory|compulsory)\b"

LIFTED = to_pattern(
    r"不再(?:禁止|要求|强制)|(?:并不|没有|未|并未|不)(?:禁止|强制)|(?:禁令|限制|规定)[^，。]{0,8}(?:取消|解除|废止|失效|作废)|(?:取消|解除|废止|撤销)[^，。]{0,12}(?:禁令|限制|要求|规定|禁止)"
    r"|不必|无需|无须|不需要|不强制|可以不|不得不|不能不|不可不|不仅|不但|不禁|禁不住|别忘|不要忘|不限于"
    r"|\bno longer\b|\bnot (?:forbidden|prohibited|banned|required|mandatory)\b|\b(?:ban|prohibition|restriction|requirement|rule)s?\b.{0,40}\b(?:was|were|been|is|are) (?:lifted|removed|ended|dropped|cancelled|canceled|abolished|withdrawn)\b"
    r"|\b(?:lifted|removed|dropped|ended|withdrew|abolished)\b.{0,20}\b(?:ban|prohibition|restriction|requirement|rule)\b|\b(?:need|needs|do|does)(?: not|n['’]t) (?:have|need) to\b|\bneed not\b|\bneedn['’]t\b|\bno need to\b|\bnot only\b",
    re.IGNORECASE,
)
NOT_NOW = to_pattern(
    r"曾经?|以前|过去|此前|原先|当年|历史上|\b(?:used to|formerly|previously|in the past|once|back then|at one time|until (?:19|20)\d\d|in (?:19|20)\d\d)\b",
    re.IGNORECASE,
)
ASKS = to_pattern(
    r"[?？]\s*$|^\s*(?:为什么|为何|如何|怎么|怎样|是否|要不要|能不能)|^\s*(?:why|how|whether|should|what|when|do|does|can|is|are)\b(?! not\b)(?=.*(?:\?|$))(?<!do not)",
    re.IGNORECASE,
)
OTHERS = to_pattern(
    r"竞争对手|友商|竞品|其他(?:品牌|公司|企业|平台)|别的?(?:品牌|公司)|有些?(?:品牌|公司|人|学校)|很多(?:公司|品牌|人)|有人|专家|学者|据说|据报道|某(?:公司|品牌|国|校)"
    r"|\b(?:competitors?|rivals?|other (?:brands?|compan(?:y|ies)|teams?|firms?)|some (?:brands?|compan(?:y|ies)|people|schools?|experts?)|many (?:brands?|compan(?:y|ies)|people)|experts?|critics?|studies|reportedly|a (?:school|city|country|rival))\b",
    re.IGNORECASE,
)
EVERYWHERE = to_pattern(
    r"官方|正式渠道|距离|温度|长度|重量|时间|日期|直播|视频|广告|电话|热线|信函|书信|全面|严格|绝对|坚决|原则上|目前|现已|特此|公告|通知|海报|官网|网站|页面|界面|系统|品牌|公司|企业|集团|本店|门店|员工|同事|人员|全体|所有|一切|任何|各|客户|顾客|用户|客服|文案|对外|回复|回答|答复|宣传|沟通|交流|邮件|内容|语言|规范|规定|手册|指南|准则|标准|制度|政策|要求|助手|团队|项目|文档|文字|文本|文章|材料|消息|帖子|推送|场合|渠道|平台|服务|写作|表达|措辞|代码|撰写|发布|使用|应用|中|里|内|上|时|的|等|与|和|及|在|以|为|向|对|请|均|都|我们|本|我司"
    r"|\b(?:brand|company|corporate|enterprise|employees?|staff|everyone|everybody|all|any|each|every|customers?|clients?|users?|support|copy|communications?|external|internal|repl(?:y|ies)|responses?|answers?|messages?|e-?mails?|content|language|guidelines?|guide|rules?|polic(?:y|ies)|handbook|standards?|style|tone|voice|agents?|assistants?|teams?|projects?|documents?|documentation|texts?|posts?|channels?|platforms?|services?|writing|written|code|marketing|materials?|public|publications?|interfaces?|source|correspondence|letters?|calls?|live ?streams?|ads?|adverts?|advertis(?:ing|ements?)|apps?|websites?|notices?|announcements?|strictly|generally|currently|now|official|our|we|you|your|the|a|an|of|in|on|to|for|with|and|or|when|while|at|by|it|is|are|be|us|must|should|please|note|as|this|that|these|those|use|used|using|speaking|talking|work|business|publish(?:ed|ing)?|facing|per|policy)\b",
    re.IGNORECASE,
)
"""Scopes that mean everything that an enterprise does and writes."""
PRIVATE = to_pattern(
    r"在家|家里|私下|私人|(?<!像)(?<!交)朋友(?!圈|一样|似的)|家人|家庭|业余|周末|下班|休息|度假|\b(?:at home|in private|privately|friends?|family|weekends?|off duty|after work|holidays?|vacation|spare time|free time|personal(?:ly)? chats?)\b",
    re.IGNORECASE,
)
NOW = to_pattern(r"现在|如今|现已|自\S{1,8}起|\b(?:now|today|currently|from now on|as of)\b", re.IGNORECASE)
PASSIVE = to_pattern(f"{FORBIDDEN_EN}|{REQUIRED_EN}", re.IGNORECASE)
PASSIVE_AFTER = to_pattern(
    r"(?:be (?:used|allowed|included|worn|brought|consumed|sent|told|made|offered|given|present|avoided)|appear|occur)\b|(?:使用|出现|采用)$",
    re.IGNORECASE,
)
SAID_ZH = to_pattern(
    r"形式|格式|样式|回复|回答|答复|答案|表达|语气|语调|风格|方式|口吻|文案|内容|词|用语|语言|语|符号|沟通|交流|写|说|聊|讲|邮件|消息|信息|文字|文本|文档|报告|句|称呼|来|去|模式|主题|界面配色|缩进|办公|工作|上班|字|版|等|和|或|及|以及|与|跟|在|进行|时|也|都|的|了|就|会|更|一些|一点|些|点|为主|之类|这|那|而|但|给|向|对|里|中|上|包|说明|解释|总结|描述|注释|代码|体|化|式|来|吧|呢|啊|多|少"
)
"""Words that may follow a manner without being the thing that it describes."""
_SAID_EN_WORDS = (
    "reply replies answer answers tone style language message messages email emails mail copy response responses "
    "writing sentence sentences text voice register word words point points list lists mode theme clock "
    "explanation explanations summary summaries report reports description descriptions documentation document "
    "documents comment comments everywhere always often sometimes instead only please characters character "
    "symbols everything lot whenever wherever possible format phrase phrases expressions expression manner way "
    "conversation conversations chat chats communication indentation marks work working days time code reactions "
    "too as such like prefers prefer likes wants when where while"
)
SAID_EN = frozenset(map(stem, _SAID_EN_WORDS.split()))
MATERIAL = frozenset({"made", "from", "by"})
SAFETY = to_pattern(
    r"过敏|忌口|不耐受|病|糖尿|哮喘|癫痫|孕|残疾|失明|听障|视障|医嘱|服药|吃药|清真|斋戒|信仰|宗教|素食|纯素|\b(?:allerg\w*|intoleran\w*|diabet\w*|asthma\w*|epilep\w*|pregnan\w*|disab\w*|blind|deaf|dyslexi\w*|medica\w*|doctor|halal|kosher|religio\w*|vegan|vegetarian|celiac|coeliac|screen reader)\b",
    re.IGNORECASE,
)
"""Health, belief, ability: needs that no rule can overrule."""
SOMEBODY_ELSE = to_pattern(
    r"^(?:用户的?|我的?)?(?:妈妈|母亲|爸爸|父亲|老婆|妻子|老公|丈夫|儿子|女儿|孩子|朋友|同事|老板|客户|奶奶|爷爷)"
    r"|^(?:the user['’]s |user['’]s |my )(?:mother|mom|mum|father|dad|wife|husband|son|daughter|kids?|child(?:ren)?|friend|colleague|boss|client|partner|brother|sister)\b",
    re.IGNORECASE,
)
AGAINST_ZH = r"不(?:太|怎么|大|再|是很)?(?:喜欢|爱|想要?|希望|愿意?|习惯|需要|用|要|使用|接受)|讨厌|反感|厌恶|拒绝|别(?!的|人|名)|少用|避免|抵触|受不了|而不是|而非"
AGAINST_EN = r"\b(?:dislikes?|hates?|detests?|loathes?|avoids?|can(?:no|['’])t stand|rather than|instead of|without|never|refuses?|fewer|less|prefers? not to|prefers? no)\b|\b(?:do|does)(?: not|n['’]t) (?:like|want|enjoy|care for|use|need|appreciate)\b|\bnot\b|\bno\b(?! (?:matter|problem))|\bover\b(?! (?:time|the))"
STILL = to_pattern(r"不介意|不反对|不讨厌|\b(?:does|do)(?: not|n['’]t) mind\b", re.IGNORECASE)
COMPARED_ZH = to_pattern(r"(?:比起|相比|与其)(?P<less>[^，,。]{1,20}?)(?:[，,]|更|不如)")

STOPS = to_pattern(
    r"[，,](?=\s*(?:请|应|改|使用|用|可以|并|而|但|以|鼓励|建议|use\b|write\b|but\b|instead\b|and (?:use|write|keep|always)\b|which\b|so\b|as\b|because\b))|但是?|而是|而应|因为|以免|以便|;|；"
    r"|\b(?:but|instead|because|so that|however|since|unless|except)\b|除非|除外",
    re.IGNORECASE,
)
"""Where the object of a rule ends."""
PLACED_EN = to_pattern(
    r"\b(?:in|on|at|during|for|when|while|with|to|by|from|inside|within|before|after|as|under|among|towards?)\b(?!-)",
    re.IGNORECASE,
)
TRAILING_ZH = to_pattern(
    r"(?:上班|出门|睡觉|开会|工作|办公|回复|聊天|沟通|的?时候?|为主|等等?|之类|的(?:风格|方式|语气|内容|表达|词汇|词语|字眼)?|风格|语气|方式)+$"
)
JOINTS = to_pattern(r"、|以及|或者|和|或|及|与|/|,|，|\b(?:and|or|nor)\b", re.IGNORECASE)
_EMPTY_WORDS = (
    "使用 采用 用 任何 一切 各种 过多 大量 过度 进行 出现 含有 包含 以 为 要 都 也 再 会 有 能 可以 类 种 词 词语 词汇 用语 内容 方式 风格 语气 回复 回答 文案 喜欢 偏好 更 多 很 最 "
    "比较 倾向 倾向于 希望 想 想要 习惯 爱 用户 我 的 了 在 被 中 里 上 时 use used uses using any kind sort type form of the a an some "
    "such word phrase content excessive much many too like prefer want love enjoy would user i my me be is are it "
    "to more most reply replies answer message in their her his they he she please contain include including "
    "employ write writing wear"
)
EMPTY = frozenset(_EMPTY_WORDS.split())
USES = to_pattern(
    r"^(?:使用|采用|用|以|be (?:written|built|implemented|done|held|conducted) (?:in|with|on)|use|used|using|in|on)",
    re.IGNORECASE,
)
SAME_SORT = frozenset({"software", "programming", "device"})
"""Sorts of things of which an enterprise selects one, which overrules another taste."""
CONSUMES = frozenset("饮喝品吸抽吃食")
