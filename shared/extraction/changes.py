"""Finds what a text says is over (`cancelled Crete`, 西语我放弃了), and what a message may change.

Each form matches a whole clause, so speaking of cancelling ends nothing, nor does what somebody else does.
"""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from shared.cache import of_texts
from shared.extraction import learned
from shared.extraction.clauses import Clause, split
from shared.extraction.correction_forms import put_instead
from shared.extraction.guards import Stance, asks_how_to_answer
from shared.extraction.learned import ClauseClass
from shared.extraction.model import Finding
from shared.extraction.values import values
from shared.extraction.wording import stands_in_place
from shared.language.patterns import to_pattern
from shared.language.segment import has_word

SHORT = 200
"""A message of at most so many characters is examined as a whole for what it may change."""
_NOW = to_pattern(
    r"\b(?:now|instead|these days|switched|moved|changed)\b|\bback (?:to|on)\b|现在|如今|改|换|目前|以后", re.I
)
"""These words say that the text beside a denial states what is true instead."""
_LEAD_EN = (
    r"(?:(?:ok(?:ay)?|so|and|but|well|oh|right|update|btw|plus|also|finally|just|officially|actually|sadly|we|i|i've|we've|i'm|we're|i am|we are|i have|we have|had to|have to"
    r"|has|have|you can|can|please|pls|going to|gonna|decided to|all|now|already|no need to|let's|then|as of \w+|since \w+),? )*"
)
_ENDS_IT = (
    r"cancell?ed|cancell?ing|cancel|scrapped|scrapping|quit|quitting|ditched|ditching|dropped(?: out of)?|dropping(?: out of)?|gave up(?: on)?|given up(?: on)?|giving up(?: on)?|stopped|stop the|stop my"
    r"|pulled out of|pulling out of|backed out of|backing out of|withdrew from|sold|got rid of|done with|through with|finished with|over with|no more|(?:my )?last (?:day|shift|week) (?:at|with|as|in)|off(?! to\b)|killed|killed off|left|leaving|resigned from|retired from"
    r"|unsubscribed from|uninstalled|deleted|returned|rehomed|called off|broke up with|closed|shut down|gave away|given away|came off|coming off|don't do|don't need(?! to\b)|no longer (?:need|have|do|use|want|eat|drink|take|own|see|go to|play|work at|live in|on)"
)
_AFTER_EN = r"(?:,? (?:tonight|today|yesterday|now|already|anyway|for good|for now|entirely|completely|altogether|too|last \w+|this \w+|on \w+day|in \w+|because .*|since .*|as .*|so .*|and .*|but .*|for .*|to .*|they .*|it .*|which .*|after .*|until .*))?"
_IS_OVER = (
    r"(?:(?: (?:is|are|was|were|got|has been|have been|just got|gets)|'s(?: been)?|'re)(?: (?:all|just|now|already|finally|officially|sadly|completely))*"
    r" (?:off|cancell?ed|called off|over|no more|gone|dropped|scrapped|discontinued|shut down|closed down|off the table|not happening|sold|retired|dead)"
    r"|(?: (?:has|have|just|sadly))* (?:passed away|passed|died|fell through|fallen through|folded|shut down|closed down|can stop|can go))"
)
_EN = to_pattern(
    rf"{_LEAD_EN}(?:(?:{_ENDS_IT}) (?:the |my |our |all |any |that |this |those |these |on |with |a |an )*(?P<object>[\w'&/. -]{{2,40}}?)(?: any ?more| any longer)?{_AFTER_EN}"
    rf"|(?:the |my |our |that |this |those |a )*(?P<subject>[\w'&/. -]{{2,30}}?){_IS_OVER}{_AFTER_EN}"
    rf"|(?:don't|not|am not|doesn't|isn't|aren't|never|won't|can't|haven't|hasn't) (?:really |even |doing |going to |taking |on |have |do |the |my )*(?P<denied>[\w'&/. -]{{2,40}}?) (?:any ?more|any longer|these days){_AFTER_EN})"
)
_LEAD_ZH = r"(?:(?:我们?|咱们?|就|也|都|已经|早就|那个?|这个?|所以|后来|最近|现在|昨天|今天|上周|上个?月|前几天|刚|把|决定|打算|先|还是|算了|从|跟|和|医生(?:说|让)|老板说|领导说)[，,\s]?)*"
_TAIL_ZH = r"(?:[了啦呢吧呀啊哈]|的)*"
_OVER_ZH = r"取消|停|停用|停掉|停吃|放弃|辞|辞掉|退|退掉|退订|卖|卖掉|转卖|送人|送走|送出去|戒|戒掉|删|删掉|关|关掉|关停|下线|下架|注销|黄|散|散伙|解散|没|结束|作废|吹|泡汤|倒闭|拆|扔|扔掉|断|断掉|拉倒|作罢|告吹|走|过世|去世|离世"
_ZH = to_pattern(
    rf"{_LEAD_ZH}(?:"
    rf"(?:不再?|没再|别再|不用再|不想|不打算|不准备|不用|不需要|不去|没有?)(?P<denied>[^，,。不了]{{1,10}})了"
    rf"|(?:在)?(?P<place>[^，,。我]{{2,12}}?)(?:的)?最后(?:一天|一个?班|一周)"
    rf"|(?P<topic>[^，,。我]{{1,12}}?)(?:那?[个趟份场次家台件边](?:活儿?)?|活儿?|事儿?)?(?:我们?|都|也|已经|就|早就?|早已|可以|能|先|暂时|全|刚|正式|彻底|上周|昨天|今天|连\S{{1,3}}都)*(?:(?:{_OVER_ZH})|不[^，,。了不]{{1,4}}|别[^，,。了]{{1,3}})(?:了|啦)"
    rf"|(?:取消|停掉|停用|放弃|辞掉|退掉|退出|卖掉|戒掉|删掉|关掉|告别|送走|不再|停了|辞了|退了|卖了|戒了|删了|注销了|离开)(?P<object>[^，,。了]{{2,12}})"
    rf"){_TAIL_ZH}"
)
_CLAUSE = to_pattern(r"[，,。；;:：!！?？\n]+|\.(?=\s|$)|\s+-+\s+|\s(?:and|but|so)\s(?!off\b)")
_TIME = to_pattern(
    r"(?:今|明|后|昨|当)(?:天|晚|早|夜|儿|日)?(?:早上|上午|中午|下午|晚上|夜里)?|这[次回顿趟周]|下[次回周]|周[一二三四五六日末]|待会儿?|等会儿?|一会儿?|暂时|今年|这两天|这几天"
)
"""Names only a time, which cannot be over: 今晚不跑了."""
_ONCE = to_pattern(r"(?:今[天晚早夜]|明[天早晚]|这[次回顿周]|待会|等会|暂时)(?!.{0,3}(?:开始|起|决定))")
_SIGNS = to_pattern(
    r"\b(?:last|cancel|scrap|quit|ditch|drop|gave|giv|stop|pull|back|withdr|sold|rid|done|through|finish|over|no more|off|kill|left|leav|resign|retire|unsub|uninst|delet|return|rehom|broke|clos|shut|came|com|any ?more|longer|these|gone|pass|died|fell|fall|happen|end|can|fold|out|no longer|need|do)\w*"
    r"|了|啦|取消|放弃|退|戒|告别|不再|离开|注销|停用"
)


