"""Messages split into sentences and clauses, with places kept; code, quoted lines and reported quotes are blanked."""

import re
from dataclasses import dataclass

from schemas.vocabulary import Language

CJK = re.compile(r"[\u3400-\u9fff]")
LATIN = re.compile(r"[A-Za-z]")
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\||\$ |at |File \"|Traceback).*$", re.M)
_QUOTE = re.compile(
    r"“[^”]{1,300}”|「[^」]{1,300}」|『[^』]{1,300}』|\"[^\"\n]{1,300}\"|(?<![A-Za-z])'[^'\n]{3,200}'"
    r"(?![A-Za-z])"
)
_SPEECH = re.compile(r"我|\b(?:I|my|me)\b|[。！？.!?]\s*\S|[:：]")
_SAID = re.compile(
    (
        r"(?:说|道|写|问|喊|回复|念|翻译(?:一下|成\w+)?|润色|said|says|wrote|write|reads|asked|called"
        r"|translate)\s*[:：,，]?\s*$"
    ),
    re.I,
)
_SENTENCE = re.compile(r"[。！？!?；;\n\r]+|\.{1,6}(?=\s|$|[\u3400-\u9fff])|…+")
_COMMA = re.compile(
    r"[，]|,(?=\s*[\u3400-\u9fff])|[～~](?=\s|$|[\u3400-\u9fff])|\s[-–]\s|\s*[—]+\s*|[（）()]"
    r"|,(?=\s*(?:and |but |so |because |since |though |although |however,? |which |who |please"
    r" |while |if |when |or |not |instead|right\b|"
    r"now |also,? |then |plus |yet |maybe |do(?:n't)? |can |could |would |what |how |any |any\b|let's |"
    r"(?:I|I'm|I've|I'd|I'll|im|i|my|My|we|We|he|she|they|it|it's|you|that|this|there|make)\b))"
    r"|(?<=\byes),|(?<=\bno),|(?<=\bactually),|(?<=\bsorry),|(?<=\bok),|(?<=\bhi),|(?<=\bhey),"
)
_BREAK_ZH = re.compile(
    r"(?<=[\u3400-\u9fff\w])(?=(?:但是|不过|可是|然而|而且|并且|所以|因为|只是|但(?=[我是不没也还他她])|可(?=我)|而我(?!们?是)))"
    r"|(?<=[\u3400-\u9fff]) +(?=[\u3400-\u9fff])"
)
_BREAK_EN = re.compile(
    r"\s+(?=(?:but|because|although|though|however|whereas|while I|since I|so I|so we|so please"
    r"|and also|and (?:I|I'm|I've|I'd|my|we|he|she|they|please)"
    r"|and (?:hate|love|like|prefer|dislike|live|work|don't|never|always|am|have|enjoy|can't|use)|although)\b)",
    re.I,
)
_QUESTION = re.compile(r"[?？]")
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


def language_of(text: str) -> Language:
    """The language that most of the text is in: Chinese from a fifth of its letters on."""
    cjk = len(CJK.findall(text))
    latin = len(LATIN.findall(text))
    if not cjk and not latin:
        return "other"
    return "zh" if cjk * 4 >= latin or (cjk and text.lstrip().startswith("我")) else "en"


def blank(text: str) -> str:
    """The text with code, quoted lines and quoted speech replaced by spaces of the same length."""
    if "`" in text or "~~~" in text:
        text = _FENCE.sub(_spaces, text)
    text = _QUOTED_LINE.sub(_spaces, text)
    return _QUOTE.sub(lambda match: _quoted(text, match), text)


def _spaces(match: re.Match[str]) -> str:
    return _SPACE * (match.end() - match.start())


def _quoted(text: str, match: re.Match[str]) -> str:
    inner = match.group()[1:-1]
    if _SPEECH.search(inner) or _SAID.search(text[max(0, match.start() - 24) : match.start()]):
        return _SPACE * len(match.group())
    return _JOINT + inner + _JOINT


def split(text: str) -> tuple[Clause, ...]:
    """Every clause of a message in order."""
    blanked = blank(text).replace("’", "'").replace("‘", "'")
    clauses: list[Clause] = []
    begin = 0
    sentence = 0
    for match in [*_SENTENCE.finditer(blanked), None]:
        end = match.start() if match else len(blanked)
        if blanked[begin:end].strip():
            asked = bool(match and _QUESTION.search(match.group()))
            clauses.extend(_clauses(blanked, begin, end, sentence, asked))
            sentence += 1
        begin = match.end() if match else end
    return tuple(clauses)


def _clauses(text: str, begin: int, end: int, sentence: int, asked: bool) -> list[Clause]:
    cuts = [(begin, begin)]
    for pattern in (_COMMA, _BREAK_ZH, _BREAK_EN):
        cuts.extend((match.start(), match.end()) for match in pattern.finditer(text, begin, end))
    cuts.sort()
    found: list[Clause] = []
    for index, (_, start) in enumerate(cuts):
        stop = cuts[index + 1][0] if index + 1 < len(cuts) else end
        raw = text[start:stop]
        body = raw.strip(" \u00a0\t,，、:：-*•#\"'")
        if not body:
            continue
        at = start + raw.index(body[0])
        found.append(Clause(body, at, at + len(body), sentence, asked, False, language_of(body)))
    if found:
        tail = found[-1]
        found[-1] = Clause(tail.text, tail.start, tail.end, sentence, asked, True, tail.language)
    return found
