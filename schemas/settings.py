"""Settings of a user and of a tenant: what each is, where it comes from, and who may change it; rights over HTTP."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from pydantic import Field
from pydantic.json_schema import JsonSchemaValue

from schemas.base import Contract
from schemas.vocabulary import AccessScope

SettingName = Literal[
    "summary_enabled",
    "inject_limit",
    "llm_rerank",
    "auto_remember",
    "auto_mode",
    "language",
    "learning",
    "retention_days",
    "personal_phone",
    "personal_email",
    "personal_id_number",
    "personal_bank_card",
    "personal_address",
    "users_may",
]
Handling = Literal["keep", "redact", "refuse"]
"""It stays; a placeholder stands for it (`[PHONE]`); a turn, note or edit that has it is refused, nothing is stored.

Where there is nothing to refuse (texts of media, what a model is asked) a placeholder stands for what is refused, too.
"""
Strict = Literal["redact", "refuse"]
"""As `Handling`, of what never stands in clear."""
SettingValue = bool | int | str | tuple[str, ...] | None
RETENTION_MOST = 3650


class SettingsChange(Contract):
    """Settings that are to be otherwise from now on; null: back to what holds without a choice of one's own."""

    summary_enabled: bool | None = Field(default=None, description="Whether sessions have a summary")
    inject_limit: int | None = Field(default=None, ge=0, le=40, description="Notes about the user in a package")
    llm_rerank: bool | None = Field(
        default=None, description="Whether the chat model orders what was found, where there is one"
    )
    auto_remember: bool | None = Field(
        default=None, description="False: only what is dictated is kept, nothing that is said by the way"
    )
    auto_mode: Literal["rules", "llm"] | None = Field(
        default=None, description="Who reads what is said: the rules alone, or the chat model after them"
    )
    language: Literal["auto", "zh", "en"] | None = Field(
        default=None, description="Of headings and hints; `auto`: that of the conversation"
    )
    learning: bool | None = Field(default=None, description="False: nothing is derived from turns; they are logged")
    retention_days: int | None = Field(
        default=None, ge=1, le=RETENTION_MOST, description="What is older is erased; null: nothing by its age"
    )
    personal_phone: Handling | None = Field(default=None, description="Telephone numbers")
    personal_email: Handling | None = Field(default=None, description="Addresses of mail")
    personal_id_number: Strict | None = Field(default=None, description="Numbers of documents")
    personal_bank_card: Strict | None = Field(default=None, description="Numbers of cards and accounts")
    personal_address: Handling | None = Field(default=None, description="A street with the number of a house")
    users_may: Annotated[
        tuple[SettingName, ...] | None,
        Field(max_length=20, description="Of a tenant: the settings that its users may change"),
    ] = None

    @classmethod
    def conditions(cls) -> Sequence[JsonSchemaValue]:
        """At least one setting, and nothing else."""
        return ({"minProperties": 1}, {"propertyNames": {"enum": [*cls.model_fields]}})

    @property
    def named_values(self) -> Mapping[SettingName, Any]:
        """The settings that are named, each with its value or null."""
        names: tuple[SettingName, ...] = get_args(SettingName)
        return {name: getattr(self, name) for name in names if name in self.model_fields_set}


class AllowedValues(Contract):
    """What a setting may be: one of some values (of a list: any of them), or a number within bounds."""

    values: tuple[bool | str, ...] = ()
    least: int | None = None
    most: int | None = None


class SettingView(Contract):
    """One setting: what holds, who chose it, what holds without that choice, and whether the caller may change it.

    Of a user's own choice also since when it holds, and in which turn it was said if it was said in words.
    """

    name: SettingName
    value: SettingValue
    source: Literal["user", "tenant", "policy"]
    default: SettingValue
    changeable: bool
    allowed: AllowedValues
    since: datetime | None = None
    said_in: UUID | None = None


class SettingsView(Contract):
    """All settings of a user; without a user those of the tenant, which hold for whoever chose nothing else."""

    tenant_id: str
    user_id: str | None = None
    settings: tuple[SettingView, ...]


class AccessView(Contract):
    """Whom the key or the token is for: a tenant, and one user of it or those whose id begins with `users_from`.

    Without a tenant it is whoever sits at this machine while it needs no key.
    """

    name: str
    tenant_id: str | None = None
    user_id: str | None = None
    users_from: str | None = None
    scopes: tuple[AccessScope, ...] = ()
