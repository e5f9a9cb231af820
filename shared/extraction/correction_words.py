"""Patterns of corrections: what is no longer true, what is true instead, and words that announce a correction."""

# ruff: noqa: E501 - one family of forms per line

import re

from shared.extraction.gates import gate
from shared.language.patterns import to_pattern

LEAD = to_pattern(
    r"^(?:(?:no|yes|well|oh|hey|hi|sorry|wait|and|but|so|also|actually|honestly|now)\b[,.]?\s+|(?:不对|不|哦|啊|嗯|其实|但是?|不过|所以)[，, ]+)+",
    re.I,
)
GONE = (
    to_pattern(
        r"\b(?:I|we)(?:'m|'ve| am| are| have)? (?:really |just |also |finally |already )*(?:"
        r"(?:don't|do not|can't|cannot|not) (?P<old>.+?) (?:any ?more|any longer)$"
        r"|no longer (?P<old2>.+)$"
        r"|(?:stopped|quit|gave up|given up|done with|got rid of|dropped|ditched|abandoned|gone off) (?P<old3>.+)$)",
        re.I,
    ),
    to_pattern(
        r"^not (?:into |an? )?(?P<old>.{2,40}?) (?:any ?more|any longer)$|^no (?:more|longer) (?P<old2>.{2,40})$", re.I
    ),
    to_pattern(
        r"(?:^|我们?|也|现在|已经|都|早就|早已|决定|以后|今后|从此)(?:不再|再也不|再不|没再)(?P<old>[^，。]{2,20}?)了?$"
    ),
    to_pattern(
        r"^我?们?(?:现在|已经|早就|早已|早|都|也|基本|彻底|终于|其实|最近)*不(?:怎么|太)?(?P<old>[喜爱吃喝用抽玩穿住做学养开写在看听打去骑订练是当叫需][^，。]{1,17}?)了$"
        r"|^(?!现在|已经|暂时|最近|以后|其实|早就|[今明昨]|[我你他她它咱这那])(?P<old2>[^，。不了这那]{2,14}?)我?们?(?:现在|已经|早就|早已|最近|基本|彻底|都|也)*不(?:怎么|太|再)?(?:喜欢|爱)?[吃喝用穿看听打骑玩抽]了$"
    ),
    to_pattern(
        r"(?:^|我)(?:现在|已经|早就|都|也|彻底|终于|最近)*(?:戒(?:掉了?|了)?|(?:放弃|弃用|卸载|抛弃|告别|停用)了)(?P<old>[^，。了掉]{1,14})了?$|^我?把?(?P<old2>[^，。我把现]{1,6}?)我?(?:已经|早就|彻底|都|也|给)*戒掉?了$"
    ),
)
"""Says that something is no longer true."""
NOTHING = to_pattern(
    r"(?:I|we|he|she|they|this|that|it|them|these|those|there|here|sure|sorry|at all|even|yet|bad|right|good|only|just|because|really|if|what|how|why|so|too|very|questions?|worries|problem"
    r"|(?:\w+ )?(?:need|know|understand|remember|see|get it|care|think|believe|trust|worry|want to|have (?:to|access|time|any))|able|trying|saying|joking)\b"
    r"|(?:my )?job$|(?:this|that|it|them|these|those)$|\w+ (?:this|that|it|them|these|those)$"
    r"|[这那你您他她它谁吗么]|什么|用(?:[谢管说试]|客气|担心|麻烦)|(?:用|看|去|做)?(?:了|的|到|完|懂|清|见)|好意思|在(?:乎|意|线)|赘述|开(?:心|玩笑)|(?:是|因为|为了)?(?:我不|没|说|想|很|太|特别|因为|为了)",
    re.I,
)
"""Begins old words that name nothing which could have been kept."""
NOT = to_pattern(
    r"^(?P<topic>.{0,48}?)(?P<link>'s|'m|'re|\b(?:am|is|are|was))? ?(?:(?<!\bdo )\bnot|(?<=is|re|as)n't)(?: on| in| at| an?| the| for)* (?P<old>[^,]{1,40})$"
    r"|^(?P<topic2>[^，]{0,14}?)(?:并|其实|可|而)?不(?P<link2>是|叫|住?在)(?P<old2>[^，]{1,18})$"
    r"|^instead of (?P<old3>[^,]{1,40})$",
    re.I,
)
IS = to_pattern(
    r"^(?:but |it'?s |it is |they'?re |rather )+(?:now |actually |really |on |at |in |an? |the )*(?P<new>[^,]{1,40})$"
    r"|^而?(?:应该|其实|现在)?(?:是|叫|在)(?P<new2>[^，]{1,24})$",
    re.I,
)
BOTH = to_pattern(
    r"^(?P<head>\S.{0,60}?) (?:instead of|rather than|and not|not) (?P<old>[^,]{1,40})$"
    r"|^(?P<topic>[^，]{0,14}?)(?<![是要还总])不(?P<link>是|叫|住?在)(?P<old2>[^，是]{1,16}?)而?(?:是|叫|在)(?P<new>[^，]{1,20})$"
    r"|^(?P<head2>[^，]{0,14}?(?:是|叫|在)[^，不]{1,16})(?:而|并)?不(?:是|叫|在)(?P<old3>[^，]{1,16})$",
    re.I,
)
"""Both values in one clause: the head with the new one, or the topic, link and new one apart."""
SWITCHED = to_pattern(
    r"^(?:(?P<head>.{0,40}?)\b(?:have |has |'ve |just |recently |finally |now |been |got |was )*)?"
    r"(?:(?:switch|chang|migrat|convert|(?P<moved>mov|reschedul|push|postpon|shift))(?:ed|ing)(?: back| over)?(?: my| our| the)?(?P<thing> \w+(?: \w+)?)??(?: from (?P<old>[^,]{1,32}?))? to (?P<new>[^,]{1,40})"
    r"|(?:replaced|swapped|traded|ditched|dropped|gave up|given up) (?:my |our |out )?(?P<old2>[^,]{1,32}?) (?:with|for|in for) (?!(?:good|now|ever|once|sure|lent)\b|(?:a|the|this|another) (?:while|bit|day|week|month|year|time|moment)\b)(?:an? |my )?(?P<new2>[^,]{1,40}))$"
    r"|^(?P<head3>[^，]{0,20}?)(?:[从由](?P<old3>[^，]{1,16}?))?(?:已经|都|又|再|被|决定|刚|全部|全面|正式|彻底|我|就|也|还是)*(?:[改换转切](?:换|用)?(?P<verb>[成为到回作用吃喝学看听穿])|(?P<moved2>推迟|提前|延期?|挪|调)到)了?(?:台|个)?(?P<new3>[^，]{1,24}?)(?:了|吧)?$",
    re.I,
)
UNSURE = to_pattern(
    r"\b(?:how|should|want to|need to|could|would|can|tab|branch|directory|file|topics?|attention|title)\b|怎么|如何|什么|要不|能|建议|考虑|帮|请|麻烦|给我|代码|函数|变量|标题|[这第]",
    re.I,
)
"""Beside a switch: it is asked for, planned, or of the work at hand."""
BEFORE = to_pattern(
    r"\b(?:I|we) (?:used to (?:really |always |be )?|was (?=an? ))(?P<old>.+)$|^(?:我)?(?:以前|之前|过去|原来|曾经|原先|本来|小时候)(?:我)?(?:一直|很|最|都|更|比较|特别|总是|经常)*(?P<old2>[^，]{2,20})$",
    re.I,
)
NOW = to_pattern(
    r"^(?!.*\b(?:right|for|just|until|by|from|even|that) now\b)(?:(?:but |and |so )*|.*\bI\b.* |I['a-z]* )(?:now|nowadays|these days)\b(?! that\b| and then\b)"
    r"|(?:现在|如今).*(?:喜欢|偏爱|偏好|倾向|讨厌|爱[吃喝看听用穿])|(?:现在|如今).*了$",
    re.I,
)
BACK = to_pattern(r"^(?:but|however|但是?|不过|可是?|然而|后来)|\b(?:now|nowadays|these days)\b|现在|如今|目前", re.I)
TAKES_BACK = to_pattern(
    r"\bI (?:meant|misspoke|was wrong|was mistaken|made a mistake|mistyped)\b|\bmy (?:mistake|bad)\b|^correction\b|\bscratch that\b|\bchanged? my mind\b|\bI take (?:that|it) back\b|^(?:no,? )?wait$|^sorry$|^oops\b"
    r"|\bthat'?s (?:wrong|not right|incorrect|outdated|not true|not correct)\b|\byou(?:'re| are) (?:wrong|mistaken)\b|\bon second thought\b|\bno,? actually\b"
    r"|(?:^|我|刚才|刚刚|之前|前面)(?:说|记|写|打|讲|搞|弄|填)(?:错|反)了?|^(?:更正|纠正|口误|订正|修正)|改(?:变)?主意|收回(?:刚才|之前)|^(?:不对|错了|不是|不不|哦不)$|你(?:说|记|搞|弄|理解)错了?|你误会了|过时了$",
    re.I,
)
SETS_RIGHT = to_pattern(
    r"^(?:(?:no|oh|well|but|wait|sorry)[,.]?\s+)*(?:actually|in fact)\b|^(?:不|啊|哦|但|不过)*[，, ]?(?:其实|实际上|事实上)",
    re.I,
)
ALONE = to_pattern(r"(?:no[, ]*)?(?:actually|in fact),?|no|nope|其实|实际上|事实上|不是?的?", re.I)
USES = to_pattern(
    r"^(?:I|we)?(?:'m|'ve)?(?: (?:am|now|always|usually|actually|still))*\s*(?:us|eat|drink|wear|smok|play|watch|tak|driv|read|buy|do|go|listen)(?:e|ing)?(?: to)? (?P<what>.{2,40})$"
    r"|^我?们?(?:现在|已经|还是|想|要|决定|改|只|都|就|开始|换|打算)*(?P<verb>使用|[用喝吃抽穿看玩听骑开选买养订练学打追])(?P<what2>[^，。了不的这那什完到错][^，。了不]{0,18})了?$",
    re.I,
)
"""What somebody uses, eats or does; only beside a correction this is a taste."""
AT_WORK = to_pattern(r"(?<=.)(?:干|做事|上班)$")
ADVERBS = to_pattern(
    r"^(?:我?们?把)?(?:往后|以后|如今|现在|一律|固定|[从由])*|(?:固定|一律|的?(?:时间|日期))?(?:已经|又|再|被|都|就|[从由])*$"
)
"""Around what is moved to another day."""
OF_TIME = frozenset({"time", "weekday", "date"})
FORMS = gate(*GONE, NOT, BOTH, SWITCHED, BEFORE, NOW, TAKES_BACK, SETS_RIGHT, ALONE)
"""The mask of a clause that one of the forms may match."""
