"""Everyday words that say nearly the same, in both languages: what is asked with one may be told with another."""

from collections import defaultdict
from collections.abc import Sequence

from shared.language.segment import stem

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
    return {word: tuple(others) for word, others in groups.items()}


ALIKE: dict[str, tuple[str, ...]] = _groups(_ENGLISH) | _groups(_CHINESE)
"""For a search term, the terms that may stand for it; it need not hold the other way round."""
MOST = 12
"""So many words are added to a question at most; a long one has words enough."""


def others(terms: Sequence[str]) -> list[str]:
    """What may stand for these terms and is not among them, in their order."""
    return list(dict.fromkeys(other for term in terms for other in ALIKE.get(term, ()) if other not in terms))[:MOST]