@of_texts(2048)
def find_ended_things(text: str) -> tuple[str, ...]:
    """The things that the text says are over, in its own words."""
    things: list[str] = []
    for clause in _CLAUSE.split(text.lower().replace("’", "'")):
        clause = clause.strip(" .")
        if not clause or not _SIGNS.search(clause):
            continue
        match = (_EN if clause.isascii() else _ZH).fullmatch(clause)
        if match:
            named = ((form, each.strip()) for form, each in match.groupdict().items() if each)
            things += [each for form, each in named if not (_TIME.fullmatch(each) or _is_put_off(form, clause))]
    return tuple(things)


def _is_put_off(form: str, clause: str) -> bool:
    """Whether the clause denies something for a day alone: 今天不出门了."""
    return form == "denied" and _ONCE.search(clause) is not None


MOST_READ = 300
_BYGONE = to_pattern(
    r"(?<!\bam )(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bget )(?<!\bgot )(?<!'m )(?<!'re )(?<!getting )\bused to (?!it\b|that\b|this\b|the\b|him\b|her\b|them\b|being\b|\w+ing\b)"
    r"|\b(?:previously|formerly|in the (?:old|early) days|back in the day|in the past,|once (?:was|were|lived|worked|had|used|ran|owned))\b"
    r"|^(?:我们?|咱们?|公司|团队|他们?|她们?|那|其实|这边)?(?:以前|从前|曾经?(?!理)|过去(?!的?[几一二两三四五六七八九十百\d这]|了|吧|就)|原先|早年|当年|早先|之前(?!说|提|聊|讲|问|那|的|先)|原来(?=[用住在叫])|最早|起初)(?!怎么|是不是|有没有)",
    re.IGNORECASE,
)
"""Says that something was so in the past."""
_WORDS = (
    *("used to ", "previously", "formerly", "the old days", "early days", "back in the day", "in the past,", "once "),
    *("以前", "从前", "曾", "过去", "原先", "早年", "当年", "早先", "之前", "原来", "最早", "起初"),
)
"""Each text that the pattern matches contains one of these."""
_SINCE = to_pattern(
    r"\b(?:now|nowadays|these days|currently|today|since|until|till|but|still|instead|anymore|any more|no longer|then|replac\w+|switch\w+|chang\w+|mov\w+|migrat\w+|"
    r"before (?:i|we|switch\w*|mov\w*))\b|现在|如今|目前|后来|改|换|搬|转|已经|但|不过|还是|仍|一直|不再|才|了$|直到",
    re.IGNORECASE,
)
"""Says what followed, or that it still goes on."""


