"""Dead letters and quarantined events: listed, shown with the effect of a redrive, redriven or dropped with a
reason."""

from starlette.responses import Response

from services.console.page import ConsolePage
from services.console.sessions import Notice
from shared.fronts.client import Json

LETTERS = "/operations/letters"


async def show_letters(page: ConsolePage) -> Response:
    """Open dead letters and quarantined events, newest first."""
    state = page.ask("state", "open")
    wanted = {} if state == "all" else {"state": "open"}
    letters = await page.get_any("/v1/dead-letters", limit=100, **wanted, **page.whom)
    given_up = await page.get_any("/v1/quarantine", limit=100, **page.whom)
    events: list[Json] = given_up["events"]
    return page.render(
        "operations/letters.html",
        title=page.tell("operations.letters"),
        letters=letters["letters"],
        events=[each for each in events if state == "all" or each["state"] == "open"],
        unread=letters["unread"],
        state=state,
    )


async def show_letter(page: ConsolePage) -> Response:
    """One dead letter without its text, with the effect of a redrive."""
    letter_id = page.part("letter_id")
    letter = await page.get_any(f"/v1/dead-letters/{letter_id}")
    return page.render(
        "operations/letter.html",
        title=page.tell("letters.one"),
        shown=letter,
        address=f"{LETTERS}/{letter_id}",
        whose={},
    )


async def show_given_up(page: ConsolePage) -> Response:
    """One quarantined event, with the effect of a redrive."""
    quarantine_id = page.part("quarantine_id")
    event = await page.get_any(f"/v1/quarantine/{quarantine_id}", **page.whom)
    return page.render(
        "operations/letter.html",
        title=page.tell("letters.event"),
        shown=event,
        address=f"/operations/quarantine/{quarantine_id}",
        whose={"tenant": event["tenant_id"], "user": event["user_id"]},
    )


async def act_on_letter(page: ConsolePage) -> Response:
    """Redrives or drops the letter, once, recorded with requester and reason."""
    letter_id = page.part("letter_id")
    return await _act(page, f"/v1/dead-letters/{letter_id}", {})


async def act_on_given_up(page: ConsolePage) -> Response:
    """Redrives or drops a quarantined event in the same way."""
    quarantine_id = page.part("quarantine_id")
    whose = {"tenant_id": page.field("tenant"), "user_id": page.field("user")}
    return await _act(page, f"/v1/quarantine/{quarantine_id}", whose)


async def _act(page: ConsolePage, path: str, whose: dict[str, str]) -> Response:
    act = page.field("act")
    if act not in ("redrive", "drop"):
        page.refuse("invalid_request", "act: redrive or drop")
    reason = page.field("reason")
    if not reason:
        page.refuse("invalid_request", page.tell("letters.reason.missing"))
    order = {"requested_by": page.session.name or "console", "reason": reason}
    result = await page.change_any(f"{path}/{act}", whose, order)
    done = f"letters.done.{result['state']}" if result["fresh"] else "letters.done.before"
    return page.redirect(LETTERS, Notice(done))
