"""Groups of commands that list when no command of theirs is named: `smartbrain memories tea`."""

from typing import Any

from typer.core import TyperGroup

LIST = "list"


class ListingGroup(TyperGroup):
    """Treats unknown arguments as words and options of `list`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As the group does, `list` in front unless a command or the group's help is asked for."""
        if not args or args[0] not in (*self.commands, "--help"):
            args = [LIST, *args]
        return super().parse_args(ctx, args)
