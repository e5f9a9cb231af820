"""Patterns of the slots that statements fill and of tastes, and cheap signs that a clause may match one of them."""

# ruff: noqa: E501 - one family of words per line

import re

from shared.extraction.clauses import Clause
from shared.extraction.gates import gate
from shared.extraction.guards_words import KIN_EN, KIN_ZH
from shared.language.patterns import to_pattern

_ADV_EN = r"(?:(?:currently|now|actually|also|originally|still|just|recently|really|usually|mainly|always|have been|been|finally)\s+)*"
_ADV_ZH = r"(?:现在|目前|如今|已经|一直|就|是|都|也|其实|真的|今年|刚|最近|平时|长期|从小|常年|主要|还|还是|本来|原来是|之前|去年|上个?月|上周|这个月|终于|又|马上|仍然)*"
_YEARS_ZH = r"(?:了?[一二两三四五六七八九十\d]+多?年多?)?了?"
_SHORT_ZH = r"[\u4e00-\u9fffA-Za-z0-9 ·&.]"
_NAME = r"[A-Z\u4e00-\u9fff][\w'.\u4e00-\u9fff-]*(?: [A-Z][\w'.-]*| de| van| von| da| bin){0,3}"
_NAME_ZH = r"(?:[\u4e00-\u9fff·]{1,6}?|[A-Za-z][A-Za-z .·'-]{0,30})"
_JOB_EN = (
    r"(?:engineer|developer|programmer|designer|teacher|doctor|nurse|lawyer|attorney|manager|director|analyst|professor|student|writer|author|editor"
    r"|photographer|chef|cook|accountant|architect|consultant|founder|entrepreneur|freelancer|contractor|pilot|driver|farmer|actor|actress|dancer|singer"
    r"|coach|trainer|surgeon|paramedic|firefighter|officer|soldier|assistant|secretary|administrator|admin|intern|tutor|barista|bartender|waiter|waitress|cashier"
    r"|plumber|mechanic|carpenter|baker|broker|trader|banker|auditor|planner|worker|producer|translator|recruiter|researcher|reporter|vet|lead|owner|operator"
    r"|tester|clerk|agent|postdoc|retiree|homemaker|(?!vegetarian|pescatarian|minimalist|perfectionist|optimist|pessimist|list|civilian|guardian)[a-z]+(?:ist|ian))"
)
_EMPLOYER_ZH = rf"(?!家|这|那|哪|找|做|忙|换|努力|认真|外面|一[起家个间]|办公室|远程){_SHORT_ZH}{{2,20}}?"
_FIELD_EN = r"(?:the )?(?:finance|tech|marketing|sales|hr|it|healthcare|education|law|media|advertising|retail|hospitality|construction|logistics|consulting|insurance|banking|real estate|manufacturing|biotech|gaming|design|publishing|academia|government|security|accounting|engineering|film|music|fashion|pharma|energy|agriculture|public health|customer \w+|research)"
_JOB_ZH = (
    r"(?:老师|医生|护士|经理|总监|主管|总裁|程序员|码农|产品|运营|编辑|记者|演员|导演|司机|会计|学生|研究生|博士生?|教授|架构师|顾问|销售|客服|店长|老板|公务员|军人|警察"
    r"|翻译|教练|主播|博主|程序猿|前端|后端|全栈|测试|运维|宝妈|全职妈妈|全职爸爸|家庭主妇|助理|秘书|文员|出纳|保安|牙医|兽医|辅警|民警|策划|文案|采购|导游|测开|开发|算法|农民|工人|法官|律师|会计师|创业者|创始人|负责人|[\u4e00-\u9fff]{1,5}[师员工家者])"
)
_TONGUE_EN = r"(?:English|Chinese|Mandarin|Cantonese|Spanish|French|German|Japanese|Korean|Italian|Portuguese|Russian|Arabic|Hindi|Dutch|Polish|Turkish|Vietnamese|Thai|Swedish|Greek|Hebrew)"
_ILL_EN = r"(?:type [12] )?diabet(?:es|ic)|asthma(?:tic)?|hypertension|high blood pressure|migraines?|epilepsy|adhd|depression|anxiety|insomnia|arthritis|celiac(?: disease)?|ibs|crohn'?s|eczema|an?emia|dyslexia|heart (?:condition|disease)|gout|scoliosis|sleep apnea"
_ILL_ZH = r"[\u4e00-\u9fff]{0,4}(?:糖尿病|血压|哮喘|胃病|胃炎|痛风|心脏病|鼻炎|抑郁症|焦虑症|近视|色盲|色弱|颈椎病|突出|偏头痛|贫血|甲亢|甲减|乙肝|癫痫|关节炎|失眠症?|湿疹|乳糖不耐受?|多动症|高血脂|脂肪肝|结石)"
_PET_EN = r"dog|cat|pupp(?:y|ies)|kitten|golden retriever|labrador|corgi|poodle|beagle|husky|pet|parrot|rabbit|hamster|fish|horse"
_CHILD_EN = r"kid|child|children|son|daughter|brother|sister|sibling|twin|grandchild|grandchildren|grandkid"

