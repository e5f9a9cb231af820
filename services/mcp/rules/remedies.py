"""What a model can do about each refusal."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do, and whether the same call may work later."""

    text: str
    retry: bool = False


DEFAULT = Remedy("Tell the user what the message says.")
REMEDIES: Mapping[str, Remedy] = MappingProxyType(
    {
        "unreachable": Remedy(
            "SmartBrain is down or not reachable. Go on without memory, say so once, and try again later;"
            " `smartbrain up` starts it.",
            retry=True,
        ),
        "unavailable": Remedy("A part of SmartBrain is away; nothing was written. Try again in a moment.", retry=True),
        "internal": Remedy("This is a defect of SmartBrain. Go on without memory.", retry=True),
        "rate_limited": Remedy("Wait, then try again; ask less often.", retry=True),
        "unauthenticated": Remedy(
            "Whoever runs this client must give it a valid key: SMARTBRAIN_API_KEY on stdio, `Authorization:"
            " Bearer` over HTTP. You cannot."
        ),
        "forbidden": Remedy("The key may not do this. Tell the user; another key is set in the client, not by you."),
        "no_user": Remedy(
            "Whoever runs this client must say whose memory it is: SMARTBRAIN_USER on stdio, the header"
            " X-SmartBrain-User over HTTP, or a key of one user. You cannot."
        ),
        "invalid_arguments": Remedy("Correct the argument that is named and call again."),
        "invalid_request": Remedy("Correct the argument that is named and call again."),
        "secret_refused": Remedy(
            "Nothing was stored. Tell the user that secrets are not remembered; do not try other words."
        ),
        "manipulation_refused": Remedy("Nothing was stored. Leave out what tells the agent how to behave."),
        "not_found": Remedy("Nothing has this id for this user. Call `recall` to find the right one."),
        "not_active": Remedy("This is an old version. Call `why` with its id to see which one holds now."),
        "idempotency_conflict": Remedy("This idempotency key was used for something else. Choose a new one."),
        "erased": Remedy("It was erased for good. Do not ask for it again."),
    }
)
