"""A turn and the memories of its user as data that cannot leave its fence."""

from collections.abc import Sequence

from services.observer.prompts.answers import KnownMemory, PromptMessage, short_id
from services.observer.prompts.judged import finding_id
from shared.language.normalise import clip, normalise
from shared.models.prompt import fence_data

MAX_MESSAGE_CHARS = 4000
MAX_TURN_CHARS = 12_000
MIN_MESSAGE_CHARS = 180
MAX_KNOWN = 20
MAX_KNOWN_CHARS = 200


def data(
    messages: Sequence[PromptMessage],
    remembered: Sequence[KnownMemory],
    findings_of_rules: Sequence[str] = (),
    *,
    brief: bool = False,
) -> str:
    """JSON between <data> and </data> with the turn and the memories, each cut to its share of the space.

    Findings have the numbers of `findings_of_rules`. With `brief` memories are numbered too, without their types.
    """
    room = max(MIN_MESSAGE_CHARS, min(MAX_MESSAGE_CHARS, MAX_TURN_CHARS // max(len(messages), 1)))
    turn = [_message(message, room) for message in messages]
    memories = [
        {
            **({"id": short_id(n)} if brief else {"id": memory.memory_id, "type": memory.type}),
            "text": clip(memory.text, MAX_KNOWN_CHARS),
        }
        for n, memory in enumerate(remembered[:MAX_KNOWN], 1)
    ]
    findings = [
        {"id": finding_id(n), "text": clip(text, MAX_KNOWN_CHARS)} for n, text in enumerate(findings_of_rules, 1)
    ]
    body = {"turn": turn, "known_memories": memories, **({"found": findings} if findings else {})}
    return fence_data(body, "List the items as JSON.")


def _message(message: PromptMessage, room: int) -> dict[str, str]:
    text = clip(normalise(message.text), room)
    return {"role": message.role, **({"name": message.name} if message.name else {}), "text": text}
