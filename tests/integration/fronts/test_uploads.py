"""A slow upload is awaited, even while compose answers nothing else."""

import asyncio

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.fronts.caller import make_caller
from shared.fronts.client import PROBE_S, SLOW_S, ComposeClient
from tests.system.serving import serving


async def take_long(request: Request) -> Response:
    received = len(await request.body())
    await asyncio.sleep(SLOW_S + 2 * PROBE_S)
    return JSONResponse({"received": received})


async def answer_nobody(request: Request) -> Response:
    del request
    await asyncio.sleep(60)
    return Response()


async def test_an_upload_is_awaited_while_compose_reads_it() -> None:
    routes = [Route("/v1/import", take_long, methods=["POST"]), Route("/live", answer_nobody)]
    async with serving(Starlette(routes=routes)) as url:
        compose = ComposeClient(lambda: url)
        try:
            caller = make_caller(None, {"user_id": "lin"})
            assert await compose.upload(caller, "/v1/import", b"{}" * 1000) == {"received": 2000}
        finally:
            await compose.close()
