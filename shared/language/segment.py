"""The words of a text in both languages: its search terms, those without a topic, and word matching.

Words without a topic, question words included, are omitted from queries, never from documents. A word matches only as
a whole: `ham` is not in `hamburger`, 米 is not in 米粉. Chinese is segmented with the dictionary of rjieba, which takes
0.2 s and 33 MB at its first use. A list of common synonyms is at the end: a statement may use another word than the
question.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from shared.cache import of_texts
from shared.language.normalise import fold, normalise
from shared.language.patterns import to_pattern

_ENGLISH_STOPWORDS = """
a about above after again against ago all almost along already also although always am among an and another any anybody
anyone anything are aren arent around as ask asked at away back be because been before being below between both but by
came can cannot cant come comes coming could couldn couldnt d did didn didnt do does doesn doesnt doing don done dont
down during each either else enough etc even ever every everyone everything few for from further get gets getting give
given go goes going gone got had hadn hadnt has hasn hasnt have haven havent having he hed hell help her here heres hers
herself hes hey hi hello him himself his how hows however i id if ill im in into is isn isnt it itd itll its itself ive
just know known last least let lets like ll lot made make makes many may maybe me might mine more most much must my
myself need needs neither never next no nor not now of off ok okay on once one only onto or other others our ours
ourselves out over own per perhaps please quite rather re really s said same say says see seem seems shall shan she shed
shell shes should shouldn shouldnt since so some somebody someone something still such sure t take tell than thank
thanks that thatll thats the their theirs them themselves then there theres these they theyd theyll theyre theyve thing
things think this those though through thus to too toward towards try u under until up upon us use used ve very via want
wants was wasn wasnt way we wed well went were weren werent weve what whatever whats when whens where wheres whether
which while who whoever whom whos whose why whys will with within without wont would wouldn wouldnt y yes yet you
youd youll your youre yours yourself yourselves youve kind type sort ones did whats
"""

_CHINESE_STOPWORDS = """
的 地 得 了 着 过 吗 呢 吧 啊 呀 哦 噢 嗯 哈 嘛 啦 哇 唉 哎 喔 喂 么 之 其 其中 而 而且 与 和 跟 同 及 以及 或
或者 还是 还 也 都 就 就是 才 又 再 很 太 更 最 挺 非常 特别 十分 比较 有点 有些 一些 一点 一下 一个 一种 一样
这 那 这个 那个 这些 那些 这里 那里 这儿 那儿 这样 那样 这么 那么 这次 那次 此 该 各 每 某 另 另外 其他 其它
别的 是 不是 是不是 有 有没有 没有 没 不 别 无 非 在 于 从 自 到 向 往 对 对于 关于 把 被 让 给 为 为了 因为
所以 因此 但 但是 可是 不过 然而 如果 要是 假如 虽然 即使 只要 只有 只是 只 除了 以 按 按照 根据 通过 当 当时
时 时候 的时候 之前 之后 以前 以后 然后 接着 后来 现在 已经 正在 曾经 曾 刚 刚才 刚刚 一直 总是 经常 常常 可以
可 能 能够 能不能 可不可以 会 会不会 要 要不要 想 想要 应该 应 该不该 必须 需要 愿意 得到 我 你 您 他 她 它
我们 你们 他们 她们 它们 咱 咱们 自己 大家 人家 别人 谁 谁的 我的 你的 您的 他的 她的 它的 什么 什么样 什么时候
什么地方 啥 怎么 怎么样 怎样 怎么办 如何 为什么 为何 为啥 干嘛 哪 哪个 哪些 哪里 哪儿 哪家 哪种 哪位 哪天 几
几个 多少 多久 多大 多长 是否 有什么 请 请问 麻烦 帮 帮我 帮忙 告诉 告诉我 说 说说 说过 讲 讲讲 问 问问 问题
知道 觉得 认为 看 看看 来 去 去过 做 弄 搞 用 叫 叫做 称 记得 还记得 提到 提过 上 下 里 中 内 外 前 后 间 边 面
来着 而已 罢了 等 等等 例如 比如 个 位 种 些 件 次 回 点 份 条
这是 那是 都是 也是 还有 我是 你是 好 好的 行 嗯嗯 谢谢 您好 你好 几点 几号 几月
哪年 哪月 哪次 哪一个 哪一 有谁 是谁 吗啊 呗 咋 咋样 能否 可否 究竟 到底 一共 总共 大概 大约
"""

ENGLISH_STOPWORDS: frozenset[str] = frozenset(_ENGLISH_STOPWORDS.split())
CHINESE_STOPWORDS: frozenset[str] = frozenset(_CHINESE_STOPWORDS.split())
STOPWORDS: frozenset[str] = ENGLISH_STOPWORDS | CHINESE_STOPWORDS


def cut_words(text: str) -> list[str]:
    """The words of the text, in order, covering it completely."""
    import rjieba

    return rjieba.cut(text)


def cut_for_search(text: str) -> list[str]:
    """The same, and the words inside long words."""
    import rjieba

    return rjieba.cut_for_search(text)


def tag_words(text: str) -> Sequence[tuple[str, str]]:
    """Each word with jieba's part of speech: "nr" is a person, "ns" a place."""
    import rjieba

    return rjieba.tag(text)


