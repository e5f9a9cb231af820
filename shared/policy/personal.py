"""The handling of personal data at intake."""

from pydantic import Field

from schemas.settings import Handling, Strict
from shared.policy.base import Slice
from shared.secrets import SecretKind


class PersonalDataPolicy(Slice):
    """Handling by kind, in all incoming text (messages, tool results, references, items, edits, media) and in model
    prompts."""

    phone: Handling = Field(default="keep", description="Telephone numbers")
    email: Handling = Field(default="keep", description="Mail addresses")
    id_number: Strict = Field(
        default="redact", description="Numbers of identity documents, social and tax numbers (China, US, UK, EU)"
    )
    bank_card: Strict = Field(default="redact", description="Numbers of cards and bank accounts")
    address: Handling = Field(default="keep", description="Streets with a house number")

    @property
    def kinds_kept(self) -> frozenset[SecretKind]:
        """The kinds that are kept."""
        return self._list_kinds("keep")

    @property
    def kinds_refused(self) -> frozenset[SecretKind]:
        """The kinds that are refused."""
        return self._list_kinds("refuse")

    def _list_kinds(self, handling: Handling) -> frozenset[SecretKind]:
        kinds: tuple[SecretKind, ...] = ("phone", "email", "id_number", "bank_card", "address")
        return frozenset(kind for kind in kinds if getattr(self, kind) == handling)
