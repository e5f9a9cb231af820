"""How often the next messages of users end or change a memory, which they are rarely meant to do."""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from services.cli.evaluate.world import World
from shared.resolution.operations import Operation, Retract, Write
from tests.bench.dialogues import Line, read

FIGURE = "messages that end or change a memory"


@dataclass(frozen=True)
class Message:
    """A user's messages and the answers."""

    text: str
    session: str
    at: datetime
    answer: str | None


@dataclass(frozen=True)
class Endings:
    """The number of messages, and those that ended something, with their effects."""

    messages: int
    changes: tuple[tuple[Message, tuple[Operation, ...]], ...]

    @property
    def share(self) -> float:
        """The share of messages that ended or changed a memory."""
        return len(self.changes) / max(1, self.messages)


def count_endings(path: Path) -> Endings:
    """The messages of each person in a file of conversations, in order, for a user without memories."""
    count, changes = 0, list[tuple[Message, tuple[Operation, ...]]]()
    for messages in _each_person(path):
        world = World()
        for message in messages:
            count += 1
            done = world.hear(message.text, message.session, message.at, message.answer)
            told = (operation for row, operation in done if row.assertion != "behaviour")
            ending = tuple(operation for operation in told if list_ended(operation))
            if ending:
                changes.append((message, ending))
    return Endings(count, tuple(changes))


def list_ended(operation: Operation) -> list[str]:
    """The texts of the memories that it ends, names of entities excluded."""
    match operation:
        case Write():
            return [known.text for known in operation.ends if not known.name_alone]
        case Retract():
            return [known.text for known in operation.targets if not known.name_alone]
        case _:
            return []


def _each_person(path: Path) -> Iterator[list[Message]]:
    dialogues: dict[str, list[Line]] = defaultdict(list)
    for line in read(path).lines:
        dialogues[line.dialogue].append(line)
    for lines in dialogues.values():
        for person in sorted({line.speaker for line in lines if line.role == "user"}):
            yield list(_messages(lines, person))


def _messages(lines: list[Line], person: str) -> Iterator[Message]:
    """The person's messages, each with the assistant's answer that follows, if any."""
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        if line.role == "user" and line.speaker == person:
            answer = following.text if following and following.role == "assistant" else None
            yield Message(line.text, line.session, line.said_at, answer)


def main() -> None:
    """Prints the share of each file, and with `--examples` the messages and their effects."""
    parser = argparse.ArgumentParser("python -m tests.bench.endings", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--examples", action="store_true")
    options = parser.parse_args()
    for path in options.files:
        found = count_endings(path)
        for message, operations in found.changes if options.examples else ():
            print(f"\n{message.text[:160]}")
            for operation in operations:
                for text in list_ended(operation):
                    print(f"  - {text[:150]}")
                if isinstance(operation, Write) and operation.content:
                    print(f"  + {operation.content.text[:150]}")
        print(
            f"{path.stem}: {len(found.changes)} of {found.messages} messages end or change a memory ({found.share:.4f})"
        )


if __name__ == "__main__":
    main()
