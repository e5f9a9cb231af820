"""All that is kept of somebody, to take along: for a person to read, or for a program."""

from starlette.responses import Response

from services.console.page import ConsolePage

FORMATS = {"json": "json", "markdown": "md"}


async def export(page: ConsolePage) -> Response:
    """The document, as a file."""
    format_name = page.ask("format", "markdown")
    if format_name not in FORMATS:
        page.refuse("not_found", "")
    language = {"lang": page.language} if format_name == "markdown" else {}
    content, media_type = await page.compose.download(page.caller, "/v1/export", format=format_name, **language)
    named = f'attachment; filename="memory.{FORMATS[format_name]}"'
    return Response(content, media_type=media_type, headers={"content-disposition": named})
