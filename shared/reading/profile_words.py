"""Patterns for facts about the speaker and the speaker's business."""

import re

from shared.reading.guards import KIN_ZH
from shared.text.patterns import to_pattern

NOT_NAME = to_pattern(
    (
        r"什么|谁|哪|啥|外卖|车|滴滴|人来|人帮|他|她|你|它|[吗呢么?？]|救护|上|醒|起床|停|个|服务"
        r"|快递|一[个声下]|朋友|同事|[了着过]$|早|板|做|作$|不|没|苦|好$|嚣|\b(?:the|what|not|just|sure"
        r"|sorry|glad|happy|here|going|looking|trying|an?|very|so|your)\b"
    ),
    re.I,
)
ADV = (
    r"(?:现在|目前|如今|已经|一直|就|是|都|也|其实|真的|今年|刚|刚刚|最近|平时|长期|暂时不|从小|常年|主要"
    r"|还|还是|本来|原来是|之前|去年|上个?月|上周|这个月|终于|正式|又|马上|仍然)*"
)
NAME_ZH = to_pattern(
    rf"^(?:我|本人)(?:的(?:中文|英文|真)?名字?)?{ADV}(?:名叫|叫做|叫|姓名是|名字叫|名字是|大名"
    rf"|全名是?|名是|的名字是|的名字叫|英文名是|英文名叫)(?:做)?\s*(?P<name>[\u4e00-\u9fff·]{{1,6}}"
    rf"|[A-Za-z][A-Za-z .·'-]{{0,30}})(?:就行|就好|吧|哦|啊|呀)?$|^(?:我的?)(?:中文|英文)?(?:名字?"
    rf"|姓名)(?:是|叫|：|:)\s*(?P<name2>[\u4e00-\u9fff·]{{1,6}}|[A-Za-z][A-Za-z .·'-]{{0,30}})$"
)
ME_ZH = to_pattern(r"^我(?:就|便)?是(?P<name>[\u4e00-\u9fff]{2,4}?)[啊呀哦哈啦]?$")
SURNAME_ZH = to_pattern(r"^(?:我|免贵)姓(?P<name>[\u4e00-\u9fff]{1,2})$")
CALL_ZH = to_pattern(
    r"^(?:以后|今后|请|你|可以|就|都|也|直接|大家|朋友们?|同事们?|请你|你们|你就|你可以|习惯"
    r"|记得|用)*(?:叫|称呼|喊|管)我(?:为|做|叫)?(?P<name>[\u4e00-\u9fffA-Za-z ·]{1,12}?)(?:就行了?"
    r"|就好了?|就可以了?|即可|吧|好了|哦)?$"
)
HOME_ZH = to_pattern(
    rf"^(?:我|我家|我们家|我们一家|我和\S{{1,4}})(?:人)?{ADV}(?:的?家)?(?:住在|住到|住|定居(?:在"
    r"|到)?|常住在?|生活在|家在|在家住|的家在|租住在|落户(?:在|到)?)(?P<place>[\u4e00-\u9fffA-Za-z"
    rf" ·0-9]{{2,20}}?)(?:这边|这里|那边|了|工作|生活|上班)?(?:[一二两三四五六七八九十\d]+(?:多)?年"
    rf"(?:了|多了)?)?$|^我{ADV}在(?P<place2>[\u4e00-\u9fffA-Za-z ]{{2,12}}?)(?:生活|居住|定居"
    r"|安家)(?:了?[一二两三四五六七八九十\d]+(?:多)?年)?(?:了)?$"
)
MOVE_ZH = to_pattern(
    rf"^(?:我|我们|我家|我们家|我们一家|我和\S{{1,4}})?{ADV}(?:从(?P<old>[\u4e00-\u9fffA-Za-z"
    rf" ]{{2,10}}?))?(?:搬家|搬|移居|移民|调|回|迁)(?:到|去|来|回|至)(?:了)?(?P<place>[\u4e00-\u9fffA-Za-z"
    rf" ]{{2,14}}?)(?:来|去|住|生活|工作|定居|发展)?(?:了)?$"
)
FROM_ZH = to_pattern(
    rf"^(?:我{ADV}(?:来自|是从|出生(?:在|于)|是在|生在|长在|祖籍是?)|我的?(?:老家|家乡|籍贯)"
    rf"(?:是|在|：)?)(?P<place>[\u4e00-\u9fffA-Za-z ]{{2,12}}?)(?:来的|出生的?|长大的?|的|人|"
    rf"农村|的?一个小(?:城|镇|村|县城))?$|^(?:我{ADV}(?:是)?)(?P<native>[\u4e00-\u9fff]{{2,6}})人$"
)
JOB_SUFFIX = (
    r"(?:工程师|老师|教师|医生|护士|律师|设计师|程序员|程序猿|码农|经理|总监|主管|总裁|CEO|CTO"
    r"|CFO|HR|产品|运营|编辑|记者|作家|画家|歌手|演员|导演|摄影师|厨师|司机|会计|审计|学生|研究生"
    r"|博士生|博士后|博士|硕士生|本科生|高中生|大学生|初中生|教授|讲师|研究员|科学家|分析师|"
    r"架构师|顾问|销售|客服|店长|老板|创业者|自由职业者?|公务员|军人|警察|消防员|飞行员|空姐"
    r"|翻译|药剂师|兽医|教练|主播|博主|up主|UP主|作者|建筑师|技术员|实习生|开发者?|开发人员|"
    r"测试|运维|前端|后端|全栈|算法|数据科学家|退休\S{0,4}|宝妈|全职妈妈|全职爸爸|家庭主妇|助理"
    r"|秘书|文员|出纳|保安|快递员|外卖员|骑手|农民|工人|电工|木工|心理咨询师|咨询师|营养师|理发师"
    r"|化妆师|美容师|法官|检察官|牙医|规划师|策划|文案|采购|买手|导游|瑜伽老师|健身教练|插画师"
    r"|漫画家|音乐人|调酒师|咖啡师|面包师|项目经理|产品经理|投资人|合伙人|创始人|负责人|[\u4e00-\u9fff]{1,"
    r"5}[师员工家者])"
)
JOB_ZH = to_pattern(
    rf"^(?:我|本人)(?P<neg>不|没)?{ADV}(?:当|做|是|从事|任|担任|的工作是|的职业是|的职务是|的岗位是"
    r"|的本职工作是|职业是|工作是|的身份是|改行做了?|转行做了?)(?:了)?(?:一?[名个位])?(?P<job>[\u4e00-\u9f"
    rf"ffA-Za-z+# ]{{0,16}}?{JOB_SUFFIX})(?:的|了|工作|出身|职位|这行|这一行|岗位)?(?:[一二两三四五六七八"
    rf"九十\d]+(?:多)?年(?:了)?)?$|^我的(?:职业|工作|岗位|本职工作|职位)(?:就)?是(?P<job2>.{{2,20}})$"
    rf"|^我{ADV}(?:从事|做)(?:的是)?(?P<field>[\u4e00-\u9fffA-Za-z ]{{2,12}}?)(?:行业|工作|这行"
    r"|这一行|方面的工作|领域|相关的?工作)(?:的)?(?:[一二两三四五六七八九十\d]+年(?:了)?)?$"
)
WORK_ZH = to_pattern(
    rf"^我{ADV}(?:在|就职于|任职于|供职于|入职了?|加入了?|跳槽(?:到|去)了?|加盟了?)(?P<place>[\u4e00-\u9ff"
    rf"fA-Za-z0-9 ·&.]{{2,20}}?)(?:公司)?(?P<act>工作|上班|任职|就职|当\S{{2,12}}|做\S{{2,12}}"
    r"|实习|教书|任教|打工)?(?:了?[一二两三四五六七八九十\d]+(?:多|个)?(?:年|月)(?:多)?)?(?:的"
    r"|了)?$"
)
AGE_ZH = to_pattern(
    rf"^(?:我|本人){ADV}(?:今年|已经|刚满?|快|满|马上)*(?P<age>\d{{1,3}}|[一二三四五六七八九十]{{1,3}})"
    rf"(?:周?岁|多岁)(?:了|半)?$|^我{ADV}(?:是)?(?P<year>(?:19|20)\d{{2}}|[5-9０0]\d)(?:年|后)"
    r"(?:出?生)?(?:的|人)?$|^我属(?P<sign>[鼠牛虎兔龙蛇马羊猴鸡狗猪])(?:的)?$"
)
BIRTH_ZH = to_pattern(
    r"^我的?(?:生日|出生日期|出生年月)(?:就)?(?:是|在|：|:)?(?:农历|阴历|阳历)?(?P<day>.{2,14}?)(?:出生)?$"
)
FAMILY_ZH = to_pattern(
    rf"^(?:我|我们|我家)(?:家|们)?{ADV}有(?:了)?(?P<what>(?:一|两|三|四|几|\d+)(?:个|位|对|名)"
    rf"(?:双胞胎)?(?:[\u4e00-\u9fff]{{0,4}}?)(?:{KIN_ZH.pattern})(?:.{{0,12}}))$|^我{ADV}(?P<married>结婚"
    r"|订婚|离婚|已婚|未婚|单身|离异|当爸爸|当妈妈|做爸爸|做妈妈|怀孕)(?:了|的|狗|[一二两三四五六七八九十"
    r"\d]+年(?:了)?)?$"
)
RELATIVE_ZH = to_pattern(
    rf"^我(?:的|家)?(?P<who>(?:大|小|二|前|新)?{KIN_ZH.pattern})(?:的?名字)?(?:现在|今年|也|都|已经|刚)*(?P<what>"
    rf"(?:叫|名叫|叫做|是|今年|的?生日是|在|住在|对|上|读|念)?(?P<value>[\u4e00-\u9fffA-Za-z0-9 ]{{1,20}}))$"
)
RELATIVE_OK_ZH = to_pattern(
    rf"^(?:叫|名叫|叫做)[\u4e00-\u9fffA-Za-z]{{1,12}}$|^(?:今年)?[\d一二三四五六七八九十]+(?:个月"
    rf"|岁|周岁|年级)(?:半|了|大)?$|^是(?:一?[名个位])?[\u4e00-\u9fffA-Za-z ]{{0,10}}(?:{JOB_SUFFIX}"
    rf"|人)$|^(?:的?生日是|住在|在[\u4e00-\u9fffA-Za-z]{{2,12}}(?:工作|上班|上学|读书|生活|读大学"
    rf"|念书)).{{0,12}}$|^对.{{1,8}}过敏$|^是[\u4e00-\u9fffA-Za-z]{{2,8}}(?:犬|猫|狗)$"
)
PET_ZH = to_pattern(
    rf"^(?:我|我们|我家|我们家)(?:家)?(?:里)?{ADV}(?:有|养了?|收养了?|领养了?|新养了?)(?P<pet>"
    rf"(?:一|两|三|四|几|\d+)?(?:只|条|匹|头|个|缸)[\u4e00-\u9fffA-Za-z]{{1,12}}?)(?:[，,]?(?:名字)?叫"
    rf"(?:做)?(?P<name>[\u4e00-\u9fffA-Za-z]{{1,8}}))?$"
)
OWN_ZH = to_pattern(
    rf"^我{ADV}(?:有|开的?是?|拥有)(?:一|两|三)?(?P<what>(?:辆|台|套)[\u4e00-\u9fffA-Za-z0-9 ]{{2,14}})$"
)
STUDY_ZH = to_pattern(
    rf"^我{ADV}(?:(?:是)?(?:从)?(?P<school>[\u4e00-\u9fff]{{2,10}}(?:大学|学院|学校|中学|一中))"
    rf"(?:本科|硕士|博士)?毕业(?:的|了)?|毕业于(?P<school2>.{{2,16}})|(?:学的?是?|读的?是?|主修"
    rf"|攻读|的专业是|专业是|念的?是?)(?P<major>[\u4e00-\u9fffA-Za-z ]{{2,12}}?)(?:专业|系)?(?:的)?"
    rf"|在(?P<school3>[\u4e00-\u9fffA-Za-z]{{2,12}})(?:读|上|念)(?P<level>大[一二三四]|研[一二三]"
    r"|研究生|硕士|博士|本科|大学|高[一二三中]|初[一二三中]|书|MBA))$"
)
TONGUE_ZH = to_pattern(
    rf"^我(?:的)?{ADV}(?:母语是|会说|能说|会讲|懂|精通|会)(?P<tongue>(?:[\u4e00-\u9fff]{{1,4}}"
    r"(?:语|文|话)(?:[、和及])?)+)$"
)
HEALTH_ZH = to_pattern(
    rf"^我(?:的)?{ADV}(?:有|患有|得了|查出(?:来)?|确诊(?:了)?|得过|是)(?:点|些|轻度|重度|严重的?"
    rf"|慢性|先天性?|多年)*(?P<what>[\u4e00-\u9fff]{{0,4}}(?:糖尿病|高血压|低血压|哮喘|胃病|胃炎"
    r"|痛风|心脏病|鼻炎|抑郁症|焦虑症|近视|色盲|色弱|颈椎病|腰椎间盘突出|偏头痛|贫血|甲亢|甲减"
    r"|乙肝|癫痫|关节炎|失眠症?|湿疹|乳糖不耐受?|多动症|ADHD|自闭症|高血脂|脂肪肝|肾结石|脊柱侧弯"
    r"|敏感肌|干皮|油皮|混合皮|干性皮肤|油性皮肤))(?:了|患者|的|[一二两三四五六七八九十\d]+年"
    r"(?:了)?)?$"
)
BODY_ZH = to_pattern(
    (
        r"^我(?:的)?(?:现在|今年|目前|大概)*(?P<what>身高|体重|鞋码|尺码|衣服尺码|血型|星座|MBTI"
        r"|肤质|视力|腰围|时区|学历|肤色|发型|宗教信仰|国籍|性别|民族|婚姻状况|职级|工号|车牌|邮编"
        r"|昵称|网名|微信名)(?:是|大概|差不多|有|为|：|:)*(?P<value>[\w\u4e00-\u9fff.+ -]{1,16}?)"
        r"(?:左右|了)?$"
    ),
    re.I,
)
MBTI = to_pattern(r"^(?:我是|I'?m an?|I am an?)\s*(?P<mbti>[IE][NS][TF][JP])\b", re.I)
SEX_ZH = to_pattern(
    r"^我是(?:个|一个|一名)?(?P<sex>男生|女生|男性|女性|男的|女的|女孩|男孩|左撇子|独生子女?"
    r"|独生女|处女座|白羊座|金牛座|双子座|巨蟹座|狮子座|天秤座|天蝎座|射手座|摩羯座|水瓶座|双鱼座"
    r"|单亲妈妈|单亲爸爸|基督徒|佛教徒|穆斯林|回族|汉族|满族|藏族|蒙古族|壮族|维吾尔族)$"
)
ORG_ZH = to_pattern(
    r"^(?:我们|咱们|我的?|咱|本)(?P<what>(?:这个|这家|的)?(?:门店|店铺?|店里|公司|团队|品牌|"
    r"部门|客户|客群|用户|产品|项目|小组|工作室|厂|工厂|学校|餐厅|机构|平台|系统|业务|行业|实验室"
    r"|服务|后端|前端|仓库|代码库|网店|淘宝店|小店|咖啡店|事业部|组里?|集群|数据库|技术栈|网站"
    r"|APP|app|供应商|甲方)[\u4e00-\u9fffA-Za-z]{0,8}?)(?P<rest>(?:的|主要|一般|基本|都|大多"
    r"|平时|现在|目前|一直|全部|总共|一共|也)*(?:[\u4e00-\u9fff]{0,6}?)(?:是|在|偏|用的?是?|"
    r"使用|采用|面向|定位|位于|做|卖|主打|有|以|叫|属于|分布|规模|成立于|来自|部署在|跑在|基于"
    r"|主营|专注|共|需要|支持|集中|负责|要求|规定).{1,40})$"
)
ORG_MOOD = to_pattern(
    r"今天|昨天|明天|刚才|这次|这周|好累|真|太|烦|气死|吐槽|放假|开会|迟到|聚餐|团建|要不|会不会|问题|报错|出错|bug|挂了|崩|在吗|是不是|怎么",
    re.I,
)
ADV_EN = (
    r"(?:currently|now|actually|also|originally|still|just|recently|really|usually|mainly|always"
    r"|have been|been|officially|finally|proudly|presently|basically|in fact)"
)
NAME_EN = to_pattern(
    (
        r"\b(?:my|My)\s+(?:full\s+|first\s+|real\s+)?name(?:'s|\s+is)\s+(?:actually\s+)?(?P<name>[A-Z\u4e00-\u"
        r"9fff][\w'.\u4e00-\u9fff-]*(?:\s+(?:[A-Z][\w'.-]*|de|van|von|da|bin)){0,3})|^(?:hi |hello"
        r" |hey |and |so )*(?:I'm|I am|i'm|this is|it's)\s+(?P<name2>[A-Z][a-z]+(?:\s+[A-Z][a-z]+){0,2})"
        r"(?=$|,|\s+(?:from|here|and|by the way|again|at)\b)"
    ),
    0,
)
CALL_EN = to_pattern(
    r"\b(?:[Cc]all me|I go by|I'm called|I am called|people call me|friends call me|[Aa]ddress"
    r" me as|[Rr]efer to me as)\s+(?P<name>[A-Z\u4e00-\u9fff][\w\u4e00-\u9fff'.-]*(?:\s+[A-Z][\w'.-]*)?)"
)
HOME_EN = to_pattern(
    (
        rf"\b(?:I|we|I've|we've)\s+(?:{ADV_EN}\s+)*(?:live|lived|reside|work remotely|am living|am based|'m based"
        rf"|are based|settled|am located)\s+(?:{ADV_EN}\s+)*(?:in|at|near|outside|on|from)\s+(?P<place>.+)$"
        rf"|\bI'm\s+(?:{ADV_EN}\s+)*(?:living|based|located|residing)\s+(?:out of|in|at|near)\s+"
        r"(?P<place2>.+)$|\bmy home(?:town)? is (?:now )?in\s+(?P<place3>.+)$"
    ),
    re.I,
)
MOVE_EN = to_pattern(
    (
        rf"\b(?:I|[Ww]e|I've|[Ww]e've)\s+(?:{ADV_EN}\s+)*(?:moved|relocated|emigrated|immigrated|move)\s+"
        rf"(?:back\s+|over\s+|out\s+|here\s+|away\s+)?(?:from\s+(?P<old>[A-Z][\w .'-]{{1,24}}?)\s+)?to\s+"
        r"(?P<place>(?:the\s+)?[A-Z\u4e00-\u9fff][^,]*)(?:,|$)"
    ),
    0,
)
FROM_EN = to_pattern(
    (
        rf"\bI(?:'m| am| come)\s+(?:{ADV_EN}\s+)*from\s+(?P<place>(?:the\s+)?[A-Z][\w .'-]+)$|\bI"
        r" was (?:born|raised|born and raised) in\s+(?P<place2>[A-Z][\w .'-]+)|\bI grew up in\s+"
        r"(?P<place3>.+)$|\bmy (?:home ?town|home country) is\s+(?P<place4>.+)$"
    ),
    0,
)
JOB_NOUN_EN = (
    r"(?:engineer|developer|programmer|designer|teacher|doctor|nurse|lawyer|attorney|manager"
    r"|director|analyst|scientist|researcher|professor|student|writer|author|editor|artist|musician"
    r"|photographer|chef|cook|accountant|architect|consultant|salesperson|marketer|founder|co-founder"
    r"|entrepreneur|freelancer|contractor|pilot|driver|electrician|plumber|mechanic|carpenter"
    r"|farmer|journalist|reporter|actor|actress|dancer|singer|coach|trainer|therapist|psychologist"
    r"|psychiatrist|counselor|pharmacist|dentist|vet|veterinarian|surgeon|paramedic|firefighter"
    r"|police officer|cop|soldier|veteran|librarian|translator|interpreter|recruiter|assistant"
    r"|secretary|admin|administrator|sysadmin|devops|sre|pm|product manager|project manager|"
    r"ceo|cto|cfo|vp|intern|tutor|barista|bartender|waiter|waitress|cashier|retiree|homemaker"
    r"|stay-at-home (?:mom|dad|parent)|phd|postdoc|undergrad|undergraduate|grad student|freshman"
    r"|sophomore|junior|senior|data scientist|biologist|chemist|physicist|mathematician|economist"
    r"|statistician|historian|technician|specialist|officer|producer|illustrator|animator|gardener"
    r"|baker|tester|qa|strategist|planner|realtor|broker|trader|banker|auditor|superintendent"
    r"|principal|social worker|streamer|youtuber|blogger|podcaster|influencer|athlete|swimmer"
    r"|runner|buyer|owner|operator|lead|head of \w+|tech lead|single (?:mom|dad|parent|mother"
    r"|father)|mom|dad|mother|father|native (?:speaker|\w+ speaker)|(?:\w+(?:ist|ian)))"
)
JOB_EN = to_pattern(
    (
        r"\bI(?:'m| am|'ve been| have been| work as| worked as| got a job as| became| serve as| used"
        rf" to be)\s+(?P<neg>not\s+)?(?:{ADV_EN}\s+)*(?:employed as\s+|working as\s+|training to"
        rf" be\s+)?(?:an?\s+|the\s+)(?P<job>(?:[\w/+#.&-]+\s+){{0,4}}?{JOB_NOUN_EN})\b(?P<at>\s+"
        r"(?:at|for|with|in|from)\s+.+)?(?P<rest>.*)$|\bmy\s+(?:job|occupation|profession|day job"
        r"|title|job title|role)\s+is\s+(?P<job2>.+)$|\bI work in\s+(?P<field>(?:the\s+)?(?:finance"
        r"|tech|marketing|sales|hr|it|healthcare|education|law|media|advertising|retail|hospitality"
        r"|construction|logistics|consulting|insurance|banking|real estate|manufacturing|biotech"
        r"|gaming|design|publishing|academia|government|security|cybersecurity|data science|accounting"
        r"|engineering|film|music|fashion|pharma|energy|agriculture|public health|customer (?:support"
        r"|service|success)|product(?: management)?|research)\b.*)$"
    ),
    re.I,
)
WORK_EN = to_pattern(
    (
        rf"\b(?:I|I'm|I've|I am)\s+(?:{ADV_EN}\s+)*(?:work|working|worked|employed|started working"
        r"|started|interning|intern|am employed)\s+(?:as\s+.+?\s+)?(?:at|for)\s+(?P<org>(?:an?\s+"
        rf"|the\s+)?[A-Z\u4e00-\u9fff][^,]*?|an?\s+(?:\w+\s+){{0,3}}(?:company|startup|bank|hospital"
        r"|school|university|agency|firm|nonprofit|non-profit|bakery|store|restaurant|studio|lab"
        r"|ngo))$|\bI\s+(?:just\s+|recently\s+)?joined\s+(?P<org2>[A-Z][\w&.-]*(?:\s+[A-Z][\w&.-]*)*)"
        r"(?=$|\s+(?:as|last|this|in|a)\b)|\bmy (?:employer|company) is\s+(?:called\s+)?(?P<org3>.+)$"
    ),
    0,
)
AGE_EN = to_pattern(
    (
        r"\bI(?:'m| am|'ve just turned| just turned| turned)\s+(?:now\s+|currently\s+|only\s+|almost\s+)?"
        r"(?P<age>\d{1,2})(?:\s+years?\s+old|\s+yo)?(?=$|\s+(?:and|today|now|this|last|next)\b)"
    ),
    re.I,
)
BIRTH_EN = to_pattern(
    (
        r"\bmy birthday(?:'s| is)\s+(?:on\s+|in\s+)?(?P<day>.+)$|\bI was born (?:on|in)\s+(?P<day2>"
        r"(?:\w+\s+\d.*|(?:19|20)\d\d.*))$"
    ),
    re.I,
)
KIN_EN = (
    r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|mom|mum|mother|dad|father"
    r"|parents|grandparents|in-laws|son|daughter|brother|sister|kids?|child|children|baby|dog|cat|puppy|kitten|pet|parrot"
    r"|rabbit|hamster|boss|manager|best friend|roommate|grandma|grandmother|grandpa|grandfather"
    r"|uncle|aunt|cousin|niece|nephew)"
)
MY_ORG_EN = to_pattern(
    r"\bmy\s+(?P<what>team|company|startup|shop|store|department|studio|office|business|school|lab|employer)\s+"
    r"(?:mostly\s+|mainly\s+|only\s+|always\s+|also\s+|still\s+)*"
    r"(?P<rest>(?:uses?|runs?|sells?|builds?|makes?|ships?|deploys?|follows?|targets?|serves?|is based in|is located in"
    r"|consists? of|has \d+|works? (?:in|on|with|from))\b.+)$",
    re.I,
)
TRAIT_EN = to_pattern(
    r"\bI(?:'m| am)\s+(?:definitely\s+|really\s+|very much\s+|more of\s+|such\s+|kind of\s+|not\s+|always been\s+)*"
    r"(?P<not>not\s+)?an?\s+(?P<what>(?:morning|night|dog|cat|people|early|coffee|tea|beach|city|mountain|outdoors?y?"
    r"|indoors?y?|detail|numbers?|visual|big[- ]picture|private|social)[- ](?:person|learner|lover)|night owl"
    r"|early bird"
    r"|early riser|introvert|extrovert|homebody|foodie|minimalist|perfectionist|bookworm|light sleeper|picky eater"
    r"|slow reader|visual learner|gamer|cyclist|smoker|non-smoker)\b",
    re.I,
)
RELATIVE_EN = to_pattern(
    (
        rf"\b[Mm]y\s+(?:\w+\s+)?(?P<who>{KIN_EN})(?:\s+(?P<given>[A-Z][a-z]+))?(?:'s)?\s*(?P<what>"
        r"(?:name\s+is|name's|is (?:called"
        r"|named))\s+(?P<name>[A-Z\u4e00-\u9fff][\w'\u4e00-\u9fff-]*(?:\s+[A-Z][\w'-]*)?)|(?:is|"
        rf"are|'s)\s+(?:an?\s+)(?P<job>(?:[\w-]+\s+){{0,3}}?(?:{JOB_NOUN_EN}|golden retriever|labrador"
        rf"|poodle|beagle|corgi|husky|tabby|siamese))|(?:is|are|turned|just turned)\s+(?P<age>\d{{1,3}})"
        r"(?:\s+(?:years|months)\s+old)?|is allergic to\s+(?P<allergy>.+)|(?:lives?|works?)\s+(?:in"
        r"|at|for)\s+(?P<place>[A-Z].+)|(?:,\s*)?(?P<name2>[A-Z][a-z]+)(?=\s*$|,))(?P<rest>.*)$"
    ),
    0,
)
HAVE_EN = to_pattern(
    (
        r"\b(?:I|we|I've|we've)\s+(?:(?:also|now|currently|still|already)\s+)*(?:have|got|have got"
        r"|own|adopted|'ve got)\s+(?P<what>(?:an?|one|two|three|four|five|six|\d+)\s+(?:[\w-]+\s+){0,3}?"
        r"(?:kids?|children|child|sons?|daughters?|brothers?|sisters?|siblings?|dogs?|cats?|puppy"
        r"|puppies|kittens?|pets?|golden retrievers?|labradors?|corgis?|poodles?|beagles?|husk(?:y"
        r"|ies)|bulldogs?|german shepherds?|twins?|parrots?|rabbits?|hamsters?|fish|horses?|grandchildren"
        r"|"
        r"grandkids|tesla|car|house|apartment|motorcycle|bike|boat|farm|shop|bakery|business|startup"
        r"|company|restaurant|store|youtube channel|podcast|blog|phd|degree|master's(?: degree)?))\b"
        r"(?P<rest>.*)$"
    ),
    re.I,
)
NAMED_EN = to_pattern(r"\b(?:named|called)\s+(?P<names>[A-Z][\w'-]*(?:(?:\s+and\s+|,\s*)[A-Z][\w'-]*)*)")
STATUS_EN = to_pattern(
    (
        r"\bI(?:'m| am|'ve been| have been| got| just got)\s+(?:now\s+|happily\s+|recently\s+|just\s+"
        r"|still\s+|newly\s+|currently\s+)*(?P<status>married|single|divorced|engaged|widowed|retired"
        r"|unemployed|pregnant|self-employed|between jobs|left-handed|color-?blind|colour-?blind"
        r"|bilingual|an only child|transgender|gay|lesbian|bisexual|christian|muslim|jewish|buddhist"
        r"|hindu|an atheist)\b(?!\s+to\s+(?:the|a|this)\b)"
    ),
    re.I,
)
STUDY_EN = to_pattern(
    (
        r"\bI(?:'m| am)?\s+(?:currently\s+|now\s+|just\s+|recently\s+)*(?:study|studying|studied"
        r"|major(?:ed|ing)? in|graduated from|went to|attend(?:ed)?|go to school at|got my (?:degree"
        r"|phd|master's|bachelor's) (?:in|from)|have a (?:degree|phd|master's|bachelor's)(?: degree)?"
        r" (?:in|from)|hold a (?:degree|phd|master's|bachelor's)(?: degree)? (?:in|from))\s+(?P<what>[A-Za-z]["
        r"\w .,'&-]*)$"
    ),
    re.I,
)
SCHOOL_EN = to_pattern(
    (
        r"university|college|school|institute|\b(?:MIT|Stanford|Harvard|Yale|Oxford|Cambridge|UCLA"
        r"|Berkeley|Tsinghua|Peking)\b"
    ),
    re.I,
)
TONGUE_EN = to_pattern(
    (
        r"\b(?:I\s+(?:also\s+)?(?:speak|am fluent in|know)|I'm fluent in|my (?:native language|mother"
        r" tongue|first language)(?: is|'s))\s+(?:fluent\s+|some\s+|native\s+|a little\s+)?(?P<what>"
        r"(?:English|Chinese|Mandarin|Cantonese|Spanish|French|German|Japanese|Korean|Italian|Portuguese"
        r"|Russian|Arabic|Hindi|Dutch|Polish|Turkish|Vietnamese|Thai|Swedish|Greek|Hebrew)\b.*)$"
    ),
    re.I,
)
HEALTH_EN = to_pattern(
    (
        r"\bI(?:'ve| have)?\s+(?:been\s+)?(?:also\s+)?(?:have|had|got|suffer from|live with|was diagnosed"
        r" with|diagnosed with|am|'m)\s+(?:been\s+diagnosed\s+with\s+)?(?:mild\s+|severe\s+|chronic\s+"
        r"|bad\s+|a\s+)?(?P<what>(?:type [12]\s+)?diabet(?:es|ic)|asthma(?:tic)?|hypertension|high"
        r" blood pressure|migraines?|epilepsy|adhd|add|autis(?:m|tic)|depression|anxiety(?: disorder)?"
        r"|insomnia|arthritis|celiac(?: disease)?|ibs|crohn'?s|eczema|anemia|dyslexi(?:a|c)|color"
        r" blindness|a heart condition|heart (?:condition|disease)|a bad (?:back|knee)|lupus|gout"
        r"|scoliosis|hypothyroidism|sleep apnea|ptsd|ocd|bipolar)\b"
    ),
    re.I,
)
BODY_EN = to_pattern(
    (
        r"\bmy\s+(?P<what>height|weight|shoe size|shirt size|blood type|zodiac sign|time ?zone|skin"
        r" type|nationality|gender|pronouns|ethnicity|religion|mbti|nickname|github username|username"
        r"|handle|middle name|last name|maiden name|current title|zip code|postcode)(?:\s+(?:is|"
        r"are)|'s)\s+(?P<value>[\w/+:'. -]{1,30})$"
    ),
    re.I,
)
ORG_EN = to_pattern(
    (
        r"\bour\s+(?P<what>(?:[\w-]+\s+){0,2}?(?:store|shop|team|company|customers?|clients?|users?"
        r"|product|project|stack|codebase|startup|business|brand|audience|app|service|database|backend"
        r"|frontend|infrastructure|cluster|pipeline|restaurant|bakery|studio|office|department|organization"
        r"|school|website|platform|api|repo|monorepo|fleet|factory|warehouse|policy|tech stack|ci"
        r"|sprints?|standups?|releases?))\s+(?P<rest>(?:is|are|uses?|runs?|sells?|targets?|has|have"
        r"|serves?|consists?|skews?|mostly|mainly|primarily|works?|operates?|was founded|supports?"
        r"|ships?|lives?|deploys?|requires?|focus(?:es)?|start(?:s)?|happens?)\b.+)$"
    ),
    re.I,
)
WE_EN = to_pattern(
    (
        r"^(?:\w+,\s*)?we\s+(?:currently\s+|mostly\s+|mainly\s+|only\s+|all\s+|still\s+|already\s+"
        r"|usually\s+|always\s+)*(?P<verb>use|run|sell|build|ship|deploy|target|serve|store|host"
        r"|write|operate|make|manufacture|work with|are using|'re using|are a|'re a|have)\s+(?P<what>.+)$"
    ),
    re.I,
)
NOT_OF_A_TEAM_EN = to_pattern(
    r"(?:to|a (?:\w+ )?(?:question|problem|bug|deal|chat|point)\b|no\b|not\b|it\b|been|gone|got\b|an? extra|\w+ed\b)",
    re.I,
)
"""What we have for the moment, or have done."""
TRANSIENT_EN = to_pattern(
    (
        r"\b(?:today|tonight|yesterday|tomorrow|right now|this morning|error|bug|issue|problem|broken"
        r"|down|failing|late|tired|crash\w*|meeting|going to|trouble|question)\b"
    ),
    re.I,
)
VAGUE_PLACE = to_pattern(
    (
        r"^(?:a |an |the (?:middle|same|moment|past|present|city|countryside|suburbs?)|my |here|"
        r"there|this|that|his|her|their|our|home|bed|work|it\b|what|where|fear|peace)|酒店|宾馆|"
        r"家里|这[里儿边]|那[里儿边]|一起|学校宿舍$|医院|朋友家|楼|院|哪|旁边|附近|隔壁|^(?:家|下来"
        r"|进去|不下|得|在)"
    ),
    re.I,
)
