"""Commands about models that talk to a running SmartBrain over HTTP: answers."""

from typing import Any

from rich.text import Text

from services.cli.names import Limit, Tenant, User
from services.cli.output import AsJson, emit, out
from services.cli.web import reach_compose

MOST_SHOWN = 600


def answers(
    user: User = "me",
    tenant: Tenant = "default",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Show model answers that could not be read; kept for 7 days, with secrets blanked."""
    with reach_compose() as web:
        page = web.get("/v1/answers", {"tenant_id": tenant, "user_id": user, "limit": limit})
    if as_json:
        emit(page)
    elif page["answers"]:
        for each in page["answers"]:
            _show(each)
    else:
        out.print("no unreadable answers")


def _show(answer: dict[str, Any]) -> None:
    asked = f"{answer['model']} to {answer['prompt']} ({answer['prompt_version']})"
    head = f"{answer['created_at'][:19]}  {asked}  turn {answer['turn_id']}"
    out.print(Text(head, "bold").append(Text(f"  until {answer['expires_at'][:10]}", "dim")))
    out.print(Text(f"  {answer['problem']}", "yellow"))
    out.print(Text(f"  {answer['raw'][:MOST_SHOWN] or '(empty)'}", "default"))
