"""`recall`: evidence for a question, with start of validity, confidence and source."""

from typing import Literal

from services.mcp.contracts import Evidence, RecallArguments, RecalledEvidence
from services.mcp.handler.showing import make_nonce
from services.mcp.rules.marking import keep_fitting, mark_text, write_notice
from services.mcp.rules.matching import drop_repeats
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient, Json

MOST = 20
DIVERSITY = {"repeats": True}
"""The search returns a memory and its source message: only the memory has an id and a confidence."""
NOTHING = "No memory answers this. Ask the user, or call `get_status` if you expected a result."


async def recall(compose: ComposeClient, caller: AgentCaller, arguments: RecallArguments) -> RecalledEvidence:
    """The search results of compose for the question, the best first, within the limit."""
    budget = {"top_k": MOST, "diversity": DIVERSITY}
    plan = {
        "version": "0.1",
        "purpose": "qa",
        "queries": [{"text": arguments.question}],
        "budget": budget,
        "output": {"include_provenance": False},
    }
    pack = await compose.post(caller, "/v1/retrieve", plan)
    nonce = make_nonce()
    matches = [_evidence(each, nonce) for each in drop_repeats(pack["evidences"])]
    fitting = keep_fitting(matches, arguments.max_tokens)
    return RecalledEvidence(
        notice=write_notice(nonce),
        evidence=tuple(fitting),
        left_out=len(matches) - len(fitting),
        degraded=tuple(pack["explain"]["degraded_reason"]),
        hint=_hint(matches, fitting),
    )


def _hint(matches: list[Evidence], fitting: list[Evidence]) -> str | None:
    if not matches:
        return NOTHING
    return None if fitting else "The results do not fit: call again with a larger max_tokens."


def _evidence(each: Json, nonce: str) -> Evidence:
    from schemas.evidence_pack import turn_uri  # many models, which nobody waits for who only lists tools

    about, ref = each["metadata"], each["ref"]
    kind: Literal["memory", "said", "document"] = (
        "memory" if ref["memory_item_id"] else "said" if ref["turn_id"] else "document"
    )
    return Evidence(
        kind=kind,
        text=mark_text(each["snippet"], nonce, "knowledge" if kind == "document" else "user_memory"),
        memory_id=ref["memory_item_id"],
        version=about["version"],
        type=about["type"],
        since=None if kind == "document" else about["created_at"],
        until=about["valid_until"],
        confidence=each["signals"]["confidence_effective"],
        source=turn_uri(ref["turn_id"]) if ref["turn_id"] else each["source_uri"],
        session_id=about["session_id"],
        speaker=about["name"] or about["role"],
    )
