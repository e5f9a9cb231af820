"""`smartbrain`: one file a group of commands; only this package knows all services."""

import sys

import typer

from services.cli import (
    conflicts,
    demo,
    dry_run,
    erase,
    experience,
    knowledge,
    machine,
    media,
    memories,
    promotions,
    receipts,
    schemas_cmd,
    sessions,
    talk,
    talk_models,
    tend,
)
from services.cli.backup import command as backup
from services.cli.evaluate import command as evaluate
from services.cli.output import fail
from services.cli.rebuild import command as rebuild
from shared.errors import SmartBrainError

app = typer.Typer(
    name="smartbrain",
    help="Agent memory runtime and context composer.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("up")(machine.up)
app.command("serve")(machine.serve)
app.command("migrate")(machine.migrate)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.command("demo")(demo.demo)
app.command("commit")(talk.commit)
app.command("compose")(talk.compose)
app.command("remember")(talk.remember)
app.add_typer(memories.group, name="memories")
app.command("forget")(memories.forget)
app.command("erase")(erase.erase)
app.add_typer(conflicts.group, name="conflicts")
app.add_typer(sessions.app, name="sessions")
app.add_typer(receipts.contexts, name="contexts")
app.command("receipts")(receipts.receipts)
app.add_typer(media.app, name="media")
app.command("answers")(talk_models.answers)
app.command("experience")(experience.experience)
app.add_typer(promotions.app, name="promotions")
app.add_typer(knowledge.app, name="knowledge")
app.command("upkeep")(tend.upkeep)
app.command("observe")(dry_run.observe)
app.command("rebuild")(rebuild.rebuild)
app.command("eval")(evaluate.evaluate)
app.command("schemas")(schemas_cmd.schemas)


def main() -> None:
    """The entry point of the command; an expected error is one line and exit code 1 or 2."""
    try:
        app()
    except SmartBrainError as error:
        fail(str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
