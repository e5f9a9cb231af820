"""Names in a text, and numbers that distinguish things of one kind.

Names are people, places, organisations, quoted titles, identifiers; in order, without duplicates. Numbers distinguish
the eighth trip, room 12, 工单311; other numbers are quantities.
"""

# ruff: noqa: E501, SIM905 - one family of words per line

import re
from collections.abc import Mapping
from dataclasses import dataclass

from shared.cache import of_texts
from shared.language.patterns import to_pattern
from shared.language.segment import CHINESE_STOPWORDS, ENGLISH_STOPWORDS, HAN, tag_words

_QUOTED = to_pattern(r"[「『“\"《]([^「」『』“”\"《》\n]{2,40})[」』”\"》]")
_IDENTIFIER = to_pattern(
    r"https?://[^\s，。；）)>\]]+|[\w.+-]+@[\w-]+\.[\w.]+|\b[\w-]+(?:/[\w.-]+)+\b|\b[A-Za-z_]\w*(?:\.[A-Za-z]\w*)+\b"
    r"|\b[A-Za-z]+_\w+\b|#\d+\b|\b[A-Z]{2,}-\d+\b",
    re.ASCII,
)
_CAPITALISED = to_pattern(
    r"\b[A-Z][a-zA-Z]*(?:['’-][A-Z]?[a-z]+)?(?:\s+(?:[A-Z][a-zA-Z]*|of the|of|de|van|von)(?=\s+[A-Z]|\b))*"
)
_HAN_RUN = to_pattern(f"[{HAN}]+")
_NAME_TAGS = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz"})
_NOT_NAMES = ENGLISH_STOPWORDS | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november december please yesterday today tomorrow english chinese ok"
    " explain summarize summarise write draft recommend suggest compare remind translate list show tell give find help"
    " create make fix add book schedule send let let's generate describe define check update continue review rewrite"
    " remember hey hi hello thanks thank any got best".split()
)


def names(text: str, limit: int = 8) -> list[str]:
    """The names in the text, the longest match first; sentence openers and calendar words are not names."""
    named: dict[str, None] = dict.fromkeys(match.strip() for match in _QUOTED.findall(text[:4000]))
    named |= dict.fromkeys(_IDENTIFIER.findall(text[:4000]))
    for match in _CAPITALISED.finditer(text[:4000]):
        words = re.sub(r"['’]s$", "", match.group()).split()
        while words and words[0].lower() in _NOT_NAMES:
            words.pop(0)
        while words and words[-1].lower() in _NOT_NAMES:
            words.pop()
        name = " ".join(words)
        if len(name) > 1 and not any(name in known for known in named):
            named.setdefault(name)
    for run in _HAN_RUN.findall(text[:2000]):
        named |= dict.fromkeys(_han_names(run))
    return list(named)[:limit]


def _han_names(run: str) -> tuple[str, ...]:
    tagged = [(str(each[0]), str(each[1])) for each in tag_words(run)]
    return tuple(word for word, tag in tagged if tag in _NAME_TAGS and len(word) > 1 and word not in CHINESE_STOPWORDS)


