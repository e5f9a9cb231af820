"""Patterns of the subject of a clause and of what keeps it from being a lasting statement."""

import re

from shared.language.patterns import to_pattern

KIN_EN = (
    r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|mom|mum|mother|dad|father"
    r"|parents|grandparents|in-laws|son|daughter|brother|sister|kids?|child|children|baby|dog|cat|puppy|kitten|pet|parrot"
    r"|rabbit|hamster|boss|manager|best friend|roommate|grandma|grandmother|grandpa|grandfather"
    r"|uncle|aunt|cousin|niece|nephew|bro|sis|mam|nan|nana|gran|granny|missus|hubby|gf|bf)"
)
KIN_ZH = (
    r"(?:老板|上司|领导|经理|同事|朋友|闺蜜|室友|同学|老师|客户|老婆|妻子|太太|媳妇|老公|丈夫"
    r"|先生|爱人|男朋友|女朋友|男友|女友|对象|爸爸?|妈妈?|父亲|母亲|爸妈|父母|家人|家里人|儿子"
    r"|女儿|孩子|宝宝|哥哥?|弟弟?|姐姐?|妹妹?|爷爷|奶奶|外公|外婆|姥姥|姥爷|叔叔|阿姨|舅舅|姑姑"
    r"|亲戚|邻居|房东|医生|教练|导师|老大|队友|搭档|合伙人|婆婆|公公|岳父|岳母|表[哥弟姐妹]|"
    r"堂[哥弟姐妹]|侄[子女]|孙[子女]|猫|狗|狗狗|猫咪|宠物|另一半|小孩|娃|团队|组员|下属|老乡"
    r"|伴侣)"
)
LEAD_ZH = to_pattern(
    r"^(?:其实|不过|但是?|可是|然而|而且|并且|所以|因为|因此|嗯+|哦+|啊+|噢|唉|哎|哈+|好的?|"
    r"对了|还有|另外|此外|平时|平常|一般|通常|现在|目前|如今|最近|以后|以前|从小|一直|总的来说"
    r"|说实话|老实说|说真的|坦白说|顺便说一下|顺便|话说|那么?|就是|也|都|又|还|真的|确实|毕竟"
    r"|虽然|尽管|既然|由于|总之|首先|其次|然后|最后|再说|反正|大概|可能|应该|本来|原来|早就|"
    r"已经|今年|去年|明年|今天|昨天|明天|昨晚|前天|后天|上周[一二三四五六日天末]?|下周[一二三四五六日天末]"
    r"?|上个?月|下个?月|周[一二三四五六日天末]|请?记住|记一下|你好|您好|谢谢|麻烦|是的?|没错"
    r"|(?:没有?|不是|不)(?=[，,\s]|我)|不对|错了|说错了|更正|补充一下|对|行|嗨|喂|有时候?|偶尔"
    r"|经常|每天|早上|晚上|个人|本人(?=我))+[，,\s]*"
)
LEAD_EN = to_pattern(
    (
        r"^(?:(?:and|but|so|well|oh|ok(?:ay)?|hey|hi|hello|thanks|thank you|yes|yeah|yep|no|nope"
        r"|sure|also|plus|actually|honestly|frankly|personally|generally|usually|normally|typically"
        r"|to be honest|tbh|btw|by the way|anyway|because|since|although|though|while|as|then|first"
        r"|second|finally|lately|recently|currently|nowadays|these days|now|today|yesterday|tomorrow"
        r"|last \w+|next \w+|this \w+|in general|fyi|for context|for the record|sorry|correction"
        r"|wait|hmm|um|right|remember(?: that)?|note(?: that)?|however|that said|in fact|at work"
        r"|at home|please|just so you know|as you know|besides|moreover|again|still|for now|on \w+day"
        r"|in \d{4}|in \w+)\b[,:.!\s-]*)+"
    ),
    re.I,
)
PERSON_EN = (
    r"(?:boss|manager|colleagues?|coworkers?|co-workers?|friends?|best friend|roommate|wife|"
    r"husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|mom|mum|mother|dad|father|parents"
    r"|family|kids?|child|children|son|daughter|brother|sister|siblings?|grand\w+|uncle|aunt"
    r"|cousin|nephew|niece|neighbou?rs?|landlord|doctor|teacher|coach|mentor|client|clients|"
    r"customers?|team|teammates?|cat|dog|pet|puppy|kitten|ex|in-laws|mother-in-law|father-in-law"
    r"|professor|advisor|boss's|therapist|trainer|baby|bro|sis|mam|nan|nana|missus|hubby|gf|bf)"
)
SELF_ZH = to_pattern(r"^(?:我(?!们|国|方|校|院|省|市(?!场))|本人|俺|鄙人)")
SELF_POSSESSION_ZH = to_pattern(
    rf"^我(?:们?家?的?)(?:那个|一个|这个|有个|有一个|有位|的|个)*(?:大|小|前|现任|顶头|女|男|新|老)?{KIN_ZH}"
)
GROUP_ZH = to_pattern(r"^(?:我们|咱们?|本公司|我司|我国|我校|本店|我方)")
AGENT_ZH = to_pattern(r"^(?:你们?|您|请你|麻烦你|请|帮我|帮忙|给我|替我|能不能|可不可以|能否|可以)")
OTHER_ZH = to_pattern(
    r"^(?:他们?|她们?|它们?|别人|人家|大家|有人|有些人|很多人|对方|某人|谁|老?[张王李刘陈杨赵黄周吴徐孙胡"
    r"朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石"
    r"姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段钱汤尹黎易常武乔贺赖龚文](?:总|哥|姐|工"
    r"|老师|经理|先生|女士|医生|教授|主任|叔|阿姨|同学|某)|小[\u4e00-\u9fff](?=(?:说|喜欢|讨厌"
    rf"|觉得|想|不|住|在|是|叫))|{KIN_ZH}(?=(?:们)?(?:说|也|都|不|很|更|最|就|喜欢|讨厌|爱|觉得"
    r"|想|要|让|叫|住|在|是|告诉|建议|今年|已经|刚|最近|现在|一直)))"
)
SELF_EN = to_pattern(r"^(?:I(?:'m|'ve|'d|'ll|m|ve)?|my(?: own)?|mine|me|myself)\b", re.I)
OTHER_EN = to_pattern(
    (
        rf"^(?:my\s+(?:\w+\s+){{0,2}}?{PERSON_EN}\b|(?:he|she|they|it|someone|somebody|people|everyone"
        r"|everybody|nobody|others|his|her|their|its|who)\b(?:'s|'re|'ve)?|(?:the|a|an|some|most"
        rf"|many)\s+(?:\w+\s+)?{PERSON_EN}\b|one of my\b)"
    ),
    re.I,
)
NAME_EN = to_pattern(
    r"^(?!I\b|My\b|We\b|Our\b|Please\b|The\b|This\b|That\b|There\b|Let\b|It\b|Budget\b|Deadline\b|Rent\b|Dinner\b|Lunch\b"
    r"|Breakfast\b|Work\b|School\b|Class\b|Training\b|Delivery\b|Payment\b|Salary\b|Insurance\b|Parking\b|Completion\b|Checkout\b"
    r"|Check-in\b|Pickup\b|Traffic\b|Weather\b|Money\b|Time\b|Everything\b|Nothing\b|Something\b|Today\b|Tomorrow\b|Yesterday\b)[A-Z][a-z]+(?:\s[A-Z][a-z]+)"
    r"?(?:'s\s+\w+)?\s+(?:also\s+|really\s+|always\s+|never\s+|just\s+|still\s+)?(?:said|says"
    r"|told|thinks?|likes?|loves?|hates?|prefers?|wants?|doesn't|does|is|was|has|had|lives?|"
    r"works?|moved|enjoys?|uses?|switched|changed|no longer|stopped|can't|mentioned|asked|decided"
    r"|needs)\b"
)
GROUP_EN = to_pattern(r"^(?:we|we're|we've|we'll|our|ours|us)\b", re.I)
AGENT_EN = to_pattern(r"^(?:you|your|you're|can you|could you|would you|will you|please|let's)\b", re.I)
REPORT_ZH = to_pattern(
    rf"(?:他|她|他们|她们|别人|人家|有人|大家|{KIN_ZH}|书上|网上|新闻|文章里?)(?:们|也|都|总"
    r"|老|经常|刚才?|昨天|今天|跟我|对我|和我)*(?:说|讲|称|认为|觉得我|告诉我|问我|以为|表示"
    r"|建议)|据说|听说|传言"
)
REPORT_EN = to_pattern(
    rf"\b(?:he|she|they|people|someone|everyone|{PERSON_EN})(?:'s| is| are| was)?\s+(?:\w+ly\s+"
    r"|always\s+|just\s+|keeps?\s+|kept\s+)?(?:said|says|say|saying|told|tells|thinks?|thought"
    r"|claims?|claimed|believes?|believed|mentioned|asked|asks|insists?|suggested)\b|\b(?:according"
    r" to|apparently|rumou?r has it|i heard|i read|i've heard)\b|^[A-Z][a-z]+ (?:said|says|told"
    r"|thinks|thought|claims|mentioned)\b"
)
SAID_LAST = to_pattern(
    rf"(?:(?:and )?(?:he|she|they|people|someone|everyone|(?:[Mm]y |[Oo]ur )?{PERSON_EN}|[A-Z][a-z]+)(?:'s)?"
    r" (?:said|says|told me|claims|claimed|insists|insisted|wrote|replied|shouted))"
    rf"|(?:他|她|他们|她们|别人|人家|有人|大家|我?{KIN_ZH})(?:们|都|也|总)*"
    r"(?:说|讲|表示|回答|告诉我)(?:的|道|过)?"
)
"""Words after a quotation of somebody else."""
DOCTOR = to_pattern(r"医生|大夫|医嘱|营养师|\b(?:doctor|dietitian|nutritionist|physician|allergist)\b", re.I)
ASK_ZH = to_pattern(
    r"(?:吗|么|呢|没有|不是吗|对吧|是吧|对不对|好不好|行不行|对么)[啊呀呢]?$|(?<!没)什么(?!都"
    r"|也)|谁(?!都|也)|哪(?!怕|都)|怎么(?!都|也)|如何|为什么|为啥|咋|多少|几(?:岁|点|号|个|月"
    r"|天)(?!人)|是否|是不是|有没有|能不能|要不要|会不会|喜不喜欢|可不可以|该不该|好不好|还是"
    r"(?=\S+(?:好|呢|$))(?<=[^我]还是)"
)
ASK_WORD_ZH = to_pattern(
    r"什么(?!都|也)|谁(?!都|也)|哪[个些里种款家位]?(?!怕|都)|怎么(?!都|也)|为什么|为啥|多少|"
    r"几岁|几号|是否|是不是|有没有|能不能|要不要|会不会|喜不喜欢|可不可以|该不该|吗$|对吧$|是吧$"
    r"|对不对$"
)
ASK_EN = to_pattern(
    (
        r"^(?:so |and |but |ok(?:ay)? |hey |wait,? |well,? )*(?:do|does|did|is|are|am|was|were|can"
        r"|could|would|should|shall|will|have|has|had|may|might|what|what's|who|who's|where|where's"
        r"|when|why|how|which|whose|whom|isn't|aren't|don't|doesn't|didn't|won't|wouldn't|couldn't"
        r"|can't|any|tell me (?:what|where|who|when|how|why|which)|guess (?:what|where|who)|remind"
        r" me (?:what|where|who|when|which|how|why)|i wonder|wondering)\b(?! not\b)"
    ),
    re.I,
)
TAG = to_pattern(
    (
        r"^(?:right|correct|ok|okay|isn't it|don't i|aren't i|no|yes|don't you think|you know|remember"
        r"|对吧|对吗|是吧|是吗|对不对|好吗|可以吗|行吗|不是吗|你记得吗|还记得吗|记得吗)$"
    ),
    re.I,
)
IF_ZH = to_pattern(
    r"如果|要是|假如|假设|假使|倘若|万一|若是?(?=我|你|有)|(?:是|换|能|有|可以|想|没|不|让|给|该|得|会)[^，]{0,8}的话(?=$|[，,])|(?:他|她|你)的话(?=$|[，,])|比如说?我|想象|(?:在|为了)?这个(?:故事|小说|游戏|场景|例子|剧本)里|假装|扮演|角色扮演|举个例子|例如|(?<=能)[^，]{0,12}就好了$|要不然|除非|即使|哪怕"
)
IF_EN = to_pattern(
    (
        r"(?:^|\b(?:and|but|so|even|only|as)\s+)(?:if(?! (?:it|that|this)(?:'s| is)?"
        r" (?:helps?|matters?|relevant|useful|of use|makes? (?:a|any) difference)\b)"
        r"|unless|suppose|supposing|imagine|pretend|assuming"
        r"|assume|let's say|say (?:that )?(?:i\b|i'm|my|we)|what if|hypothetically|for example|for instance|e\.g)\b"
        r"|\bif i\b"
        r"|\bi wish\b|\bwould have\b|\bcould have\b|\bshould have\b|\brole-?play|\bact as\b|\bpretend\b"
        r"|\bas if\b|\b(?:for|in) (?:this|the|my|a|our) (?:story|novel|scene|game|exercise|example|scenario|sketch)\b"
    ),
    re.I,
)
NOW_ZH = to_pattern(
    r"今天|今晚|今早|今儿|今日|这次|这回|本次|这一次|此刻|暂时|临时|这会儿|眼下|这两天|这几天"
    r"|刚才|刚刚|一时|这顿|今夜|这阵子|这段时间|最近(?!都|一直|在|开始|迷上)|偶尔|有时|突然|忽然|现在有点"
    r"|这周|本周|明天|昨天|昨晚|待会|等会|先(?=用|喝|吃|试|看|这样)"
)
NOW_EN = to_pattern(
    (
        r"\b(?:today|tonight|this time|this once|just this|right now|at the moment|for now|for this"
        r" (?:one|task|time|project|file|email|question|message)|just for|this morning|this evening"
        r"|this afternoon|this week(?:end)?|temporarily|for the moment|currently craving|in the mood"
        r"|yesterday|tomorrow|just once|sometimes|suddenly|momentarily|lately)\b"
    ),
    re.I,
)
TRIAL_ZH = to_pattern(
    r"试试|试一试|试一下|试用|尝试|试着|体验一下|想尝|尝尝|看看(?!书|电影)|考虑|想不想|随便|"
    r"都行|都可以|无所谓|不确定|不知道|不清楚|说不好|也许|或许|可能会|好像|似乎|大概会|说不定"
    r"|犹豫|纠结"
)
TRIAL_EN = to_pattern(
    (
        r"\b(?:try(?:ing)? out|give (?:it|that|this) a try|wanna try|want to try|like to try|curious"
        r"|considering|thinking about|thinking of|not sure|i guess|maybe|perhaps|might|may be|probably"
        r"|wondering|i wonder|don't know|no idea|whatever|either is fine|don't care|don't mind|experiment)\b"
    ),
    re.I,
)
IRONY = to_pattern(
    (
        r"呵呵|才怪|可太喜欢|可真喜欢|真是(?:太)?(?:棒|好|爱死|喜欢死)|爱死(?:了)?加班|太棒了[呢吧]"
        r"|反话|手动狗头|狗头|\[doge\]|🙄|🙃|阴阳怪气|最喜欢\S{1,12}了呢|喜欢得要命呢|yeah,? right"
        r"|oh,? (?:great|sure|yes|joy|how)\b|\bas if\b|just love(?: it)? (?:when|how|waiting|being"
        r"|getting|having|spending)|love it when|\bi (?:just|so|really|absolutely) love (?:\w+ing"
        r" )?.*\b(?:crash|bug|broken|waiting|traffic|error|fail|overtime|at 3 ?am|meltdown|outage"
        r"|downtime|late nights?)|/s$|\bsarcas|\bnot!$|\bsaid no one|such a joy|my favou?rite thing"
        r" (?:ever )?is (?:when|being|waiting)|can't wait to (?:debug|be on call)"
    ),
    re.I,
)
JEST = to_pattern(
    (
        r"开玩笑|逗你|骗你的|瞎说的|随口一说|不是真的|just kidding|\bjk\b|only joking|i'm joking"
        r"|was joking|kidding!|not serious"
    ),
    re.I,
)
SCORN = to_pattern(r"^(?:yeah,? right|oh,? (?:great|sure|yes|joy|wonderful)|呵呵|是是是|可不是嘛)\b", re.I)