FACTS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (who, slot, to_pattern(pattern, re.IGNORECASE))
    for who, slot, pattern in (
        ("name", "call_me", rf"\b(?:call me|address me as|refer to me as|I go by|(?:I'm|I am) called|(?:people|friends) call me)\s+(?-i:(?P<v>{_NAME}))"),
        ("name", "call_me", rf"^(?:以后|今后|请|你|可以|就|都|也|直接|大家|朋友们?|同事们?|记得|们|习惯)*(?:叫|称呼|喊|管)我(?:为|做|叫)?[“「\s]?(?P<v>{_NAME_ZH})[”」\s]?(?:就行了?|就好了?|就可以了?|即可|吧|好了|哦)?$"),
        ("name", "name", rf"\bmy\s+(?:full |first |real )?name(?:'s| is)\s+(?:actually )?(?-i:(?P<v>{_NAME}))"),
        ("name", "name", r"^(?:hi |hello |hey |and |so )*(?:I'm|I am|this is|it's)\s+(?-i:(?P<v>(?!Not|Sorry|Very|Fine|Good|Happy|Sure|Monday|Friday|\w+(?:ing|ed|ese|ian|ish|can)\b)[A-Z][a-z]+(?: [A-Z][a-z]+){0,2}))(?=$|,|\s+(?:from|here|and|by the way|again|at)\b)"),
        ("name", "name", rf"^(?:(?:我|本人)(?:的?(?:中文|英文|真|全)?(?:名字?|姓名))?{_ADV_ZH}(?:名叫|叫做?|(?<=名)[是：:]|(?<=名字)[是：:])|名叫|本名叫?)\s*(?P<v>(?!我){_NAME_ZH})(?:就行|就好|吧|哦|啊|呀)?$"),
        ("self", "surname", r"^(?:我|免贵)姓(?P<v>[\u4e00-\u9fff]{1,2})$"),
        ("self", "age", r"\bI(?:'m| am|'ve just turned| just turned| turned)\s+(?:now |currently |only |almost )?(?P<v>\d{1,2})(?: years? old| yo)?(?=$|\s+(?:and|today|now|this|last|next)\b)"),
        ("name", "age", rf"^(?:(?:我|本人){_ADV_ZH}|今年(?=\d))(?:快|满|刚满)?(?P<v>\d{{1,3}}|[一二三四五六七八九十]{{1,3}})(?:周?岁|多岁)(?:了|半)?$"),
        ("self", "birthday", r"\bmy birthday(?:'s| is)\s+(?:on |in )?(?P<v>(?:\w+ ){0,3}?(?:\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)).*)$|\bI was born (?:on|in) (?P<v2>(?:\w+ \d|(?:19|20)\d\d).*)$"),
        ("self", "birthday", r"^我的?(?:生日|出生日期|出生年月)就?[是在：:]?(?:农历|阴历|阳历)?(?P<v>(?=.{0,8}(?:\d|[一二三四五六七八九十]月)).{2,14}?)(?:出生)?$"),
        ("place", "city", rf"\b(?:I|we|I've|we've)\s+{_ADV_EN}(?:moved|relocated|emigrated)\s+(?:back |over |out |here )?(?:from (?P<old>[\w .'-]{{1,24}}?) )?to\s+(?-i:(?P<v>(?:the )?[A-Z\u4e00-\u9fff][^,]*))"),
        ("place", "city", rf"\b(?:I|we|I've|we've)\s+{_ADV_EN}(?:live|reside|(?:am|are) (?:living|based|settled|located))\s+{_ADV_EN}(?:in|at|near|outside)\s+(?P<v>.+)$|\bI'm\s+{_ADV_EN}(?:living|based|located)\s+(?:out of|in|at|near)\s+(?P<v2>.+)$|\bmy home is (?:now )?in\s+(?P<v3>.+)$"),
        ("place", "city", rf"^(?:我们?家?|我和\S{{1,4}})?(?:一家)?{_ADV_ZH}(?:从(?P<old>[\u4e00-\u9fffA-Za-z ]{{2,10}}?))?(?:搬家|搬|移居|移民|迁|调)[到去来回至]了?(?P<v>[\u4e00-\u9fffA-Za-z ]{{2,14}}?)(?:来|去|住|生活|工作|定居|发展)?了?$"),
        ("place", "city", rf"^(?:我们?|我和\S{{1,4}})(?:一?家人?)?{_ADV_ZH}的?家?(?:住[在到]?|定居[在到]?|常住在?|生活在|家?在(?=.{{2,8}}(?:生活|居住|定居|安家))|(?<=家)在)(?P<v>{_SHORT_ZH}{{2,20}}?)(?:这边|这里|那边|工作|生活|居住|定居|安家|上班)?{_YEARS_ZH}$"),
        ("name", "city", r"^(?:坐标|家住)(?P<v>[\u4e00-\u9fff]{2,6})$"),
        ("self", "hometown", rf"\bI(?:'m| am| come)\s+{_ADV_EN}from\s+(?-i:(?P<v>(?:the )?[A-Z][\w .'-]+))$|\bI (?:was (?:born|raised|born and raised)|grew up) in\s+(?-i:(?P<v2>[A-Z][\w .'-]+))|\bmy (?:home ?town|home country) is\s+(?P<v3>.+)$"),
        ("self", "hometown", rf"^(?:我{_ADV_ZH}(?:来自|出生[在于]|生在|祖籍是?)|我的?(?:老家|家乡|籍贯)[是在：]?)(?P<v>[\u4e00-\u9fffA-Za-z ]{{2,12}}?)(?:来的|出生的?|长大的?|的|人|农村)?$"),
        ("self", "employer", rf"\b(?:I|I'm|I've|I am)\s+{_ADV_EN}(?:work|working|worked|employed|started working|started|interning|intern)\s+(?:as .+? )?(?:at|for)\s+(?-i:(?P<v>(?:an? |the )?(?!AM\b|PM\b)[A-Z\u4e00-\u9fff][^,]*|an? (?:\w+ ){{0,3}}(?:company|startup|bank|hospital|school|university|agency|firm|non-?profit|bakery|store|restaurant|studio|lab|ngo)))$|\bI (?:just |recently )?joined\s+(?-i:(?P<v2>[A-Z][\w&.-]*(?: [A-Z][\w&.-]*)*))(?=$|\s+(?:as|last|this|in|a)\b)|\bmy (?:employer|company) is\s+(?:called )?(?P<v3>.+)$"),
        ("self", "employer", rf"^我{_ADV_ZH}(?:在(?P<v>{_EMPLOYER_ZH})(?:工作|上班|任职|就职|实习|教书|任教|打工|[当做][^了饭梦]{{2,12}})|(?:[就任供]职于|[入加][职入]了?|跳槽[到去]了?|加盟了?)(?P<v2>{_EMPLOYER_ZH}))了?{_YEARS_ZH}的?$"),
        ("self", "occupation", rf"\bI(?:'m| am|'ve been| have been| work(?:ed)? as| got a job as| became| serve as)\s+{_ADV_EN}(?:(?:employed|working) as\s+)?(?:an?|the)\s+(?P<v>(?:[\w/+#.&-]+ ){{0,4}}?{_JOB_EN})\b(?! of (?:this|that|your))|\bmy (?:job|occupation|profession|day job|job title) is\s+(?P<v2>.+)$|\bI work in\s+(?P<v3>{_FIELD_EN}\b.*)$"),
        ("self", "occupation", rf"^(?:我|本人){_ADV_ZH}(?:当|做|从事|任|担任|的?(?:工作|职业|职务|岗位)[是为]|改行做了?|转行做了?|(?<=是)|(?:在\S{{2,12}}[当做]))了?(?:一?[名个位])?(?P<v>(?!不|你|他|她|这|那|对|真|想|第一|唯一|被|最|很|大家)[\u4e00-\u9fffA-Za-z+# ]{{0,12}}?{_JOB_ZH}(?<!专家)(?<!大家)(?<!主义者)(?<!素食者))的?{_YEARS_ZH}$|^我{_ADV_ZH}(?:从事|做)(?P<v2>[\u4e00-\u9fffA-Za-z ]{{2,12}}?)(?:行业|工作|这行|领域|相关的?工作)的?{_YEARS_ZH}$|^我{_ADV_ZH}[做搞干](?P<v3>(?!决定)[^\W\d_我你他这那么样错对]{{2,10}})的$|^我{_ADV_ZH}在[^\s做当]{{2,16}}[当做](?P<v4>[^\s了饭梦做当]{{2,12}}?)的?$"),
        ("self", "employer", rf"\b(?:I'm|I am) an? (?:[\w-]+ ){{0,3}}?{_JOB_EN} (?:at|for|with) (?-i:(?P<v>[A-Z][^,]*))"),
        ("self", "school", r"\bI\s+(?:just |recently )?(?:graduated from|went to|attend(?:ed)?|study at|studied at|go to)\s+(?P<v>(?=.*(?:university|college|school|institute|\b(?:MIT|Stanford|Harvard|Yale|Oxford|Cambridge|UCLA|Berkeley|Tsinghua)\b))[\w .'&-]+)$"),
        ("self", "school", rf"^我{_ADV_ZH}(?:是?从?(?P<v>[\u4e00-\u9fff]{{2,10}}(?:大学|学院|学校|中学|一中))(?:本科|硕士|博士)?毕业[的了]?|毕业于(?P<v2>.{{2,16}})|在(?P<v3>[\u4e00-\u9fff]{{2,10}}(?:大学|学院|中学))(?:读|上学|念)\S{{0,4}})$"),
        ("self", "major", rf"\bI(?:'m| am)?\s+{_ADV_EN}(?:study|studying|studied|major(?:ed|ing)? in|(?:have|hold|got) (?:a|my) (?:degree|phd|master's|bachelor's)(?: degree)? in)\s+(?P<v>(?!for\b|at\b|hard\b)[a-z][\w &-]*)$"),
        ("self", "major", rf"^我{_ADV_ZH}(?:学的?是|学的|读的是?|主修|的?专业是)(?P<v>[\u4e00-\u9fff]{{2,10}}?)(?:专业)?(?:的)?$"),
        ("self", "native_language", rf"\bmy (?:native language|mother tongue|first language)(?: is|'s)\s+(?P<v>{_TONGUE_EN})|^我的?母语是(?P<v2>[\u4e00-\u9fff]{{1,4}}[语文话])$"),
        ("self", "languages", rf"\b(?:I (?:also )?(?:speak|am fluent in)|I'm fluent in)\s+(?:fluent |some |native |a little )?(?P<v>{_TONGUE_EN}\b.*)$"),
        ("self", "languages", rf"^我{_ADV_ZH}(?:会说|能说|会讲|懂|精通|会)(?P<v>(?:[\u4e00-\u9fff]{{1,4}}[语文话][、和及]?)+)$"),
        ("self", "health:", rf"\bI(?:'ve| have|'m| am)?\s+(?:been |also |had |got |have |suffer from |live with |was |diagnosed with )*(?:mild |severe |chronic |a )?(?P<v>{_ILL_EN})\b"),
        ("self", "health:", rf"^我的?{_ADV_ZH}(?:患?有|是|得了|查出来?|确诊了?|得过)(?:点|些|轻度|重度|严重的?|慢性|先天性?|多年)*(?P<v>{_ILL_ZH})(?:了|患者)?{_YEARS_ZH}$"),
        ("self", "trait:", r"\bI(?:'m| am)\s+(?:definitely |really |more of |such |kind of |always been )*an?\s+(?P<v>(?:[\w-]+[- ]person|night owl|early (?:bird|riser)|introvert|extrovert|homebody|foodie|minimalist|perfectionist|bookworm|light sleeper|picky eater|non-?smoker|only child|(?:single|stay-at-home) (?:mom|mum|dad|parent|mother|father)))\b|\bI(?:'m| am)\s+(?P<v2>left-handed|color-?blind|colour-?blind|bilingual|retired|unemployed|pregnant)\b|^我是个?(?P<v3>左撇子|独生子女?|独生女|夜猫子|(?:早起|内向|外向)的?人|早起型|男生|女生|男的|女的)$"),
        ("self", "marital_status", r"\bI(?:'m| am| got)\s+(?:now |happily |recently |just |still |newly )*(?P<v>married|single|divorced|engaged|widowed)\b(?!\s+to\s+(?:the|a|this)\b)" + rf"|^我{_ADV_ZH}(?P<v2>结婚|订婚|离婚|已婚|未婚|单身|离异)(?:的|狗)?{_YEARS_ZH}$"),
        ("self", "zodiac", r"^我属(?P<v>[鼠牛虎兔龙蛇马羊猴鸡狗猪])的?$"),
        ("self", "timezone", r"\bmy time ?zone is\s+(?P<v>[\w/+:. -]{1,30})$|^我的?时区(?:是|为|：|:)(?P<v2>[\w/+:.\u4e00-\u9fff -]{1,16})$"),
        ("self", "height", r"\bmy height is\s+(?P<v>[\w'\". -]{1,20})$|^我的?身高(?:是|有|大概|差不多)*(?P<v2>[\d.]+[\w\u4e00-\u9fff]{0,4}?)(?:左右)?$"),
        ("self", "weight", r"\bmy weight is\s+(?P<v>[\w. -]{1,20})$|^我的?体重(?:是|有|大概|差不多)*(?P<v2>[\d.]+[\w\u4e00-\u9fff]{0,4}?)(?:左右)?$"),
        ("self", "blood_type", r"\bmy blood type is\s+(?P<v>[\w+ -]{1,12})$|^我的?血型(?:是|：|:)?(?P<v2>[\w+\u4e00-\u9fff]{1,6})$"),
        ("self", "shoe_size", r"\bmy shoe size is\s+(?P<v>[\w. ]{1,12})$|^我的?(?:鞋码|鞋号)(?:是|穿|：|:)?(?P<v2>[\d.]+码?)$"),
        ("kin", "%:name", rf"\bmy\s+(?:\w+ )?(?P<who>{KIN_EN})(?:'s)?\s+(?:name is|name's|is (?:called|named))\s+(?-i:(?P<v>{_NAME}))|\bmy\s+(?P<who2>{KIN_EN})(?:,| is|'s)? (?-i:(?P<v2>[A-Z][a-z]+))$"),
        ("kin", "%:age", rf"\bmy\s+(?:\w+ )?(?P<who>{KIN_EN}) (?:is|turned|just turned)\s+(?P<v>\d{{1,3}})(?: (?:years|months) old)?\b"),
        ("kin", "%:job", rf"\bmy\s+(?:\w+ )?(?P<who>{KIN_EN}) (?:is|works as) an?\s+(?P<v>(?:[\w-]+ ){{0,3}}?{_JOB_EN})\b"),
        ("kin", "%:place", rf"\bmy\s+(?:\w+ )?(?P<who>{KIN_EN}) (?:lives?|works?) (?:in|at|for)\s+(?-i:(?P<v>[A-Z].+))$"),
        ("kin", "%:allergy", rf"\bmy\s+(?:\w+ )?(?P<who>{KIN_EN}) (?:is|are) allergic to\s+(?P<v>.+)$"),
        ("kin", "%:allergy", rf"^我(?:的|家)?(?P<who>[大小二前新]?{KIN_ZH})(?:也|都)?对(?P<v>[\u4e00-\u9fffA-Za-z]{{1,8}})过敏$"),
        ("kin", "%:name", rf"^我(?:的|家)?(?P<who>[大小二前新]?{KIN_ZH})(?:的?名字)?(?:是|叫做?|名叫)(?<!是)(?P<v>(?!我|你|他|她)[\u4e00-\u9fffA-Za-z]{{1,12}})$"),
        ("kin", "%:age", rf"^我(?:的|家)?(?P<who>[大小二前新]?{KIN_ZH})(?:现在|今年|也|都|已经|刚)*(?P<v>[\d一二三四五六七八九十]+(?:个月|周?岁|年级)半?)[了大]?$"),
        ("kin", "%:job", rf"^我(?:的|家)?(?P<who>[大小二前新]?{KIN_ZH})(?:现在|也)?是(?:一?[名个位])?(?P<v>[\u4e00-\u9fffA-Za-z ]{{0,10}}?{_JOB_ZH})$"),
        ("kin", "%:place", rf"^我(?:的|家)?(?P<who>[大小二前新]?{KIN_ZH})(?:现在|也|都)?(?:住在(?P<v>[\u4e00-\u9fffA-Za-z]{{2,12}})|在(?P<v2>[\u4e00-\u9fffA-Za-z]{{2,12}}?)(?:工作|上班|上学|读书|生活|念书|读大学))$"),
        ("home", "family:%", rf"\b(?:I|we|I've|we've)\s+(?:also |now |still )?(?:have|got|have got|'ve got)\s+(?P<v>(?:an?|one|two|three|four|five|six|\d+) (?:[\w-]+ ){{0,2}}?(?P<who>(?:{_CHILD_EN})s?))\b"),
        ("home", "pet:%", rf"\b(?:I|we|I've|we've)\s+(?:also |now |still )?(?:have|got|have got|own|adopted|'ve got)\s+(?P<v>(?:an?|one|two|three|four|five|six|\d+) (?:[\w-]+ )??(?P<who>(?:{_PET_EN})s?))\b"),
        ("home", "owns:%", r"\b(?:I|we)\s+(?:also |now |still )?(?:have|own|bought|drive)\s+(?P<v>an?\s+(?:[\w-]+ ){0,2}?(?P<who>tesla|car|house|apartment|motorcycle|bike|boat|farm|shop|bakery|restaurant|store|business|startup|company|blog|podcast))\b"),
        ("home", "family:%", rf"^我们?家?{_ADV_ZH}有了?(?P<v>[一两三四几\d]+[个位对名](?:双胞胎)?[\u4e00-\u9fff]{{0,4}}?(?P<who>{KIN_ZH})(?<!朋友)(?<!同事)(?<!老板)(?<!同学).{{0,12}})$"),
        ("home", "pet:%", rf"^我们?家?里?{_ADV_ZH}(?:有|[收领新]?养了?)(?P<v>[一两三四几\d]*[只条匹头个缸](?P<who>[\u4e00-\u9fffA-Za-z]{{0,6}}?(?:猫|狗|犬|鱼|鸟|鹦鹉|兔子?|仓鼠|龟|宠物|金毛|柯基|哈士奇|泰迪|布偶|英短|马|羊|蛇)))(?:[，,]?(?:名字)?叫做?[\u4e00-\u9fffA-Za-z]{{1,8}})?$"),
        ("self", "owns:%", rf"^我{_ADV_ZH}(?:有|开的?是?|拥有)(?P<v>[一两三]?[辆台套](?P<who>[\u4e00-\u9fffA-Za-z0-9 ]{{2,14}}))$"),
    )
)  # fmt: skip
"""The subject of a form, the slot that it fills, and the form; `%` is replaced by whom or what it names."""
NATIVE = to_pattern(rf"^我{_ADV_ZH}是?(?P<v>[\u4e00-\u9fff]{{2,6}})人$")
SELF_NAMED = to_pattern(r"^我(?:就|便)?是(?P<v>[\u4e00-\u9fff]{2,4}?)[啊呀哦哈啦]?$")
NOT_NAME = to_pattern(
    r"什么|谁|哪|啥|外卖|车|滴滴|人来|人帮|他|她|你|它|[吗呢么?？]|救护|上|醒|起床|停|个|服务|快递|一[个声下]|朋友|同事|[了着过]$|早|板|做|作$|不|没|苦|好$|嚣"
    r"|\b(?:the|what|not|just|sure|sorry|glad|happy|here|going|looking|trying|an?|very|so|your)\b",
    re.I,
)
VAGUE_PLACE = to_pattern(
    r"^(?:a |an |(?-i:the [a-z])|the (?:middle|same|moment|past|present|city|countryside|suburbs?|office)|my |here|there|this|that|his|her|their|our|home|bed|work|it\b|what|where|fear|peace)"
    r"|酒店|宾馆|家里|[这那][里儿边]|一起|学校宿舍$|医院$|朋友家|楼|院$|哪|旁边|附近|隔壁|^(?:家|下来|进去|不|得|在)|[吃睡看办拿]",
    re.I,
)
EMPLOYER_ZH = to_pattern(r"..(?:公司|大学|医院|银行|集团|学校|学院|研究院)")
"""Employers that are named after a place: 北京大学."""
SORT_OF_EMPLOYER = to_pattern(r"^(?:一?[家个所间])?(?:医院|学校|[大中小]学|幼儿园|银行|公司|工厂|餐厅|饭店|商场|超市|机构|单位|律所|工地|机关|政府|企业|外企|国企)$")  # fmt: skip
"""Kinds of workplaces without a name."""
CLIP = to_pattern(
    r"\s(?:and|but|with|for|since|because|where|now|currently|these days|which|as|so|when|before|after|last|this|at the moment|right now|anymore|in (?:19|20)\d\d|\d+ years|about|a (?:few|couple)|instead|full[- ]time|two|three|years)\b",
)

