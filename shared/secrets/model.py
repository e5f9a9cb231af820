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
    "email",
    "phone",
    "id_card",
    "bank_card",
]
PLACEHOLDER = "[SECRET]"
"""What stands in a text where a credential was."""
PERSONAL_PLACEHOLDERS: dict[SecretKind, str] = {
    "email": "[EMAIL]",
    "phone": "[PHONE]",
    "id_card": "[ID_CARD]",
    "bank_card": "[BANK_CARD]",
}
"""What stands where a personal number was; these kinds are personal data, all others credentials."""


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
