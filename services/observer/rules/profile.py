"""Facts about the speaker that fill slots: name, home, work, family, health; and facts about the speaker's business."""

import re

import rjieba

from services.observer.rules.clauses import Clause
from services.observer.rules.guards import KIN_ZH, Stance
from services.observer.rules.keys import fold, slug, tidy
from services.observer.rules.model import Found

_NOT_NAME = re.compile(r"什么|谁|哪|啥|外卖|车|滴滴|人来|人帮|他|她|你|它|[吗呢么?？]|救护|上|醒|起床|停|个|服务|快递|一[个声下]|朋友|同事|[了着过]$|早|板|做|作$|不|没|苦|好$|嚣|the|what|not|just|sure|sorry|glad|happy|here|going|looking|trying|a$|an$|very|so$|your", re.I)
_ADV = r"(?:现在|目前|如今|已经|一直|就|是|都|也|其实|真的|今年|刚|刚刚|最近|平时|长期|暂时不|从小|常年|主要|还|还是|本来|原来是|之前|去年|上个?月|上周|这个月|终于|正式|又|马上|仍然)*"
_NAME_ZH = re.compile(rf"^(?:我|本人)(?:的(?:中文|英文|真)?名字?)?{_ADV}(?:名叫|叫做|叫|姓名是|名字叫|名字是|大名|全名是?|名是|的名字是|的名字叫|英文名是|英文名叫)(?:做)?\s*(?P<name>[\u4e00-\u9fff·]{{1,6}}|[A-Za-z][A-Za-z .·'-]{{0,30}})(?:就行|就好|吧|哦|啊|呀)?$|^(?:我的?)(?:中文|英文)?(?:名字?|姓名)(?:是|叫|：|:)\s*(?P<name2>[\u4e00-\u9fff·]{{1,6}}|[A-Za-z][A-Za-z .·'-]{{0,30}})$")
_SURNAME_ZH = re.compile(r"^(?:我|免贵)姓(?P<name>[\u4e00-\u9fff]{1,2})$")
_CALL_ZH = re.compile(r"^(?:以后|今后|请|你|可以|就|都|也|直接|大家|朋友们?|同事们?|请你|你们|你就|你可以|习惯|记得|用)*(?:叫|称呼|喊|管)我(?:为|做|叫)?(?P<name>[\u4e00-\u9fffA-Za-z ·]{1,12}?)(?:就行了?|就好了?|就可以了?|即可|吧|好了|哦)?$")
_HOME_ZH = re.compile(rf"^(?:我|我家|我们家|我们一家|我和\S{{1,4}})(?:人)?{_ADV}(?:的?家)?(?:住在|住到|住|定居(?:在|到)?|常住在?|生活在|家在|在家住|的家在|租住在|落户(?:在|到)?)(?P<place>[\u4e00-\u9fffA-Za-z ·0-9]{{2,20}}?)(?:这边|这里|那边|了|工作|生活|上班)?(?:[一二两三四五六七八九十\d]+(?:多)?年(?:了|多了)?)?$|^我{_ADV}在(?P<place2>[\u4e00-\u9fffA-Za-z ]{{2,12}}?)(?:生活|居住|定居|安家)(?:了?[一二两三四五六七八九十\d]+(?:多)?年)?(?:了)?$")
_MOVE_ZH = re.compile(rf"^(?:我|我们|我家|我们家|我们一家|我和\S{{1,4}})?{_ADV}(?:从(?P<old>[\u4e00-\u9fffA-Za-z ]{{2,10}}?))?(?:搬家|搬|移居|移民|调|回|迁)(?:到|去|来|回|至)(?:了)?(?P<place>[\u4e00-\u9fffA-Za-z ]{{2,14}}?)(?:来|去|住|生活|工作|定居|发展)?(?:了)?$")
_FROM_ZH = re.compile(rf"^(?:我{_ADV}(?:来自|是从|出生(?:在|于)|是在|生在|长在|祖籍是?)|我的?(?:老家|家乡|籍贯)(?:是|在|：)?)(?P<place>[\u4e00-\u9fffA-Za-z ]{{2,12}}?)(?:来的|出生的?|长大的?|的|人|农村|的?一个小(?:城|镇|村|县城))?$|^(?:我{_ADV}(?:是)?)(?P<native>[\u4e00-\u9fff]{{2,6}})人$")
_JOB_SUFFIX = r"(?:工程师|老师|教师|医生|护士|律师|设计师|程序员|程序猿|码农|经理|总监|主管|总裁|CEO|CTO|CFO|HR|产品|运营|编辑|记者|作家|画家|歌手|演员|导演|摄影师|厨师|司机|会计|审计|学生|研究生|博士生|博士后|博士|硕士生|本科生|高中生|大学生|初中生|教授|讲师|研究员|科学家|分析师|架构师|顾问|销售|客服|店长|老板|创业者|自由职业者?|公务员|军人|警察|消防员|飞行员|空姐|翻译|药剂师|兽医|教练|主播|博主|up主|UP主|作者|建筑师|技术员|实习生|开发者?|开发人员|测试|运维|前端|后端|全栈|算法|数据科学家|退休\S{0,4}|宝妈|全职妈妈|全职爸爸|家庭主妇|助理|秘书|文员|出纳|保安|快递员|外卖员|骑手|农民|工人|电工|木工|心理咨询师|咨询师|营养师|理发师|化妆师|美容师|法官|检察官|牙医|规划师|策划|文案|采购|买手|导游|瑜伽老师|健身教练|插画师|漫画家|音乐人|调酒师|咖啡师|面包师|项目经理|产品经理|投资人|合伙人|创始人|负责人|[\u4e00-\u9fff]{1,5}[师员工家者])"
_JOB_ZH = re.compile(rf"^(?:我|本人)(?P<neg>不|没)?{_ADV}(?:当|做|是|从事|任|担任|的工作是|的职业是|的职务是|的岗位是|的本职工作是|职业是|工作是|的身份是|改行做了?|转行做了?)(?:了)?(?:一?[名个位])?(?P<job>[\u4e00-\u9fffA-Za-z+# ]{{0,16}}?{_JOB_SUFFIX})(?:的|了|工作|出身|职位|这行|这一行|岗位)?(?:[一二两三四五六七八九十\d]+(?:多)?年(?:了)?)?$|^我的(?:职业|工作|岗位|本职工作|职位)(?:就)?是(?P<job2>.{{2,20}})$|^我{_ADV}(?:从事|做)(?:的是)?(?P<field>[\u4e00-\u9fffA-Za-z ]{{2,12}}?)(?:行业|工作|这行|这一行|方面的工作|领域|相关的?工作)(?:的)?(?:[一二两三四五六七八九十\d]+年(?:了)?)?$")
_WORK_ZH = re.compile(rf"^我{_ADV}(?:在|就职于|任职于|供职于|入职了?|加入了?|跳槽(?:到|去)了?|加盟了?)(?P<place>[\u4e00-\u9fffA-Za-z0-9 ·&.]{{2,20}}?)(?:公司)?(?P<act>工作|上班|任职|就职|当\S{{2,12}}|做\S{{2,12}}|实习|教书|任教|打工)?(?:了?[一二两三四五六七八九十\d]+(?:多|个)?(?:年|月)(?:多)?)?(?:的|了)?$")
_AGE_ZH = re.compile(rf"^(?:我|本人){_ADV}(?:今年|已经|刚满?|快|满|马上)*(?P<age>\d{{1,3}}|[一二三四五六七八九十]{{1,3}})(?:周?岁|多岁)(?:了|半)?$|^我{_ADV}(?:是)?(?P<year>(?:19|20)\d{{2}}|[5-9０0]\d)(?:年|后)(?:出?生)?(?:的|人)?$|^我属(?P<sign>[鼠牛虎兔龙蛇马羊猴鸡狗猪])(?:的)?$")
_BIRTH_ZH = re.compile(r"^我的?(?:生日|出生日期|出生年月)(?:就)?(?:是|在|：|:)?(?:农历|阴历|阳历)?(?P<day>.{2,14}?)(?:出生)?$")
_FAMILY_ZH = re.compile(rf"^(?:我|我们|我家)(?:家|们)?{_ADV}有(?:了)?(?P<what>(?:一|两|三|四|几|\d+)(?:个|位|对|名)(?:双胞胎)?(?:[\u4e00-\u9fff]{{0,4}}?)(?:{KIN_ZH.pattern})(?:.{{0,12}}))$|^我{_ADV}(?P<married>结婚|订婚|离婚|已婚|未婚|单身|离异|当爸爸|当妈妈|做爸爸|做妈妈|怀孕)(?:了|的|狗|[一二两三四五六七八九十\d]+年(?:了)?)?$")
_RELATIVE_ZH = re.compile(rf"^我(?:的|家)?(?P<who>(?:大|小|二|前|新)?{KIN_ZH.pattern})(?:的?名字)?{_ADV}(?:今年)?(?P<what>(?:叫|名叫|叫做|是|今年|的?生日是|在|住在|对)?(?P<value>[\u4e00-\u9fffA-Za-z0-9 ]{{1,20}}))$")
_RELATIVE_OK_ZH = re.compile(rf"^(?:叫|名叫|叫做)[\u4e00-\u9fffA-Za-z]{{1,12}}$|^(?:今年)?[\d一二三四五六七八九十]+(?:个月|岁|周岁|年级)(?:半|了|大)?$|^是(?:一?[名个位])?[\u4e00-\u9fffA-Za-z ]{{0,10}}(?:{_JOB_SUFFIX}|人)$|^(?:的?生日是|住在|在[\u4e00-\u9fffA-Za-z]{{2,12}}(?:工作|上班|上学|读书|生活|读大学|念书)).{{0,12}}$|^对.{{1,8}}过敏$|^是[\u4e00-\u9fffA-Za-z]{{2,8}}(?:犬|猫|狗)$")
_PET_ZH = re.compile(rf"^(?:我|我们|我家|我们家)(?:家)?(?:里)?{_ADV}(?:有|养了?|收养了?|领养了?|新养了?)(?P<pet>(?:一|两|三|四|几|\d+)?(?:只|条|匹|头|个|缸)[\u4e00-\u9fffA-Za-z]{{1,12}}?)(?:[，,]?(?:名字)?叫(?:做)?(?P<name>[\u4e00-\u9fffA-Za-z]{{1,8}}))?$")
_OWN_ZH = re.compile(rf"^我{_ADV}(?:有|开的?是?|拥有)(?:一|两|三)?(?P<what>(?:辆|台|套)[\u4e00-\u9fffA-Za-z0-9 ]{{2,14}})$")
_STUDY_ZH = re.compile(rf"^我{_ADV}(?:(?:是)?(?:从)?(?P<school>[\u4e00-\u9fff]{{2,10}}(?:大学|学院|学校|中学|一中))(?:本科|硕士|博士)?毕业(?:的|了)?|毕业于(?P<school2>.{{2,16}})|(?:学的?是?|读的?是?|主修|攻读|的专业是|专业是|念的?是?)(?P<major>[\u4e00-\u9fffA-Za-z ]{{2,12}}?)(?:专业|系)?(?:的)?|在(?P<school3>[\u4e00-\u9fffA-Za-z]{{2,12}})(?:读|上|念)(?P<level>大[一二三四]|研[一二三]|研究生|硕士|博士|本科|大学|高[一二三中]|初[一二三中]|书|MBA))$")
_TONGUE_ZH = re.compile(rf"^我(?:的)?{_ADV}(?:母语是|会说|能说|会讲|懂|精通|会)(?P<tongue>(?:[\u4e00-\u9fff]{{1,4}}(?:语|文|话)(?:[、和及])?)+)$")
_HEALTH_ZH = re.compile(rf"^我(?:的)?{_ADV}(?:有|患有|得了|查出(?:来)?|确诊(?:了)?|得过|是)(?:点|些|轻度|重度|严重的?|慢性|先天性?|多年)*(?P<what>[\u4e00-\u9fff]{{0,4}}(?:糖尿病|高血压|低血压|哮喘|胃病|胃炎|痛风|心脏病|鼻炎|抑郁症|焦虑症|近视|色盲|色弱|颈椎病|腰椎间盘突出|偏头痛|贫血|甲亢|甲减|乙肝|癫痫|关节炎|失眠症?|湿疹|乳糖不耐受?|多动症|ADHD|自闭症|高血脂|脂肪肝|肾结石|脊柱侧弯|敏感肌|干皮|油皮|混合皮|干性皮肤|油性皮肤))(?:了|患者|的|[一二两三四五六七八九十\d]+年(?:了)?)?$")
_BODY_ZH = re.compile(r"^我(?:的)?(?:现在|今年|目前|大概)*(?P<what>身高|体重|鞋码|尺码|衣服尺码|血型|星座|MBTI|肤质|视力|腰围|时区|学历|肤色|发型|宗教信仰|国籍|性别|民族|婚姻状况|职级|工号|车牌|邮编|昵称|网名|微信名)(?:是|大概|差不多|有|为|：|:)*(?P<value>[\w\u4e00-\u9fff.+ -]{1,16}?)(?:左右|了)?$", re.I)
_MBTI = re.compile(r"^(?:我是|I'?m an?|I am an?)\s*(?P<mbti>[IE][NS][TF][JP])\b", re.I)
_SEX_ZH = re.compile(r"^我是(?:个|一个|一名)?(?P<sex>男生|女生|男性|女性|男的|女的|女孩|男孩|左撇子|独生子女?|独生女|处女座|白羊座|金牛座|双子座|巨蟹座|狮子座|天秤座|天蝎座|射手座|摩羯座|水瓶座|双鱼座|单亲妈妈|单亲爸爸|基督徒|佛教徒|穆斯林|回族|汉族|满族|藏族|蒙古族|壮族|维吾尔族)$")