_TURNS_ZH = "次趟回期季集届场轮批遍站"
_PLACES_ZH = "个章节课号页版步层排名台间份张单封位段条款家天周年楼栋"
_THINGS_ZH = (
    "会议室|包间|包厢|房间|教室|宿舍|工单|订单|发票|账单|收据|单号|合同|票|航班|车次|任务|项目|需求|缺陷|问题|案件|病例|样本|实验|迭代|冲刺"
    "|里程碑|通道|柜子?|箱子?|货架|机器|服务器|节点|工位|桌|座位?|仓库?|批次|编号|版本|楼|栋|单元|学生|病人|患者|客户|快递|包裹|登机口"
)
_TURNS_EN = (
    "trip|visit|day|week|night|session|round|lap|episode|season|sprint|iteration|meeting|interview|exam|game|match|race|attempt|try"
    "|run|flight|lesson|class|date|tour|stay|shift|year|month|time"
)
_THINGS_EN = (
    "room|invoice|ticket|order|case|issue|bug|task|story|gate|bus|train|platform|chapter|unit|level|stage|phase|version|release|batch"
    "|lot|table|seat|row|locker|desk|floor|apartment|apt|suite|box|bay|building|block|house|lane|line|track|question|exercise|page"
    "|figure|section|article|experiment|sample|patient|customer|student|player|car|machine|server|node|rack|shelf|contract|claim"
    "|account|job|project|pr|commit|step|part|item|parcel|shipment|package|hole|receipt|bill|plot|pier|dock|exit|terminal|warehouse"
)
_WORDS_EN = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth"
    " seventeenth eighteenth nineteenth twentieth"
).split()
_COUNT_EN = "one two three four five six seven eight nine ten eleven twelve".split()
_DIGITS_ZH = {each: n for n, each in enumerate("零一二三四五六七八九")} | {"两": 2}
_NUMBER_ZH = r"\d{1,9}|[零一二两三四五六七八九十百]{1,6}"
_ZH = to_pattern(
    rf"第\s*(?P<nth>{_NUMBER_ZH})\s*(?P<of>[{_TURNS_ZH}{_PLACES_ZH}])"
    rf"|(?P<kind>{_THINGS_ZH})\s*(?:号|编号|第|#|No\.?)?\s*(?P<no>[A-Za-z]{{0,3}}-?\d{{1,12}})(?!\d|\.\d|\s*(?:个|块|元|人|次|天|年|月|日|岁|%))"
    rf"|(?<!\d)(?P<before>\d{{1,6}})\s*号?(?P<kind2>{_THINGS_ZH}|号线)"
    rf"|(?P<han>[一二三四五六七八九十]{{1,3}})号(?P<kind3>{_THINGS_ZH}|线|机|门|店)"
)
_EN = to_pattern(
    rf"\b(?P<kind>{_TURNS_EN}|{_THINGS_EN})\s*(?:no\.?|nr\.?|number|num|\#)?\s*(?P<no>\#?[a-z]{{0,3}}-?\d{{1,12}}[a-z]?|(?:{'|'.join(_COUNT_EN)})\b)"
    r"(?![\d%]|\.\d|\s*(?:am|pm|euros?|dollars?|percent|years?|days?|hours?|minutes?)\b)"
    rf"|\b(?P<nth>\d{{1,4}}(?=st|nd|rd|th)|{'|'.join(_WORDS_EN)})(?:st|nd|rd|th)?\s+(?:\w+\s+)?(?P<of>{_TURNS_EN}|{_THINGS_EN})\b"
    r"|\b(?P<code>[A-Z]{2,8})-(?P<code_no>\d{1,7})\b",
    re.IGNORECASE,
)
_LEAD = to_pattern(
    r"(?:我的?|我们的?|这|那|在|从|对|关于|出差|旅行|出门|去|到|the|my|our|on|in|at|for|from|during|of|this|that|about|as for"
    r"|and|so|ok|sorry|actually|其实|哦|对了|[，,:：\s])*",
    re.IGNORECASE,
)
_CHANGES = to_pattern(
    r"\b(?:now|no longer|moved?|changed?|instead|not|actually|correction|sorry|wrong|meant|these days|any ?more|switched|pushed"
    r"|rescheduled|became)\b|n't\b|现在|改|换|搬|不是|而是|更正|纠正|其实|记错|说错|调|挪|移|不再|已经",
    re.IGNORECASE,
)
_DIGITS = to_pattern(r"\d+")


@dataclass(frozen=True, slots=True)
class Labels:
    """The distinguishing numbers by kind of thing; the recurring kinds; the kinds that are the subject of the text."""

    numbers: Mapping[str, frozenset[str]]
    turns: frozenset[str]
    topics: frozenset[str]


