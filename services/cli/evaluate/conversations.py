"""Whole conversations: which turns leave a memory, and the content of memory at the end."""

from dataclasses import dataclass

from services.cli.evaluate.reader import Reader
from services.cli.evaluate.score import Counts, Miss, Score
from services.cli.evaluate.sets import Conversation, MemoryWords
from services.cli.evaluate.world import World
from shared.domain.statements import ActiveMemory
from shared.language.normalise import fold, normalise
from shared.resolution.operations import Confirm, Write


@dataclass(frozen=True)
class EndState:
    """The memories at the end of a conversation, and whether each turn produced one."""

    memories: tuple[ActiveMemory, ...]
    left: tuple[bool, ...]


async def replay(conversation: Conversation, reader: Reader | None) -> EndState:
    """Runs the conversation on an empty memory with this reader."""
    world = World()
    left: list[bool] = []
    for turn in conversation.turns:
        done = await world.listen(reader, turn.user, conversation.id, turn.at, turn.assistant)
        left.append(any(isinstance(operation, Write | Confirm) and row.kind != "entity" for row, operation in done))
    return EndState(tuple(known for known in world.active.values() if not known.name_alone), tuple(left))


def judge_turns(label: Conversation, state: EndState, score: Score) -> None:
    """Scores whether turns with something to keep, and only those, produce a memory; skips unlabelled turns."""
    for turn, left in zip(label.turns, state.left, strict=True):
        if turn.keep is None:
            continue
        score.samples += 1
        wanted = bool(turn.keep)
        groups = (f"language {label.lang}", f"source {label.source}")
        score.add(int(wanted and left), int(left and not wanted), int(wanted and not left), groups)
        if wanted != left:
            got = "; ".join(known.text for known in state.memories if known.valid_at == turn.at)
            quotes = "; ".join(each.quote for each in turn.keep)
            score.misses.append(Miss(turn.user, label.lang, quotes or "nothing", got or "nothing"))


def judge_end(label: Conversation, state: EndState, score: Score) -> None:
    """Correct if all expected memories exist, no ended one does, and the rest of ended ones is still there."""
    if not (label.stands or label.gone or label.beside):
        return
    score.samples += 1
    missing = [each for each in label.stands if not is_in_state(each, state)]
    stale = [each for each in label.gone if is_in_state(each, state)]
    lost = [each for each in label.beside if not is_in_state(each, state)]
    right = not (missing or stale or lost)
    score.add(int(right), int(bool(stale or lost)), int(not right), (f"language {label.lang}", f"kind {label.kind}"))
    for name, wanted, failed in (
        ("part stands", label.stands, missing),
        ("part ended", label.gone, stale),
        ("part beside", label.beside, lost),
    ):
        counts: Counts = score.groups[name]
        counts.right += len(wanted) - len(failed)
        counts.missed += len(failed)
    if not right:
        wanted = f"missing {to_line(missing)} stale {to_line(stale)} lost {to_line(lost)}"
        got = " | ".join(f"{known.text} [{known.type} {known.key or ''}]" for known in state.memories)
        text = " // ".join(turn.user for turn in label.turns)
        score.misses.append(Miss(f"({label.kind}) {text}", label.lang, wanted, got))


def is_in_state(wanted: MemoryWords, state: EndState) -> bool:
    words = [_letters(word) for word in wanted.words]
    return any(all(word in _letters(known.text) for word in words) for known in state.memories)


def _letters(text: str) -> str:
    return " ".join(fold(normalise(text)).split())


def to_line(words: list[MemoryWords]) -> str:
    return ",".join("+".join(each.words) for each in words) or "-"
