"""`get_status`: the status, and reasons for empty results."""

from importlib.metadata import version

from services.mcp.contracts import Status, StatusArguments
from services.mcp.rules.remedies import DEFAULT, REMEDIES
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient, Json
from shared.fronts.problems import CallError

EMPTY = "There are no memories of this user in this tenant yet. Are the user and the tenant correct?"
UNWELL = "Some services have problems: recent messages may not be learnt yet, or a search may be incomplete."
SCOPES = {"read": "recall, get_context and why", "write": "remember, correct and forget"}


async def get_status(compose: ComposeClient, caller: AgentCaller, arguments: StatusArguments) -> Status:
    """All reasons for empty results; a system that is down is reported, not raised."""
    del arguments
    problems: list[str] = []
    services: dict[str, tuple[str, ...]] = {}
    access: Json = {}
    memories: int | None = None
    user: str | None = caller.user_id
    try:
        state = await compose.find_state()
        services = {name: tuple(found) for name, found in state.get("whole", {}).get("services", {}).items() if found}
        missing = [name for name, usable in state.items() if usable is False and name != "ready"]
        if missing:
            services["compose"] = (*services.get("compose", ()), *missing)
        if services:
            problems.append(UNWELL)
        access = await compose.find_access(caller)
        user = await compose.find_user(caller)
        problems += _list_lacking(access)
        memories = (await compose.get(caller, "/v1/memories", limit=1))["count"]
        if memories == 0:
            problems.append(EMPTY)
    except CallError as problem:
        problems.append(f"{problem.message}. {REMEDIES.get(problem.code, DEFAULT).text}")
    return Status(
        well=not problems or problems == [EMPTY],
        user_id=user,
        tenant_id=caller.tenant_id or access.get("tenant_id"),
        scopes=tuple(access.get("scopes", ())),
        memories=memories,
        services=services,
        problems=tuple(problems),
        version=version("smartbrain"),
    )


def _list_lacking(access: Json) -> list[str]:
    """What the key may not do."""
    scopes = access["scopes"]
    lacking = [scope for scope in SCOPES if scope not in scopes and "admin" not in scopes]
    return [f"The key lacks the scope `{scope}`: {SCOPES[scope]} will be refused." for scope in lacking]
