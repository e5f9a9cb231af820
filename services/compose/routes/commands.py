"""Route of typed commands, for applications that do not commit them in turns."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from schemas.commands import CommandReply, CommandRequest
from services.compose.manage import commands
from services.compose.routes.access import WRITE
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import ParsedBody, ServiceRuntime, json_of, parse_body

router = APIRouter(prefix="/v1/commands", tags=["commands"])


@router.post(
    "",
    response_model=CommandReply,
    openapi_extra=body_of(CommandRequest),
    name="run",
    dependencies=[WRITE],
    summary="Carry out a command and return its reply: /memory, /summary, /forget, /remember, /help",
)
async def run_command(
    body: Annotated[ParsedBody[CommandRequest], Depends(parse_body(CommandRequest))], rt: ServiceRuntime
) -> Response:
    return json_of(await commands.run_command(rt, body.value))
