"""A process of a service that only calls compose: it opens no database and no broker."""

from importlib import import_module

import uvloop

from services.cli.process import announce_port
from shared import service
from shared.settings import Settings


def load(name: str) -> None:
    """The code of the service is loaded."""
    import_module(f"services.{name}.app")


def run(name: str, settings: Settings) -> None:
    """The service runs until SIGTERM."""
    build = import_module(f"services.{name}.app").build
    port = {"mcp": settings.port_of_mcp, "console": settings.port_of_console}[name]
    uvloop.run(service.serve(build(settings), host=settings.http_host, port=port, announce=announce_port))
