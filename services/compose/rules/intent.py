"""What the user wants from this turn, by rules in both languages (seed 004 section 2.2, seed 001 section 2)."""

# ruff: noqa: E501 - one family of cues per line

import re
from dataclasses import dataclass

from schemas.vocabulary import Intent, Purpose

HEAD, TAIL = 300, 150
"""Of a long message its beginning and its end say what is wanted."""
Cues = tuple[tuple[re.Pattern[str], float], ...]


@dataclass(frozen=True, slots=True)
class Understood:
    """The intent with its confidence and the words that spoke for it."""

    intent: Intent
    confidence: float
    cues: tuple[str, ...]


def _cues(*patterns: tuple[str, float]) -> Cues:
    return tuple((re.compile(pattern, re.IGNORECASE), weight) for pattern, weight in patterns)


# Possessive throughout: a pleasantry once read is never read another way, so the time is linear.
_GREETING = re.compile(
    r"(?:[\s,，。.!！~～?？、'\u2764\u263a\U0001f300-\U0001faff]++"
    r"|好久不见|(?:新年|春节|中秋|元旦|端午|节日)好|(?:在)?(?:忙|干)(?:啥|什么|嘛)|收到|明白(?:了)?|知道了|懂了|了解(?:了)?|原来如此|最近(?:怎么样|还好吗|好吗|忙吗)|今天(?:天气)?(?:真|很|好|挺)?(?:不错|好|舒服|热|冷|开心|累)|天气(?:真|很|挺)?(?:不错|好|热|冷)|你(?:是谁|叫什么(?:名字)?|会(?:做)?什么|怎么样|还好吗)|周末愉快|节日快乐|新年快乐|生日快乐|祝你.{0,8}|无聊(?:死了)?|陪我聊(?:聊|会儿)?(?:天)?|聊聊天?|讲个笑话"
    r"|(?:上午|中午|下午|晚上)好|晚安|再见|拜拜|回头见|明天见|早(?:上好|安)?|(?:你|您|大家|各位)?好(?:的|呀|啊|哇|吧|嘞|呢)?|嗨|哈喽|哈啰|嘿++|喂|在吗|在不在|(?:非常|十分|太|多)?(?:谢谢|感谢|谢啦|谢了|多谢)(?:你|您|啦|了|你的帮助)?|辛苦(?:你|您|大家)?(?:了|啦)?|再会|(?:真|太|好|笑死)(?:逗|好笑|有意思|有趣|可爱)(?:了|啦)?|你?(?:真|太|好|最)(?:棒|厉害|聪明|可爱|贴心|好)(?:了|啦)?|没(?:关系|问题)(?:的)?|不用谢|别客气|(?:最近)?(?:咋|怎么)样|恭喜(?:你|啦|发财)?|加油|多谢|早点休息|好梦|哈++|呵++|嗯++|哦++|行|没事|不客气|吃(?:饭)?了"
    r"|good (?:morning|afternoon|evening|night|day)|see (?:you|ya)(?: (?:later|soon|tomorrow))?|take care|thank(?:s| you)(?: (?:so|very) much| a lot| again)?|much appreciated|no problem|you're welcome|got it|sounds good|how(?:'s| is| are| have) (?:it going|you\b(?: doing| been)?(?: today)?|things|life|your day(?: going)?)|what'?s (?:up|new|going on)|nice (?:to meet you|weather(?: today)?|day)|(?:it's )?(?:a )?(?:lovely|beautiful|nice|great) (?:day|weather)(?: today)?|(?:what a |i'm having a )(?:lovely|beautiful|nice|great|good) (?:day|weekend)|who are you|what(?:'s| is) your name|(?:that(?:'s| is| was) )(?:so |very |really )?(?:great|nice|awesome|cool|funny|lovely|perfect|good|amazing|hilarious|sweet|kind)|you(?:'re| are) (?:so |the )?(?:awesome|best|great|amazing|sweet|funny|kind|smart|a star|a lifesaver)|for now|thank you|catch you later|talk (?:to you )?(?:soon|later)|you rock|love it|love you|what a day|no worries|good to (?:see|hear from) you|i appreciate it|well done|congrat(?:s|ulations)|long time no see|happy (?:new year|birthday|holidays)|have a (?:nice|good|great) (?:day|one|weekend|night)|tell me a joke|i'?m (?:so )?(?:bored|fine|good|ok|tired)"
    r"|(?:good to (?:hear|know)|i see|makes sense|fair enough|hi+|hello|hey+|yo|howdy|hiya|greetings|morning|bye+|goodbye|thanks|thx|ty|cheers|welcome|nice|cool|great|awesome|evening|afternoon|lol|haha+|hehe+|sure|alright|ok(?:ay)?|sup|there|everyone|again|friend|buddy)\b|[呀啊哦呢吗啦吧了没])++",
    re.IGNORECASE,
)
_INTENTS: tuple[tuple[Intent, Cues], ...] = (
    ("complaint", _cues(
        (r"投诉|退款|退货|退换|换货|差评|赔偿|索赔|维权|举报|假货|骗(?:人|子|我|钱)|太(?:差|慢|坑|烂|离谱|过分)|质量(?:很|太|真|有)?(?:差|问题|烂)|很?不满意|(?:很|太|非常|特别)?(?:失望|生气|恼火|气愤)|气死", 1.0),
        (r"(?:还|一直|至今|到现在|都)?(?:没|未)(?:有)?(?:收到|到货|发货|送到|处理|解决|人(?:理|管|回复))|坏(?:了|的)|破损|开线|掉色|漏发|少发|发错|错发|寄错|迟到|延误|超时|用不了|开不了机|多扣|重复扣|扣了(?:我)?(?:两|二|2|多)次", 0.9),
        (r"还没(?:有)?(?:到|来|送|发|退|处理|解决)|(?:[\d一二两三四五六七八九十几半]+)个?多?(?:天|周|星期|月|小时|分钟)了?.{0,6}(?:还|才|没|都不)|又.{0,6}(?:错|忘|坏|卡|崩|延迟|晚|挂)了?|(?:老|总)是?(?:忘|弄错|搞错|答错|出错|卡|掉线|听不懂)|说了(?:多少|好几|很多|几)遍|(?:洒|撒|碎|裂|漏|烂|断|散|丢|送错|弄丢|洗坏|摔坏)了(?!吗)|(?:脱胶|起球|褪色|散架|发霉|变质|闪退|死机|卡死|卡顿|异味|缺斤少两|以次充好|货不对板)|(?:不认账|踢皮球|推脱|推诿|敷衍|爱答不理|没人(?:管|理|接|回|处理|负责)|不(?:理人|处理|作为|负责))|(?:完全|根本|一点)(?:都|也)?(?:没用|不管用|没效果|不行)|无故|莫名其妙|拖了.{1,8}|(?:跑|启动|打|联系|登录?|连|充|加载)不(?:起来|开|上|了|动|进去|出来)|(?:少|缺)了.{1,3}(?:件|个|份|样|半)|没人给|为(?:什么|啥).{0,12}(?:又|还|总|老).{0,20}(?:说过|告诉过|提醒过|讲过)|(?:说过|告诉过|提醒过).{0,10}(?:还|又|怎么)|态度.{0,4}(?:差|恶劣|不好|冷淡|敷衍)|(?:真|太)?(?:坑人|离谱|无语|糟糕|糟心)", 0.9),
        (r"客服|售后|保修|维修", 0.5),
        (r"(?:你们|贵司|商家|卖家|店家|平台|快递|外卖|订单|包裹|物流|师傅|骑手|司机|物业|客服|售后|退款|发票|会员|软件|系统|网络|账号|产品|服务|房间|酒店|航班).{0,14}(?:没(?:来|到|收|给|人|用|退|接|回|动静)|根本|还是|乱|又|坏|碎|错|漏|断|差|慢|丢|多扣|拒|骗|涨价|强制|取消|不(?:退|发|理|管|接|回|给|认|见|行|好))|(?:用|穿|买|修|装|换|洗|开)了.{1,8}(?:就|还是|又|都).{0,8}(?:坏|漏|断|破|裂|掉|开胶|不行|没用|黑屏|响|停|不亮|不转|不好)|怎么(?:又|还|老|总)(?!记)|(?:一天|天天|每天|每次)(?:都)?(?:断|卡|坏|迟到|出错|闪退|掉线|崩)|摔碎|弄坏|弄丢|开胶|断网|停电|放鸽子|(?:根本|压根|从来)(?:就)?没|说好的.{0,12}(?:没|不)|(?:你|您).{0,6}(?:理解|搞|弄|听|写|记|给|说|算|翻译|发)错|过期(?:了)?(?:还|都)|(?:早就|已经)(?:倒闭|关门|停产|下架|没了)|说了?(?:不要|别).{0,8}(?:还|又)|凭什么|塌了|多收|白跑|害我|还在(?:计费|扣)|(?:没|未|不)(?:修|弄|搞)好|是错的|(?:被)?(?:锁|封|盗)了|被骗|乱扣|乱收费", 1.1),
        (r"\b(?:your|the|my) (?:\w+ )?(?:app|support|team|service|staff|waiter|waitress|driver|delivery|courier|package|parcel|order|refund|website|site|store|hotel|room|product|update|food|meal|seller|technician|subscription|bill|invoice|flight|wi-?fi)\b.{0,40}\b(?:never|\w+n[’']t|not|still|wrong|cold|rude|late|deleted|lost|broke\w*|missing|crash\w*|fail\w*|freez\w*|awful|dirty|refus\w*|ignored|cancel+ed|overcharg\w*|twice)\b|\bi (?:ordered|paid for|bought|booked|asked for)\b.{0,40}\b(?:and|but)\b.{0,20}\b(?:got|received|came|arrived|gave|broke|stopped|nothing|never|still)\b|\byour (?:\w+ )?(?:answer|reply|suggestion|code|advice|response|summary)\b.{0,30}\b(?:wrong|useless|incorrect|bad|awful|nonsense|fail\w*)|\bfor no reason\b|\b(?:filthy|disgusting|mould\w*|mold\w*|stinks?|smelled|smelly|overpriced|misleading|broken again|soggy|undercooked)\b|\bleft (?:my|our) \w+ (?:in the rain|outside|open)\b|\b(?:been )?stuck (?:for|in|at)\b|\b(?:broke|died|failed|leaked|cracked|ripped|stopped|quit) (?:after|within|in|on)\b|\b(?:sent|gave|delivered|served|shipped|charged) (?:me|us) .{0,20}(?:wrong|someone else|instead|another|broken|damaged|expired|old|twice|extra)\b|\b(?:got|been|was) (?:locked|banned|suspended|hacked|scammed|charged)\b|\byou (?:forgot|ignored|lost|broke|deleted|keep|always|never|still)\b", 1.1),
        (r"\b(?:complain(?:t|ing)?|refund|money back|compensat\w+|unacceptable|disappoint(?:ed|ing)|terrible|awful|horrible|worst|ridiculous|rip-?off|scam(?:med)?|furious|fed up|frustrat(?:ed|ing))\b", 1.0),
        (r"\b(?:broken|damaged|defective|faulty|ripped|torn|leaking|wrong (?:item|size|order|colou?r)|never (?:arrived|came|received|got)|(?:has|have|had)n'?t (?:arrived|received|come)|not (?:arrived|received)|still waiting|late (?:again|delivery)|overcharged|charged (?:me )?twice|double charged|stopped working|poor (?:quality|service)|bad (?:quality|service))\b", 0.9),
        (r"\byour? .{0,40}\b(?:keeps?|kept) (?:\w+ing)|\b(?:second|third|fourth|\d(?:nd|rd|th)) time\b.{0,30}\b(?:wrong|late|broken|fail\w*|this|you)|\bgot it wrong\b|\bwrong again\b|\b(?:does|do|did|wo|would|is|are)n[’']t (?:even )?(?:work|turn on|start|charge|fit|open|close|help)\w*|\b(?:fell|came|falling|coming) apart\b|\b(?:nobody|no ?one) (?:\w+ )?(?:answer|repl|respond|help|call|car)\w*|\bno (?:reply|response|answer|apology)\b|\bon hold\b|\b(?:days?|weeks?|hours?|months?) late\b|\b(?:again|still|already)\b.{0,20}\b(?:wrong|late|broken|missing|ignored)\b|\b(?:missing|lost) (?:from|my|parts?|items?)\b|\b(?:i|i've) (?:already )?told you\b|\bpromised\b.{0,60}\b(?:and|but|yet|still)\b|\b(?:really|very|so|extremely|quite) (?:unhappy|upset|annoyed|dissatisfied|angry)\b|\b(?:rude|useless|unhelpful|sloppy)\b|\bwaste of (?:time|money)\b|\bsold me\b", 0.9),
        (r"\b(?:return (?:it|this|these|them|my)|customer (?:service|support)|warranty)\b", 0.5),
    )),
    ("recommend", _cues(
        (r"推荐|推介|安利|种草", 1.2),
        (r"^(?!.*(?:喜欢|爱吃|爱喝|想[学去做]|常|每天|平时|不[吃喝能要]|的时候|在做|他|她|的(?:姐|妹|哥|弟|妈|爸|朋友)|最爱)).*(?:买|吃|喝|穿|看|听|读|玩|送|选|挑|用|点|(?:该|要|想|周末|晚上|中午)[做学]|去|住|带|订)(?:点|些|个)?(?:什么|啥|哪(?:个|款|家|种|里|儿|部|本|件|双)?)(?:样的|样|东西|礼物|衣服|菜|书|电影)?(?:比较|最|更)?(?:好|合适|适合|呢)?(?:[?？呢啊]|$)|(?:什么|哪(?:个|款|家|种|里|部|本|件|双)?).{0,8}(?:好(?:吃|玩|看|用|喝|听)|适合(?:我|送)|比较(?:好|合适)|值得)|有(?:什么|没有|啥).{0,10}(?:建议|好(?:吃|玩|看|用|喝)|适合|值得)", 1.3),
        (r"(?:穿|吃|喝|送|买|带|看|选|点)(?:什么|啥|哪).{0,10}(?:合适|好看|得体|划算|不出错|好(?:[呢呀啊]|$|[?？]))|(?:从|先)哪.{0,8}(?:开始|学起|入手|下手)|(?:哪|那)(?:个|款|家|种|里|儿|门|本|部|件|条)(?:更|比较|最)?(?:好|合适|值得|划算)|(?:该|应该|到底)(?:买|选|去|吃|穿|用|看|学|送|报)(?:哪|什么|啥)|我?(?:该|应该)(?:学|选|买|用|去|吃|穿|看|报).{1,16}还是|(?:不知道|不晓得|没想好).{0,8}(?:穿|吃|买|送|去|看|选)(?:啥|什么|哪)|想(?:换|买|入手|添置|订|找)(?:个|台|部|双|件|辆|款|一).{0,24}(?:哪|什么|啥|推荐|建议)", 1.2),
        (r"适合.{0,8}(?:什么|哪|啥)|(?:什么|哪(?:个|种|款|些)?).{1,8}(?:适合|合适)|哪(?:家|款|个|种|里).{0,10}(?:性价比|最好|更好|好用|好吃|靠谱|划算|值得|便宜|舒服)|(?:去|买|吃|住|选|看|学|在)哪(?:里|儿|个|家|款)?.{0,6}(?:好|少|便宜|划算|安静|近|热闹|舒服|稳妥|靠谱|值)|(?:选|挑|买|换|用)(?:什么|哪).{0,2}(?:牌子|品牌|款|型号|颜色|尺寸|口味)|(?:带|买|送|吃|穿|学|选|看|读|玩)(?:些|点)?(?:什么|啥|哪些).{0,6}(?:好|比较|合适|东西)?[呢啊]?[?？]?$|有(?:没有|什么|啥).{0,12}(?:好(?:吃|玩|看|用|喝|听|去)|推荐|适合|便宜|靠谱|不错)的?", 0.7),
        (r"\b(?:what|which|where)\b.{0,20} should (?:i|we)\b|\b(?:which|what) .{0,40}\b(?:best|cheapest|nicest|better|most comfortable)\b|\bwhere (?:do|should|can) (?:i|we) (?:start|begin)\b|\bgot any\b|^(?:the )?(?:best|top|cheapest|good) \w+.*\?|\bwhat else (?:can|could|should)\b|\bwhere (?:can|could|should) (?:i|we) (?:find|get|buy|eat|stay|go|rent)\b|\b(?:nice|good|great|fun|cool|thoughtful) (?:\w+ )?(?:gift|present|place|idea|restaurant|movie|book|show)s?\b|\bsuggest\b|\bany (?:ideas?|tips|thoughts|advice)\b|\b(?:some|a few) (?:good|nice|great|fun) \w+", 1.2),
        (r"给(?:我|点|些)?.{0,4}(?:建议|意见|主意|灵感)|帮我(?:挑|选|搭|配|参谋|看看.{0,6}(?:买|穿|选))|怎么(?:搭|穿|选|挑)|(?:怎么|如何)(?:搭配|挑选|选择)|适合我(?:的|吗)?|搭配|送(?:礼|给)|礼物", 0.8),
        (r"\b(?:recommend\w*|suggest(?:ion|ions|ed)?|any (?:ideas?|tips|suggestions?|recommendations?)|gift ideas?)\b", 1.2),
        (r"\b(?:what|which)(?: \w+){0,3} (?:should|shall|can|could|would|do you think) (?:i|we) (?:buy|get|wear|eat|cook|make for|watch|read|order|drink|listen|play|pick|choose|bring|visit|see|try|do (?:this|on|for|in))|\bwhich (?:\w+ ){0,4}(?:should|would|is best|is better|suits)|\bwhere (?:should|can|could) (?:i|we) (?:go|eat|stay|travel|visit|shop)|\bwhat(?:'s| is| are|s) (?:a |an |some )(?:really )?(?:good|nice|decent|cheap|great)\b|\bwhat(?:'s| is| are) (?:the )?best\b.{0,40}\b(?:for|to)\b|\bany (?:\w+ )?(?:good|nice|decent|great|cheap|fun|interesting) \w+|\bwhere(?:'s| is) (?:a )?good\b|\bshould i (?:\w+ ){1,4}or \b|\bneed (?:a|an|some) (?:\w+ )?(?:gift|present|idea|recommendation|suggestion)s?\b|\b(?:something|anything|somewhere) (?:\w+ ){0,2}(?:to|for) (?:read|eat|watch|wear|drink|cook|listen|do|play|go|visit|give|my|a|the)\b.*\?", 1.1),
        (r"\b(?:help me (?:choose|pick|decide|find|select)|looking for (?:a|an|some|something)|something (?:to (?:wear|eat|read|watch|drink)|nice|good)|good (?:place|restaurant|book|movie|gift|present)s?\b|outfit|best .{1,30} for me|what to (?:wear|eat|cook|watch|read|buy|get))\b", 0.8),
    )),
    ("preference_check", _cues(
        (r"(?:还|是否)?记(?:得|不记得)(?:我|咱|上次|之前|吗)|(?:你|您)(?:都)?(?:知道|了解|记住)(?:了)?我|关于我(?:的|你)?|我(?:是谁|叫什么|叫啥|姓什么|多大|几岁|住(?:在)?哪|来自哪|在哪(?:里|儿)?(?:工作|上班|住))", 1.3),
        (r"(?:我|咱)们?.{0,4}(?:之前|以前|上次|原来|原先|曾经|当时|那时候?|上周|上个?月|昨天|前天|去年|前几天).{0,16}(?:哪|什么|啥|谁|多少|几|怎么|吗|[?？])|我(?:的)?(?:女朋友|男朋友|老婆|老公|妻子|丈夫|爸爸?|妈妈?|父母|哥哥?|姐姐?|弟弟?|妹妹?|儿子|女儿|孩子|宝宝|爷爷|奶奶|外公|外婆|老板|同事|室友|朋友|猫|狗|车|公司|家).{0,6}(?:叫什么|叫啥|是谁|多大|几岁|在哪|哪(?:个|家|里|天)|几号|什么时候|怎么了|怎么样了|做什么|喜欢什么)|我的.{1,8}怎么(?:了|样)|(?:我|咱)们?.{0,8}(?:定|说|选|约|商量|决定|答应|讨论|计划)(?:好|过|下)?的.{0,10}是?(?:哪|什么|啥|谁|多少|几)", 1.4),
        (r"(?=.*(?:什么|啥|哪|谁|多少|几[个岁号点年次天]|怎么|吗|没有|是不是|吧[?？]?$|[?？]))(?=.*我)(?!.*(?:我(?:该|应该|要怎么|怎么|如何|能不能|可以|想(?!起)|需要)|帮我|给我|推荐|教我|告诉我(?:怎么|如何)))(?:.*(?:来着|上[次回周]|之前|以前|当时|那时|去年|昨天|前天|提过|说过|告诉过|记得|决定|答应|定的|的目标|我的|我们?是|我今年|我(?:女儿|儿子|老公|老婆|妈|爸|哥|姐|弟|妹|家|公司|老板)))", 1.5),
        (r"^(?!.*\b(?:how (?:do|can|should|would|could)|should|can|could|may|might|where (?:do|can)|what (?:can|do)) (?:i|we)\b)(?!.*\b(?:can|could|would|will) you\b)(?=.*(?:\?|^(?:what|who|where|when|which|how|do|did|am|was|were|have|has|is|are)\b)).*\b(?:my|me|mine|i|we|our|us)\b", 1.1),
        (r"^(?:did|has|was|will) (?-i:[A-Z])[a-z]+\b.*\?", 0.9),
        (r"你(?:之前|上次|当时|刚才|以前|先前)?(?:给我|跟我|向我|帮我|让我|叫我|建议我|教我)?(?:推荐|建议|说|提|列|讲|教|给)(?:过|的|我先|我用|我看|我去|了).{0,14}(?:哪|什么|啥|谁|多少|几|怎么)|(?:他|她|他们|她们|家里|我家|我妈|我爸|[爸妈哥姐弟妹爷奶]{2}|女朋友|男朋友|老婆|老公|老板|孩子|儿子|女儿|(?:小|老|阿)[\u4e00-\u9fff]).{0,10}(?:喜欢|爱|想|每天|平时|通常|经常|常|不能|以后|讨厌|怕|说|要|哪|叫|准备|打算|答应).{0,12}(?:什么|啥|哪|谁|几|多少|吗)", 1.7),
        (r"^(?!.*(?:帮我|给我|推荐))(?:上次|最近|昨天|那次|去年|以前)?(?:我|咱)们?[^，。,.]{1,14}的[^，。,.]{0,10}(?:是|叫|在|住|有|几).{0,4}(?:什么|啥|谁|哪|多少|几|吗|[?？])|(?:上次|上回|那天|那次)(?:我|咱)们?.{0,12}(?:哪|什么|啥|谁|几|多少)|^(?:我|咱)们(?:为什么|怎么|什么时候|何时|在哪|跟谁|是不是).{0,12}(?:了|的|过)", 1.3),
        (r"^我(?!该|应该|要不要|怎么|如何|能不能|可以|需要|为什么)[^，。,.]{0,12}(?:多少|几(?:个|岁|号|点|口|年|斤|套)|哪|谁)[^，。,.]{0,6}[?？]?$|^我的[^，。了没不坏是]{1,10}$|上次(?:那|的|说|去|吃|看|买|用).{0,14}(?:叫|是|在|花|有|要).{0,4}(?:什么|啥|哪|谁|多少|几)|\bdid you (?:\w+ )?(?:suggest|recommend|say|tell|mention|propose|give|list|advise)\b|\bremind me (?:what|when|where|who|which|how|why)\b|^(?:and )?my [\w' ]{2,30}\?", 1.4),
        (r"我(?:最|更|比较|一般|平时|通常|到底|是不是|是否)?(?:喜欢|爱|偏好|偏爱|讨厌|不喜欢|不爱|习惯|常|想要|需要|忌口|过敏|怕).{0,14}(?:什么|啥|哪|吗|呢|还是|谁|怎样|多少|几|[?？])|我(?:对)?(?:什么|啥|哪些).{0,6}(?:过敏|感兴趣|忌口)|(?:什么|哪(?:些|个|种)?|啥).{0,10}是我(?:最)?(?:喜欢|爱|讨厌)", 1.5),
        (r"我的.{1,12}(?:是什么|是啥|是谁|是多少|是哪|在哪|叫什么|有哪些|几号|几岁|是.{1,8}吗|对吗|没错吧|[?？])", 1.2),
        (r"我(?:是不是|是否|有没有|会不会|能不能)(?:不)?(?:喜欢|爱|吃|喝|怕|住|在|去过|说过|买过|有|过敏)", 1.2),
        (r"我(?:上次|之前|以前|曾经|刚才|上周|昨天|前几天|前面|上个月|去年|早前)?(?:跟你|和你|向你|对你)?(?:说|提|讲|告诉|聊|问|决定|买|订|选|去|做|写|看|吃|约|答应)(?:过|到|了|的)?.{0,16}(?:什么|啥|哪|谁|多少|几|吗|[?？])|我们(?:上次|之前|以前|上周|昨天|前几天|去年)?.{0,6}(?:聊|说|讨论|决定|商量|约)(?:过|到|了|的|定)?.{0,14}(?:什么|啥|哪|谁|吗|[?？])", 1.4),
        (r"(?:核对|确认|检查|看看|列出|查看|总结)(?:一下|下)?(?:你)?(?:记(?:住|得|录)的|关于)?我的(?:偏好|喜好|资料|信息|记忆|习惯|画像|档案)|我的(?:偏好|喜好|口味|习惯|资料|记忆)(?:有|都|是)", 1.4),
        (r"\b(?:did|have|had|were|was) we\b.{0,60}\?|\b(?:what|which|who|where|when|why|how)(?: \w+){0,4} (?:did|had|were|have) we\b", 1.2),
        (r"\b[A-Z]\w+[’']s (?:job|birthday|phone|number|address|name|dog|cat|wife|husband|kids?|son|daughter|boat|house|flat|school|boss|e-?mail|favou?rite)\b.{0,20}\?|\bwhat (?:does|did) (?-i:[A-Z])\w+ (?:like|say|want|prefer|do|need|think|tell|mention)\b", 1.1),
        (r"\b(?:do|did|am|was|have) i\b.{0,60}\?|\b(?:what|which|who|where|when|why|how)(?: \w+){0,4} (?:do|did|am|was|have|had) i\b(?! (?:do (?:this|that|it)|need to|have to))", 1.0),
        (r"\b(?:what|who|where|when|which|how \w+)(?:'s| is| are| was| were) my\b|\bwhat(?:'s| is) my\b|\bmy (?:favou?rite|preferred|name|birthday|allerg\w+|preferences?|usual|diet|size)\b.{0,30}\?", 1.3),
        (r"\b(?:do you |can you |you )?(?:still )?(?:remember|recall|know)\b.{0,20}\b(?:me|my|i|about me|we)\b|\b(?:what do you|tell me what you|everything you) (?:know|remember|have)(?: about| on| of)? me\b|\bwho am i\b|\bwhat did (?:i|we) (?:say|tell|mention|decide|discuss|talk|agree|plan)", 1.4),
        (r"\b(?:check|confirm|verify|review|list|show)(?: me)? my (?:preferences?|profile|memor\w+|settings|likes|details)\b", 1.4),
    )),
    ("task", _cues(
        (r"^(?:请|麻烦|劳驾)?(?:你|您)?(?:帮(?:我|忙)?|替我|给我|为我)?(?:来)?(?:写|起草|撰写|改写|修改|润色|翻译|总结|概括|归纳|摘要|整理|生成|创建|新建|建立|制作|设计|画|计算|算一?下|转换|部署|实现|修复|重构|优化|测试|安排|预订|预定|订(?!单|的)|提醒|设置|设(?:个|一个)|添加|加上|删除|删掉|取消|更新|发送|发(?:一?封|邮件|消息)|查(?:一下|询)|搜(?:一下|索)|列(?:出|一?个)|继续|接着|运行|执行|分析|编写|做(?:一?个|一?份)|规划|制定|把)", 1.5),
        (r"^(?:请|麻烦)?(?:帮|替|给)(?:我|忙|我们)(?!的|说|过)(?!.{0,6}(?:推荐|挑|选|搭|参谋|拿主意|出主意))|^(?!.*(?:解释|介绍|说明|讲|推荐|^记|记一下|等一下))(?:请|麻烦)?[\u4e00-\u9fff]{1,3}一下|^(?:请|麻烦)?(?:检查|核对|标(?:红|注|出)|校对|对比|翻|抄|改成|调整|清理|归类|排序|压缩|转换|导出|起个|想(?:一?个|几个|两个|三个))", 1.1),
        (r"^(?:please |can you |could you |would you |pls |now |ok,? |then )*(?:set|check|mark|highlight|clean|close|open|start|stop|play|record|save|print|share|upload|download|replace|remove|insert|split|combine|outline|sketch|brainstorm|review|verify|validate|simplify|shorten|expand|correct|improve|optimi[sz]e|reply|respond|invite|order|buy|call (?!me (?-i:[A-Z]))|text|message|post|publish|log|track|count|sum|plot|draw|migrate|rebase|commit|push|explain (?:this|the)\b.{0,30}\band|give me \d+|find (?:and|all|the|every|out)|(?:please|kindly|pls) (?!remember|note|keep|call me|don|do not|never|always|use)\w+)\b", 1.2),
        (r"^(?:请|帮我|麻烦)?给.{1,8}(?:回|发|写|打|寄)(?:个|一?封|一?条|一?通)?.{0,2}(?:邮件|消息|信|短信|电话|微信|通知)|^(?:请|麻烦)?用.{1,14}(?:写|画|做|实现|算|生成|翻译|改)|(?:今|明|后|每)(?:天|早|晚|周|日).{0,12}(?:叫|提醒|通知|喊)我|^(?:请|帮我)?在.{1,24}(?:里|中|上|下)(?:加|添|改|建|写|删|跑|部署|创建|修|装|新建|插入)", 1.2),
        (r"(?:帮我|替我|麻烦(?:你)?|请(?:你)?).{0,12}(?:写|改|做|翻译|总结|整理|生成|创建|安排|预订|订|提醒|设置|添加|删除|取消|发送|查|搜|算|分析|修|部署|实现|画|规划|制定|转|导出|压缩|下载|上传|打开|合并|拆|填|打印|备份|改成)", 1.2),
        (r"^(?:please |can you |could you |would you |pls |now |ok,? |then )*(?:help me (?:to )?(?:write|fix|make|create|plan|build|draft|finish|set|translate|debug)|write|draft|create|make (?:a|an|the|me)|generate|translate|summari[sz]e|rewrite|rephrase|proofread|edit|fix|debug|implement|refactor|deploy|schedule|book|remind|add|update|delete|remove|cancel|send|email|convert|calculate|compute|build|run|plan|design|list|continue|finish|complete|set up|set a|install|configure|analy[sz]e|format|test|code|prepare|organi[sz]e|extract|turn (?:this|these|those|that|the|it)|compare (?:these|those|both|the two)|merge|rename|move|sort|clean up|look up|find me|show me (?:the|how|all|every)|make (?:it|this|that|my|our|these)|wake me|call me (?:at|a)|check (?:the|if|whether|this)|explain this|give me (?:a|the) (?:summary|list|draft|plan|code)|let'?s (?:continue|start|do|build|write))\b", 1.2),
        (r"代码|函数|接口|脚本|报错|异常|bug\b|\b(?:code|function|script|api|endpoint|unit tests?|pull request|traceback|stack trace|exception|error message)\b", 0.5),
    )),
    ("knowledge_qa", _cues(
        (r"(?:是|为)什么|什么(?:是|叫|意思|原因|区别|时候)|为啥|为何|怎么(?!样|办|搭|穿|选|挑)|如何|怎样|哪(?:个|些|年|里|国|种)|多少|多(?:久|大|高|长|重|远|深|宽|快)|哪(?![里儿]都)|几(?:个|种|点|月|年|天|号|级|楼|层|次|小时|分钟|公里|岁)|谁|区别|(?:关系|过程|原因|历史|结构|含义|全称|公式|影响)(?:呢)?[?？]?$|(?:优点|缺点|优势|好处|作用|用法|步骤|特点|流程|条件|要求|注意)|原理|定义|含义|介绍|解释|讲讲|说明|(?:吗|呢|么)[?？]?$", 0.6),
        (r"能不能|可不可以|会不会|是不是|要不要|算不算|干(?:嘛|什么)|什么情况|可以.{1,12}[吗?？]|等于|哪一[年个天种]|\bhow (?:do|can|would) (?:i|we|you|one)\b|^(?:can|may) (?:i|we)\b", 0.6),
        (r"政策|规定|流程|规则|条款|标准|规范|制度|手册|文档|资料|引用|出处|文献|论文", 0.8),
        (r"\b(?:what|why|how|when|where|who|which|whose)\b|\b(?:explain|describe|define|definition|difference between|meaning of|tell me about|compare|versus|vs)\b|[?？]\s*$|^(?:is|are|does|do|did|can|could|was|were|has|have|will|should) ", 0.6),
        (r"\b(?:polic(?:y|ies)|documentation|docs|manual|handbook|guideline|specification|regulations?|terms|cite|citations?|references?|sources?|papers?)\b", 0.8),
    )),
)  # fmt: skip

