"""What a sentence says to be over, or to be as it was before (`on keto again`, 又喝回豆浆了), beside a memory. Pure."""

from shared.classifiers.meanings import says_little
from shared.classifiers.static_encoder import load_static_encoder
from shared.extraction.changes import find_ended_things
from shared.language import segment
from shared.language.patterns import to_pattern
from shared.resolution.related import about

_FILLERS = frozenset("thing stuff bit plan idea one part whole time day week 东西 事情 事 计划 安排".split())  # noqa: SIM905 - a list of words
_RETURNS = to_pattern(
    r"\bback (?:to|in|on|at|with|onto) (?P<place>[^,.;!?]{2,40})|(?P<thing>[^,.;!?]{2,40}) again\b(?! with| to|st)"
    r"|\b(?:stay|stick|go)(?:ing)? (?:in|at|with|to) (?P<choice>[^,.;!?]{2,30}?) after all\b"
    r"|[又重](?P<again>[^，,。；！？]{0,8}[回去来][^，,。；！？]{1,8})|又(?P<once_more>[^，,。；！？]{2,10})了"
    r"|[^来上]回(?P<to>[^，,。；！？答复顾忆来去头]{1,8})了|还是(?P<still>[^，,。；！？]{2,12})吧|那就(?P<then>[^，,。；！？]{2,8})吧"
)
ALIKE = 0.6
"""How near in meaning a word must be to what is over, to be another form of its name."""


def says_over(sentence: str, memory: str) -> bool:
    """Whether the sentence says that something is over that the memory speaks of, and the memory does not say so."""
    return bool(find_over(sentence, memory))


def find_over(sentence: str, memory: str) -> list[str]:
    """What of the things that the memory speaks of the sentence says to be over, and the memory does not."""
    over = find_ended_things(sentence)
    before = find_ended_things(memory) if over else ()
    return [each for each in over if names(memory, each) and not any(names(old, each) for old in before)]


def names(text: str, thing: str) -> bool:
    """Whether the text names the thing: most of the words that carry it, or one word that is a form of it."""
    terms = {term for term in about(thing).terms - _FILLERS if not says_little(term)}
    shared = terms & about(text).terms
    if terms and 3 * len(shared) >= 2 * len(terms):
        return any(len(term) > 1 for term in shared)
    if thing.isascii() or not 2 <= len(thing) <= 4:
        return False
    encode = load_static_encoder().encode
    return any(float(encode(word) @ encode(thing)) >= ALIKE for word in segment.words(text) if len(word) > 1)


def find_returned_to(said: str) -> tuple[str, ...]:
    """What the sentence says to be as it was before, or to be chosen anew."""
    return tuple(each for match in _RETURNS.finditer(said.lower()) for each in match.groupdict().values() if each)


def names_before(returned: tuple[str, ...], before: str, now: str) -> bool:
    """Whether what is returned to is something said before, by a telling word that is no word of what is said now."""
    own = about(before).terms - about(now).terms
    return any(
        len(term) > 1 and not says_little(term) and not term.isdigit()
        for each in returned
        for term in own & about(each).terms
    )