_ORG_ZH = re.compile(r"^(?:我们|咱们|我的?|咱|本)(?P<what>(?:这个|这家|的)?(?:门店|店铺?|店里|公司|团队|品牌|部门|客户|客群|用户|产品|项目|小组|工作室|厂|工厂|学校|餐厅|机构|平台|系统|业务|行业|实验室|服务|后端|前端|仓库|代码库|网店|淘宝店|小店|咖啡店|事业部|组里?|集群|数据库|技术栈|网站|APP|app|供应商|甲方)[\u4e00-\u9fffA-Za-z]{0,8}?)(?P<rest>(?:的|主要|一般|基本|都|大多|平时|现在|目前|一直|全部|总共|一共|也)*(?:[\u4e00-\u9fff]{0,6}?)(?:是|在|偏|用的?是?|使用|采用|面向|定位|位于|做|卖|主打|有|以|叫|属于|分布|规模|成立于|来自|部署在|跑在|基于|主营|专注|共|需要|支持|集中|负责|要求|规定).{1,40})$")
_ORG_MOOD = re.compile(r"今天|昨天|明天|刚才|这次|这周|好累|真|太|烦|气死|吐槽|放假|开会|迟到|聚餐|团建|要不|会不会|问题|报错|出错|bug|挂了|崩|在吗|是不是|怎么", re.I)

