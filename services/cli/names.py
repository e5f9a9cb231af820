"""Checks ids and texts of commands before anything is sent."""

from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from schemas.base import ExternalId
from shared.settings import TENANT

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


User = Annotated[str, typer.Option("--user", "-u", help="User id.", callback=check_id)]
Tenant = Annotated[str, typer.Option("--tenant", envvar=TENANT, help="Tenant.", callback=check_id)]
Limit = Annotated[int, typer.Option("--limit", min=1, max=200)]
Session = Annotated[str, typer.Option("--session", "-s", help="Conversation.", callback=check_id)]
