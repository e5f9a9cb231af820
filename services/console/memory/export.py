"""Export for people or programs, and import."""

from starlette.responses import Response

from services.console.page import ConsolePage
from services.console.sessions import Notice

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


async def take_in(page: ConsolePage) -> Response:
    """Imports the file completely or not at all, and shows how much of it was new."""
    page.require_scope("write")
    if not page.file.strip():
        page.refuse("invalid_request", page.tell("import.choose"))
    receipt = await page.compose.upload(page.caller, "/v1/import", page.file)
    counts = {name: str(receipt[name]["written"]) for name in ("memories", "turns", "sessions")}
    kinds = [receipt[name] for name in ("memories", "turns")]
    left = {name: str(sum(each[name] for each in kinds)) for name in ("known", "erased")}
    blanked = len(receipt["redacted"])
    message = "notice.imported_blanked" if blanked else "notice.imported"
    return page.redirect("/memory/settings", Notice(message, {**counts, **left, "blanked": str(blanked)}))