_ADV_EN = r"(?:currently|now|actually|also|originally|still|just|recently|really|usually|mainly|always|have been|been|officially|finally|proudly|presently|basically|in fact)"
_NAME_EN = re.compile(r"\b(?:my|My)\s+(?:full\s+|first\s+|real\s+)?name(?:'s|\s+is)\s+(?:actually\s+)?(?P<name>[A-Z\u4e00-\u9fff][\w'.\u4e00-\u9fff-]*(?:\s+(?:[A-Z][\w'.-]*|de|van|von|da|bin)){0,3})|^(?:hi |hello |hey |and |so )*(?:I'm|I am|i'm|this is|it's)\s+(?P<name2>[A-Z][a-z]+(?:\s+[A-Z][a-z]+){0,2})(?=$|\s+(?:from|here|and|by the way|again|at)\b)", 0)
_CALL_EN = re.compile(r"\b(?:call me|I go by|I'm called|I am called|people call me|friends call me|address me as|refer to me as)\s+(?P<name>[A-Z\u4e00-\u9fff][\w\u4e00-\u9fff'.-]*(?:\s+[A-Z][\w'.-]*)?)")
_HOME_EN = re.compile(rf"\b(?:I|we|I've|we've)\s+(?:{_ADV_EN}\s+)*(?:live|lived|reside|am living|am based|'m based|are based|settled|am located)\s+(?:{_ADV_EN}\s+)*(?:in|at|near|outside|on)\s+(?P<place>.+)$|\bI'm\s+(?:{_ADV_EN}\s+)*(?:living|based|located|residing)\s+(?:out of|in|at|near)\s+(?P<place2>.+)$|\bmy home(?:town)? is (?:now )?in\s+(?P<place3>.+)$", re.I)
_MOVE_EN = re.compile(rf"\b(?:I|we|I've|we've)\s+(?:{_ADV_EN}\s+)*(?:moved|relocated|emigrated|immigrated|move)\s+(?:back\s+|over\s+|out\s+|here\s+|away\s+)?(?:from\s+(?P<old>[A-Z][\w .'-]{{1,24}}?)\s+)?to\s+(?P<place>(?:the\s+)?[A-Z\u4e00-\u9fff][^,]*)$", 0)
_FROM_EN = re.compile(rf"\bI(?:'m| am| come)\s+(?:{_ADV_EN}\s+)*from\s+(?P<place>(?:the\s+)?[A-Z][\w .'-]+)$|\bI was (?:born|raised|born and raised) in\s+(?P<place2>[A-Z][\w .'-]+)|\bI grew up in\s+(?P<place3>.+)$|\bmy (?:home ?town|home country) is\s+(?P<place4>.+)$", 0)
_JOB_NOUN_EN = r"(?:engineer|developer|programmer|designer|teacher|doctor|nurse|lawyer|attorney|manager|director|analyst|scientist|researcher|professor|student|writer|author|editor|artist|musician|photographer|chef|cook|accountant|architect|consultant|salesperson|marketer|founder|co-founder|entrepreneur|freelancer|contractor|pilot|driver|electrician|plumber|mechanic|carpenter|farmer|journalist|reporter|actor|actress|dancer|singer|coach|trainer|therapist|psychologist|psychiatrist|counselor|pharmacist|dentist|vet|veterinarian|surgeon|paramedic|firefighter|police officer|cop|soldier|veteran|librarian|translator|interpreter|recruiter|assistant|secretary|admin|administrator|sysadmin|devops|sre|pm|product manager|project manager|ceo|cto|cfo|vp|intern|tutor|barista|bartender|waiter|waitress|cashier|retiree|homemaker|stay-at-home (?:mom|dad|parent)|phd|postdoc|undergrad|undergraduate|grad student|freshman|sophomore|junior|senior|data scientist|biologist|chemist|physicist|mathematician|economist|statistician|historian|technician|specialist|officer|producer|illustrator|animator|gardener|baker|tester|qa|strategist|planner|realtor|broker|trader|banker|auditor|superintendent|principal|social worker|streamer|youtuber|blogger|podcaster|influencer|athlete|swimmer|runner|buyer|owner|operator|lead|head of \w+|tech lead|single (?:mom|dad|parent|mother|father)|mom|dad|mother|father|native (?:speaker|\w+ speaker)|(?:\w+(?:ist|ian)))"
_JOB_EN = re.compile(rf"\bI(?:'m| am|'ve been| have been| work as| worked as| got a job as| became| serve as| used to be)\s+(?P<neg>not\s+)?(?:{_ADV_EN}\s+)*(?:employed as\s+|working as\s+|training to be\s+)?(?:an?\s+|the\s+)(?P<job>(?:[\w/+#.&-]+\s+){{0,4}}?{_JOB_NOUN_EN})\b(?P<at>\s+(?:at|for|with|in|from)\s+.+)?(?P<rest>.*)$|\bmy\s+(?:job|occupation|profession|day job|title|job title|role)\s+is\s+(?P<job2>.+)$|\bI work in\s+(?P<field>(?:the\s+)?(?:finance|tech|marketing|sales|hr|it|healthcare|education|law|media|advertising|retail|hospitality|construction|logistics|consulting|insurance|banking|real estate|manufacturing|biotech|gaming|design|publishing|academia|government|security|cybersecurity|data science|accounting|engineering|film|music|fashion|pharma|energy|agriculture|public health|customer (?:support|service|success)|product(?: management)?|research)\b.*)$", re.I)
_WORK_EN = re.compile(rf"\b(?:I|I'm|I've|I am)\s+(?:{_ADV_EN}\s+)*(?:work|working|worked|employed|started working|started|interning|intern|am employed)\s+(?:as\s+.+?\s+)?(?:at|for)\s+(?P<org>(?:an?\s+|the\s+)?[A-Z\u4e00-\u9fff][^,]*?|an?\s+(?:\w+\s+){{0,3}}(?:company|startup|bank|hospital|school|university|agency|firm|nonprofit|non-profit|bakery|store|restaurant|studio|lab|ngo))$|\bI\s+(?:just\s+|recently\s+)?joined\s+(?P<org2>[A-Z][\w&.-]*(?:\s+[A-Z][\w&.-]*)*)(?=$|\s+(?:as|last|this|in|a)\b)|\bmy (?:employer|company) is\s+(?:called\s+)?(?P<org3>.+)$", 0)
_AGE_EN = re.compile(r"\bI(?:'m| am|'ve just turned| just turned| turned)\s+(?:now\s+|currently\s+|only\s+|almost\s+)?(?P<age>\d{1,2})(?:\s+years?\s+old|\s+yo)?(?=$|\s+(?:and|today|now|this|last|next)\b)", re.I)
_BIRTH_EN = re.compile(r"\bmy birthday(?:'s| is)\s+(?:on\s+|in\s+)?(?P<day>.+)$|\bI was born (?:on|in)\s+(?P<day2>(?:\w+\s+\d.*|(?:19|20)\d\d.*))$", re.I)
_KIN_EN = r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|mom|mum|mother|dad|father|son|daughter|brother|sister|kids?|child|children|baby|dog|cat|puppy|kitten|pet|parrot|rabbit|hamster|boss|manager|best friend|roommate|grandma|grandmother|grandpa|grandfather|uncle|aunt|cousin|niece|nephew)"
_RELATIVE_EN = re.compile(rf"\b[Mm]y\s+(?:\w+\s+)?(?P<who>{_KIN_EN})(?:'s)?\s*(?P<what>(?:name\s+is|name's|is (?:called|named))\s+(?P<name>[A-Z\u4e00-\u9fff][\w'\u4e00-\u9fff-]*(?:\s+[A-Z][\w'-]*)?)|(?:is|are|'s)\s+(?:an?\s+)(?P<job>(?:[\w-]+\s+){{0,3}}?(?:{_JOB_NOUN_EN}|golden retriever|labrador|poodle|beagle|corgi|husky|tabby|siamese))|(?:is|are|turned|just turned)\s+(?P<age>\d{{1,3}})(?:\s+(?:years|months)\s+old)?|is allergic to\s+(?P<allergy>.+)|(?:lives?|works?)\s+(?:in|at|for)\s+(?P<place>[A-Z].+)|(?:,\s*)?(?P<name2>[A-Z][a-z]+)(?=\s*$|,))(?P<rest>.*)$", 0)
_HAVE_EN = re.compile(r"\b(?:I|we|I've|we've)\s+(?:(?:also|now|currently|still|already)\s+)*(?:have|got|have got|own|adopted|'ve got)\s+(?P<what>(?:an?|one|two|three|four|five|six|\d+)\s+(?:[\w-]+\s+){0,3}?(?:kids?|children|child|sons?|daughters?|brothers?|sisters?|siblings?|dogs?|cats?|puppy|puppies|kittens?|pets?|twins?|parrots?|rabbits?|hamsters?|fish|horses?|grandchildren|grandkids|tesla|car|house|apartment|motorcycle|bike|boat|farm|shop|bakery|business|startup|company|restaurant|store|youtube channel|podcast|blog|phd|degree|master's(?: degree)?))\b(?P<rest>.*)$", re.I)
_NAMED_EN = re.compile(r"\b(?:named|called)\s+(?P<names>[A-Z][\w'-]*(?:(?:\s+and\s+|,\s*)[A-Z][\w'-]*)*)")
_STATUS_EN = re.compile(r"\bI(?:'m| am|'ve been| have been| got| just got)\s+(?:now\s+|happily\s+|recently\s+|just\s+|still\s+|newly\s+|currently\s+)*(?P<status>married|single|divorced|engaged|widowed|retired|unemployed|pregnant|self-employed|between jobs|left-handed|color-?blind|colour-?blind|bilingual|an only child|transgender|gay|lesbian|bisexual|christian|muslim|jewish|buddhist|hindu|an atheist)\b(?!\s+to\s+(?:the|a|this)\b)", re.I)
_STUDY_EN = re.compile(r"\bI(?:'m| am)?\s+(?:currently\s+|now\s+|just\s+|recently\s+)*(?:study|studying|studied|major(?:ed|ing)? in|graduated from|went to|attend(?:ed)?|go to school at|got my (?:degree|phd|master's|bachelor's) (?:in|from)|have a (?:degree|phd|master's|bachelor's)(?: degree)? (?:in|from)|hold a (?:degree|phd|master's|bachelor's)(?: degree)? (?:in|from))\s+(?P<what>[A-Za-z][\w .,'&-]*)$", re.I)
_SCHOOL_EN = re.compile(r"university|college|school|institute|\b(?:MIT|Stanford|Harvard|Yale|Oxford|Cambridge|UCLA|Berkeley|Tsinghua|Peking)\b", re.I)
_TONGUE_EN = re.compile(r"\b(?:I\s+(?:also\s+)?(?:speak|am fluent in|know)|I'm fluent in|my (?:native language|mother tongue|first language)(?: is|'s))\s+(?:fluent\s+|some\s+|native\s+|a little\s+)?(?P<what>(?:English|Chinese|Mandarin|Cantonese|Spanish|French|German|Japanese|Korean|Italian|Portuguese|Russian|Arabic|Hindi|Dutch|Polish|Turkish|Vietnamese|Thai|Swedish|Greek|Hebrew)\b.*)$", re.I)
_HEALTH_EN = re.compile(r"\bI(?:'ve| have)?\s+(?:been\s+)?(?:also\s+)?(?:have|had|got|suffer from|live with|was diagnosed with|diagnosed with|am|'m)\s+(?:been\s+diagnosed\s+with\s+)?(?:mild\s+|severe\s+|chronic\s+|bad\s+|a\s+)?(?P<what>(?:type [12]\s+)?diabet(?:es|ic)|asthma(?:tic)?|hypertension|high blood pressure|migraines?|epilepsy|adhd|add|autis(?:m|tic)|depression|anxiety(?: disorder)?|insomnia|arthritis|celiac(?: disease)?|ibs|crohn'?s|eczema|anemia|dyslexi(?:a|c)|color blindness|a heart condition|heart (?:condition|disease)|a bad (?:back|knee)|lupus|gout|scoliosis|hypothyroidism|sleep apnea|ptsd|ocd|bipolar)\b", re.I)
_BODY_EN = re.compile(r"\bmy\s+(?P<what>height|weight|shoe size|shirt size|blood type|zodiac sign|time ?zone|skin type|nationality|gender|pronouns|ethnicity|religion|mbti|nickname|github username|username|handle|middle name|last name|maiden name|current title|zip code|postcode)(?:\s+(?:is|are)|'s)\s+(?P<value>[\w/+:'. -]{1,30})$", re.I)
_ORG_EN = re.compile(r"\bour\s+(?P<what>(?:[\w-]+\s+){0,2}?(?:store|shop|team|company|customers?|clients?|users?|product|project|stack|codebase|startup|business|brand|audience|app|service|database|backend|frontend|infrastructure|cluster|pipeline|restaurant|bakery|studio|office|department|organization|school|website|platform|api|repo|monorepo|fleet|factory|warehouse|policy|tech stack|ci|sprints?|standups?|releases?))\s+(?P<rest>(?:is|are|uses?|runs?|sells?|targets?|has|have|serves?|consists?|skews?|mostly|mainly|primarily|works?|operates?|was founded|supports?|ships?|lives?|deploys?|requires?|focus(?:es)?|start(?:s)?|happens?)\b.+)$", re.I)
_WE_EN = re.compile(r"^(?:\w+,\s*)?we\s+(?:currently\s+|mostly\s+|mainly\s+|only\s+|all\s+|still\s+|already\s+|usually\s+|always\s+)*(?P<verb>use|run|sell|build|ship|deploy|target|serve|store|host|write|operate|make|manufacture|work with|are using|'re using|are a|'re a|have)\s+(?P<what>.+)$", re.I)
_TRANSIENT_EN = re.compile(r"\b(?:today|tonight|yesterday|tomorrow|right now|this morning|error|bug|issue|problem|broken|down|failing|late|tired|crash\w*|meeting|going to|trouble|question)\b", re.I)
_VAGUE_PLACE = re.compile(r"^(?:a |an |the (?:middle|same|moment|past|present|city|countryside|suburbs?)|my |here|there|this|that|his|her|their|our|home|bed|work|it\b|what|where|fear|peace)|酒店|宾馆|家里|这[里儿边]|那[里儿边]|一起|学校宿舍$|医院|朋友家|楼|院|哪|旁边|附近|隔壁|^(?:家|下来|进去|不下|得|在)", re.I)


