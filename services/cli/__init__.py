"""`smartbrain`: one file a group of commands; only this package knows all services."""

import sys

import typer

from services.cli import demo, dry_run, machine, schemas_cmd, talk, talk_models
from services.cli.evaluate import command as evaluate
from services.cli.output import fail
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
app.command("demo")(demo.demo)
app.command("commit")(talk.commit)
app.command("compose")(talk.compose)
app.command("remember")(talk.remember)
app.command("memories")(talk.memories)
app.command("answers")(talk_models.answers)
app.command("observe")(dry_run.observe)
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