_STATES = to_pattern(
    r"(?:and |so )?(?:i|we|it|my|our)(?:'m|'re|'s)?\b(?! (?:was|were|had|did|\w+ed)\b)|我", re.IGNORECASE
)
"""Begins a clause that may be true now."""


def tells_past(text: str) -> bool:
    """Whether the text says that something was so in the past and is over."""
    text = text[:MOST_READ]
    low = text.lower()
    return any(word in low for word in _WORDS) and _BYGONE.search(text) is not None


@of_texts(4096)
def tells_only_past(text: str) -> bool:
    """Whether every clause of the text describes the past, and none says what replaced it."""
    if not tells_past(text) or len(text) > MOST_READ:
        return False
    clauses = [each.text for each in split(text) if each.text.strip()]
    return (
        bool(clauses)
        and _BYGONE.search(clauses[0]) is not None
        and not any(each.asked for each in split(text))
        and not any(_SINCE.search(_BYGONE.sub("", each)) for each in clauses)
        and not any(_STATES.match(each) for each in clauses[1:] if not _BYGONE.search(each))
    )


def correct_denials(
    clauses: Sequence[Clause], stand: Sequence[Stance], findings: dict[int, list[Finding]], ends: dict[int, int]
) -> None:
    """Turns a denial into a correction if its sentence also says what is true now.

    A finding in the words beside the denial keeps its own key: one sentence is one memory.
    """
    for index, each in list(findings.items()):
        one, last = each[0], ends.get(index, index)
        if not one.retracts or one.assertion != "correction" or one.kind == "constraint":
            continue
        sentence = clauses[index].sentence
        if new := _find_replacement(clauses, findings, index, last):
            ends[index] = max(last, ends.get(new, new))
            findings[index] = [_to_replacement(one, told) for told in findings.pop(new)]
            continue
        beside = [
            place
            for place, clause in enumerate(clauses)
            if clause.sentence == sentence
            and (not index <= place <= last or (last > index and not has_word(clause.text, one.old_value or "")))
            and (place not in findings or place == index)
            and stand[place].stands
            and (_NOW.search(clause.text) or values(clause.text))
        ]
        if not beside:
            continue
        slot = one.key if one.key and one.key.startswith("profile:") else None
        begin = min(index, beside[0])
        findings.pop(index)
        findings[begin] = [put_instead(one, key=slot)]
        ends[begin] = max(last, beside[-1])


