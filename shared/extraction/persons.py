"""Chinese names of persons: a surname, then one or two characters that people are given as names.

Weights over characters have seen few names and take the rest for nothing, so the shape of names is told here.
"""

# ruff: noqa: SIM905 - a list of words reads best as one

from shared.language.patterns import to_pattern
from shared.language.segment import tag_words

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
