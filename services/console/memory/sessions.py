"""Conversations with their summaries: show, clear, end."""

from starlette.responses import Response

from services.console.page import ConsolePage, turn_pages
from services.console.sessions import Notice

MOST = 50


async def show_sessions(page: ConsolePage) -> Response:
    """The conversations, the most recently used first."""
    first = page.ask_number("offset", 0, 100_000)
    sessions = (await page.get("/v1/sessions", limit=MOST + 1, offset=first))["sessions"]
    count = first + len(sessions)
    return page.render(
        "memory/sessions.html",
        title=page.tell("sessions.title"),
        sessions=sessions[:MOST],
        turning=turn_pages(page, first, MOST, count),
    )


async def show_session(page: ConsolePage) -> Response:
    """One conversation: its summary and its names."""
    session_id = page.ask("id")
    found = await page.get(f"/v1/sessions/{page.quote(session_id)}")
    return page.render("memory/session.html", title=page.tell("sessions.one"), session=found)


async def clear_summary(page: ConsolePage) -> Response:
    """Clears the summary until the next is due."""
    session_id = page.field("id")
    await page.change("DELETE", f"/v1/sessions/{page.quote(session_id)}/summary")
    return page.redirect(f"/memory/session?id={page.quote(session_id)}", Notice("notice.summary_cleared"))


async def end_session(page: ConsolePage) -> Response:
    """Ends the conversation; its summary follows."""
    session_id = page.field("id")
    await page.change("POST", f"/v1/sessions/{page.quote(session_id)}/archive")
    return page.redirect(f"/memory/session?id={page.quote(session_id)}", Notice("notice.session_ended"))
