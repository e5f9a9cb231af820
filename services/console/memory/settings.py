"""The settings of a user, each with its allowed values and a reset to the default; export and import."""

from typing import Any

from starlette.responses import Response

from services.console.page import ConsolePage
from services.console.sessions import Notice
from shared.fronts.client import Json

OF_USERS = (
    "learning",
    "auto_remember",
    "summary_enabled",
    "inject_limit",
    "retention_days",
    "language",
    "auto_mode",
    "llm_rerank",
    "personal_phone",
    "personal_email",
    "personal_address",
    "personal_id_number",
    "personal_bank_card",
)
"""In the order of the page; settings that only a tenant may choose are not included."""


async def show_settings(page: ConsolePage) -> Response:
    """Every setting with its value and who chose it."""
    found = {each["name"]: each for each in (await page.get("/v1/settings"))["settings"]}
    settings = [found[name] for name in OF_USERS if name in found]
    title = page.tell("settings.title")
    return page.render("memory/settings.html", title=title, settings=settings, write=write_value)


async def change_settings(page: ConsolePage) -> Response:
    """Saves the changed settings."""
    settings = (await page.get("/v1/settings"))["settings"]
    wanted: dict[str, Any] = {}
    for each in settings:
        chosen = page.field(each["name"], find_choice(each))
        if each["changeable"] and each["name"] in OF_USERS and chosen != find_choice(each):
            wanted[each["name"]] = read_value(page, each, chosen)
    if not wanted:
        return page.redirect("/memory/settings", Notice("notice.no_change"))
    await page.change("PATCH", "/v1/settings", wanted)
    if "language" in wanted:
        page.session.language = wanted["language"]
    return page.redirect("/memory/settings", Notice("notice.settings"))


def find_choice(setting: Json) -> str:
    """The user's choice as a form value; empty if there is none."""
    return write_value(setting["value"]) if setting["source"] == "user" else ""


def write_value(value: object) -> str:
    """The value as a form has it."""
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def read_value(page: ConsolePage, setting: Json, chosen: str) -> object:
    """The value for compose: None for the default."""
    if not chosen:
        return None
    values = {write_value(each): each for each in setting["allowed"]["values"]}
    if values:
        if chosen not in values:
            page.refuse("invalid_request", page.tell(f"setting.{setting['name']}"))
        return values[chosen]
    if not chosen.isdecimal():
        page.refuse("invalid_request", page.tell(f"setting.{setting['name']}"))
    return int(chosen)


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
