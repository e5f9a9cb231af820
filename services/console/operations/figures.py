"""Speed, cost, users and erasures of the whole installation."""

from datetime import datetime

from starlette.responses import Response

from services.console.page import ConsolePage
from services.console.rules.plots import draw
from services.console.sessions import Notice
from shared.fronts.client import Json

SPANS = (60, 360, 1440, 10_080)


async def show_speed(page: ConsolePage) -> Response:
    """Turns and packages over time, and how long they took: as plots, and as a table."""
    minutes = page.ask_number("minutes", SPANS[0], SPANS[-1])
    series = await page.get_any("/v1/operations/series", minutes=max(minutes, 5), **page.whom)
    moments: list[Json] = series["moments"]
    times = [_tell_time(page, each["at"], minutes) for each in moments]
    tell = page.tell
    turns = {tell(f"speed.{name}"): _pick(moments, name) for name in ("committed", "packages")}
    settled = {label: _pick(moments, f"settled_{label}_s") for label in ("p50", "p95")}
    packed = {label: _pick(moments, f"package_{label}_ms") for label in ("p50", "p95")}
    plots = (
        (tell("speed.throughput"), "", turns),
        (tell("speed.settled_took"), "s", settled),
        (tell("speed.package_took"), "ms", packed),
    )
    rows = [(time, each) for time, each in zip(times, moments, strict=True) if each["committed"] or each["packages"]]
    return page.render(
        "operations/speed.html",
        title=tell("operations.speed"),
        plots=[(title, unit, draw(lines, times)) for title, unit, lines in plots],
        rows=rows[::-1],
        minutes=minutes,
        spans=SPANS,
        step=series["step_minutes"],
    )


def _pick(moments: list[Json], name: str) -> list[float | None]:
    return [each.get(name) for each in moments]


def _tell_time(page: ConsolePage, at: str, minutes: int) -> str:
    moment = datetime.fromisoformat(at).astimezone(page.zone)
    return moment.strftime("%m-%d %H:%M" if minutes > SPANS[2] else "%H:%M")


async def show_models(page: ConsolePage) -> Response:
    """Model calls per day and their cost."""
    models = await page.get_any("/v1/operations/models", **page.whom)
    return page.render("operations/models.html", title=page.tell("operations.models"), models=models)


async def show_users(page: ConsolePage) -> Response:
    """Users with their figures, the most recently active first."""
    begins = page.ask("begins")
    users = await page.get_any("/v1/users", begins=begins, limit=100, **page.whom)
    return page.render(
        "operations/users.html",
        title=page.tell("operations.users"),
        users=users["users"],
        begins=begins,
    )


async def show_erasures(page: ConsolePage) -> Response:
    """Erasures of all users with their deadlines, open ones first."""
    erasures = await page.get_any("/v1/operations/erasures", limit=200, **page.whom)
    return page.render(
        "operations/erasures.html",
        title=page.tell("operations.erasures"),
        erasures=erasures["erasures"],
    )


async def requeue_erasure(page: ConsolePage) -> Response:
    """Retries an escalated erasure, recorded with requester and reason."""
    tombstone_id = page.part("tombstone_id")
    if not page.field("reason"):
        page.refuse("invalid_request", page.tell("letters.reason.missing"))
    order = {
        "tenant_id": page.field("tenant"),
        "user_id": page.field("user"),
        "requested_by": page.session.name or "console",
        "reason": page.field("reason"),
    }
    await page.change_any(f"/v1/erasures/{tombstone_id}/requeue", {}, order)
    return page.redirect("/operations/erasures", Notice("deleting.requeued"))


async def show_turn(page: ConsolePage) -> Response:
    """One turn through every step, by its id."""
    turn_id = page.ask("id").strip()
    trace = await page.get_any(f"/v1/operations/turns/{turn_id}") if _is_id(page, turn_id) else None
    return page.render("operations/turn.html", title=page.tell("operations.turn"), turn_id=turn_id, trace=trace)


def _is_id(page: ConsolePage, text: str) -> bool:
    """Whether a turn is requested; an invalid id is refused by name."""
    if not text:
        return False
    if len(text) > 40 or not all(each in "0123456789abcdefABCDEF-" for each in text):
        page.refuse("invalid_request", page.tell("turn.no_id"))
    return True
