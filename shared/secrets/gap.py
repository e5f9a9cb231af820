"""The words between the name of a secret and its value: some connect them, others separate them."""

import re
from dataclasses import dataclass

from shared.language.patterns import to_pattern
from shared.secrets.lexicon import BLOCKS, FILL, LINKS, PUT

TOKEN = to_pattern(
    r"(?P<blanked>\[[A-Z_]{3,}\])|(?P<space>[ \t\u3000]{1,40})|(?P<line>\n\s{0,40})"
    r"|(?P<stop>[.!?]{1,8}(?=[\s\u3400-\u9fff\"'”’)]|$)|[。！？；;])|(?P<open>[\"'`“‘「『《]|\*\*)|"
    r"(?P<close>[”’」』》])"
    r"|(?P<compared>[<>!=]=(?!>)={0,1})|(?P<mark>:=|=>|->|[:：=＝→⇒])|(?P<comma>[,，、])|(?P<han>[\u3400-\u9fff]{1,40})"
    r"|(?P<aside>[()（）\[\]{}【】])|(?P<dash>[-–—~…<>|/]{1,40})"
    r"|(?P<run>[A-Za-z0-9@#$%&!^*_+~\\](?:[^\s,;:.?\"`'<>()\[\]{}|\u0080-\uffff]|'(?=[a-z])"
    r"|[:.?](?![\s\"'\u2018-\u201d\u3000-\uffff]|$)|[()\[\]{}|<>](?=[A-Za-z0-9])){0,300})|(?P<other>.)"
)
"""The parts in which a gap is read; every repetition is bounded, so that no match exceeds its window."""
_ZH_LINK = to_pattern(
    r"(?:是|为|叫(?:做)?|成了?|用的?|填的?|写的?|输入?|按|摁|敲|拨到?|调到|显示|收到了?|给(?:了|的|我)?|发来(?:的|了)?|"
    r"设了?(?:个|一个)?|改了?(?:个)?|换了?(?:个)?|等于|就|到了|来了|拿到的?|有了"
    r"|记(?:一?下|着|好)|存(?:一?下)?|答案|喏|喽|嗯|呢|哈|啊|搞成|弄成|变成)(?:了|的|个|是|我|下|一下|把|作|拼音|"
    r"全拼|小写|大写|英文|单词|字母|数字|生日)*$"
)
_ZH_BLOCK = to_pattern(
    r"(?<!别)(?<!不要)(?<!怕)(?<!会)忘|多少|什么|啥|[吗么]$|哪|怎么|如何|咋|错误|不对|输错|报错|失败|无效|过期|失效|"
    r"至少|必须|要求|不能|长度|强度|位数|太短|太长"
    r"|太弱|太简单|收不到|没收到|找回|泄露|策略|规则|锁了|能不能|是不是|有没有|要不要|可不可以|返回|提示|状态|版本|"
    r"端口|尾号|第$|超过|最少|最多|少于|大于|开头|结尾|次数|不是$"
)
_ZH_NOUN = to_pattern(
    r"(?:第|返回码?|错误码?|状态码?|端口号?|版本号?|单号|订单号?|编号|工号|学号|尾号|房号|房间|房|航班|车次|车牌|"
    r"型号|群号|群|扣扣|分机|快递|邮编|邮政编码|号楼|楼|单元|座|排|页|行号|用户名|账号|帐号"
    r"|用户|账户|昵称|邮箱|电话|手机号?|型号|超过|至少|最多|大约|大概|花了|还有|才|卖|价格|共|满|每|近|前|后)(?:是|"
    r"为|叫)?$"
)
_ZH_CHANGED = to_pattern(r"(?:改|换|设|重置|变)(?:成|为)了?$")
_ZH_OWN = to_pattern(r"(?:就是?|还是|是|用)的?(?:我们?|他|她|自己|本人)的?")
_NOUN = to_pattern(
    r"(?:errors?|status|ports?|lines?|pages?|rooms?|floors?|flights?|bus|train|chapter|section|version|build|issue|"
    r"ticket|order|ref|reference|extension|"
    r"ext|steps?|items?|no|number|over|under|about|around|least|most|than|within|after|before|every|top|only|"
    r"another|gpio|model|iphone|windows|python|"
    r"android|http|zip|usd|dollars|since|until|by|at|user|username|account|email|id|apt|apartment|unit|suite|"
    r"building|level|year|size|ssid|network|terminal)",
    re.I,
)
_ZH_CLEAR = to_pattern(r"(?:现在|新的?|如今|后来|我的)?(?:是|改成|换成|设成|就是|还是|为)")


@dataclass(slots=True)
class Gap:
    """The progress from the word towards a value."""

    linked: bool = False
    direct: bool = True
    blocked: bool = False
    hops: int = 0
    words: int = 0
    last: str = ""
    crossed: bool = False
    zh: bool = False
    marked: bool = False
    """A colon or similar is directly in front."""
    stopped: bool = False
    shown: bool = False
    """The name is that of something shown briefly, or printed on a card."""
    opens: bool = False
    """The name is that of something that a code opens."""
    short: bool = False
    """Three digits suffice: of a suitcase, of the back of a card."""
    bare: bool = False
    """The name is an ambiguous word."""

    def mark(self) -> None:
        """A colon or similar: the value follows."""
        self.linked = self.direct = self.marked = True
        self.blocked = self.blocked and self.hops > 0

    def stop(self, mark: str) -> bool:
        """Whether reading may continue after the end of a clause."""
        if "\n" in mark and self.direct and (self.linked or not self.words) and not self.hops:
            self.hops += 1
            self.linked = True
            return True
        if "\n" in mark and self.stopped:
            return True
        self.hops += 1
        self.stopped = True
        if "?" in mark or "？" in mark:
            self.blocked = self.blocked or self.words > 3
        self.linked = False
        self.direct = self.words == 0
        self.last = ""
        return self.hops < 2

    def comma(self) -> None:
        """A comma separates, but not a connecting word from its object."""
        self.direct = self.direct and (self.linked or not self.words)

    def word(self, said: str) -> None:
        """An English word that is no value."""
        low = said.lower().rstrip(".,:;!?").replace("’", "'")
        if low in LINKS or (low.endswith("'s") and low[:-2] in ("it", "that", "here", "what")):
            cleared = low not in ("to", "with", "into", "in")
            self.linked, self.direct = True, True
            self.blocked = self.blocked and not (
                cleared and (self.words or self.hops or low in ("use", "using", "try", "enter", "type"))
            )
        elif low in FILL or (low == "in" and self.last in PUT):
            pass
        elif low in BLOCKS:
            self.blocked, self.direct = True, False
        else:
            self.linked = self.linked and not self.direct
            self.direct = False
            self.words += 1
        self.marked = False
        self.last = low

    def han(self, run: str) -> None:
        """A run of Chinese that is no value."""
        self.zh = True
        if _ZH_BLOCK.search(run):
            self.blocked = True
        elif self.blocked and (self.hops or self.words) and _ZH_CLEAR.match(run):
            self.blocked = False
        if _ZH_CHANGED.search(run):
            self.blocked = False
        if _ZH_LINK.search(run) or _ZH_OWN.match(run):
            self.linked = self.direct = True
        else:
            self.direct = self.direct and len(run) <= 2 and not self.blocked
        self.words += (len(run) + 2) // 3
        self.last = run

    @property
    def owned(self) -> bool:
        """Whether the word in front of the value makes it the number of something else."""
        if _ZH_OWN.match(self.last):
            return False
        return bool(_ZH_NOUN.search(self.last) if self.last[-1:] >= "\u3400" else _NOUN.fullmatch(self.last))