_PURPOSES: tuple[tuple[Purpose, re.Pattern[str]], ...] = (
    ("research", re.compile(r"引用|出处|来源|文献|论文|调研|研究|考证|查(?:阅|证)|综述|\b(?:cit(?:e|es|ed|ation|ations)|references?|sources?|bibliography|literature|research|survey of|investigate|papers on|evidence (?:for|that))\b", re.IGNORECASE)),
    ("debug", re.compile(r"报错|错误(?:信息|码|日志)?|异常|崩溃|调试|排查|故障|堆栈|跑不(?:起来|通)|编译(?:失败|不过)|\b(?:bugs?|debug|error|exception|traceback|stack ?trace|crash(?:es|ed|ing)?|segfault|fail(?:s|ed|ing|ure)|not working|broken build|500|404)\b", re.IGNORECASE)),
    ("continue_task", re.compile(r"^(?:请|那|好|那么|我们)?[,，]?(?:继续|接着|下一步|然后呢)|(?:继续|接着|推进).{0,12}(?:上次|刚才|之前|昨天|任务|工作|项目|写|做|改|完成)|上次(?:的|那个)?(?:任务|进度|做到|停在|没做完)|进度(?:如何|怎么样|到哪)|\b(?:continue|carry on|go on|keep going|resume|pick up where|where (?:did )?we (?:left|leave) off|next steps?|what'?s next|finish (?:the|what|our|my))\b", re.IGNORECASE)),
    ("summarize", re.compile(r"总结|概括|摘要|归纳|要点|小结|复盘|回顾(?:一下)?|梳理|\b(?:summari[sz]e|summary|recap|tl;?dr|key points|overview of|digest|main points|wrap[- ]up)\b", re.IGNORECASE)),
    ("research", re.compile(r"对比|比较|\b(?:compare|comparison|versus|vs\.?|trade-?offs?|pros and cons)\b", re.IGNORECASE)),
)  # fmt: skip
_QUESTION = re.compile(
    r"[?？]|(?:吗|呢|么)[。.!！]?$|什么|怎么|为什么|如何|哪|谁|多少|^(?:what|why|how|when|where|who|which|is|are|do|does|did|can|could)\b",
    re.IGNORECASE,
)
_ABOUT_RULES = re.compile(
    r"(?:退货|退款|退换|换货|售后|保修|赔偿|投诉)(?:的)?(?:政策|流程|规定|规则|条款|标准|期限|条件|渠道|电话)|\b(?:refund|return|warranty|complaints?) (?:polic(?:y|ies)|process|procedure|period|terms|window)\b|^(?:如何|怎么|怎样|how (?:do|can) (?:i|we|you))",
    re.IGNORECASE,
)


