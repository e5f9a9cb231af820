"""Which roles of a life or a project a text speaks of, and which of them it says to be filled anew. Pure.

A role is what one thing or person at a time is for somebody: the phone, the landlord, the CI server. Who has got a new
one has the old one no longer, whatever both are called.
"""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from shared.cache import of_texts
from shared.language import segment
from shared.language.patterns import to_pattern
from shared.language.segment import STOPWORDS
from shared.resolution.parts import split_parts

ROLES = """
phone | phone, cell phone, cellphone, handset, mobile phone, smartphone, 手机 | iphone, pixel, galaxy s, fairphone, oneplus, redmi, android phone, 苹果手机, 安卓机, 红米
carrier | carrier, phone plan, sim, phone number, 手机卡, 手机号, 套餐, 号码 | verizon, t-mobile, vodafone, giffgaff, 尾号
broadband | broadband, internet, isp, internet provider, fibre, 宽带 | comcast, xfinity, 百兆, 千兆, 兆
computer | laptop, computer, pc, workstation, 电脑, 笔记本电脑, 台式机 | macbook, macbook pro, macbook air, thinkpad, chromebook, xps
tablet | tablet, 平板, 平板电脑 | ipad
camera | camera, 相机 | fujifilm, 微单, 单反, 佳能, 尼康
car | car, van, truck, suv, ute, 车, 汽车 | toyota, honda, tesla, bmw, audi, volkswagen, vw, volvo, mazda, subaru, nissan, hyundai, corolla, civic, prius, jetta, 捷达, 比亚迪, 五菱, 五菱宏光, 长安, 丰田, 本田, 宝马, 奔驰, 奥迪, 特斯拉, 吉利, 哈弗, 别克, 日产, 马自达, 蔚来, 问界, 雪佛兰, 提车
 | 停车, 车站, 车位, 车库, 车厢, 车间, 车道, 车票, 车祸, 公交车, 火车, 自行车, 单车, 电动车, 地铁, 网约车, 打车, 班车, 拼车, 上车, 下车, 堵车, 开车, 骑车, 车险, 购物车, 晕车, 列车, 动车, 高铁, 电动自行车, 摩托车, 出租车, 卡车, 坐车, 洗车, car park, car seat, bus, open house, house party, house music, white house, full house, coffee house, room for, living room, dining room, waiting room, bathroom, bedroom, meeting room, chat room, this year, last year, next year, every year, new year, this place, first place, take place, take place, taking place, in place, 房间, 卫生间, 搬砖, 工作日, 工作量, 工作流, 住院, 大班, 小班车, 医院楼下, home page, home run, feel at home, at home, stay home, home screen, go home, came home, get home, good job, great job, nice job, company of, in person, 全家, 家里, 国家, 大家, 人家, 一家, 编辑器设置, play house, the city council, 老板娘, dance studio, art studio, recording studio, yoga studio, studio album, business manager, project manager, product manager, facebook business manager, on my phone, on the phone, by phone, phone call
bicycle | bike, bicycle, 自行车, 单车 | brompton, 山地车, 公路车
bank | bank, everyday account, current account, checking account, 银行, 开户行, 工资卡 | chase, citibank, wells fargo, hsbc, barclays, monzo, revolut, lloyds, natwest, westpac, capital one, 招行, 工行, 建行, 农行, 中行, 交行, bank with
broker | broker, 券商 | fidelity, vanguard, schwab, robinhood, 富途, 老虎证券
gym | gym, fitness club, 健身房, 健身馆 | lift at, lifting at, work out at, works out at, train at, planet fitness, 撸铁, 威尔士, 乐刻, 超级猩猩
pool | pool, swimming pool, 游泳馆, 泳池 | swim at
dentist | dentist, orthodontist, hygienist, dental clinic, 牙医, 牙科, 口腔医院 | 牙套, braces, 洗牙
doctor | doctor, gp, physician, family doctor, specialist, endocrinologist, cardiologist, dermatologist, rheumatologist, neurologist, gastroenterologist, oncologist, pediatrician, paediatrician, consultant, 主治医生, 主治, 家庭医生, 大夫, 医生 | dr
therapist | therapist, counsellor, counselor, psychologist, psychiatrist, 心理咨询师, 咨询师, 心理医生
physio | physio, physiotherapist, physical therapist, chiropractor, 康复师, 理疗师
hairdresser | hairdresser, barber, hair stylist, stylist, salon, 理发师, 发型师, 理发店
vet | vet, vet clinic, 兽医, 宠物医院
pharmacy | pharmacy, 药店, 药房 | walgreens, cvs
hospital | hospital, clinic, 医院 | 产检
landlord | landlord, landlady, 房东 | owns our place, owns the place, owns my place, owns our flat, owns the flat, owns the building, owns our house, owns the house, rent from, renting from
agent | letting agent, estate agent, realtor, 中介
lawyer | lawyer, solicitor, attorney, 律师
accountant | accountant, bookkeeper, tax advisor, tax adviser, 会计师
cleaner | cleaner, cleaning lady, housekeeper, 保洁, 钟点工
childcare | childminder, nanny, babysitter, daycare, day care, nursery, 保姆, 育儿嫂, 月嫂, 托管班, 托管, 托班
manager | manager, boss, line manager, team lead, tech lead, 领导, 上司, 经理, 主管, 组长, 直属领导, 老板 | report to, reporting to, 汇报给
supervisor | supervisor, thesis advisor, advisor, adviser, guide, 导师
coach | coach, trainer, instructor, personal trainer, 教练, 私教
teacher | class teacher, homeroom teacher, form tutor, piano teacher, violin teacher, 班主任, 钢琴老师, 外教
book editor | editor, 编辑, 责编
code editor | editor, ide, code editor, text editor, 编辑器 | vscode, vs code, neovim, vim, emacs, sublime, intellij, pycharm, webstorm, xcode
mentor | mentor, 师父, 带教
assistant | assistant, secretary, 助理, 秘书
chair | treasurer, chairperson, captain, 队长, 班长, 社长, 会长, 群主
contact | point of contact, contact person, account manager, 联系人, 对接人, 客户经理, 接口人, 负责人
supplier | supplier, vendor, wholesaler, 供货商, 供应商, 批发商 | 进货, 拿货
courier | courier, 快递 | dhl, fedex, royal mail, 顺丰, 中通, 圆通, 申通, 韵达, 极兔
insurer | insurer, 保险公司, 车险
energy | energy supplier, electricity supplier, power company
ci | ci, ci server, ci provider, build server, build pipeline, 持续集成, 流水线 | travis, jenkins, circleci, circle ci, buildkite, github actions, gitlab ci, teamcity
code host | repo host, code host, git host, code hosting, 代码托管, 仓库平台, 代码仓库 | github, gitlab, gitee, bitbucket, gitea, forgejo, 码云
database | database, db, data store, 数据库 | postgres, postgresql, mysql, mariadb, mongo, mongodb, sqlite, oracle, sql server, dynamodb, cockroachdb, tidb, 达梦
cache | cache, 缓存 | redis, memcached, valkey
queue | queue, message queue, message broker, 消息队列 | kafka, rabbitmq, sqs, nats, pulsar, rocketmq
hosting | hosting, hosting provider, cloud, cloud provider, 云服务, 云厂商, 服务器 | aws, azure, gcp, google cloud, heroku, digitalocean, hetzner, vercel, netlify, fly.io, 阿里云, 腾讯云, 华为云, deploy to, deploy on
monitoring | monitoring, 监控 | datadog, new relic, grafana, prometheus, sentry, zabbix
logging | logging, logger, 日志库, 日志 | winston, bunyan, pino, log4j, logback, loguru, zerolog
bundler | bundler, build tool, 打包工具, 构建工具 | webpack, vite, rollup, parcel, esbuild, turbopack
test framework | test runner, test framework, 测试框架 | jest, vitest, mocha, pytest, unittest, cypress, playwright
package manager | package manager, 包管理 | npm, yarn, pnpm, pip, poetry
frontend | frontend, front end, ui framework, 前端框架, 前端 | react, vue, angular, svelte, jquery, swiftui, uikit
backend | backend, back end, web framework, 后端框架, 后端 | django, flask, fastapi, rails, laravel, express, nestjs, spring boot
os | operating system, distro, 操作系统 | windows 10, windows 11, macos, ubuntu, fedora, debian, arch linux, linux mint
browser | browser, 浏览器 | chrome, firefox, safari, brave, vivaldi
shell | terminal, 终端 | iterm, alacritty, wezterm, zsh
chat | team chat, chat tool, work chat, 办公软件, 沟通工具, 聊天软件 | slack, microsoft teams, discord, mattermost, zulip, 企业微信, 企微, 飞书, 钉钉
tracker | issue tracker, ticket system, task board, tracker, project tool, 项目管理, 工单系统, 看板 | jira, linear, trello, asana, clickup, tapd, 禅道, basecamp
notes | notes app, note app, note-taking app, 笔记软件 | obsidian, evernote, onenote, logseq, apple notes, 印象笔记, 有道云笔记, 语雀
calendar | calendar app, 日历软件 | google calendar, outlook calendar
email | email provider, mail provider, email client, 邮箱 | gmail, fastmail, protonmail
till | till, card reader, payment processor, 收银系统 | square, zettle, sumup, stripe
bookkeeping | accounting software, invoicing tool, budgeting app, 记账软件 | quickbooks, xero, freshbooks, ynab, 随手记, 鲨鱼记账
streaming | music app, music service, 听歌软件 | spotify, apple music, tidal, qq音乐, 网易云
design tool | design tool, 设计工具, 设计软件 | figma, adobe xd, 即时设计
office | office, workplace, desk, 办公室, 工位
home | flat, apartment, house, our place, my place, new place, studio, condo, new home, new city, a room, two bed, one bed, two-bed, bedsit, 房子, 公寓, 单间, 出租屋, 宿舍, 小区, 新家, 住处, 次卧, 主卧 | live in, lives in, live at, live near, live on, live with, living in, living at, living with, rent in, renting in, rent a, renting a, moved in, moved to, moved into, keys to, settled in, i'm in, im in, we're in, 住, 住在, 租, 租了, 租房, 合租, 搬到, 搬去, 搬进, 搬来, 搬家, 安顿
employer | job, employer, company, firm, 公司, 单位, 东家, 工作 | work at, work for, working at, working for, work as, working as, took a job, joined, started at, started as, first day as, first day at, first week at, first week as, hired as, 跳槽, 入职, 报到, 上班, 到岗, 就职
grade | grade, school year, 年级 | kindergarten, preschool, first grade, second grade, third grade, fourth grade, fifth grade, sixth grade, seventh grade, eighth grade, ninth grade, 1st grade, 2nd grade, 3rd grade, 4th grade, 5th grade, freshman, sophomore, 幼儿园, 小班, 中班, 大班, 一年级, 二年级, 三年级, 四年级, 五年级, 六年级, 初一, 初二, 初三, 高一, 高二, 高三, 大一, 大二, 大三, 大四, 研一, 研二, 研三
school | school, 学校 | montessori
diet | diet, 饮食 | keto, vegan, vegetarian, paleo, low carb, mediterranean, pescatarian, gluten free, 生酮, 吃素, 素食, 减脂, 轻断食, 低碳
commute | commute, way to work, 通勤 | bike to, biking to, drive to work, driving to work, cycle to, cycling to, walk to work, walking to work, tram to, take the bus, take the train, taking the bus, taking the train, taking the tram, 开车上班, 拼车, 班车
password manager | password manager, 密码管理器 | 1password, bitwarden, lastpass, keepass
stylesheet | css framework, 样式库 | tailwind, bootstrap, bulma
model | llm, language model, 大模型 | gpt-4, gpt-5, claude, gemini, deepseek, 通义千问
"""
"""The roles that one thing or person at a time has in a life or a project. One line a role: its name; the nouns that
name it; what else shows that a text fills it: things, brands, titles that nobody mistakes, and verbs. A line without a
name holds words that only look like one of these. What people have several of at a time (friends, pets, medicines,
hobbies) has no line.
"""
_RUN = to_pattern(r"[a-z0-9][a-z0-9.'+-]*[a-z0-9+]|[a-z0-9]|[\u3400-\u9fff]+")
_LONGEST_EN, _LONGEST_ZH = 3, 6
_ADDS = to_pattern(
    r"\b(?:also|too|as well|second|besides|on top of|in addition|both|spare|side|part-?time|next to|still)\b|也|还(?!是|款)|又|另外|再|同时|除了|都|副业|兼职|备用|仍|照样"
)
"""Says that one stands beside another."""
_OTHERS = to_pattern(
    r"\b(?:he|she|they|his|her|their|(?:my|our) (?:mom|mum|mother|dad|father|parents|sister|brother|son|daughter|wife|husband|girlfriend|boyfriend|partner|friend|kid|aunt|uncle|cousin|grand\w+|ex|roommate|neighbou?r|colleague|in-laws?)\w*)\b"
    r"|[他她]|我?(?<!大)[爸妈哥弟姐妹爷奶]{1,2}|老[婆公爸妈]|媳妇|爱人|男友|女友|闺女|儿子|女儿|孩子|小孩|朋友|同事|室友|邻居|公婆|岳[父母]",
)