def _find_replacement(
    clauses: Sequence[Clause], findings: Mapping[int, Sequence[Finding]], index: int, last: int
) -> int | None:
    """The place of the clause after a denial, in the same sentence, whose finding replaces what is denied."""
    new = last + 1
    if new not in findings or clauses[new].sentence != clauses[index].sentence:
        return None
    one = findings[new][0]
    fits = one.kind == findings[index][0].kind and not one.retracts and one.assertion == "correction"
    return new if fits and stands_in_place(clauses[new].text) else None


def _to_replacement(denial: Finding, new: Finding) -> Finding:
    """The new finding as a correction of what the denial denies."""
    old_key = {"old_key": denial.key} if denial.key and "old_key" not in new.value else {}
    return replace(new, value={**new.value, **old_key}, old_value=new.old_value or denial.old_value)


def add_suspicions(
    clauses: Sequence[Clause],
    verdicts: Sequence[ClauseClass],
    free: Sequence[bool],
    findings: dict[int, list[Finding]],
    ends: dict[int, int],
) -> None:
    """Adds findings for sentences that state nothing to keep but may change a memory.

    In a long message each such sentence is one finding; in a short one neighbours form one, as they explain each other.
    """
    stated = {clauses[at].sentence for index in findings for at in range(index, ends.get(index, index) + 1)}
    best: dict[int, int] = {}
    for index, verdict in enumerate(verdicts):
        sentence = clauses[index].sentence
        if not free[index] or sentence in stated or not may_change(clauses[index], verdict):
            continue
        if sentence not in best or verdict.changed > verdicts[best[sentence]].changed:
            best[sentence] = index
    sentences = group_by_sentence(clauses)
    if clauses[-1].end - clauses[0].start > SHORT:
        for number, index in best.items():
            findings[index] = [learned.to_suspicion(sentences[number], verdicts[index])]
        return
    open_to_it = [n for n in sentences if n not in stated and not sentences[n][0].asked]
    for together in _split_into_runs(open_to_it):
        if likely := [best[n] for n in together if n in best]:
            suspected = [clause for n in together for clause in sentences[n]]
            begin = clauses.index(suspected[0])
            surest = max(likely, key=lambda at: verdicts[at].changed)
            findings[begin], ends[begin] = (
                [learned.to_suspicion(suspected, verdicts[surest])],
                clauses.index(suspected[-1]),
            )


def _split_into_runs(numbers: Sequence[int]) -> list[list[int]]:
    """The numbers split into runs of consecutive ones."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def may_change(clause: Clause, verdict: ClauseClass) -> bool:
    """Whether the clause may change a memory, by the learned weights or because it says that something is over."""
    return learned.may_change_memory(verdict) or bool(find_ended_things(clause.text))


def may_matter(clause: Clause, verdict: ClauseClass) -> bool:
    """Whether the clause may change a memory, or asks for a style of answers."""
    return may_change(clause, verdict) or asks_how_to_answer(clause.text)


def group_by_sentence(clauses: Sequence[Clause]) -> dict[int, list[Clause]]:
    found: dict[int, list[Clause]] = {}
    for clause in clauses:
        found.setdefault(clause.sentence, []).append(clause)
    return found
