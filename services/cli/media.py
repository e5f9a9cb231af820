"""`smartbrain media`: registers and shows the security state of media files."""

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

import typer
from rich.text import Text

from services.cli.names import By, Tenant, User, Why, name_operator
from services.cli.output import AsJson, emit, out, refuse
from services.cli.web import reach_compose

app = typer.Typer(help="Show and set the security state of media.", no_args_is_help=True)
Media = Annotated[str, typer.Argument(help="The media's id.")]
Kind = Literal["image", "audio", "video", "document"]
Status = Literal["pending", "scanning", "safe", "rejected", "quarantined", "expired"]


@app.command("set")
def put(
    media: Media,
    kind: Annotated[Kind, typer.Option("--type", help="image, audio, video or document.")],
    status: Annotated[Status, typer.Option("--status", help="Only `safe` may be read.")],
    user: User = "me",
    tenant: Tenant = "default",
    checksum: Annotated[str | None, typer.Option("--checksum", help="sha256:... of the content.")] = None,
    text: Annotated[str | None, typer.Option("--text", help="Text that was recognised in it.")] = None,
    text_file: Annotated[
        Path | None, typer.Option("--text-file", exists=True, dir_okay=False, help="The same from a file, UTF-8.")
    ] = None,
    reason: Why = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Register a media file, or change its state; omitted values stay unchanged."""
    if text is not None and text_file:
        raise refuse("give one of --text and --text-file")
    try:
        recognized = text_file.read_text("utf-8") if text_file else text
    except UnicodeDecodeError as error:
        raise refuse(f"{text_file}: no UTF-8: byte {error.start}") from error
    body = {"tenant_id": tenant, "user_id": user, "type": kind, "security_status": status, **name_operator(by, reason)}
    body |= {"checksum": checksum} if checksum else {}
    body |= {"recognized_text": recognized} if recognized is not None else {}
    with reach_compose() as web:
        _show(web.put(_path(media), body), as_json=as_json)


@app.command("show")
def show(media: Media, user: User = "me", tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show a registered media file."""
    with reach_compose() as web:
        _show(web.get(_path(media), {"tenant_id": tenant, "user_id": user}), as_json=as_json)


def _path(media: str) -> str:
    return f"/v1/media/{quote(media)}"


def _show(each: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        emit(each)
        return
    facts = f"{each['type']}, since {each['updated_at'][:19]}"
    facts += f", {each['checksum']}" if each["checksum"] else ""
    out.print(
        Text(f"{each['media_id']}  {each['security_status']} ", "bold")
        .append(Text(each["recognized_text"] or "", "default"))
        .append(Text(f"  ({facts})", "dim"))
    )
