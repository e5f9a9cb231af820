"""`smartbrain mcp`: the memory of one user for an agent that speaks the Model Context Protocol, over stdio."""

import gc
import os
from typing import Annotated

import typer

from services.cli import data_folder
from services.cli.names import check_id
from shared import settings
from shared.errors import ConfigurationError
from shared.settings import API_KEY, SESSION, TENANT, USER


def mcp(
    user: Annotated[
        str | None,
        typer.Option(
            "--user",
            "-u",
            envvar=USER,
            help="The user; not needed with a key of one user.",
            callback=check_id,
        ),
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", envvar=TENANT, help="Tenant; by default that of the key.", callback=check_id),
    ] = None,
    session: Annotated[
        str, typer.Option("--session", "-s", envvar=SESSION, help="Session for `get_context`.", callback=check_id)
    ] = "mcp",
) -> None:
    """Serve the memory of one user to an agent over standard input and output, with the Model Context Protocol."""
    gc.disable()  # what is loaded stays: nothing is to be collected, and a client waits
    from services.mcp.stdio import serve_stdio
    from shared.fronts.caller import AgentCaller

    gc.freeze()
    gc.enable()
    serve_stdio(locate, AgentCaller(os.environ.get(API_KEY) or None, user, tenant, session))


def locate() -> str:
    """The address of compose: as configured, of the system on the data folder, else the default port of this machine. A
    desktop client starts this command in a folder of its own.
    """
    try:
        return data_folder.url()
    except ConfigurationError:
        return f"http://127.0.0.1:{settings.load().http_port}"
