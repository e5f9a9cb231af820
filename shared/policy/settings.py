"""The policies that a tenant may choose for its users, and users for themselves."""

from typing import Self, get_args

from pydantic import Field, model_validator

from schemas.settings import RETENTION_MOST, SettingName
from shared.policy.base import Slice

OF_TENANTS: tuple[SettingName, ...] = get_args(SettingName)
OF_USERS: tuple[SettingName, ...] = tuple(name for name in OF_TENANTS if name != "users_may")


class SettingsPolicy(Slice):
    """Which settings a tenant and a user may change, and within which bounds.

    The defaults are in other parts of the policy: `session.summaries`, `compose.inject_limit`,
    `compose.reranker`, `observer.auto_remember`, `observer.use_model`, `compose.language`, `observer.learn`,
    `retention.user_days` and `personal_data`. A choice that the policy no longer allows is ignored.
    """

    tenant_may: tuple[SettingName, ...] = Field(
        default=OF_TENANTS, description="Settings that a tenant may choose for all its users"
    )
    user_may: tuple[SettingName, ...] = Field(
        default=OF_USERS, description="Settings that a user may choose, unless the tenant allows fewer"
    )
    retention_days_least: int = Field(default=1, ge=1, description="Minimum of `retention_days`")
    retention_days_most: int = Field(default=3650, ge=1, le=RETENTION_MOST, description="Maximum of `retention_days`")
    cache_s: float = Field(
        default=2.0,
        ge=0,
        le=10,
        description="How long a process that missed a notification may use an old value",
    )

    @model_validator(mode="after")
    def _can_be_kept(self) -> Self:
        if self.retention_days_least > self.retention_days_most:
            raise ValueError("retention_days_least: is more than retention_days_most")
        if "users_may" in self.user_may:
            raise ValueError("user_may: users_may is a setting of tenants only")
        return self
