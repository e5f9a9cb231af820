"""How much of a turn is read for statements: a stretch of each message, and so much of all of them together."""

from dataclasses import replace

from shared.extraction.model import MessageText, ObservePolicy, ReadingNote, TurnText

TOO_LONG = "too long"
"""Why what stands behind a stretch states nothing."""


def stretches(turn: TurnText, policy: ObservePolicy) -> tuple[TurnText, list[ReadingNote]]:
    """The turn with as much of each text as is read, and what is left out. The user's own messages come first."""
    room = policy.max_turn_chars
    lengths: dict[int, int] = {}
    for message in sorted(turn.messages, key=lambda each: each.role != "user"):
        lengths[message.ordinal] = min(len(message.text), policy.max_message_chars, room)
        room -= lengths[message.ordinal]
    left = [
        ReadingNote((lengths[each.ordinal], len(each.text)), "dropped", TOO_LONG, each.ordinal)
        for each in turn.messages
        if each.role == "user" and len(each.text) > lengths[each.ordinal]
    ]
    return replace(turn, messages=tuple(_cut(each, lengths[each.ordinal]) for each in turn.messages)), left


def _cut(message: MessageText, chars: int) -> MessageText:
    return message if len(message.text) <= chars else replace(message, text=message.text[:chars])
