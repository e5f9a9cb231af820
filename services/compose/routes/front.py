"""Whoever opens the address of compose in a browser is led to the console."""

from starlette.datastructures import URL
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from shared.settings import Settings


class LeadToConsole:
    """Answers the address without a path; every other is the application's."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The console's address, or what there is where nobody knows it."""
        if scope["type"] != "http" or scope["path"] != "/" or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        await self._lead(URL(scope=scope))(scope, receive, send)

    def _lead(self, asked: URL) -> Response:
        port = self._settings.port_of_console
        address = self._settings.console_url or (str(asked.replace(port=port, query="")) if port else None)
        if address is None:
            return JSONResponse({"name": "SmartBrain", "console": "`smartbrain up` prints its address", "api": "/docs"})
        return RedirectResponse(address, 307)
