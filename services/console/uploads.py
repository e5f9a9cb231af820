"""Reads a form with a file, up to a limit."""

from collections.abc import Mapping

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message

from shared.fronts.problems import CallError

FIELDS_BYTES = 65_536
"""Maximum bytes of all fields except the file."""
MOST_FIELDS = 20


async def read_upload(request: Request, file_most: int) -> tuple[Mapping[str, list[str]], bytes]:
    """The fields and the file, empty if none was chosen; CallError if the form is too long or invalid."""
    received = 0

    async def receive_bounded() -> Message:
        nonlocal received
        message = await request.receive()
        received += len(message.get("body", b""))
        if received > file_most + FIELDS_BYTES:
            raise CallError("invalid_request", f"the file is too long: at most {file_most} bytes")
        return message

    try:
        bounded = Request(request.scope, receive_bounded)
        async with bounded.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=FIELDS_BYTES) as form:
            named = form.multi_items()
            fields: dict[str, list[str]] = {}
            for name, value in named:
                if isinstance(value, str):
                    fields.setdefault(name, []).append(value)
            files = [value for _, value in named if isinstance(value, UploadFile)]
            return fields, await files[0].read() if files else b""
    except HTTPException as error:
        raise CallError("invalid_request", "this is no form") from error
