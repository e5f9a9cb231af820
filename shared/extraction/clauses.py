"""Splits messages into sentences and clauses with their places; code, quoted lines and reported quotes are blanked."""

# ruff: noqa: E501 - one family of words per line

import re
from dataclasses import dataclass

from schemas.vocabulary import Language
from shared.cache import of_texts
from shared.extraction.gates import mask
from shared.language.patterns import to_pattern

CJK = to_pattern(r"[\u3400-\u9fff]")
LATIN = to_pattern(r"[A-Za-z]")
_FENCE = to_pattern(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
_QUOTED_LINE = to_pattern(
    r"^[ \t]*(?:>|\||\$ |at |File \"|Traceback|\[?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?\]?,? +[^\s:：][^:：\n]{0,30}[:：]).*$",
    re.M | re.I,
)
"""Quotations, consoles, traces, and lines of a chat that was pasted: `[18:02] Tomek: ...`."""
_QUOTED_LINE_SIGN = to_pattern(r"[>|$]|File|Traceback|^[ \t]*at |^[ \t]*\[?\d{1,2}:\d\d", re.M)
_PASTED_SIGN = to_pattern(r"[:：]\s*['\"“]|【")
_QUOTE_SIGN = to_pattern(r"[“「『\"']")
_QUOTE = to_pattern(
    r"“[^”]{1,300}”|「[^」]{1,300}」|『[^』]{1,300}』|\"[^\"\n]{1,300}\"|(?<![A-Za-z])'[^'\n]{3,200}'"
    r"(?![A-Za-z])"
)
_SPEECH = to_pattern(r"我|\b(?:I|my|me)\b|[。！？.!?]\s*\S|[:：]")
_SAID = to_pattern(
    (
        r"(?:说|道|写|问|喊|回复|念|翻译(?:一下|成\w+)?|润色|said|says|wrote|write|reads|asked|called"
        r"|translate)\s*[:：,，]?\s*$"
    ),
    re.I,
)
_WHOSE = (
    r"(?:(?:it|this|that)(?:'s| is| was| came)?|here(?:'s| is)(?: what)?|what|text|email|letter|note|message|notice) (?:is |came |just )*(?:from|off|the|by)\b[^.!?\n:]{0,60}"
    r"|\b(?:sent|got|says?|reads?|posted|forwarded|texted|emailed|wrote)\b[^.!?\n:]{0,40}"
)
_WHOSE_ZH = r"(?:群里|朋友圈|别人|邻居|朋友|同事|物业|公司|学校|老师|银行|平台|客户|领导|房东|网上|短信|邮件|帖子|消息|通知)[^。！？!?\n【“]{0,24}"
_PASTED = to_pattern(
    rf"(?:{_WHOSE})[:：]\s*(?P<quote>'[^\n]{{20,2000}}'|\"[^\n]{{20,2000}}\")(?![A-Za-z])"
    rf"|{_WHOSE_ZH}(?:[:：，, ]?(?P<notice>【[^】]{{2,20}}】[^\n]{{10,2000}})|[:：]\s*(?P<words>“[^”]{{10,2000}}”))",
    re.I,
)
"""A text of somebody else after words that say whose it is; it separates sentences."""
_SENTENCE = to_pattern(
    r"[。！？!?；;\n\r]+|(?<!\bMrs)(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bProf)(?<!\bvs)(?<!\bincl)(?<!\bapprox)(?<!\be\.g)(?<!\bi\.e)(?<!\ba\.m)(?<!\bp\.m)\.{1,6}(?=\s|$|[\u3400-\u9fff])|…+"
)
_AFTER_COMMA = (
    r"and |but |so |because |since |though |although |however,? |which |who |please |while |if |when |or |not |instead"
    r"|right\b|now |also,? |then |plus |yet |maybe |back (?:to|on) |(?:switched|moved (?:back|over|everything)) |do(?:n't)? |can |could |would |what |how |any |any\b|let's "
    r"|(?:I|I'm|I've|I'd|I'll|im|i|my|My|we|We|he|she|they|it|it's|you|that|this|there|make)\b"
)
_COMMA = to_pattern(
    r"[，（）(),～~—\s](?:(?<=[，（）()—])"
    rf"|(?<=,)(?:(?=\s*(?:[\u3400-\u9fff]|{_AFTER_COMMA}))|(?<=\b(?:yes|hey),)|(?<=\bactually,)|(?<=\bsorry,)"
    r"|(?<=\b(?:no|ok|hi),))"
    r"|(?<=[～~])(?=[\s。！？!?;；]|$|[\u3400-\u9fff])|(?<=\s)[-–]\s)"
)
_BUT_ZH = to_pattern(
    r"[但不可然而并所因只](?:(?<=但)(?:是|(?=[我是不没也还他她]))|(?<=不)过(?!敏)|(?<=可)(?:是|(?=我))|(?<=然)而"
    r"|(?<=而)(?:且|(?=我(?!们?是)))|(?<=并)且|(?<=所)以|(?<=因)为|(?<=只)是)"
)
_BLANK = to_pattern(r" (?<=[\u3400-\u9fff] ) *(?=[\u3400-\u9fff])")
_BREAK_EN = to_pattern(
    r"\s(?=(?:but|because|although|though|however|whereas|while I|since I|so I|so we|so please"
    r"|and also|and (?:I|I'm|I've|I'd|my|we|he|she|they|please)"
    r"|and (?:hate|love|like|prefer|dislike|live|work|don't|never|always|am|have|enjoy|can't|use)|although)\b)",
    re.I,
)
_COMMA_SIGN = to_pattern(r"[，,～~—（）()–-]")
_QUESTION = to_pattern(r"[?？]")
LONGEST = 300
"""A longer clause is split, so that no pattern reads more than so many characters at once."""
_NEAR = 40
"""A clause that is too long may be cut at a blank within so many characters before the limit."""
_SPACE = " "
_JOINT = "\u00a0"  # a blank that does not part clauses


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: its text, its place, the sentence that holds it, and the punctuation that ends that sentence."""

    text: str
    start: int
    end: int
    sentence: int
    asked: bool
    last: bool
    language: Language
    mask: int


def language_of(text: str) -> Language:
    """The language that most of the text is in: Chinese from a fifth of its letters on."""
    if text.isascii():
        return "en" if LATIN.search(text) else "other"
    cjk = len(CJK.findall(text))
    if cjk == len(text):
        return "zh"
    latin = len(LATIN.findall(text))
    if not cjk and not latin:
        return "other"
    return "zh" if cjk * 4 >= latin or (cjk and text.lstrip().startswith("我")) else "en"


def blank(text: str) -> str:
    """The text with code, quoted lines and quoted speech replaced by spaces of the same length."""
    if "`" in text or "~~~" in text:
        text = _FENCE.sub(_to_spaces, text)
    if _QUOTED_LINE_SIGN.search(text):
        text = _QUOTED_LINE.sub(_to_spaces, text)
    if _PASTED_SIGN.search(text) and (pasted := _PASTED.search(text)):
        begin, end = pasted.span(pasted.lastgroup or 0)
        text = text[:begin] + "\n" + _SPACE * (end - begin - 2) + "\n" + text[end:]
    if _QUOTE_SIGN.search(text):
        text = _QUOTE.sub(lambda match: unquote(text, match), text)
    return text


def _to_spaces(match: re.Match[str]) -> str:
    return _SPACE * (match.end() - match.start())


def unquote(text: str, match: re.Match[str]) -> str:
    inner = match.group()[1:-1]
    if _SPEECH.search(inner) or _SAID.search(text[max(0, match.start() - 24) : match.start()]):
        return _SPACE * len(match.group())
    return _JOINT + inner + _JOINT


@of_texts(64)
def split(text: str) -> tuple[Clause, ...]:
    """Every clause of a message in order."""
    blanked = blank(text).replace("’", "'").replace("‘", "'")
    cuts = _find_cuts(blanked)
    clauses: list[Clause] = []
    begin = sentence = at = 0
    for match in [*_SENTENCE.finditer(blanked), None]:
        end = match.start() if match else len(blanked)
        inner: list[tuple[int, int]] = []
        while at < len(cuts) and cuts[at][0] < end:
            inner.append(cuts[at])
            at += 1
        if end > begin and not blanked[begin:end].isspace():
            asked = bool(match and _QUESTION.search(match.group()))
            clauses.extend(_make_clauses(blanked, begin, end, inner, sentence, asked))
            sentence += 1
        begin = match.end() if match else end
    return tuple(clauses)


def _find_cuts(text: str) -> list[tuple[int, int]]:
    """The places at which clauses are separated within sentences."""
    places: list[tuple[int, int]] = []
    if _COMMA_SIGN.search(text):
        places.extend(match.span() for match in _COMMA.finditer(text))
    if not text.isascii():
        places.extend((at, at) for match in _BUT_ZH.finditer(text) if (at := match.start()) and _is_joint(text[at - 1]))
        if " " in text:
            places.extend(match.span() for match in _BLANK.finditer(text))
    places.extend(match.span() for match in _BREAK_EN.finditer(text))
    return sorted(places)


def _is_joint(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _make_clauses(
    text: str, begin: int, end: int, cuts: list[tuple[int, int]], sentence: int, is_question: bool
) -> list[Clause]:
    bodies: list[tuple[str, int]] = []
    start = begin
    for stop, after in [*cuts, (end, end)]:
        while stop - start > LONGEST:
            blank = text.rfind(_SPACE, start + LONGEST - _NEAR, start + LONGEST)
            cut = blank if blank > 0 else start + LONGEST
            _add_body(bodies, text, start, cut)
            start = cut
        _add_body(bodies, text, start, stop)
        start = max(start, min(after, end))
    return [
        Clause(body, at, at + len(body), sentence, is_question, number == len(bodies), language_of(body), mask(body))
        for number, (body, at) in enumerate(bodies, 1)
    ]


def _add_body(bodies: list[tuple[str, int]], text: str, start: int, stop: int) -> None:
    """Adds the text between these places as a clause, unless it is only punctuation."""
    raw = text[start:stop]
    if body := raw.strip(" \u00a0\t,，、:：-*•#\"'"):
        bodies.append((body, start + raw.index(body[0])))
