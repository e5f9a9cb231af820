"""The roles that one thing or person at a time has in somebody's life or project: words for them, in both languages.

One line a role: its name; the nouns that name it; and what else tells that a text fills it: things, brands and titles
that nobody takes for something else, and verbs. A line without a name holds words that only look like one of these. Of
what people have several of at a time (friends, pets, medicines, hobbies) there is no line.
"""

# ruff: noqa: E501 - one role a line

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
