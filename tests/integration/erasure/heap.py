"""A process that reads a user's messages and questions, then lists the objects in its memory that
contain their words.
"""

import gc
import json
from urllib.parse import urlsplit

from schemas.compose import IncomingMessage
from services.compose.context.changes import read_statements, to_turn
from services.compose.rules.planning import cues
from services.compose.rules.planning.plan import PlanPolicy, plan_search
from services.compose.rules.searching.nearness import compare_nearness
from shared import cache, clock
from shared.policy import ConfidencePolicy
from shared.screening.sanitize import screen, show_own


def names() -> tuple[str, str]:
    """Two words that are built at run time, so that no constant contains them."""
    return "".join(reversed("edlihnurB")), "".join(reversed("德尔希伦布"))


def make_texts() -> list[str]:
    """The texts, in both languages."""
    english, chinese = names()
    return [
        f"My therapist is called {english} and lives in {english}ville. Notes: https://github.com/{english}/notes",
        f"我的心理医生叫{chinese}，我住在{chinese}路。",
        f"Actually, it's {english}, not Brigitte.",
        f"不对，是{chinese}，不是布丽吉特。",
        f"Who is {english}?",
        f"{chinese}是谁？",
    ]


def use() -> None:
    """All of it is read as observer and compose do."""
    for text in make_texts():
        plan_search(text, (text,), clock.now(), PlanPolicy())
        read_statements(to_turn(IncomingMessage(content=text), "s1", clock.now()), ConfidencePolicy(), now=True)
        cues.read_cues(text, names(), clock.now())
        cues.score_names(text, ())
        screen(text)
        show_own(text)
        compare_nearness(text, text)
        urlsplit(f"https://knowledge.example/{text}")


def holders() -> str:
    """The objects tracked by the collector that refer to a text with one of the names, as JSON: kind and text."""
    gc.collect()
    english, chinese = names()
    found: list[str] = []
    for holder in gc.get_objects():
        if holder is found:
            continue
        for text in gc.get_referents(holder):
            if isinstance(text, str) and (english.lower() in text.lower() or chinese in text):
                found.append(f"{type(holder).__name__}: {text}")
    return json.dumps(found)


def main() -> None:
    """The objects before and after the texts are cleared."""
    use()
    before = holders()
    cache.forget_texts()
    print(f'{{"before": {before}, "after": {holders()}}}')


if __name__ == "__main__":
    main()
