"""`why`: the sources, versions and uses of a memory."""

import asyncio

from services.mcp.contracts import Explained, KnownVersion, Origin, Use, WhyArguments
from services.mcp.handler.finding import find_by_words
from services.mcp.handler.showing import CANDIDATES_MOST, make_nonce, to_known
from services.mcp.rules.marking import keep_fitting, mark_text, shorten_text, write_notice
from services.mcp.rules.matching import find_use
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient, Json
from shared.fronts.problems import CallError

PACKAGES = 20
"""Number of newest packages that are searched."""
ORIGINS_MOST = 5
QUOTE_MOST = 60
CHOOSE = "It is unclear which memory is meant. Call again with the right `memory_id`."
NOT_FOUND = "No memory matches these words."


async def why(compose: ComposeClient, caller: AgentCaller, arguments: WhyArguments) -> Explained:
    """The history of the memory, always with the newest version."""
    nonce = make_nonce()
    memory_id = str(arguments.memory_id)
    if arguments.words:
        choice = await find_by_words(compose, caller, arguments.words)
        if choice.meant is None:
            shown = tuple(to_known(each, nonce) for each in choice.candidates[:CANDIDATES_MOST])
            return Explained(
                status="choose" if shown else "not_found",
                explanation=CHOOSE if shown else NOT_FOUND,
                notice=write_notice(nonce),
                candidates=shown,
            )
        memory_id = choice.meant["memory_id"]
    history, packages = await asyncio.gather(
        compose.get(caller, f"/v1/memories/{memory_id}/history"),
        compose.get(caller, "/v1/contexts", limit=PACKAGES),
    )
    newest_first = [_version(each, nonce) for each in reversed(history["memories"])]
    fitting = keep_fitting(newest_first, arguments.max_tokens) or [newest_first[0].model_copy(update={"origins": ()})]
    uses = await _find_uses(compose, caller, packages["contexts"], history["memories"])
    return Explained(
        status="found",
        explanation=f"{len(newest_first)} version(s); the newest is {newest_first[0].status}.",
        notice=write_notice(nonce),
        versions=tuple(reversed(fitting)),
        left_out=len(newest_first) - len(fitting),
        used_in=tuple(uses),
        packages_looked_through=len(packages["contexts"]),
    )


def _version(version: Json, nonce: str) -> KnownVersion:
    return KnownVersion(
        **to_known(version, nonce).model_dump(),
        until=version["invalid_at"],
        superseded_by=version["superseded_by"],
        origins=tuple(_origin(each, nonce) for each in version["evidence"][-ORIGINS_MOST:]),
        contradicted=len(version["conflicts"]),
    )


def _origin(evidence: Json, nonce: str) -> Origin:
    quote = evidence["quote"]
    return Origin(
        action=evidence["action"],
        said_at=evidence["said_at"],
        speaker=evidence["name"] or evidence["role"],
        quote=mark_text(shorten_text(quote, QUOTE_MOST), nonce) if quote else None,
        session_id=evidence["session_id"],
        turn_id=evidence["turn_id"],
    )


async def _find_uses(
    compose: ComposeClient, caller: AgentCaller, packages: list[Json], versions: list[Json]
) -> list[Use]:
    """The packages with a version or its source words, newest first; packages without a receipt are skipped."""
    looked = await asyncio.gather(*(_load_receipt(compose, caller, each["context_id"]) for each in packages))
    uses: list[Use] = []
    for package, receipt in zip(packages, looked, strict=True):
        injected = [each for each in receipt if each["decision"] == "injected"]
        found = find_use(injected, versions)
        if found:
            version, item = found
            uses.append(
                Use(
                    context_id=package["context_id"],
                    session_id=package["session_id"],
                    at=package["created_at"],
                    version=version,
                    as_words=not item["id"].startswith("memory:"),
                    why=item["why"],
                )
            )
    return uses


async def _load_receipt(compose: ComposeClient, caller: AgentCaller, context_id: str) -> list[Json]:
    try:
        return (await compose.get(caller, f"/v1/receipts/{context_id}"))["items"]
    except CallError as problem:
        if problem.code in ("not_found", "erased"):
            return []
        raise
