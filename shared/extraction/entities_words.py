"""Names and shapes by which entities are known."""

import re

from schemas.vocabulary import EntityKind
from shared.language.patterns import to_pattern

URL = to_pattern(r"https?://[^\s<>\"'，。；、（）()\u3400-\u9fff]+|\bwww\.[^\s<>\"'，。；、（）()\u3400-\u9fff]+")
REPO = to_pattern(r"(?<![\w/.@-])(?P<repo>[A-Za-z0-9][A-Za-z0-9-]{1,38}/[A-Za-z0-9][A-Za-z0-9._-]{1,60})(?![\w/])")
PATH = to_pattern(
    r"(?<![\w:/.])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]+\.?[\w]*|(?<![\w/])[\w-]+(?:/[\w.-]+)+\.[A-Za-z]{"
    r"1,6}\b|(?<![\w/.@])[\w-]+\.(?:py|rs|go|js|ts|tsx|jsx|java|kt|rb|cpp|cc|hpp|cs|php|sql|"
    r"md|txt|pdf|docx?|xlsx?|pptx?|csv|json|ya?ml|toml|ini|cfg|sh|html|css|ipynb|log|zip|tar\.gz"
    r"|png|jpe?g|svg|lock)\b"
)
NOT_REPO = to_pattern(
    (
        r"^(?:and/or|he/she|she/he|his/her|him/her|w/o|i/o|tcp/ip|ci/cd|a/b|n/a|yes/no|on/off|read/write"
        r"|input/output|client/server|true/false|either/or|km/h|24/7|\d+/\d+|application/\w+|text/\w+"
        r"|image/\w+|pros/cons|us/them|am/pm|ui/ux|tabs/spaces|win/win|\d[\w.]*/.*)$"
    ),
    re.I,
)
TICKET = to_pattern(r"(?<![A-Za-z0-9_/-])[A-Z][A-Z0-9]{1,9}-\d{1,7}(?![\w-])")
NOT_TICKET = to_pattern(r"(?:UTF|SHA|ISO|RFC|GPT|COVID|HTTP|MP|USB|AES|RSA|MD|UTC|GMT|IP|PS|CVE|ES|TLS|EN|IEEE)-\d")
_NAME_WORD = r"(?:[A-Z][A-Za-z0-9]*|[a-z]{1,3}[A-Z][A-Za-z0-9]+)"
CAPITAL = to_pattern(
    rf"(?<![A-Za-z0-9_.@/'-]){_NAME_WORD}(?:'s(?![a-z]))?(?:(?:[ ](?:of|the|de|van)(?=[ ][A-Z]))?[ ]"
    rf"(?:{_NAME_WORD}|\d{{1,4}}(?![\d%$:.,-]))(?![A-Za-z0-9_@/]))*(?![A-Za-z0-9_@/]|-\d)",
    re.A,
)
_CALENDAR_WORDS = """
monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
sundays january february march april may june july august september october november december jan feb mar apr jun jul
aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun am pm utc gmt christmas easter halloween
thanksgiving q1 q2 q3 q4 spring summer autumn winter
"""
CALENDAR = frozenset(_CALENDAR_WORDS.split())
ORG_ENDS = frozenset("司团行学院校技所会局部社室动巴讯度为米美东多易滴软歌")
NO_NAME_ZH = to_pattern(
    r"[的了是在不]|^[喝吃看买去做听说想要玩学写打洗喂]|[茶酒饭菜汤面粉店路街镇村山河湖江桥楼房车船油米糕糖鱼肉果花草树色天月日年]$"
)
_COMMON_WORDS = """
i i'm i'd i'll i've the a an and but so if it this that these those he she they we you my your our his her their what
who when where why how which yes no ok okay please thanks thank hello hi hey dear sorry sure great good also then now
today tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday january february march april may
june july august september october november december todo fyi asap btw imo llm ai api url http https json html css sql
pdf ui ux id ok tv pm am us faq etc can could would should do does did is are was were has have had let's let not for
in on at to from by with as of one two there here maybe just well oh wow actually remember note mr mrs ms dr error
warning info true false none null
"""
COMMON = frozenset(_COMMON_WORDS.split())
PRODUCTS = to_pattern(
    (
        r"^(?:iphone|ipad|macbook|android|windows|linux|macos|ios|ubuntu|python|rust|java\w*|typescript"
        r"|golang|kotlin|swift|react|vue|svelte|django|flask|fastapi|postgres\w*|mysql|redis|kafka"
        r"|docker|kubernetes|k8s|vim|neovim|emacs|vs ?code|vscode|pycharm|notion|slack|obsidian|"
        r"chrome|firefox|safari|figma|jira|github|gitlab|chatgpt|gpt-?\d.*|claude|gemini|tesla|excel"
        r"|word|powerpoint|photoshop|terraform|ansible|grafana|prometheus|elasticsearch|mongodb|"
        r"sqlite|rabbitmq|nginx|airpods|kindle|switch|playstation|xbox|wechat|whatsapp|telegram|"
        r"zoom|netflix|spotify|pytorch|tensorflow)$"
    ),
    re.I,
)
ORG = to_pattern(
    (
        r"(?:公司|集团|银行|大学|学院|医院|学校|科技|研究院|事务所|基金会|协会|局|部|出版社|工作室)$"
        r"|\b(?:Inc|Corp|Ltd|LLC|GmbH|University|College|Institute|Bank|Hospital|School|Labs?|Company"
        r"|Foundation|Group|Technologies|Studio|Club|Association)\.?$|^(?:google|microsoft|apple"
        r"|amazon|meta|openai|anthropic|netflix|nvidia|tesla|ibm|intel|oracle|alibaba|tencent|bytedance"
        r"|baidu|huawei|xiaomi|samsung|sony|stripe|airbnb|uber|twitter|facebook|linkedin|salesforce"
        r"|adobe|spotify|字节跳动|阿里巴巴|腾讯|百度|华为|小米|美团|京东|拼多多|网易|滴滴|苹果公司"
        r"|微软|谷歌)$"
    ),
    re.I,
)
_PLACES_WORDS = """
berlin paris london tokyo beijing shanghai shenzhen guangzhou hangzhou chengdu wuhan nanjing suzhou xi'an singapore
seoul sydney melbourne toronto vancouver montreal boston chicago seattle austin denver portland dallas houston miami
atlanta madrid barcelona rome milan lisbon amsterdam brussels vienna zurich geneva prague warsaw budapest munich
hamburg frankfurt stockholm oslo copenhagen helsinki dublin edinburgh manchester istanbul dubai mumbai delhi bangalore
bangkok jakarta manila hanoi kyoto osaka taipei moscow cairo nairobi lagos china japan korea india germany france
spain italy portugal england scotland ireland canada mexico brazil argentina australia sweden norway denmark finland
poland austria switzerland netherlands belgium greece turkey russia thailand vietnam indonesia malaysia philippines
egypt kenya nigeria europe asia africa america california texas florida oregon colorado
"""
_LONG_PLACES = (
    "new york, san francisco, los angeles, hong kong, new zealand, south korea, united states, united kingdom, san "
    "diego, las vegas, washington dc, new york city, cape town, tel aviv"
)
PLACES = frozenset((*_PLACES_WORDS.split(), *_LONG_PLACES.split(", ")))
PERSON_BEFORE = to_pattern(
    (
        r"(?:\b(?:my|with|and|named|called|friend|wife|husband|brother|sister|boss|colleague|mr|"
        r"mrs|ms|dr|prof|from|by|to|told|asked|met|saw|call|email|is)\.?\s+)$"
    ),
    re.I,
)
PERSON_AFTER = to_pattern(
    r"^(?:'s\b|\s+(?:said|says|told|thinks|likes|loves|asked|wants|works|lives|called|texted"
    r"|emailed|and I|is my|was|has|went|came|will|from)\b)"
)
NAME = to_pattern(r"^[A-Z][a-z]{1,14}(?:\s[A-Z][a-z]{1,14}){0,2}$")
ZH_KINDS: dict[str, EntityKind] = {"nr": "person", "nrfg": "person", "nrt": "person", "ns": "place", "nt": "org"}
_NOT_PERSON_ZH_WORDS = """
小明天 高兴 明白 安静 文件 和平 高峰 金额 温馨 阳光 小时 小时候 老师 白天 全部 易 毛 强 明 方 华 高 于 曾 和 平 祝 安
石 水 江 海 雷 简 封 应该 莫 时 宁 关 单 成 任 乐 那 常 应 苗 花 方便 舒服 慢慢 周末 周五 周三 周一 周二 周四 周六
周日 周年 安卓 香菜 小米 马上 白色 黄色 简约 单身 连衣裙 金毛 通常 尤其 高铁 顾客 甘蓝 杜绝 任务 张 双 尽量 浅色 深色
方案 高级 宝马 奔驰 龙虾 苏打 马拉松 温和 严重 易用 项目 安排 纪要 季度
"""
NOT_PERSON_ZH = frozenset(_NOT_PERSON_ZH_WORDS.split())
STRUCTURAL = frozenset(("url", "repo", "file"))
