"""The demonstration: a whole system on embedded defaults, fed a conversation, asked what it has learnt."""


def demo() -> None:
    """Run the demonstration."""
