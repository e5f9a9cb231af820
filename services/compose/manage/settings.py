"""Settings of a user or a tenant: view and change, within the limits of policy and tenant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.settings import AllowedValues, SettingName, SettingsChange, SettingsView, SettingView
from schemas.turn_events import FieldProblem
from shared.domain.subjects import Requester, Subject, find_scope_denial
from shared.domain.user_settings import (
    SETTINGS,
    HeldSettings,
    Level,
    find_allowed,
    hold_settings,
    is_allowed,
    view_setting,
)
from shared.errors import RefusedError
from shared.policy import Policy
from shared.runtime import Runtime
from shared.store import user_settings
from shared.store.operator_acts import Operator
from shared.store.user_settings import OF_TENANT, ChosenSettings

FIXED = "setting_fixed"
"""The error code for a setting that the requester may not change."""


@dataclass(frozen=True, slots=True)
class SettingsSeen:
    """Settings as one requester sees them: the owner, and the values without and with the owner's choices."""

    policy: Policy
    owner: Subject
    level: Level
    before: Policy
    held: HeldSettings
    changeable: frozenset[SettingName]
    chosen: ChosenSettings = field(default_factory=ChosenSettings)

    @property
    def names(self) -> list[SettingName]:
        """The settings of this level."""
        return [name for name in SETTINGS if self.level == "tenant" or name != "users_may"]


async def load_view(rt: Runtime, owner: Subject, requester: Requester) -> SettingsView:
    """The settings of the user, or of the tenant if no user is named."""
    (chosen,) = await rt.db.read(owner, user_settings.load(owner))
    return _show(_ask(rt, owner, requester, chosen))


async def change_settings(
    rt: Runtime, owner: Subject, requester: Requester, changes: SettingsChange, by: Operator
) -> SettingsView:
    """Changes settings for all processes, from now on.

    RefusedError: 422 names settings with invalid values, 403 those that the requester may not change.
    """
    wanted = changes.named_values
    if not wanted:
        raise refuse_settings("invalid_request", [FieldProblem(field="body", problem="names no setting")], 422)
    named: dict[str, Any] = {str(name): value for name, value in wanted.items()}
    async with rt.db.transaction(owner) as conn:
        chosen = await user_settings.load(owner).on(conn)
        refuse_misfits(_ask(rt, owner, requester, chosen), wanted)
        await user_settings.change(conn, owner, named, by)
        after = await user_settings.load(owner).on(conn)
    if rt.user_settings:
        rt.user_settings.forget(owner)
    return _show(_ask(rt, owner, requester, after))


def _ask(rt: Runtime, owner: Subject, requester: Requester, chosen: ChosenSettings) -> SettingsSeen:
    of_tenant = hold_settings(rt.policy, chosen.tenant, {})
    if owner.user_id == OF_TENANT:
        may = () if find_scope_denial(requester, "admin") else rt.policy.settings.tenant_may
        return SettingsSeen(rt.policy, owner, "tenant", rt.policy, of_tenant, frozenset(may))
    may = () if find_scope_denial(requester, "write") else of_tenant.policy.settings.user_may
    held = hold_settings(rt.policy, chosen.tenant, chosen.user)
    return SettingsSeen(rt.policy, owner, "user", of_tenant.policy, held, frozenset(may), chosen)


def refuse_misfits(seen: SettingsSeen, wanted: Mapping[SettingName, Any]) -> None:
    """RefusedError names every setting whose value is invalid or that the requester may not change.

    A choice can always be reset.
    """
    fixed = [
        FieldProblem(field=name, problem=f"is not for this caller to change ({seen.level})")
        for name, value in wanted.items()
        if value is not None and name not in seen.changeable
    ]
    if fixed:
        raise refuse_settings(FIXED, fixed, 403)
    bad = [
        FieldProblem(field=name, problem=describe_allowed(find_allowed(seen.policy, seen.before, name, seen.level)))
        for name, value in wanted.items()
        if value is not None and not is_allowed(seen.policy, seen.before, name, seen.level, value)
    ]
    if bad:
        raise refuse_settings("invalid_request", bad, 422)


def refuse_settings(code: str, found: Sequence[FieldProblem], status: int) -> RefusedError:
    return RefusedError(code, f"{found[0].field}: {found[0].problem}", tuple(found), status)


def describe_allowed(allowed: AllowedValues) -> str:
    """The allowed values of a setting, in a sentence."""
    if allowed.values:
        return f"may be {', '.join(str(each).lower() if isinstance(each, bool) else each for each in allowed.values)}"
    return f"may be from {allowed.least} to {allowed.most}"


def _show(seen: SettingsSeen) -> SettingsView:
    return SettingsView(
        tenant_id=seen.owner.tenant_id,
        user_id=seen.owner.user_id or None,
        settings=tuple(_show_one(seen, name) for name in seen.names),
    )


def _show_one(seen: SettingsSeen, name: SettingName) -> SettingView:
    held = seen.held.settings[name]
    view = view_setting(seen.policy, seen.before, name, held, seen.level, may=name in seen.changeable)
    if held.source != "user" or name not in seen.chosen.when:
        return view
    return view.model_copy(update={"since": seen.chosen.find_since(name), "said_in": seen.chosen.find_turn(name)})