def understand(message: str) -> Understood:
    """The intent whose cues weigh most; short pleasantries are small talk; `other` where nothing speaks."""
    text = message.strip()
    if len(text) <= 60 and _GREETING.fullmatch(text):
        return Understood("small_talk", 0.9, (text[:20],))
    read = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
    soft = _is_pleasant(text)
    scores: dict[Intent, float] = {"small_talk": 0.7} if soft else {}
    found: dict[Intent, list[str]] = {"small_talk": [text[:20]]} if soft else {}
    for intent, cues in _INTENTS:
        for pattern, weight in cues:
            if match := pattern.search(read):
                scores[intent] = scores.get(intent, 0.0) + weight
                found.setdefault(intent, []).append(match.group()[:20])
    if "complaint" in scores and _ABOUT_RULES.search(text):
        scores["complaint"] -= 1.2
    if not scores:
        return Understood("small_talk", 0.5, ()) if not re.search(r"\w", text) else Understood("other", 0.3, ())
    best = max(scores, key=lambda intent: (scores[intent], -_RANK[intent]))
    if scores[best] < 0.5:
        return Understood("other", 0.3, tuple(found[best]))
    total = sum(max(score, 0.0) for score in scores.values())
    return Understood(
        best, round(min(0.95, 0.4 + 0.5 * scores[best] / total + 0.05 * len(found[best])), 2), tuple(found[best])
    )


