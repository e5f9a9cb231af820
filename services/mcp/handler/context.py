"""`get_context`: the package for the current message, as messages of a chat API."""

from services.mcp.contracts import Context, ContextArguments, ContextMessage
from services.mcp.rules.rendering import write_notice
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient


async def get_context(compose: ComposeClient, caller: AgentCaller, arguments: ContextArguments) -> Context:
    """The messages in the order in which a model should read them."""
    from schemas.context_package import ContextPackage  # many models, which nobody waits for who only lists tools

    session = arguments.session_id or caller.session_id
    body = {"session_id": session, "user_message": arguments.message, "token_limit": arguments.max_tokens}
    package = ContextPackage.model_validate(await compose.post(caller, "/v1/context", body))
    return Context(
        context_id=package.context_id,
        notice=write_notice(package.nonce),
        messages=tuple(ContextMessage.model_validate(each) for each in package.to_messages(developer=False)),
        tokens=package.constraints.token_budget.used_estimate,
        degraded=tuple(package.degraded_reason),
    )