SEGMENTER_VERSION = "4"
"""Stored with every indexed row to identify its version; nothing reindexes old rows yet."""

MAX_TERM_CHARS = 96

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_UNSPACED = "\u3040-\u30ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LETTER = rf"[^\W{HAN}{_UNSPACED}]"
_RUN = to_pattern(
    rf"(?P<han>[{HAN}]+)|(?P<unspaced>[{_UNSPACED}]+)|(?P<word>{_LETTER}+(?:[.'’/@:&\-]+{_LETTER}+)*(?:\+\+|\#)?)"
)
_PERSONS = frozenset("我你您他她它咱")
_PART = to_pattern(r"[^\W_]+")
_CAMEL = to_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_JOINT = to_pattern(r"[_./@:&\-]")
_APOSTROPHE = to_pattern(r"['’](?:s\b)?")


_IRREGULAR = """
ate eat|eaten eat|bought buy|brought bring|built build|broke break|broken break|caught catch|chose choose|chosen choose
drank drink|drunk drink|drew draw|drawn draw|drove drive|driven drive|fallen fall|fell fall|felt feel|fed feed
flew fly|flown fly|forgot forget|forgotten forget|fought fight|found find|froze freeze|frozen freeze|grew grow
grown grow|heard hear|held hold|hid hide|hidden hide|kept keep|knew know|laid lay|led lead|left leave|lent lend
lost lose|meant mean|met meet|paid pay|ran run|rode ride|ridden ride|rang ring|rose rise|risen rise|sang sing|sung sing
sat sit|saw see|seen see|sold sell|sent send|shook shake|shaken shake|shot shoot|shown show|slept sleep|spoke speak
spoken speak|spent spend|stole steal|stolen steal|stood stand|struck strike|stuck stick|swam swim|swum swim|swept sweep
taught teach|threw throw|thrown throw|told tell|took take|taken take|understood understand|woke wake|wore wear|worn wear
won win|written write|wrote write|began begin|begun begin|became become|bitten bite|blew blow|blown blow|bent bend
dealt deal|dug dig|hung hang|sought seek|sank sink|slid slide|spun spin|swore swear|tore tear|torn tear
children child|people person|men man|women woman|feet foot|teeth tooth|mice mouse|geese goose|wives wife
knives knife|wolves wolf|shelves shelf|halves half|favourite favorite|colour color|neighbour neighbor
"""
LONE = frozenset(
    "茶酒饭菜肉鱼虾蟹鸡鸭鹅蛋奶糖盐醋汤粥饼药猫狗鸟马牛羊猪兔鼠虫花树草书画歌舞琴棋球车船房床灯伞鞋袜衣裤裙帽包钱卡票信笔刀窗楼店"
    "山河湖海岛雪雨爸妈哥姐弟妹爷舅姨姑叔娃腿脚腰眼牙胃肝肺脸喝吃跑游爬买卖读唱跳骑租修养疼痛烟墙锅碗杯鼓笛枪梦税债婚孕猴蛇龙"
)
"""A word inside a longer one is also a term: 茶 finds 喝茶 and 绿茶."""