_RANK: dict[Intent, int] = {"small_talk": -1, **{intent: place for place, (intent, _) in enumerate(_INTENTS)}}
_PLEASANT = re.compile(
    r"谢谢|多谢|感谢|拜拜|再见|晚安|早安|早(?:上|呀|啊|哦)|(?:中午|下午|晚上|你|您|大家)好|哈哈|嘿嘿|辛苦|在吗|快乐|保重|下线|麻烦(?:你|您)(?:了|啦)|^好(?:滴|嘞|哒|呢)|心情|回聊|回见|醒着|在不在|好(?:累|困|冷|热|饿)|真(?:累|困|冷|热)|\b(?:thanks|thank you|thx|bye|goodbye|good (?:night|morning|evening|one)|happy \w+day|hello|hi|hey|haha\w*|lol|cheers|sleep well|take care|perfect|aw+|yo|morning|evening|weekend)\b",
    re.IGNORECASE,
)
_SUBSTANCE = re.compile(r"我(?!先|也|去|走|下|很|太|不)|我的|\d|\b(?:i|i'm|i've|my|we)\b|[:：]", re.IGNORECASE)


def _is_pleasant(text: str) -> bool:
    # A short text with a pleasantry in it, and nothing of the user's own.
    short = len(text) <= 16 if re.search(r"[\u4e00-\u9fff]", text) else len(text.split()) <= 6
    return bool(short and _PLEASANT.search(text) and not _SUBSTANCE.search(text))


def purpose_of(message: str, intent: Intent) -> Purpose:
    """Why evidence is looked for; decides the executor's defaults (seed 001 section 2)."""
    if intent == "small_talk":
        return "other"
    for purpose, pattern in _PURPOSES:
        if pattern.search(message[:1000]):
            return purpose
    asks = intent in ("knowledge_qa", "preference_check", "recommend") or _QUESTION.search(message[:1000])
    return "qa" if asks else "other"