def find(clause: Clause, stance: Stance) -> list[Found]:
    """The facts about the speaker or the speaker's business that the clause states."""
    if stance.asked or stance.supposed or stance.reported or stance.ironic or stance.subject == "agent":
        return _call(clause) if stance.subject == "agent" and not stance.asked and not stance.reported else []
    if clause.language == "en":
        return _english(clause.text, stance)
    found = _chinese(clause.text, stance)
    return found or (_english(clause.text, stance) if re.search(r"\b(?:I|my|our|we)\b", clause.text) else [])


def _fact(slot: str, value: str, text: str, pattern: str, **more: object) -> Found:
    return Found("profile", f"profile:user:{slot}", {"slot": slot, "value": value, **more}, text, "profile", pattern)


def _call(clause: Clause) -> list[Found]:
    match = _CALL_EN.search(clause.text) if clause.language == "en" else _CALL_ZH.search(clause.text)
    if match and not _NOT_NAME.search(match["name"]):
        name = tidy(match["name"])
        return [_fact("call_me", name, f"希望被称呼为{name}" if clause.language == "zh" else f"wants to be called {name}", "call_me")]
    return []


def _subjectless(text: str) -> str:
    """The clause with its time and adverbs before the subject taken off, and the subject put in where it is left out."""
    text = re.sub(r"^(?:其实|不过|而且|并且|另外|还有|对了|顺便说一下|顺便|因为|所以|但是?|现在|目前|今年|去年|最近|如今|上个?月|上周|平时|那|嗯|好的?|你好|大家好|记住|以前|之前|后来|本来|首先|说错了|是的?|已经|虽然|毕竟|从小|由于|刚刚?|自我介绍一下|介绍一下|更正一下|更正)+[，,\s]*(?=我|咱|本)", "", text)
    return text.replace("\u00a0", "")


