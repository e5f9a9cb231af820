"""`forget`: a memory is taken back, and stays in its history; nothing is erased."""

from services.mcp.contracts import ForgetArguments, ForgottenMemory
from services.mcp.handler.finding import find_by_id, find_by_words, find_taken_back
from services.mcp.handler.showing import CANDIDATES_MOST, make_nonce, to_known
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient, Json
from shared.fronts.writing import await_settled

TAKEN_BACK = (
    "It is taken back and no longer used; its history stays. To have it erased for good the user asks whoever runs"
    " SmartBrain."
)
PENDING = "Taking it back was accepted, and will hold within moments; its history stays."
ALREADY = "It was taken back before."
CHOOSE = "Nothing was taken back: no memory surely says this. Call again with the `memory_id` of the one that is meant."
NOT_FOUND = "Nothing was taken back: no memory comes near these words."


async def forget(compose: ComposeClient, caller: AgentCaller, arguments: ForgetArguments) -> ForgottenMemory:
    """What was taken back; nothing where it is not sure which memory is meant."""
    nonce = make_nonce()
    if arguments.memory_id:
        meant = await find_by_id(compose, caller, arguments.memory_id)
    else:
        words = arguments.words or ""
        choice = await find_by_words(compose, caller, words)
        if choice.meant is None:
            gone = await find_taken_back(compose, caller, words)
            if gone is not None:
                return ForgottenMemory(status="already", explanation=ALREADY, memory=to_known(gone, nonce))
            shown = tuple(to_known(each, nonce) for each in choice.candidates[:CANDIDATES_MOST])
            return ForgottenMemory(
                status="choose" if shown else "not_found",
                explanation=CHOOSE if shown else NOT_FOUND,
                candidates=shown,
            )
        meant = choice.meant
    if meant["status"] == "retracted":
        return ForgottenMemory(status="already", explanation=ALREADY, memory=to_known(meant, nonce))
    return await _take_back(compose, caller, meant, nonce)


async def _take_back(compose: ComposeClient, caller: AgentCaller, meant: Json, nonce: str) -> ForgottenMemory:
    receipt = await compose.change(caller, "DELETE", f"/v1/memories/{meant['memory_id']}")
    receipt = await await_settled(compose, caller, receipt)
    if receipt["status"] == "rejected" and receipt["settled"]:
        explanation, status = "Nothing was taken back; `reason` says why.", "rejected"
    elif receipt["settled"]:
        explanation, status = TAKEN_BACK, "taken_back"
        meant = await find_by_id(compose, caller, meant["memory_id"])
    else:
        explanation, status = PENDING, "pending"
    return ForgottenMemory(
        status=status,
        explanation=explanation,
        memory=to_known(meant, nonce),
        receipt_id=receipt["receipt_id"],
        reason=receipt["reason"],
    )
