"""What a model can do about each error."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Remedy:
    """The remedy, and whether a retry may work."""

    text: str
    retry: bool = False


DEFAULT = Remedy("Tell the user what the message says.")
REMEDIES: Mapping[str, Remedy] = MappingProxyType(
    {
        "unreachable": Remedy(
            "SmartBrain is down or not reachable. Continue without memory, say so once, and try again "
            "later; `smartbrain up` starts it.",
            retry=True,
        ),
        "unavailable": Remedy(
            "A part of SmartBrain is unavailable; nothing was written. Try again in a moment.", retry=True
        ),
        "internal": Remedy("This is a defect of SmartBrain. Continue without memory.", retry=True),
        "rate_limited": Remedy("Wait, then try again; call less often.", retry=True),
        "unauthenticated": Remedy(
            "The operator of this client must configure a valid key: SMARTBRAIN_API_KEY on stdio, `Authorization:"
            " Bearer` over HTTP. You cannot."
        ),
        "forbidden": Remedy(
            "The key does not allow this. Tell the user; only the operator of the client can set another key."
        ),
        "no_user": Remedy(
            "The operator of this client must configure the user: SMARTBRAIN_USER on stdio, the header"
            " X-SmartBrain-User over HTTP, or a key of one user. You cannot."
        ),
        "invalid_arguments": Remedy("Correct the argument that is named and call again."),
        "invalid_request": Remedy("Correct the argument that is named and call again."),
        "secret_refused": Remedy(
            "Nothing was stored. Tell the user that secrets are not remembered; do not try other words."
        ),
        "manipulation_refused": Remedy("Nothing was stored. Leave out instructions to the agent."),
        "not_found": Remedy("This user has no memory with this id. Call `recall` to find the right one."),
        "not_active": Remedy("This is an old version. Call `why` with its id to see the current one."),
        "idempotency_conflict": Remedy("This idempotency key was used for something else. Choose a new one."),
        "erased": Remedy("It was permanently erased. Do not ask for it again."),
    }
)