@of_texts(4096)
def labels(text: str) -> Labels:
    """The labels in the text."""
    numbers: dict[str, set[str]] = {}
    turns: set[str] = set()
    topics: set[str] = set()
    lead = _LEAD.match(text)
    begin = lead.end() if lead else 0
    for match in (*_ZH.finditer(text), *_EN.finditer(text)):
        groups = {name: part for name, part in match.groupdict().items() if part}
        kind = next(groups[name] for name in ("of", "kind", "kind2", "kind3", "code") if name in groups).lower()
        number = next(groups[name] for name in ("nth", "no", "before", "han", "code_no") if name in groups)
        numbers.setdefault(kind, set()).add(_value(number))
        if kind in _TURNS_ZH or kind in _TURNS_EN.split("|"):
            turns.add(kind)
        if match.start() <= begin:
            topics.add(kind)
    return Labels({kind: frozenset(part) for kind, part in numbers.items()}, frozenset(turns), frozenset(topics))


def are_apart(before: str, later: str) -> bool:
    """Whether the two concern different things of one kind that only their numbers distinguish.

    Not if the text retracts the other number, or says that the number of a thing has changed.
    """
    one, other = labels(before), labels(later)
    mentioned = set(_DIGITS.findall(later)) | {each for found in other.numbers.values() for each in found}
    for kind in one.numbers.keys() & other.numbers.keys():
        if one.numbers[kind] & other.numbers[kind] or one.numbers[kind] & mentioned:
            continue
        named = kind in one.turns or (kind in one.topics and kind in other.topics)
        if named or not _CHANGES.search(later):
            return True
    return False


def _value(number: str) -> str:
    plain = number.lower().lstrip("#").lstrip("0") or "0"
    if plain in _WORDS_EN:
        return str(_WORDS_EN.index(plain) + 1)
    if plain in _COUNT_EN:
        return str(_COUNT_EN.index(plain) + 1)
    return plain if plain.isascii() else str(_of_han(plain))


def _of_han(number: str) -> int:
    total = digit = 0
    for each in number:
        if each in ("十", "百"):
            total += (digit or 1) * (10 if each == "十" else 100)
            digit = 0
        else:
            digit = _DIGITS_ZH.get(each, 0)
    return total + digit