def _chinese(text: str, stance: Stance) -> list[Found]:
    text = _subjectless(text)
    if match := _ORG_ZH.search(text):
        return _organisation(match["what"], match["rest"], text, "zh") if not _ORG_MOOD.search(text) else []
    if stance.subject == "other":
        return _relative_zh(text)
    if _FAMILY_ZH.search(text) or _PET_ZH.search(text):
        return _household_zh(text)
    if stance.subject == "none":
        return _call_zh(text) or _pro_drop_zh(text)
    if stance.subject == "agent":
        return _call_zh(text)
    if stance.subject != "self" and not re.match(r"我们(?:一家|家)?.{0,4}(?:住|搬)", text):
        return []
    if stance.subject == "self" and not stance.explicit and not text.startswith("我"):
        text = "我" + text
    return _identity_zh(text) or _place_zh(text, stance) or _work_zh(text) or _self_zh(text)


def _pro_drop_zh(text: str) -> list[Found]:
    """Facts said without a subject, where only the speaker can be meant."""
    if re.match(r"^(?:今年\d{1,2}岁|坐标[\u4e00-\u9fff]{2,6}$|名叫|本名|家住)", text):
        if text.startswith("坐标"):
            place = text.removeprefix("坐标")
            return [_fact("city", place, f"住在{place}", "lives")]
        return _identity_zh("我" + text) or _place_zh("我" + text, None) or _self_zh("我" + text)
    return []


