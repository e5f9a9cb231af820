"""`remember`: stores a dictated fact or merges it into an equal memory; secrets are refused."""

from services.mcp.contracts import RememberArguments, Remembered
from services.mcp.handler.finding import find_by_id
from services.mcp.handler.showing import make_nonce, to_known
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient, Json

SAID = {
    "remembered": "It is remembered.",
    "merged": "It was already known: it was merged into the memory shown here, whose confidence is higher now.",
    "rejected": "It was not stored; `reason` says why.",
    "pending": "It was accepted but not processed yet. It will be stored within moments.",
}


async def remember(compose: ComposeClient, caller: AgentCaller, arguments: RememberArguments) -> Remembered:
    """The result of the note once it is processed, or the prediction after five seconds."""
    body: Json = {"text": arguments.text}
    if arguments.idempotency_key:
        body["idempotency_key"] = arguments.idempotency_key
    receipt = await compose.settle(caller, await compose.post(caller, "/v1/memories", body))
    fate: str = receipt["status"]
    status = fate if fate != "accepted" else "remembered" if receipt["settled"] else "pending"
    left = None
    if receipt["memory_id"] and receipt["settled"]:
        left = to_known(await find_by_id(compose, caller, receipt["memory_id"]), make_nonce())
    return Remembered(
        status=status,  # pyright: ignore[reportArgumentType] # checked by the model
        explanation=SAID[status],
        receipt_id=receipt["receipt_id"],
        memory=left,
        reason=receipt["reason"] or receipt["held_back"],
    )