_FORMS = [pair.split() for pair in re.split(r"[|\n]", _IRREGULAR) if pair]
IRREGULAR: dict[str, str] = {form: base for form, base in _FORMS}  # noqa: C416 # dict() of lists is not typed


def words(text: str) -> list[str]:
    """The words of a text in order, Chinese segmented."""
    return cut_words(text)


@of_texts(65_536)
def stem(word: str) -> str:
    """The English stem of a lower-case word, irregular forms included; other words unchanged."""
    word = IRREGULAR.get(word, word)
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    from snowballstemmer.english_stemmer import EnglishStemmer  # it loads the stemmers of all languages

    return str(EnglishStemmer().stemWord(word))  # pyright: ignore[reportUnknownMemberType,reportUnknownArgumentType] # untyped; stateful, so one per call


def terms(text: str) -> list[str]:
    """The search terms in document order, stop words included; the same for documents and queries."""
    return [word if word in ENGLISH_STOPWORDS else stem(word) for word in _words(text)]


def query_terms(text: str, limit: int = 24) -> list[str]:
    """The distinct content terms of the question, in order; none if all are stop words."""
    seen: dict[str, None] = {}
    for word in _words(text):
        if word not in STOPWORDS and (len(word) > 1 or not word.isascii() or word.isdigit()):
            seen.setdefault(stem(word))
            if len(seen) >= limit:
                break
    return list(seen)


def keywords(text: str, limit: int = 16) -> list[str]:
    """The distinct content words of the text, in original spelling except case; whole words, not their parts."""
    seen: dict[str, str] = {}
    for run in _RUN.finditer(normalise(text)):
        words = cut_words(run.group()) if run.lastgroup == "han" else [run.group()]
        for word in words:
            plain = _APOSTROPHE.sub("", word).casefold()
            if plain not in STOPWORDS and (len(plain) > 1 or not plain.isascii()):
                seen.setdefault(plain, word)
    return list(seen.values())[:limit]


def _words(text: str) -> Iterator[str]:
    for run in _RUN.finditer(normalise(text)):
        match run.lastgroup:
            case "han":
                yield from _han(run.group())
            case "unspaced":
                yield from _pairs(run.group())
            case _:
                yield from _latin(run.group())


def _han(run: str) -> Iterator[str]:
    """Words in search mode, and their characters that are words; bigrams for words outside the dictionary."""
    previous = ""
    for word in cut_for_search(run):
        lone = word if len(word) == 1 and word not in CHINESE_STOPWORDS else ""
        if previous and lone:
            yield previous + lone
        yield word
        if 1 < len(word) < 4:
            yield from _inside(word)
        previous = lone


@of_texts(16_384)
def _inside(word: str) -> tuple[str, ...]:
    """The terms inside a word of two or three characters that the dictionary does not split further."""
    if len(word) == 3 and len(cut_for_search(word)) > 1:
        return ()
    pairs = (word[:2], word[1:]) if len(word) == 3 else ()
    joined = len(word) == 2 and word[0] in _PERSONS and word not in CHINESE_STOPWORDS  # no word: 我住, 他演
    return (*pairs, *dict.fromkeys(each for each in word if each in LONE or (joined and each not in _PERSONS)))


def _pairs(run: str) -> Iterator[str]:
    if len(run) <= 2:
        yield run
        return
    for at in range(len(run) - 1):
        yield run[at : at + 2]


def _latin(run: str) -> Iterator[str]:
    plain = _APOSTROPHE.sub("", run)
    yield fold(plain)[:MAX_TERM_CHARS]
    if _JOINT.search(plain):
        for part in _PART.findall(run):
            yield from _latin(part)
    elif plain == run and run.isascii() and not (run.islower() or run.isupper() or run.istitle()):
        parts = _CAMEL.findall(run)
        yield from (part.lower() for part in parts if len(parts) > 1 and len(part) > 1)


