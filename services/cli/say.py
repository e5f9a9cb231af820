"""`smartbrain say`: sends one message of a user and prints the reply to a command."""

from typing import Annotated, Any

import typer

from services.cli.names import Session, Tenant, User, check_id, check_words
from services.cli.output import AsJson, emit, out
from services.cli.web import reach_compose


def say(
    text: Annotated[
        str, typer.Argument(help='What the user says: "/memory", "/forget fact 2", ...', callback=check_words)
    ],
    user: User = "me",
    session: Session = "cli",
    tenant: Tenant = "default",
    key: Annotated[str | None, typer.Option("--key", help="Idempotency key.", callback=check_id)] = None,
    as_json: AsJson = False,
) -> None:
    """Send one message as a user; a command (/help lists them) is carried out and gets a reply."""
    whose = {"tenant_id": tenant, "user_id": user, "session_id": session}
    body: dict[str, Any] = {**whose, "messages": [{"role": "user", "content": text}], "idempotency_key": key}
    with reach_compose() as web:
        result = web.post("/v1/turns", body)
        web.outcome(whose, result["turn_id"])
    if as_json:
        emit(result)
    elif result["reply"]:
        out.print(result["reply"]["text"], markup=False)
    else:
        out.print(f"turn {result['turn_id']} session={result['session_id']} seq={result['seq']}", markup=False)