def _call_zh(text: str) -> list[Found]:
    if (match := _CALL_ZH.search(text)) and not _NOT_NAME.search(match["name"]):
        name = tidy(match["name"])
        return [_fact("call_me", name, f"希望被称呼为{name}", "call_me")]
    return []


def _identity_zh(text: str) -> list[Found]:
    if (match := _NAME_ZH.search(text)) and not _NOT_NAME.search(name := tidy(match["name"] or match["name2"])):
        return [_fact("name", name, f"名字叫{name}", "name")]
    if match := _SURNAME_ZH.search(text):
        return [_fact("surname", match["name"], f"姓{match['name']}", "name")]
    if match := _AGE_ZH.search(text):
        if match["age"]:
            return [_fact("age", match["age"], f"{match['age']}岁", "age")]
        said = match["year"] or match["sign"]
        return [_fact("birth_year" if match["year"] else "zodiac", said, f"{said}年出生" if match["year"] else f"属{said}", "age")]
    if (match := _BIRTH_ZH.search(text)) and re.search(r"\d|[一二三四五六七八九十]月", match["day"]):
        return [_fact("birthday", match["day"], f"生日是{match['day']}", "birthday")]
    return _call_zh(text)


def _place_zh(text: str, stance: Stance | None) -> list[Found]:
    if match := _MOVE_ZH.search(text):
        place = tidy(match["place"])
        if _VAGUE_PLACE.search(place) or re.search(r"[吃睡看办拿]", place):
            return []
        more = {"from": match["old"]} if match["old"] else {}
        return [_fact("city", place, f"搬到{place}", "moved", **more)]
    if match := _HOME_ZH.search(text):
        place = tidy(match["place"] or match["place2"])
        if _VAGUE_PLACE.search(place) or (stance and stance.momentary and not _is_place(place)):
            return []
        return [_fact("city", place, f"住在{place}", "lives")]
    if match := _FROM_ZH.search(text):
        place = tidy(match["place"] or match["native"])
        if match["native"] and not _is_place(place):
            return []
        return [_fact("hometown", place, f"来自{place}", "hometown")]
    return []


def _is_place(text: str) -> bool:
    return any(tag.startswith("ns") for _, tag in rjieba.tag(text)) or bool(re.search(r"[市省县区镇村国州]$", text))


def _work_zh(text: str) -> list[Found]:
    if match := _JOB_ZH.search(text):
        job = tidy(match["job"] or match["job2"] or match["field"])
        if match["neg"] or re.match(r"(?:你|他|她|这|那|一?个好|说|对|真的|不|想|要|第一|唯一|被|在|来|最|有|很|大家|需要)", job) or re.search(r"的(?:人|忠实|老用户)|大家$|专家$|用户", job):
            return []
        return [_fact("occupation", job, f"职业是{job}" if not match["field"] else f"从事{job}", "occupation")]
    if (match := _WORK_ZH.search(text)) and (match["act"] or re.match(r"^我\S{0,6}(?:就职|任职|供职|入职|加入|跳槽|加盟)", text)):
        place = tidy(match["place"])
        if re.search(r"家里?$|这|那|哪|外面|一起|认真|努力|远程|电脑|晚上|周末|办公室|做|忙|公司$", place) or re.search(r"了$|个梦|饭", match["act"] or ""):
            return []
        if _is_place(place) and not re.search(r"公司|大学|医院|银行|集团|学校|院", place):
            found = [_fact("work_city", place, f"在{place}工作", "works_in")]
        else:
            found = [_fact("employer", place, f"在{place}工作", "employer")]
        job = re.match(r"[当做](.{2,12})$", match["act"] or "")
        return [*found, _fact("occupation", tidy(job[1]), f"职业是{tidy(job[1])}", "occupation")] if job else found
    return []


