"""Ids of chunks that encode the place in a turn: neighbours are found from ids alone (RFC 9562, version 8).

The first bit tells chunks of memories from those of turns, so that an index has the memories of a word side by side.
"""

import hashlib
from uuid import UUID

ORDINAL_BITS = 30
SEQ_BITS = 32
_VERSION = 0x8000
_VARIANT = 0x8000_0000_0000_0000
ORDINALS = 1 << ORDINAL_BITS
_OF_TURNS = (1 << 63) - 1
_OF_MEMORIES = 1 << 127
FIRST_OF_MEMORIES = UUID(int=_OF_MEMORIES)
"""The least chunk id that a memory can have; those of turns are below it."""


def session_half(session_id: str) -> int:
    """The first 64 bits of every chunk id of this session; the same for ever."""
    digest = int.from_bytes(hashlib.blake2b(session_id.encode(), digest_size=8).digest())
    return (digest & _OF_TURNS & ~0xF000) | _VERSION


def turn_half(seq: int, ordinal: int = 0) -> int:
    """The last 64 bits of the chunk id: the turn's number, then the message's."""
    return _VARIANT | (seq << ORDINAL_BITS) | ordinal


def chunk_of(session_id: str, seq: int, ordinal: int) -> UUID:
    """The chunk id of one message of a turn."""
    return UUID(int=(session_half(session_id) << 64) | turn_half(seq, ordinal))


def chunk_of_memory(memory_id: UUID) -> UUID:
    """The chunk id of a memory; newer memories have greater ones."""
    return UUID(int=_OF_MEMORIES | memory_id.int)


def hexadecimal(first: int, last: int) -> str:
    """The id with these two halves, as PostgreSQL reads it."""
    return f"{first:016x}{last:016x}"


def bounds(first: int, seq: int) -> tuple[str, str]:
    """The least and the greatest chunk id that a turn can have, as PostgreSQL reads them."""
    return hexadecimal(first, turn_half(seq)), hexadecimal(first, turn_half(seq, ORDINALS - 1))
