"""What a sentence goes back to: `on keto again`, `back in Tampa`, 又喝回豆浆了. Pure."""

from shared.classifiers.meanings import says_little
from shared.language.patterns import to_pattern
from shared.resolution.related import about

_RETURNS = to_pattern(
    r"\bback (?:to|in|on|at|with|onto) (?P<place>[^,.;!?]{2,40})|(?P<thing>[^,.;!?]{2,40}) again\b(?! with| to|st)"
    r"|\b(?:stay|stick|go)(?:ing)? (?:in|at|with|to) (?P<choice>[^,.;!?]{2,30}?) after all\b"
    r"|[又重](?P<again>[^，,。；！？]{0,8}[回去来][^，,。；！？]{1,8})|又(?P<once_more>[^，,。；！？]{2,10})了"
    r"|[^来上]回(?P<to>[^，,。；！？答复顾忆来去头]{1,8})了|还是(?P<still>[^，,。；！？]{2,12})吧|那就(?P<then>[^，,。；！？]{2,8})吧"
)


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