def _self_zh(text: str) -> list[Found]:
    if match := _HEALTH_ZH.search(text):
        return [_fact(f"health:{slug(match['what'])}", match["what"], f"有{match['what']}", "health")]
    if match := _STUDY_ZH.search(text):
        school = match["school"] or match["school2"] or match["school3"]
        if school:
            return [_fact("school", tidy(school), text.removeprefix("我"), "education")]
        if re.search(r"不|会|到|习|了$|着|做|车|什么", match["major"]) or len(match["major"]) < 2:
            return []
        return [_fact("major", tidy(match["major"]), f"专业是{tidy(match['major'])}", "education")]
    if match := _TONGUE_ZH.search(text):
        slot = "native_language" if "母语" in text else "languages"
        return [_fact(slot, match["tongue"], text.removeprefix("我").removeprefix("的"), "language")]
    if match := _BODY_ZH.search(text):
        slot = {"身高": "height", "体重": "weight", "血型": "blood_type", "星座": "zodiac_sign", "鞋码": "shoe_size", "时区": "timezone"}.get(match["what"], match["what"].lower())
        return [_fact(slot, match["value"], f"{match['what']}{match['value']}", "body")]
    if match := _MBTI.search(text):
        return [_fact("mbti", match["mbti"].upper(), f"MBTI 是 {match['mbti'].upper()}", "mbti")]
    if match := _SEX_ZH.search(text):
        return [_fact(f"trait:{match['sex']}", match["sex"], f"是{match['sex']}", "trait")]
    if match := _OWN_ZH.search(text):
        return [_fact(f"owns:{slug(match['what'][1:])}", match["what"][1:], f"有{match['what']}", "owns")]
    return []


def _household_zh(text: str) -> list[Found]:
    if match := _FAMILY_ZH.search(text):
        if match["married"]:
            return [_fact("marital_status" if "怀孕" not in text and "当" not in text else "parenthood", match["married"], tidy(re.sub(r"^我", "", text)), "family")]
        who = KIN_ZH.search(match["what"])
        if who and re.search(r"老板|经理|客户|问题|朋友|同事|同学|医生|老师|亲戚|邻居", match["what"]):
            return []
        return [_fact(f"family:{who.group() if who else 'x'}", match["what"], f"有{match['what']}", "family")]
    match = _PET_ZH.search(text)
    if match is None or not re.search(r"猫|狗|犬|鱼|鸟|鹦鹉|兔|仓鼠|龟|宠物|金毛|柯基|哈士奇|泰迪|布偶|英短|橘|马|羊|蛇|蜥蜴|柴犬|边牧|拉布拉多", match["pet"]):
        return []
    name = f"，叫{match['name']}" if match["name"] else ""
    kind = re.sub(r"^(?:[一两三四几\d]+)?[只条匹头个缸]", "", match["pet"])
    return [_fact(f"pet:{slug(kind)}", match["pet"], f"养了{match['pet']}{name}", "pet", **({"name": match["name"]} if match["name"] else {}))]


def _relative_zh(text: str) -> list[Found]:
    match = _RELATIVE_ZH.search(text)
    if not match or not _RELATIVE_OK_ZH.search(match["what"]) or _NOT_NAME.search(match["value"].removeprefix("叫")):
        return []
    what = match["what"]
    attribute = "name" if "叫" in what[:2] else "age" if re.search(r"岁|个月|年级", what) else "allergy" if "过敏" in what else "job" if what.startswith("是") else "place"
    return [_fact(f"{slug(match['who'])}:{attribute}", tidy(match["value"]), f"{match['who']}{what}", "relative", relative=match["who"])]


def _organisation(what: str, rest: str, text: str, language: str) -> list[Found]:
    subject = slug(re.sub(r"^(?:这个|这家|的)", "", what))
    attribute = slug(re.split(r"是|在|偏|用|使用|采用|\b(?:is|are|uses?|runs?|has|have)\b", rest.removeprefix("的"), maxsplit=1)[0] or "fact", 16)
    said = re.sub(r"^(?:我们的?|咱们的?|我的?|本)", "", text) if language == "zh" else f"{what} {rest}"
    return [Found("profile", f"profile:{subject}:{attribute if attribute != 'x' else slug(rest, 24)}", {"subject": what, "value": tidy(rest)}, tidy(said), "profile", "business")]


def _english(text: str, stance: Stance) -> list[Found]:
    if (match := _ORG_EN.search(text)) and not _TRANSIENT_EN.search(text):
        return _organisation(match["what"].lower(), tidy(match["rest"]), text, "en")
    if match := _RELATIVE_EN.search(text):
        return _relative_en(match)
    if (match := _HAVE_EN.search(text)) and not re.search(r"\b(?:question|problem|issue|idea|to\b)", match["rest"], re.I):
        return _household_en(match)
    if stance.subject == "group":
        if (match := _WE_EN.search(text)) and not _TRANSIENT_EN.search(text) and not re.search(r"^(?:to|a (?:question|problem|bug)|no\b|not\b|it\b|been)", match["what"], re.I):
            verb = match["verb"].lower().removeprefix("are ").removeprefix("'re ")
            return [Found("profile", f"profile:team:{slug(verb)}:{slug(match['what'], 32)}", {"subject": "team", "value": tidy(match["what"])}, f"team {verb}s {tidy(match['what'])}" if verb.isalpha() and verb not in ("using", "a") else tidy(text), "profile", "business")]
        return _place_en(text)
    if stance.subject == "other" or (stance.subject == "none" and not _NAME_EN.search(text) and not _CALL_EN.search(text)):
        return []
    found = [*_identity_en(text), *_place_en(text), *_work_en(text)]
    return found or _self_en(text)


