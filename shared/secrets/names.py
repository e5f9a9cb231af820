"""The words for secrets, in both languages, and the permitted form of their values."""

import re
from collections.abc import Iterable

from shared.language.patterns import to_pattern


def _by_language(words: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The English and the Chinese words."""
    known = tuple(words)
    return tuple(word for word in known if word.isascii()), tuple(word for word in known if not word.isascii())


_SIGNS = """
pass|pwd|pw|psw|p/w|key|token|secret|code|pin|puk|otp|phrase|cvv|cvc|cvn|csc|mnemonic|credential|creds|community|maiden
security|2fa|word|recovery|seed|steam guard|mfa|verification|sms|authenticat|memorable|login|log-in
密码|授权|密碼|密钥|秘钥|密匙|口令|暗号|暗语|密语|码|令牌|提取|助记词|私钥|凭证|凭据|验证|三位
背面|后3|末3|账密|密保|卡密|恢复|种子|安全问题|找回问题|激活|许可证
"""
_OPENERS = """
log in|logon|sign in|sign-in|signin|combo|combination|lock|keypad|opens|alarm|pattern|gate|garage|door|safe
vault|voicemail|suitcase|luggage|lobby|entrance|disarm|root|admin|user|account|router|laptop|ipad|tablet|wifi
wi-fi|modem|hotspot|on the back|banking|my pat|jenkins|nacos|redis|mysql|mongo|gitlab|grafana|rabbit|tomcat
oracle|postgres|netflix|spotify|hulu|gmail|outlook|icloud|facebook|instagram|paypal|venmo|steam|discord|dropbox
github|zip|rar|pdf|archive
锁|密|微信|支付宝|淘宝|京东|微博|百度|网易|钉钉|付款|支付|取款|取钱|压缩|解压|表格|文档|打开
网|热点|无线|账号|帐号|账户|后台|路由|开机|开门|进门|门禁|柜|箱|车库|门|图案|手势|登录|登陆
"""
SIGNS = tuple(_SIGNS.strip().replace("\n", "|").split("|"))
"""Words for a secret; a text without any of these, of the openers and of the setting names has none."""
OPENERS = tuple(_OPENERS.strip().replace("\n", "|").split("|"))
"""Words that refer to a code only with a number."""
SIGNS_EN, SIGNS_ZH = _by_language(SIGNS)
OPENERS_EN, OPENERS_ZH = _by_language(OPENERS)

_QUALIFIED = (
    r"(?:verification|otp|2fa|mfa|two[- ]factor|auth(?:entication|enticator|ori[sz]ation)?|security|login|log[- "
    r"]?in|sign[- ]?in|sms|text|"
    r"one[- ]time|single[- ]use|backup|recovery|reset|access|entry|door|gate|garage|alarm|safe|lock(?:box|er)?|"
    r"unlock|front door|back door|key ?box|keypad|"
    r"building|lobby|house|apartment|flat|shed|vault|pairing|parental|voicemail|phone|screen|sim|puk|bank|card|atm|"
    r"debit|credit|"
    r"activation|registration|disarm|panic|master|gym|office|entrance|elevator|lift|bike|suitcase|luggage|cabin|"
    r"airbnb|lock screen)"
)
EN = (
    r"(?P<answer>(?:security|secret|recovery) (?:question|answer)s?|(?:mother|mom|mum)(?:'s|s)? maiden name)"
    r"|(?P<pass>community string|app[ -]?passwords?|requirepass|pass[ -]?(?:word|wd|code|key)s?|pass|(?:security|"
    r"memorable|duress|verbal|key) (?:word|phrase|"
    r"info\w*)|(?:seed|"
    r"recovery|backup|secret|mnemonic) (?:phrase|words)|mnemonic|pass[- ]?phrase|passw|pwd?s?|pw|psw|pswd|p/w|"
    r"(?:wi-?fi|wpa2?|wep|network|wireless|psk)[ -]?(?:key|code|pass)|"
    r"(?:pre-?shared|security) key|safe ?word|code ?word|magic word|secret word|watchword|log[- ]?in phrase)"
    rf"|(?P<code>{_QUALIFIED}[ -](?:codes?|combo(?:nation)?|combination|pin|digits)|[tmu]?pin(?:[ "
    rf"-]?(?:code|number|no\.?))?s?|telephone banking (?:number|code)|steam guard|2fa|mfa|verification|sms|"
    rf"authenticator(?: app)?|(?:three|"
    rf"four|[34])[- ]digits? (?:code )?on the back|otps?|totp|cvv2?|cvc2?|cvn|csc|"
    r"pass ?codes?|puk|combo|combinations?|the code|(?:my|our|your|his|her|their|new|old|current|same|its|'s) code|"
    r"codes?)"
    r"|(?P<token>seed|(?:api|access|secret|app|auth|client|private|signing|encryption|deploy|ssh|service|license|"
    r"licence|"
    r"product|activation|recovery|master|"
    r"shared|account|admin|bot|bearer|personal access|refresh|session|webhook|registration|write|read|live|"
    r"prod(?:uction)?|staging|webhook signing|consumer)"
    r"[ _-]?(?:access[ _-]?)?(?:key|token|secret)s?(?:[ _-]?(?:id|string))?|api ?keys?|[a-z]{2,12}(?:secret|key|"
    r"token)|tokens?|secrets?|appsecret|"
    r"keys?|gift card(?: code)?|\bpat\b)"
    r"|(?P<login>log[- ]?ins?|log ?ons?|sign[- ]?ins?|creds|user(?:name)?(?: ?/ ?| and )pass(?:word)?|user/pass|"
    r"credentials?|root|admin(?:istrator)?)"
    r"|(?P<site>laptop|ipad|tablet|netflix|spotify|hulu|gmail|outlook|icloud|facebook|instagram|paypal|venmo|steam|"
    r"discord|dropbox|"
    r"github|jenkins|nacos|redis|mysql|mongo(?:db)?|gitlab|grafana|rabbitmq|tomcat|oracle|postgres(?:ql)?|zip|rar|"
    r"pdf|archive|accounts?|wi-?fi|router|modem|hotspot)"
    r"|(?P<lock>unlock(?:s|ed|ing)?|opens(?: on| with)?|unlocks with|key ?box|(?:suitcase|luggage|gun|bike|gym|shed|"
    r"gate|house)[ "
    r"-](?:lock|safe)|door|"
    r"lobby|entrance|lock|keypad|lock ?box|padlock|door ?lock|smart ?lock|bike lock|safe|alarm|gate|garage(?: "
    r"door)?|front door|back door|side door|locker|vault|"
    r"voicemail|unlock pattern|(?:lock|swipe|screen) pattern|pattern|suitcase|luggage lock|disarm(?:s|ed)?|key ?safe)"
)
ZH = (
    r"(?P<zpass>密[码碼](?![箱锁])|授权(?![书方登给人了码])|口令|暗号|暗语|密语|授权码|解压码|卡密|通行码|通关密语|"
    r"助记词|恢复词|种子词|"
    r"恢复短语|密匙|"
    r"(?<=fi的)key)"
    r"|(?P<zcode>提取(?=[\s:：]{0,2}(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{4}(?![a-z0-9]))|验证码|校验码|动态码|验证器|"
    r"安全码|提取码|登[录陆]码|解锁码|门禁码|开锁码|开门码|恢复码|备用码|"
    r"备份码|确认码|配对码|投屏码|开柜码|短信码|pin码|"
    r"(?:后|末|背面)(?:面)?(?:的)?\s?[三3]\s?位(?:数字?)?|二次验证|两步验证)"
    r"|(?P<ztoken>密钥|秘钥|私钥|令牌|凭[证据]|激活码|许可证)"
    r"|(?P<zshort>(?<=[登录陆新旧原改付易])密(?![码碼钥匙封保文集切林度室谋约])|(?<=\s)密(?=\s?[:：a-z0-9]))"
    r"|(?P<zlogin>账密|账号密码|用户名密码|用户名和密码|账户密码|账号和密码|账号/密码)"
    r"|(?P<zlock>付款|支付|取款|取钱|解锁|开锁|开门|进门|门禁|门锁|指纹锁|密码锁|密码箱|电子锁|智能锁|挂锁|车锁|"
    r"保险[柜箱]|行李箱|"
    r"储物柜|快递柜|寄存柜|柜子|箱子|"
    r"更衣柜|寄存柜|信箱|车库|单元门|大门|院门|锁屏|解锁图案|手势图案|锁|图案|手势)"
    r"|(?P<zsite>表格|文档|打开|上网|联网|连网|热点|网络|无线网?|微信|支付宝|淘宝|京东|微博|百度|网易|钉钉|压缩包|"
    r"解压|账号|帐号|账户|用户名|登[录陆]|开机|路由器|后台)"
    r"|(?P<zanswer>密保(?:问题|答案)?|安全问题|找回问题)"
)
_BEGINS_EN = "'234a-z"
_BEGINS_ZH = (
    "kp上两二京付令保信储凭动助单卡压取口后图备大安寄密帐开微快恢手打找投挂指授提支文无智暗更末柜校淘激热用电登百短确私种秘"
    "箱网联背行表解许账路车进连通配钉锁门院验"
)
NAME = to_pattern(
    rf"(?=[{_BEGINS_EN}])(?<![A-Za-z])(?:{EN})(?![A-Za-z0-9]|[_.-][A-Za-z0-9])|(?=[{_BEGINS_ZH}])(?:{ZH})"
)
"""A name in lower case; if none of their first letters occurs, nothing else is tried."""

NOT_CODE = to_pattern(
    r"\b(?:zip|post(?:al|e)?|area|country|error|status|exit|return|response|promo(?:tion(?:al)?)?|discount|coupon|"
    r"voucher|referral|invite|"
    r"invitation|product|colou?r|bar|qr|dress|source|http|booking|reservation|airport|currency|language|tax|sort|"
    r"swift|bic|dial(?:ling)?|"
    r"offer|class|course|model|part|item|tracking|fault|diagnostic|dtc|blink|beep|hex|morse|penal|building|civil|"
    r"legacy|some|any|of|vs|"
    r"pnr|locator|member(?:ship)?|customer|employee|staff|student|vendor|asset|iata|icao|hs|cpt|icd|region|state|"
    r"store|branch|department|dept|cost|project|job|reason|warning|trouble|stock|batch|lot|sample|"
    r"example|python|java\w*|js|open|closed|machine|byte|clean|dead|no[- ]|low|unit|test|ticket|order|confirmation|"
    r"stop|event|menu|morse|"
    r"cheat|friend|game|team|room|meeting|lobby|party|server|clan|key|fare|rate|plan|shift|pay|time|subject|major|"
    r"paint|pantone|ral)[ -]$",
    re.I,
)
NOT_KEY = to_pattern(
    r"(?:public|publishable|cache|primary|foreign|idempotency|partition|sort|object|s3|redis|config|translation|"
    r"dict(?:ionary)?|hot|arrow|"
    r"enter|shortcut|tab|major|minor|low|natural|composite|routing|index|map|json|state|csrf|next|previous|prev|"
    r"page|refresh|"
    r"registry|row|unique|host|ssh host|caps lock|function|fn|house|car|spare|piano)[ _-]$|(?:主|外|公|缓存|按|"
    r"快捷|热|唯一)$",
    re.I,
)
TOPIC = to_pattern(
    r"@|[\s'\"“”‘’_-]{0,2}(?:manager|managers|policy|policies|reset\b(?! (?:to|it to|is))|resets|resetting|field|"
    r"fields|hint|hints|prompt|prompts|strength|length|lengths|rotation|hash|hashes|hashed|hashing|protected|"
    r"protection|page|pages|form|forms|input|inputs|box\b|generator|vault|storage|stores|sharing|management|rules?|"
    r"requirements?|expiry|expiration|validation|validator|"
    r"limits?|budget|counts?|counter|counting|usage|windows?|bucket|buckets|pric\w+|costs?|systems?\b|leaks?|"
    r"breach\w*|crack\w*|spray\w*|attack\w*|authentication|screen|dialog|headers?|types?|"
    r"columns?|errors?|problems?|issues?|pairs?|sizes?|exchange|rings?|boards?|strokes?|notes?|points?|takeaways?|"
    r"insights?|parts?|features?|"
    r"performance|schedule|flow|hint|santa|garden|sauce|recipe|ingredient|review|reviews|editor|freeze|base\b|style|"
    r"smell|quality|coverage|snippet|block|changes\b|"
    r"limit|per\b|bucket|stealing|theft|reuse|complexity|recovery\b|rotations?|entropy|lists?|dump|database|table|"
    r"tokenizer|less\b|free\b|of conduct|"
    r"(?:的)?(?:管理器|管理|策略|强度|长度|框|输入框|学|本身|子|保护|找回|加密|规则|机制|字段|复杂度|过期|提示|错误|"
    r"不对|不正确|失效|泄露|复用|算法|哈希|功能|接口|服务|组件|逻辑|平台|"
    r"数量|数|用量|限制|消耗|费用|桶|环|计数|化|上限|验证失败|校验失败|生成器|问题(?![是:：])|位数|安全|输错|"
    r"收不到|没收到|登录页|页面|教程|攻略|原理|类型|红包|传输|存储|体系|文件|格式|轮换|认证))",
    re.I,
)
FICTION = to_pattern(
    r"\b(?:novel|fiction|in the (?:play|film|movie|show|book|story|scene|episode|game)|my (?:play|story|screenplay|"
    r"script|short story|thriller|dnd|d&d)|"
    r"screenplay|short story|the character|protagonist|villain|whispers|dialogue|fantasy|"
    r"if (?:my|your|the|someone'?s|a) \w{0,12} ?(?:password|pin|code|passphrase|passcode) (?:were|was)|"
    r"hypothetical\w*|pretend|suppose|imagine|"
    r"for example|e\.g\.|such as|example of|examples? (?:of|like)|people (?:still )?(?:use|pick|choose)|most common|"
    r"worst|weakest|"
    r"bad password|weak password|poor password|good password|strong password|common (?:password|pin)s?|quiz|trivia|"
    r"crossword|riddle|joke|meme|lyrics?|song)\b"
    r"|小说|剧本|台词|剧情|主角|男主|女主|故事里|电影里|电视剧|短剧|游戏里|谜语|段子|假设|假如|打个比方|比如|譬如|"
    r"例如|举个例子|举例|示例|样例"
    r"|最常见|最弱|弱密码|弱口令|常见密码|演示用|占位|歌词|相声|小品|谍战|接头",
    re.I,
)
