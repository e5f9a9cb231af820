"""A secret in a text: its kind, position, and placeholder."""

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
"""The placeholder of a credential."""
PERSONAL_PLACEHOLDERS: dict[SecretKind, str] = {
    "phone": "[PHONE]",
    "email": "[EMAIL]",
    "id_number": "[ID_NUMBER]",
    "bank_card": "[BANK_CARD]",
    "address": "[ADDRESS]",
}
"""The placeholders of personal data; all other kinds are credentials."""
FORMER_PLACEHOLDERS = ("[ID_CARD]",)
"""Placeholders of older versions in stored texts."""
MAY_STAND: frozenset[SecretKind] = frozenset({"phone", "email", "address"})
"""Personal data that memory and packages show if the policy keeps it at intake; they show no other."""
ADDRESSES: frozenset[SecretKind] = frozenset({"address"})
"""All kinds that may leave a user's data: for the knowledge side, for others of the tenant."""


@dataclass(frozen=True, slots=True)
class SecretHit:
    """One span of text that is a secret, with its kind."""

    kind: SecretKind
    start: int
    end: int

    @property
    def group(self) -> SecretClass:
        """Whether the match is a credential or personal data."""
        return "pii" if self.kind in PERSONAL_PLACEHOLDERS else "credential"


@dataclass(frozen=True, slots=True)
class SecretRefusal:
    """The reason why a text is not stored in memory."""

    reason: str
    kind: SecretKind
    start: int
    end: int