_INTRODUCES = to_pattern(
    r"^(?:(?:我|本人)(?:的?(?:中文|真|全)?(?:名字?|姓名))?(?:就|便)?(?:叫做?|名叫|是)|(?:[你您]们?|大家|可以|就|都|直接|请)*叫我)"
    r"(?P<name>[\u4e00-\u9fff]{2,4}?)(?:就行了?|就好了?|就可以了?|即可|吧|[啊呀哦哈啦])?$"
)
_SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖萧田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟"
    "谭陆汪范金石廖贾夏韦付傅方白邹孟熊秦邱江尹薛闫阎段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安"
    "齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕季裴霍涂成苗谷盛曲翁冉骆蓝路游辛靳管"
    "柴蒙鲍华喻祁蒲房滕屈饶解牟艾尤阳时穆农司卓古吉缪简项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边"
    "卞姬师和仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝張劉陳楊趙黃吳孫馬羅鄭謝許韓馮鄧蕭蔣餘葉蘇呂盧薑鐘鍾譚"
    "陸範賈韋鄒閆閻龍賀顧龔萬錢嚴湯溫齊喬龐顏莊聶魯嶽關蘭紀畢單"
)
_COMPOUND = frozenset(
    "欧阳 歐陽 司马 司馬 上官 诸葛 諸葛 夏侯 皇甫 尉迟 公孙 公孫 慕容 令狐 长孙 宇文"
    " 司徒 独孤 南宫 东方 端木 百里 呼延 轩辕 西门 濮阳 赫连 申屠 太史 闻人".split()
)
_GIVEN = frozenset(
    "伟芳娜秀英敏静丽强磊军洋勇艳杰娟涛明超霞平刚晓宇婷雪梅建华文博子轩浩然欣怡梓涵雨桐思远志国庆晨曦若琳嘉豪俊安宁可"
    "心玲桂兰红玉萍丹鹏飞辉斌波鑫亮龙林海峰云东山川江河湖松柏竹菊莲荷蓉薇莉茜倩雯雅洁琴琪瑶瑾瑜璇璐珍珠珊琼瑞祥福禄寿"
    "喜康健德仁义礼智信忠孝诚恒永长久春夏秋冬阳光星辰月曼妮娅姗娇媛嫣婉婕媚婧妍妙姝佳美慧惠颖莹营颜容芸芝芬芷苗苒茵茹"
    "荣菁萌萱葵蕊蕾薛兴旺盛昌隆泰达成功业荃权全财富贵金银钢铁铭锋锐钧锦锡镇鸿鹤鹰凤凰麟龄宏弘洪泓泽润清澄澈沛淑涓淳渊"
    "湘溪滨漫潇澜灏炎焕煜熙炜烨灿炳烁煊照昊昕昱晖晗晟晶景暄曙旭时昭昆旻昀逸迅迪逊遥宸宜家宾寅宽宝宣定守振捷扬拓承抒挺"
    "政敬效敦斐毅民正武毓沁汉汝沐治法泉洲济浦涌添温源满潭瀚火灵帆帅希常年庚广庭延开弦彤彦彩彬影彭忆忻怀恩恬悦情惜愉慈"
    "慕懿才抗拥揽攀新方旋日昂显晋晏普晴暖朋朗望朝木本杉李杏杨枫柔柯柳栋树桃桥桦桑梁梦楠楚楷榕槿樱次欢歌步殊水冰冲决沂"
    "沙泊泳洛津浚淇淋渝湛溢滢漪潮牧特珂珏珑珈珩球理琛琦琨琬瑗瑛瑄璞璟璨甜生田甫男畅白百皓盈相眉真睿知石硕碧祖祎祺禹秉"
    "科程立竞章童端竣笑笛筠简素紫绍绮维绿缘罡羽翔翊翎翠翰耀耘聪育胜能臻致舒航良艺艾节芮芯芙苑苹范茂茗荔莎莘莺菡菲萧落"
    "葆蒙蓓蓝蔓蕙薪虎虹融行衡裕西言訸誉诗语诺谦谨豆贝贤贺赛赫越跃路轶运连迎进逍通遂道邦郁采野量钊钰铎铮锴闻闯阔陆陶隽"
    "雁雄雍霄霆霏霖霜露青靖韬韵韶音顺颂颐风飒飘馥香馨驰骁骅骏骥高魁鲲鸣鸥鹃麒黎默齐一乐九乾二亚京亦仪仲任仕代伊伍众会"
    "伦伯佐佑作佩依侠俪修俐倍倜傲元先克兆兵其典农冉冕冠凌凝凡凯利前剑力劲劭励勃勋勤匀化北千升午半卉卓南卡卫印原双友古"
    "史叶司吉名君启吟含呈周和品哲唐唯喆喻四围固圆圣坚坤垚城培基堂堃增士壮声多大天太夫央奇奕奥女好如妤姣姿娴婵学宋实寒"
    "寻小尔尚尧展岑岚岩岭峥峻崇左巧巨帝幼強偉靜麗軍艷傑濤曉寶國慶華飛輝龍東陽劍鳳蘭紅雲潔瑩瑤穎夢詩語詠韻風嵐軒澤潤淵"
    "瀅煒燁銘鋒銳鈞錦鴻蕓頤學"
)


def is_name(text: str) -> bool:
    """Whether the text has the shape of a whole name: 林晓, 欧阳雪松."""
    family = 2 if text[:2] in _COMPOUND else 1
    if family == 1 and text[:1] not in _SURNAMES:
        return False
    given = text[family:]
    return 1 <= len(given) <= 2 and all(each in _GIVEN for each in given)


def is_nothing_else(text: str) -> bool:
    """Whether it has that shape and is no word of the language besides: not 成功, 安心 or 江南."""
    return is_name(text) and all(
        len(word) == 1 or tag.startswith("nr") or word in _COMPOUND for word, tag in tag_words(text)
    )


def introduces(text: str) -> bool:
    """Whether the clause says by what name the speaker goes: 我叫林晓, 叫我林晓就行."""
    match = _INTRODUCES.match(text)
    return bool(match) and is_name(match["name"])