_HAN_LETTER = re.compile(r"[\u3400-\u9fff]")
_WORD_LETTER = "[0-9a-z\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff]"
"""A Latin letter or digit, folded."""
_ALONE = re.compile(r"(?<![A-Za-z0-9'’])[B-HJ-Zb-hj-z](?![A-Za-z0-9'’])")
_NAMED_A = re.compile(r"(?<=[a-z] )A(?![A-Za-z0-9'’])|(?<=[\u3400-\u9fff])[Aa](?![A-Za-z0-9])")


def has_word(text: str, word: str) -> bool:
    """Whether the word occurs in the text, in the singular or the plural.

    One Chinese character matches as a word of its own, or at the end of one: 绿茶 is a kind of 茶.
    """
    word = fold(word.strip())
    if len(word) == 1 and _HAN_LETTER.match(word):
        return any(each == word or (word in LONE and each.endswith(word)) for each in words(text))
    return bool(word) and _pattern(word).search(fold(text)) is not None


@of_texts(512)
def _pattern(word: str) -> re.Pattern[str]:
    before = rf"(?<!{_WORD_LETTER})" if re.match(_WORD_LETTER, word) else ""
    after = rf"(?:e?s)?(?!{_WORD_LETTER})" if re.search(rf"{_WORD_LETTER}$", word) else ""
    return re.compile(before + re.escape(word) + after)


def letters(text: str) -> frozenset[str]:
    """Single letters that name something: vitamin C, unit b; not the English words a and I."""
    return frozenset(found.lower() for found in _ALONE.findall(text)) | frozenset("a" for _ in _NAMED_A.findall(text))


