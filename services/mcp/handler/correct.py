"""`correct`: a memory gets a new version in the user's words; the old one stays in its history."""

from services.mcp.contracts import CorrectArguments, Corrected
from services.mcp.handler.finding import find_by_id, find_by_words, find_newest
from services.mcp.handler.showing import CANDIDATES_MOST, make_nonce, to_known
from services.mcp.rules.matching import pick_meant, says_same
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient, Json

CHOOSE = "Nothing was changed: it is unclear which memory is meant. Call again with the right `memory_id`."
NOT_FOUND = "Nothing was changed: no memory matches these words. Use `remember` if the user wants it stored."
ALREADY = "It says so already."
ENDED = "Nothing was changed: this version is no longer current. Call again with the `memory_id` of the current one."


async def correct(compose: ComposeClient, caller: AgentCaller, arguments: CorrectArguments) -> Corrected:
    """Corrects the memory; nothing changes if it is unclear which one is meant."""
    if arguments.memory_id:
        wrong = await find_by_id(compose, caller, arguments.memory_id)
        if wrong["status"] != "active":
            return await _tell_of_ended(compose, caller, wrong, arguments.new)
    else:
        choice = await find_by_words(compose, caller, arguments.old or "")
        if choice.meant is None:
            return await _tell_of_none(compose, caller, choice.candidates, arguments.new)
        wrong = choice.meant
    if says_same(wrong["content"], arguments.new):
        return Corrected(status="already", explanation=ALREADY, after=to_known(wrong, make_nonce()))
    return await _edit(compose, caller, wrong, arguments)


async def _edit(compose: ComposeClient, caller: AgentCaller, wrong: Json, arguments: CorrectArguments) -> Corrected:
    body = {
        "text": arguments.new,
        **({"idempotency_key": arguments.idempotency_key} if arguments.idempotency_key else {}),
    }
    receipt = await compose.write(caller, "PATCH", f"/v1/memories/{wrong['memory_id']}", body)
    nonce = make_nonce()
    before = to_known(wrong, nonce)
    if receipt["status"] == "rejected":
        return Corrected(
            status="rejected",
            explanation="Nothing was changed; `reason` says why.",
            before=before,
            receipt_id=receipt["receipt_id"],
            reason=receipt["reason"],
        )
    settled = receipt["settled"] and receipt["memory_id"]
    after = to_known(await find_by_id(compose, caller, receipt["memory_id"]), nonce) if settled else None
    return Corrected(
        status="corrected" if settled else "pending",
        explanation="The memory has a new version; the old one stays in its history."
        if settled
        else "The correction was accepted and will take effect within moments.",
        before=before,
        after=after,
        receipt_id=receipt["receipt_id"],
        reason=receipt["reason"],
    )


async def _tell_of_ended(compose: ComposeClient, caller: AgentCaller, wrong: Json, new: str) -> Corrected:
    """An old version: its successor may already have the new text, as after a repeated call."""
    newest, nonce = await find_newest(compose, caller, wrong), make_nonce()
    if newest["status"] == "active" and says_same(newest["content"], new):
        return Corrected(
            status="already", explanation=ALREADY, before=to_known(wrong, nonce), after=to_known(newest, nonce)
        )
    holds = (to_known(newest, nonce),) if newest["status"] == "active" else ()
    return Corrected(status="choose", explanation=ENDED, before=to_known(wrong, nonce), candidates=holds)


async def _tell_of_none(compose: ComposeClient, caller: AgentCaller, near: tuple[Json, ...], new: str) -> Corrected:
    """Without a clear match for the old words: a memory with the new words, else the most similar ones."""
    nonce = make_nonce()
    said = pick_meant((await find_by_words(compose, caller, new)).candidates, new)
    if said is not None and says_same(said["content"], new):
        return Corrected(status="already", explanation=ALREADY, after=to_known(said, nonce))
    if not near:
        return Corrected(status="not_found", explanation=NOT_FOUND)
    shown = tuple(to_known(each, nonce) for each in near[:CANDIDATES_MOST])
    return Corrected(status="choose", explanation=CHOOSE, candidates=shown)
