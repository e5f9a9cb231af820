"""A secret that was found: its kind, its place in the text, and its placeholder."""

from dataclasses import dataclass
from typing import Literal

SecretClass = Literal["credential", "pii"]
SecretKind = Literal[
    "provider_key",
    "jwt",
    "private_key",
    "bearer",
    "connection_string",
    "password",
    "code",
    "token",
    "phone",
    "email",
    "id_number",
    "bank_card",
    "address",
]
PLACEHOLDER = "[SECRET]"
"""What stands in a text where a credential was."""
PERSONAL_PLACEHOLDERS: dict[SecretKind, str] = {
    "phone": "[PHONE]",
    "email": "[EMAIL]",
    "id_number": "[ID_NUMBER]",
    "bank_card": "[BANK_CARD]",
    "address": "[ADDRESS]",
}
"""What stands where personal data was; these kinds are personal data, all others credentials."""
FORMER_PLACEHOLDERS = ("[ID_CARD]",)
"""What older versions left in stored texts."""
MAY_STAND: frozenset[SecretKind] = frozenset({"phone", "email", "address"})
"""Personal data that memory and packages show where the policy keeps it as it comes in; they show no other."""
ADDRESSES: frozenset[SecretKind] = frozenset({"address"})
"""All that may stand in what leaves a user: for the knowledge side, for others of the tenant."""


@dataclass(frozen=True, slots=True)
class SecretHit:
    """One stretch of text that is a secret, with its kind."""

    kind: SecretKind
    start: int
    end: int

    @property
    def group(self) -> SecretClass:
        """Whether the hit is a credential or personal data."""
        return "pii" if self.kind in PERSONAL_PLACEHOLDERS else "credential"


@dataclass(frozen=True, slots=True)
class SecretRefusal:
    """Why a text is not written to memory."""

    reason: str
    kind: SecretKind
    start: int
    end: int