_REFILLED = to_pattern(
    r"\b(?:new|another|different) (?P<new>[a-z][a-z-]+(?: (?!in\b|to\b|as\b|for\b|is\b|at\b|on\b|from\b|of\b)[a-z]+)?)"
    r"|\b(?:switched|changed|changing|swapped|switching|moved) (?:my |our |the )?(?P<left>(?!to\b|in\b|from\b|back\b|minds?\b)[a-z]+)"
    r"|\b(?P<gone>(?!\w+ly\b|(?:i|we|they|just|have|has|minds?)\b)[a-z]+(?: (?!\w+ly\b)[a-z]+)?) (?:has |have |had |got |was |is |'s )?(?:changed|moved|retired|replaced|switched|quit)\b"
    r"|换了?(?:[个部台家份辆只]|一[个部台家份辆只])?新?(?P<got>[\u4e00-\u9fff]{1,4}?)(?:了|(?=[，,。！!\s]|$))"
    r"|(?P<held>(?![刚又也都才])[\u4e00-\u9fff]{1,6}?)(?:也|已经|最近|刚|都|又)?(?:换|迁)(?:成|为|了|人|地|到|给)"
    r"|(?P<quit>[\u4e00-\u9fff]{1,6}?)(?:已经|最近|刚|都)?(?:离职|退休|跳槽|下线|停用)"
    r"|新(?P<fresh>[\u4e00-\u9fff]{2,3}?)(?=[是叫姓，,])",
    re.I,
)
"""Names a role that another holds from now on: `new manager`, `switched gyms`, 房东换成."""