def _identity_en(text: str) -> list[Found]:
    if (match := _CALL_EN.search(text)) and not _NOT_NAME.search(match["name"]):
        return [_fact("call_me", tidy(match["name"]), f"wants to be called {tidy(match['name'])}", "call_me")]
    if match := _NAME_EN.search(text):
        name = tidy(match["name"] or match["name2"])
        if match["name"] or not re.search(r"ing$|ed$|^(?:Not|Sorry|Very|Fine|Good|Happy|Sure|Chinese|American|French|German|British|Japanese|Korean|Indian|Canadian|Italian|Spanish|Christian|Muslim|Jewish|Vegan|Monday|Friday)", name):
            return [_fact("name", name, f"name is {name}", "name")]
    if (match := _AGE_EN.search(text)) and 4 < int(match["age"]) < 120:
        return [_fact("age", match["age"], f"{match['age']} years old", "age")]
    if match := _BIRTH_EN.search(text):
        day = tidy(match["day"] or match["day2"])
        return [_fact("birthday", day, f"birthday is {day}", "birthday")] if re.search(r"\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", day, re.I) else []
    return []


def _clip(place: str) -> str:
    return tidy(re.split(r"\s(?:and|but|with|for|since|because|where|now|currently|these days|which|as|so|when|before|after|last|this|at the moment|right now|anymore|in (?:19|20)\d\d|\d+ years|about|a (?:few|couple)|instead|full[- ]time|two|three|two|years)\b", place, maxsplit=1)[0])


def _place_en(text: str) -> list[Found]:
    if (match := _MOVE_EN.search(text)) and not _VAGUE_PLACE.search(place := _clip(match["place"])):
        return [_fact("city", place, f"moved to {place}", "moved", **({"from": tidy(match["old"])} if match["old"] else {}))]
    if match := _HOME_EN.search(text):
        place = _clip(match["place"] or match["place2"] or match["place3"])
        return [_fact("city", place, f"lives in {place}", "lives")] if place and not _VAGUE_PLACE.search(place) else []
    if match := _FROM_EN.search(text):
        place = _clip(match["place"] or match["place2"] or match["place3"] or match["place4"])
        return [_fact("hometown", place, f"is from {place}", "hometown")] if place and not _VAGUE_PLACE.search(place) else []
    return []


def _work_en(text: str) -> list[Found]:
    found: list[Found] = []
    if match := _WORK_EN.search(text):
        org = _clip(match["org"] or match["org2"] or match["org3"])
        if org and not re.match(r"(?:the (?:moment|office)|home|night|AM|PM)\b", org):
            found.append(_fact("employer", org, f"works at {org}", "employer"))
    if (match := _JOB_EN.search(text)) and not match["neg"] and "used to be" not in text:
        job = tidy(match["job"] or match["job2"] or match["field"] or "")
        if job and not re.search(r"\b(?:fan|bit|little|lot|big believer|only|kind of)\b", job, re.I) and not re.match(r"\s+(?:of|for) (?:this|that|your)", match["rest"] or ""):
            slot = "occupation" if not re.search(r"\b(?:mom|dad|mother|father|speaker)$", job) else "trait:" + slug(job)
            found.append(_fact(slot, job, f"works in {job}" if match["field"] else f"is a {job}" if match["job"] else f"job is {job}", "occupation"))
            at = re.match(r"\s+(?:at|for|with)\s+(.+)$", match["at"] or "")
            if at and not any(one.value["slot"] == "employer" for one in found) and at[1][:1].isupper():
                found.append(_fact("employer", _clip(at[1]), f"works at {_clip(at[1])}", "employer"))
    return found


def _self_en(text: str) -> list[Found]:
    if match := _HEALTH_EN.search(text):
        return [_fact(f"health:{slug(match['what'])}", match["what"].lower(), f"has {match['what'].lower()}", "health")]
    if (match := _STATUS_EN.search(text)) and " not " not in text:
        status = match["status"].lower()
        slot = "marital_status" if status in ("married", "single", "divorced", "engaged", "widowed") else f"trait:{slug(status)}"
        return [_fact(slot, status, f"is {status}", "family")]
    if match := _TONGUE_EN.search(text):
        return [_fact("native_language" if re.search(r"native|mother|first", text) else "languages", tidy(match["what"]), f"speaks {tidy(match['what'])}", "language")]
    if match := _STUDY_EN.search(text):
        what = _clip(match["what"])
        school = bool(_SCHOOL_EN.search(what))
        if re.search(r"went to|attend|go to school", text, re.I) and not school:
            return []
        return [_fact("school" if school else "major", what, f"studied {what}" if not school else f"school: {what}", "education")]
    if match := _BODY_EN.search(text):
        return [_fact(slug(match["what"]), tidy(match["value"]), f"{match['what'].lower()} is {tidy(match['value'])}", "body")]
    if match := _MBTI.search(text):
        return [_fact("mbti", match["mbti"].upper(), f"MBTI type {match['mbti'].upper()}", "mbti")]
    return []


def _household_en(match: re.Match[str]) -> list[Found]:
    what = match["what"].lower()
    rest = match["rest"]
    second = re.match(r"\s*(?:,|and|,\s*and)\s+(?=(?:an?|one|two|three|four|five|\d+)\s)", rest)
    names = None if second else _NAMED_EN.search(rest)
    kind = slug(re.sub(r"^\S+\s+", "", what))
    family = re.search(r"kid|child|son|daughter|brother|sister|sibling|twin|grand", what)
    pet = re.search(r"dog|cat|pupp|kitten|pet|parrot|rabbit|hamster|fish|horse", what)
    slot = f"family:{kind}" if family else f"pet:{kind}" if pet else f"owns:{kind}"
    more = {"name": names["names"]} if names else {}
    pattern = "family" if family else "pet" if pet else "owns"
    found = [_fact(slot, what, f"has {what}" + (f" named {names['names']}" if names else ""), pattern, **more)]
    again = _HAVE_EN.search("I have " + rest[second.end() :]) if second else None
    return found + (_household_en(again) if again else [])


def _relative_en(match: re.Match[str]) -> list[Found]:
    who = fold(match["who"])
    for attribute in ("name", "job", "age", "allergy", "place", "name2"):
        if match[attribute]:
            slot = f"{slug(who)}:{'name' if attribute == 'name2' else attribute}"
            return [_fact(slot, _clip(match[attribute]), f"{who} {match['what'].strip(', ')}", "relative", relative=who)]
    return []