_ENGLISH = """
mother mom mum mama|father dad papa|parent mother father mom dad|child kid son daughter baby toddler|son boy
daughter girl|brother sibling|sister sibling|grandmother grandma granny nana|grandfather grandpa granddad
wife spouse husband partner|husband spouse wife partner|boyfriend partner|girlfriend partner
relative cousin uncle aunt family|family relative parent|friend buddy pal mate|colleague coworker teammate
boss manager supervisor|person guy man woman|job work career position profession occupation|career job profession
employer company firm|company firm business startup|salary pay wage income|promotion raise|interview hire|resign quit
school college university|university college campus|student pupil class|teacher professor instructor tutor
course class lesson workshop training|exam test|study learn research|degree graduate diploma|movie film cinema watch
film movie|show series episode|picture photo image photograph|photo picture pic image|painting draw art
art painting drawing sculpture|music song band concert|song track tune music|concert gig festival
instrument guitar piano violin drum ukulele|book novel read|novel book story|author writer|writer author
poem poetry verse|write journal script|game video play|sport football basketball soccer tennis|team squad club
match game|win victory champion championship|prize award trophy|award prize trophy|race marathon run
exercise workout gym fitness train|workout exercise gym|gym fitness workout|run jog marathon|hike trail trek walk
walk stroll hike|swim pool|bike bicycle cycle|camp tent|trip travel vacation journey tour|travel trip journey visit
vacation holiday trip getaway|visit trip travel|country nation abroad|city town|town city village|place spot location
beach sea ocean coast|mountain hill peak hike|forest wood nature|nature outdoor forest|hotel hostel resort
flight plane airport fly|car vehicle drive auto|drive car|train railway|house home apartment|home house apartment
apartment flat condo|move relocate live|live reside move|rent lease landlord|furniture sofa table couch
garden plant flower yard|plant flower garden|flower rose tulip lily
pet dog cat puppy kitten|dog puppy pup|cat kitten kitty|animal pet
food meal dish cuisine eat|meal dinner lunch breakfast|cook recipe bake kitchen|bake cake cookie bread
recipe cook dish|dessert cake pie pastry sweet|restaurant cafe diner|drink beverage coffee tea
coffee espresso latte cafe|tea drink|wine beer drink|vegetable veggie salad|diet vegan vegetarian eat
allergy allergic intolerant|intolerant allergy allergic|health medical doctor|doctor physician hospital clinic
hospital clinic surgery|illness disease sick|sick unwell|injury hurt injure|injure hurt wound|pain ache hurt
medicine medication drug pill|therapy therapist counseling|therapist counselor psychologist
counselor therapist counseling|stress anxiety pressure|destress relax unwind stress|relax unwind calm rest
unwind relax destress|anxious nervous worried|nervous anxious|afraid scared fear|fear afraid scared|happy glad joy
sad upset unhappy|angry mad upset|proud pride|tired exhausted|love adore enjoy|enjoy love fun|favorite love best
best favorite|hobby interest pastime passion|passion love|interest hobby passion|goal aim dream plan|dream goal wish
plan goal intend|buy purchase|purchase buy|sell sale|price cost|cost price expensive|money cash fund|gift present
present gift|birthday celebrate party|celebrate party|party celebrate celebration|wedding marry marriage
marry marriage wedding|marriage marry wedding|divorce separate breakup|breakup split divorce|die death
death die funeral|birth born|born birth|pregnant baby|event festival conference fair|meeting conference
talk chat speak conversation|discuss talk|conversation chat talk|advice suggestion recommend tip
suggest recommend advice|recommend suggest|recommendation suggest|encourage support|support encourage
volunteer charity|charity donate nonprofit volunteer|donate charity|community neighborhood|church religion faith
religion faith church|believe faith|political election|phone cellphone mobile smartphone|computer laptop pc
laptop computer|internet online web|website site blog|app application|code program software|software program app
email mail|letter mail|clothes outfit dress|outfit clothes|shoe sneaker boot|jewelry necklace ring bracelet
bag backpack purse|shop store|store shop|start begin launch|begin start|finish complete end|end finish|stop quit
fail failure lose|succeed success|success succeed achievement|achieve accomplish|accomplishment achievement
improve better|problem issue trouble|issue problem|challenge difficulty struggle obstacle|difficult hard tough
hard tough difficult|setback failure rejection|accident crash|fix repair|repair fix|build construct|create design
design create|clean tidy|teach lesson tutor|big large huge|small little tiny|beautiful pretty gorgeous
funny hilarious humor|old age|young age|age birthday old|new recent latest|language speak|rain storm weather
weather rain snow storm|snow winter ski|summer sun|sunset sunrise|night evening|attend join|join attend member
member join|miss absent|remember memory|forget memory
"""
_CHINESE = """
妈妈 母亲 老妈 我妈 妈|爸爸 父亲 老爸 我爸 爸|父母 爸妈 家长|孩子 小孩 儿子 女儿 宝宝 娃|儿子 孩子|女儿 孩子
老婆 妻子 太太 媳妇 爱人|老公 丈夫 先生 爱人|妻子 老婆 太太 媳妇 爱人|丈夫 老公 先生 爱人|母亲 妈妈 妈|父亲 爸爸 爸
小孩 孩子 娃|薪资 工资 薪水 收入|收入 工资 薪水|爷爷 祖父|奶奶 祖母|外婆 姥姥|外公 姥爷|亲戚 家人|家人 父母 亲戚
朋友 哥们 闺蜜 好友|同事 同僚|老板 领导 上司|领导 老板 上司|男朋友 男友 对象|女朋友 女友 对象|对象 男朋友 女朋友
工作 职业 上班 岗位 职位|职业 工作|上班 工作 公司|公司 单位 企业|单位 公司|工资 薪水 收入 薪资 月薪|薪水 工资 收入
加薪 涨薪 涨工资|升职 晋升|辞职 离职 跳槽|离职 辞职|面试 应聘 求职|学校 大学 中学 小学|大学 学校 高校|专业 学科
老师 教师 教练|学生 同学|考试 测验|学习 学|课程 课 培训|电影 影片 片子|影片 电影|电视剧 剧|照片 图片 相片|画画 绘画 画
音乐 歌 歌曲|歌曲 歌|乐器 吉他 钢琴|书 小说 书籍|小说 书|作者 作家|作家 作者|游戏 玩|运动 锻炼 健身|锻炼 运动 健身
健身 锻炼 运动 健身房|跑步 慢跑 马拉松|爬山 登山 徒步|徒步 爬山 登山|游泳 泳池|骑车 自行车 骑行|自行车 单车 骑车
旅行 旅游 出游 度假|旅游 旅行 出游|度假 旅行 假期|出差 差旅|酒店 宾馆 民宿|飞机 航班 机票|航班 飞机|机票 航班 飞机
火车 高铁 动车|高铁 火车 动车|汽车 车 开车|车 汽车 开车|房子 家 公寓 住房|公寓 房子
住 住在 搬到 搬 家|住在 住 搬到 搬|搬到 住在 住 搬|搬家 搬到 搬
租房 房租 房东|房租 租金 租房|地址 住址|宠物 狗 猫|狗 小狗 狗狗|猫 小猫 猫咪 橘猫|植物 花 绿植|吃饭 用餐 餐厅
餐厅 饭店 餐馆 饭馆|饭店 餐厅 餐馆|菜 菜品 料理|做饭 烹饪 下厨|早餐 早饭|午餐 午饭|晚餐 晚饭|早饭 早餐|午饭 午餐
晚饭 晚餐|甜品 甜点 蛋糕|饮料 喝|口味 味道 爱吃|忌口 过敏 不吃|过敏 过敏原 忌口|喜欢 爱 爱好 喜爱|爱好 喜欢 兴趣
兴趣 爱好|讨厌 不喜欢 反感|身体 健康 体检|健康 身体|生病 病 感冒 发烧|感冒 发烧|医生 大夫 医院|医院 医生 诊所
手术 开刀|受伤 伤|疼 痛 疼痛|药 吃药 药物|吃药 药|焦虑 紧张 压力|压力 焦虑|紧张 焦虑|开心 高兴 快乐|高兴 开心
难过 伤心 不开心|生气 愤怒|害怕 怕 恐惧|累 疲惫|目标 计划 打算|计划 打算 安排 规划|打算 计划|梦想 愿望|买 购买 买了
购买 买|卖 出售|价格 价钱 多少钱|钱 费用 预算|预算 费用 钱|费用 花费|礼物 礼品|生日 寿 过生日|庆祝 聚会|聚会 聚餐 派对
结婚 婚礼 婚|婚礼 结婚|离婚 分手|去世 过世 走了|出生 生日|怀孕 孕|活动 节目|会议 开会|开会 会议|聊 谈 讨论
讨论 商量 聊|建议 推荐|推荐 建议|帮助 支持|支持 帮助|志愿者 义工 公益|手机 电话|电话 手机 号码|电脑 笔记本
软件 程序 应用|邮件 邮箱|邮箱 邮件|衣服 服装 穿|鞋 鞋子|鞋子 鞋|商店 店|开始 启动|结束 完成|完成 结束|失败 没成
成功 成|故障 坏|困难 难|修 修理 维修|坏 故障|习惯 一般 平时|年龄 岁 年纪|岁 年龄|项目 方案|截止 期限 最晚|期限 截止
客户 甲方|合同 协议|口音 方言|天气 下雨 下雪
"""


def _groups(text: str) -> dict[str, tuple[str, ...]]:
    groups: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for group in text.replace("\n", "|").split("|"):
        if words := [stem(word) for word in group.split()]:
            groups[words[0]] |= dict.fromkeys(word for word in words[1:] if word != words[0])
    return {word: tuple(list_synonyms) for word, list_synonyms in groups.items()}


ALIKE: dict[str, tuple[str, ...]] = _groups(_ENGLISH) | _groups(_CHINESE)
"""For a search term its synonyms; the relation need not be symmetric."""
MOST_SYNONYMS = 12
"""The maximum number of added words per question; a long one has enough words."""


def list_synonyms(terms: Sequence[str]) -> list[str]:
    """The synonyms of these terms that are not among them, in order."""
    return list(dict.fromkeys(other for term in terms for other in ALIKE.get(term, ()) if other not in terms))[
        :MOST_SYNONYMS
    ]