@dataclass(frozen=True, slots=True)
class RolesOfPart:
    """The roles that a part of a text names, those that it fills, whether it says that one is beside another, and who else it speaks of: `his`, my mom."""

    named: frozenset[str]
    filled: frozenset[str]
    adds: bool
    owners: frozenset[str]


@cache
def _roles_by_word() -> dict[str, tuple[tuple[str, bool], ...]]:
    """By word the roles that it tells of, and whether it names each; none of what only looks like one."""
    table: dict[str, dict[str, bool]] = {}
    for line in ROLES.strip("\n").splitlines():
        name, nouns, fills = (part.strip() for part in f"{line} | ".split(" | ")[:3])
        for words, names in ((nouns, True), (fills, False)):
            for word in filter(None, (word.strip() for word in words.split(", "))):
                roles = table.setdefault(word, {})
                if name:
                    roles[name] = names
    return {word: tuple(roles.items()) for word, roles in table.items()}


def _list_words(low: str) -> Iterator[str]:
    """The longest words of the table at each place of the text."""
    table = _roles_by_word()
    words: list[str] = []
    for run in _RUN.finditer(low):
        if run[0][0] < "\u3400":
            words.append(run[0])
            continue
        yield from _take_longest(words, table, _LONGEST_EN, " ")
        words = []
        yield from _take_longest(run[0], table, _LONGEST_ZH, "")
    yield from _take_longest(words, table, _LONGEST_EN, " ")