DEGREE_ZH = r"(?:真的|真|还是|都|就|也|又|仍然|始终|其实|一般|通常|平时|平常|从小|向来|一直|总是|现在|已经|个人|本人|从来|特别|非常|很|最|更加?|比较|超级?|蛮|挺|尤其|相当|十分|越来越|确实|有点|一向|天生|本来|主要|，)*"
NEG_ZH = r"(?:不太|不怎么|不是很|不大|不是特别|没那么|并不|从来?不|不|绝不|一点都?也?不|根本不|实在不|没有很)"
TASTE_ZH = to_pattern(
    rf"(?:^|我|本人|个人|[，\s]){DEGREE_ZH}(?P<neg>{NEG_ZH})?{DEGREE_ZH}(?:喜欢|喜爱|偏[爱好]|爱好是?|[钟热酷]爱|中意|倾向于?|迷上了?|爱(?=[吃喝看听玩穿用逛买读写打跑])|习惯(?=[用吃喝穿早晚先睡边在])|prefer"
    r"|(?P<hate>讨厌|厌恶|反感|受不了|恨|嫌弃|害怕|怕(?=[辣冷热吵黑高])|接受不了|不太?能接受|无法接受|[吃喝用穿]不惯|吃不了|看不惯|厌烦))(?P<v>.+)$"
)
OVER_ZH = to_pattern(r"(?:比起|相比|相较于?|跟|和|与)(?P<over>.{1,20}?)(?:相比|比|来说)?[，,]?\s*我?(?:还是|更|会)*(?:更|比较|还是)(?:喜欢|爱|偏爱|倾向于?)(?P<v>.+)$|我?宁[愿可肯](?P<v2>.{1,20}?)[也而]不(?:想|愿意?|要)?(?P<over2>.{1,20})$")  # fmt: skip
HABIT_ZH = to_pattern(
    r"(?:^|我|本人)们?(?:现在|写代码|写作|办公|工作|上班|早上|早餐|晚上|开发|编程|记笔记|出门|平[时常]我?)*(?P<how>一直|一般|通常|习惯了?|总是|平时|每天|主力|主要|常年|长期|经常|每周|基本上?|天天|从来?只|只)(?:早上|晚上|周末|下班后?|都|是|就|在|会|还|喜欢|主要|一般|通常)*(?:(?P<v>[用喝吃穿看听玩坐开买选去骑跑睡起](?![的了着过]).{1,24})|[用喝吃穿看听玩坐开买骑]的是?(?P<v2>.{1,24}))$"
)
ABSTAIN_ZH = to_pattern(
    r"(?:^|我|本人|从来?|一般|平时|基本|都)(?:现在|已经|从来|一直|一般|平时|基本上?|完全|真的|几乎|都|就|也|个人)*(?:不怎么|不太|从?不|不能|没法|很少)(?P<v>[吃喝抽碰沾穿看玩听][^了着过]{1,16}?)(?:的)?$"
    r"|我(?:现在|已经|从来|一直|平时|基本上?)*(?:从?不|很少|不怎么)(?P<v2>用[^了着过]{1,16}?)的?$"
)
DIET = to_pattern(
    r"(?:^|我)(?:个|一个|是|一直|现在|长期|已经|平时|目前)*(?P<v>素食主义者|素食者|纯素|全素|吃(?:全|纯)?素|吃?清真|生酮|低碳饮食|蛋奶素|无麸质)(?:的|饮食|了)?\S{0,4}$"
    r"|\bI(?:'m| am|'ve been| have been| only eat| eat| follow| keep)\s+(?:an? |on a |strictly |strict |mostly |now )*(?P<v2>vegan|vegetarian|pescatarian|keto(?:genic)?|gluten[- ]free|halal|kosher|low[- ]carb|dairy[- ]free|plant[- ]based|paleo)\b",
    re.I,
)
TOOL = to_pattern(
    r"^我的?(?P<what>手机|电脑|笔记本|编辑器|浏览器|主力机|开发机|键盘|耳机|相机|IDE|终端|操作系统|系统)(?:一直|现在|都|就|主要)*(?:是|用的?是?|使用)(?P<v>.{1,20})$"
    r"|^我(?:现在|平时|一直|都|就|的)*(?:用|使用)(?:的|的是)?(?P<v2>.{1,12}?)(?P<what2>手机|电脑|笔记本|编辑器|浏览器|键盘|耳机|相机|系统)$"
    r"|\bmy (?:main |default )?(?P<what3>phone|laptop|computer|editor|ide|browser|shell|terminal|keyboard|camera|os|operating system|text editor) is\s+(?:an? )?(?P<v3>.+)$"
    r"|\bI (?:daily[- ]drive|use)\s+(?:an? )?(?P<v4>[\w .+-]{2,30}?) (?:as|for) my\s+(?:main |daily |primary )?(?P<what4>phone|laptop|computer|editor|ide|browser|shell|terminal|notes?|os|operating system|text editor)",
    re.I,
)
TOOLS_ZH = {
    "手机": "phone",
    "主力机": "phone",
    "电脑": "computer",
    "笔记本": "computer",
    "编辑器": "editor",
    "浏览器": "browser",
}
FAVOURITE = to_pattern(
    r"^我(?:个人)?最(?:喜欢|爱|喜爱|中意|欣赏)的(?P<what>[^是]{1,10})(?:是|就是|叫|：|:)(?P<v>.{1,24})$"
    r"|\bmy\s+(?:all[- ]time )?(?:favou?rite|preferred|go-to|default|usual|main|primary)\s+(?P<what2>[\w -]{2,28}?)\s+(?:is|are|has always been|would be)\s+(?P<v2>.+)$"
    r"|(?-i:(?P<v3>[A-Z][\w .'-]{1,30}?)) is my (?:all[- ]time )?(?:favou?rite|go-to)\s+(?P<what3>[\w -]{2,28})$",
    re.I,
)
HOBBY = to_pattern(r"\bmy (?:main )?(?:hobby|hobbies|passion|interests?) (?:is|are|include)\s+(?P<v>.+)$|^我的?(?:业余爱好|爱好|兴趣(?:爱好)?)(?:是|有|包括|：|:)(?P<v2>.{1,40})$", re.I)  # fmt: skip
INTEREST_ZH = to_pattern(r"我对(?P<v>.{1,16}?)(?:很|非常|特别|比较|一直|完全|也|都)*(?P<neg>不太?|没什么|没有?|不怎么)?(?:感兴趣|有兴趣|兴趣|着迷|(?P<hate>无感))")  # fmt: skip
OBJECT_FIRST_ZH = to_pattern(
    r"^(?P<v>(?!(?:这|那)(?:个|种|些|样|次|点|件|款|部|首|家|道|本)?[^的]{0,4}我)[^我，,？?]{2,18}?)(?<!知道)(?<!觉得)(?<!因为)(?<!所以)(?<!告诉)(?<!说)(?<!问)我(?:真的|特别|很|非常|挺|超级?|最|都|一直|还是|是|蛮|可|也)*"
    r"(?P<neg>不太|不怎么|不)?(?:喜欢|爱(?=[吃喝看听用穿])|(?P<hate>讨厌|受不了|吃不惯|喝不惯))[吃喝看听用穿]?的?$"
)
_EVEN_EN = r"(?:(?:really|absolutely|truly|always|generally|usually|mostly|just|still|also|actually|definitely|strongly|much|personally|kind of|kinda|particularly|especially|rather|totally|simply|so|do|would|have always|tend to|quite|genuinely|honestly|now|currently|mainly|both)\s+)*"
TASTE_EN = to_pattern(
    rf"(?:^|\bI\s+|\b(?:and|but)\s+|^我[\u4e00-\u9fff]{{0,4}}\s*|\bI(?='m)|\bI'(?:d|ve)\s+){_EVEN_EN}(?P<neg>(?:don't|do not|dont|never|no longer|don't even)\s+{_EVEN_EN})?(?:prefer|like|love|enjoy|adore|favou?r"
    rf"|(?:am|'m)\s+{_EVEN_EN}(?P<neg2>not (?:really |much of )?)?(?:a (?:big |huge )?fan of|fond of|into|keen on|obsessed with|passionate about|crazy about)|(?:would |'d )?rather|lean towards?"
    r"|(?P<hate>hate|dislike|detest|loathe|despise|can't stand|cannot stand|can't bear|avoid|abhor))\s+(?P<v>.+)$",
    re.I,
)
ABSTAIN_EN = to_pattern(r"\bI\s+(?:really )?(?:don't|do not|never|can't|cannot|won't)\s+(?:ever )?(?:eat|drink|smoke|wear|use|watch|consume)\s+(?P<v>.+)$", re.I)  # fmt: skip
HABIT_EN = to_pattern(
    rf"(?:^|\bI\s+|\bI've\s+){_EVEN_EN}(?P<how>always|usually|normally|typically|generally|mostly|mainly|exclusively|only|never|rarely)\s+(?P<v>(?:use|drink|eat|wear|buy|order|choose|take|drive|ride|run|code in|write in|work in|listen to|watch|read|pick|go for|have|cook|start|wake up|get up|commute|travel|deploy|write|test|shop at|exercise|swim|go to|skip|walk|study|train|play|sleep|bring|fly)\s+.+)$",
    re.I,
)
NOT_A_TASTE = to_pattern(
    r"不是不|并非不|没有不|不讨厌|不反感|不排斥|[说谈算]不上|不代表|不等于|不一定|未必|没有?说|不是说|曾经|以前|过去|小时候|原[来先]|当年|年轻时|大学时|想要?喜欢|开始|怕你|是否|让你喜欢"
    r"|\b(?:used to|once (?:liked|loved)|when i was|back in|as a (?:kid|child)|previously|in the past|would have|(?:don't|do not) (?:hate|dislike|mind)|not that i|never said|didn't say|don't know if|not saying|wish|hope|want to like|try(?:ing)? to|not sure (?:if|whether)|whether)\b"
    r"|\b(?:looks?|feels?|sounds?|seems?|something|things|stuff|just|more|was|were|is|are|be|been|I'm) like\b|\b(?:would|'d)\s+(?:really |also |just )?(?:like|love|enjoy)\b",
    re.I,
)
VAGUE = to_pattern(
    r"^[了啊呀的过吧呢]+$|^(?:这|那|它|他|她|你(?!的?[回说用直先简多少给])|您|一个人$|谁|什么|[的是](?=\S)|上了?[一某]|一下|同一|自己$|得|过$|吗|呢|就是|不是|你的?(?:回[答复]|答案|说法|建议)$)"
    r"|^(?:it|that|this|these|those|them|him|her|you|your|what|how|when|where|who|if|to (?:know|see|ask|hear|get|have|say|think|be|order|book|make sure|add|point|thank|report|buy|try|go|start|make|return|change|cancel|talk)"
    r"|the (?:way|idea|look|sound|first|second|third|last|one|other|new|above|suggestion|answer|result|fact|following)|one of|more info|some (?:help|advice|info)|everything|anything|nothing|something|someone|both|either|neither|so|or|and|my|his|their)\b",
    re.I,
)
LIST = to_pattern(r"、|，|,\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+|\s+&\s+|(?<=[\u3400-\u9fff])(?:和|跟|以及|还有|或者?)(?=[\u3400-\u9fff])")  # fmt: skip
SET_PHRASES = to_pattern(r"rock (?:and|&) roll|black and white|mac and cheese|fish and chips|r&b|pros and cons|drum and bass|salt and|arts and crafts|bed and breakfast|between\b|和平|和谐|暖和|温和|柔和|和服|和牛|跟团|跟着|combination", re.I)  # fmt: skip


