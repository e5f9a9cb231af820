"""`forget`: retracts a memory, which stays in its history; nothing is erased."""

from services.mcp.contracts import ForgetArguments, ForgottenMemory
from services.mcp.handler.finding import find_by_id, find_by_words, find_taken_back
from services.mcp.handler.showing import CANDIDATES_MOST, make_nonce, to_known
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient, Json

TAKEN_BACK = (
    "It is retracted and no longer used; its history stays. For a permanent erasure, the user "
    "should ask the operator of SmartBrain."
)
PENDING = "The retraction was accepted and will take effect within moments; its history stays."
ALREADY = "It had already been retracted."
CHOOSE = "Nothing was retracted: it is unclear which memory is meant. Call again with the right `memory_id`."
NOT_FOUND = "Nothing was retracted: no memory matches these words."


async def forget(compose: ComposeClient, caller: AgentCaller, arguments: ForgetArguments) -> ForgottenMemory:
    """Retracts the memory; nothing changes if it is unclear which one is meant."""
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
    receipt = await compose.write(caller, "DELETE", f"/v1/memories/{meant['memory_id']}")
    if receipt["status"] == "rejected" and receipt["settled"]:
        explanation, status = "Nothing was retracted; `reason` says why.", "rejected"
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