def _take_longest(run: Sequence[str], table: Container[str], longest: int, joint: str) -> Iterator[str]:
    at = 0
    while at < len(run):
        for length in range(min(longest, len(run) - at), 0, -1):
            word = joint.join(run[at : at + length])
            word = word if word in table else word.removesuffix("s")
            if word in table:
                yield word
                at += length
                break
        else:
            at += 1


@of_texts(4096)
def find_roles(text: str) -> tuple[RolesOfPart, ...]:
    """What each part of the text says of roles; parts that speak of none are left out."""
    return tuple(read for part in split_parts(text) if (read := _read_part(part)))


def _read_part(part: str) -> RolesOfPart | None:
    low = part.lower().replace("’", "'")
    spoken = [role for word in _list_words(low) for role in _roles_by_word()[word]]
    if not spoken:
        return None
    return RolesOfPart(
        frozenset(role for role, names in spoken if names),
        frozenset(role for role, _ in spoken),
        _ADDS.search(low) is not None,
        frozenset(_OTHERS.findall(low)),
    )


def find_others(text: str) -> frozenset[str]:
    """Who else than the speaker the text speaks of, as it calls them."""
    return frozenset(_OTHERS.findall(text.lower().replace("’", "'")))


def find_refilled(text: str) -> list[str]:
    """What the text says is held by another from now on, as its last word names it."""
    found = (next(filter(None, match.groups())) for match in _REFILLED.finditer(text))
    return [
        each if each.isascii() else segment.words(each)[-1] for each in found if not STOPWORDS.issuperset(each.split())
    ]


def refills_role(sentence: str, memory: str) -> bool:
    """Whether one text says that a role has another holder now, and the other who or what holds it."""
    roles = _find_roles_refilled(sentence)
    if not roles:
        return False
    owners = frozenset(each for part in find_roles(sentence) if roles & part.named for each in part.owners)
    return any(roles & old.filled and owners == old.owners for old in find_roles(memory))


def refills_another_role(sentence: str, memory: str) -> bool:
    """Whether one text says nothing but that a role has another holder, and the other does not speak of that role."""
    roles = _find_roles_refilled(sentence)
    return bool(roles) and len(split_parts(sentence)) == 1 and not any(roles & old.filled for old in find_roles(memory))


@of_texts(1024)
def _find_roles_refilled(sentence: str) -> frozenset[str]:
    nouns = find_refilled(sentence.lower())
    return frozenset(role for noun in nouns for part in find_roles(noun) for role in part.named)


def fill_one_role(sentence: str, memory: str) -> bool:
    """Whether both texts say who or what holds a role, and the one not that it is beside another."""
    return any(
        part.filled & old.filled and not part.adds and part.owners == old.owners
        for part in find_roles(sentence)
        for old in find_roles(memory)
    )