_TASTE = to_pattern(
    r"[喜爱厌恨烦怕嫌钟倾迷酷恶宁习素比用只]|受不了|接受|早睡|平时|兴趣|无感|上瘾|一直|一般|通常|总是|每天|每周|常年|长期|经常"
    r"|基本|天天|清真|手机|电脑|笔记本|编辑器|浏览器|主力|开发机|键盘|耳机|相机|终端|系统|生酮"
    r"|低碳|无麸|[不没少][\u4e00-\u9fff]?[吃喝抽碰沾穿看玩听]|prefer|like|lov|enjoy|ador|favou?r"
    r"|person|introvert|extrovert|owl|fan |fond|into"
    r"|keen|obsess|passion|crazy|rather|lean|hate|detest|loath|despis|stand|bear|avoid|abhor"
    r"|go-to|default|usual|main|primar"
    r"|hobb|interest|always|normally|typical|general|mostly|exclusiv|only|never|rarely|vegan"
    r"|veget|pescat|keto|gluten|halal|kosher"
    r"|low[- ]carb|dairy|paleo|plant|don't|do not|can't|cannot|won't|phone|laptop|computer|edit"
    r"|browser|shell|terminal|use",
    re.I,
)
_SPEAKER = to_pattern(r"[我咱本叫名家]|坐标|今年|\b(?:I|I'm|I've|my|our|we|me)\b", re.I | re.A)
_CORRECTION = to_pattern(
    r"[不换改戒停弃错调转挪延迁切]|现在|如今|目前|以前|之前|过去|曾经|原[来先]|本来|小时候|口误|更正|纠正|订正|修正|勘误|反了|变卦|收回|误会"
    r"|其实|实际上|事实上|过时|推迟|提前|跳槽|告别|卸载|应该|\bnot?\b|n't|no |nope|any ?more|longer|switch|migrat"
    r"|chang|convert|swap"
    r"|transition|pivot|upgrad|mov|reschedul|push|postpon|shift|renam|bump|replac|trad|ditch"
    r"|drop|left|instead|now|days|actual|in fact|meant"
    r"|misspoke|wrong|mistake|correct|scratch|take|wait|sorry|oops|make that|second thought|"
    r"updat|used to|was|stop|quit|gave|given|done|off|rid",
    re.I,
)


_TASTES = gate(_TASTE)
_SPEAKS = gate(_SPEAKER)
_CORRECTS = gate(_CORRECTION)


def may_state_taste(clause: Clause) -> bool:
    """Whether the clause may state a taste."""
    return bool(clause.mask & _TASTES)


def may_state_speaker(clause: Clause) -> bool:
    """Whether the clause may state a fact about the speaker."""
    return bool(clause.mask & _SPEAKS)


def may_correct(clause: Clause) -> bool:
    """Whether the clause may correct or retract something."""
    return bool(clause.mask & _CORRECTS)
