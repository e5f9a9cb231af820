"""Checks ids and texts of commands before anything is sent."""

import os
from getpass import getuser
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from schemas.base import ExternalId
from shared.settings import API_KEY, TENANT

_ID: TypeAdapter[str] = TypeAdapter(ExternalId)


def check_id(value: str | None) -> str | None:
    """The id; BadParameter if the service would refuse it."""
    if value is None:
        return None
    try:
        return _ID.validate_python(value)
    except ValidationError as error:
        raise typer.BadParameter(error.errors()[0]["msg"]) from error


def check_ids(values: list[str] | None) -> list[str] | None:
    """The ids; BadParameter if the service would refuse one."""
    for value in values or ():
        check_id(value)
    return values


def check_words(value: str | None) -> str | None:
    """The text; BadParameter where it says nothing."""
    if value is not None and not value.strip():
        raise typer.BadParameter("says nothing")
    return value


def name_operator(by: str | None = None, reason: str | None = None) -> dict[str, str]:
    """Who acts, where no key says so itself: whoever is named, or is logged in here; and why, where that was said."""
    who = by or (None if os.environ.get(API_KEY) else getuser())
    return {**({"requested_by": who} if who else {}), **({"reason": reason} if reason else {})}


By = Annotated[
    str | None, typer.Option("--by", help="The requester; by default the key or the login name.", callback=check_id)
]
Why = Annotated[str | None, typer.Option("--reason", help="The reason, for the audit.", callback=check_words)]
User = Annotated[str, typer.Option("--user", "-u", help="User id.", callback=check_id)]
Tenant = Annotated[str, typer.Option("--tenant", envvar=TENANT, help="Tenant.", callback=check_id)]
Limit = Annotated[int, typer.Option("--limit", min=1, max=200)]
Session = Annotated[str, typer.Option("--session", "-s", help="Conversation.", callback=check_id)]
