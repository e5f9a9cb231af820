"""Settings of users and tenants: the policy keys that they override, their allowed values, and their effect."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from schemas.settings import AllowedValues, Handling, SettingName, SettingView
from shared.policy import Policy

Chosen = Mapping[str, Any]
"""The chosen settings by name."""
Level = Literal["tenant", "user"]
Source = Literal["policy", "tenant", "user"]
HANDLINGS: tuple[Handling, ...] = get_args(Handling)
"""From the loosest to the strictest."""
LLM_RERANKER = "llm_json"


@dataclass(frozen=True, slots=True)
class HeldSetting:
    """The value of a setting, its source, and its value without the choice at the requested level."""

    value: Any
    source: Source
    default: Any


@dataclass(frozen=True, slots=True)
class Setting:
    """The default of a setting, and the policy with another value."""

    of: Callable[[Policy], Any]
    put: Callable[[Policy, Any], Policy]


def _key(part: str, key: str) -> Setting:
    """The setting that is a key of the policy."""

    def put(policy: Policy, value: Any) -> Policy:
        changed = getattr(policy, part).model_copy(update={key: value})
        return policy.model_copy(update={part: changed})

    return Setting(lambda policy: getattr(getattr(policy, part), key), put)


def _put_rerank(policy: Policy, value: bool) -> Policy:
    reranker = LLM_RERANKER if value else "none"
    return policy.model_copy(update={"compose": policy.compose.model_copy(update={"reranker": reranker})})


def _put_mode(policy: Policy, value: str) -> Policy:
    observer = policy.observer.model_copy(update={"use_model": value == "llm"})
    return policy.model_copy(update={"observer": observer})


def _put_users_may(policy: Policy, value: Any) -> Policy:
    settings = policy.settings.model_copy(update={"user_may": tuple(value)})
    return policy.model_copy(update={"settings": settings})


SETTINGS: Mapping[SettingName, Setting] = {
    "summary_enabled": _key("session", "summaries"),
    "inject_limit": _key("compose", "inject_limit"),
    "llm_rerank": Setting(lambda policy: policy.compose.reranker == LLM_RERANKER, _put_rerank),
    "auto_remember": _key("observer", "auto_remember"),
    "auto_mode": Setting(lambda policy: "llm" if policy.observer.use_model else "rules", _put_mode),
    "language": _key("compose", "language"),
    "learning": _key("observer", "learn"),
    "retention_days": _key("retention", "user_days"),
    "personal_phone": _key("personal_data", "phone"),
    "personal_email": _key("personal_data", "email"),
    "personal_id_number": _key("personal_data", "id_number"),
    "personal_bank_card": _key("personal_data", "bank_card"),
    "personal_address": _key("personal_data", "address"),
    "users_may": Setting(lambda policy: policy.settings.user_may, _put_users_may),
}


@dataclass(frozen=True, slots=True)
class HeldSettings:
    """The policy for one user, with the value and source of each setting."""

    policy: Policy
    settings: Mapping[SettingName, HeldSetting]


def hold_settings(policy: Policy, tenant: Chosen, user: Chosen) -> HeldSettings:
    """The effective settings from the choices of tenant and user; choices that are not allowed are ignored."""
    of_tenant = apply_chosen(policy, policy, tenant, "tenant", policy.settings.tenant_may)
    of_user = apply_chosen(policy, of_tenant, user, "user", of_tenant.settings.user_may)
    held: dict[SettingName, HeldSetting] = {}
    for name, setting in SETTINGS.items():
        value, before, first = setting.of(of_user), setting.of(of_tenant), setting.of(policy)
        by_user = name in user and is_allowed(policy, of_tenant, name, "user", user[name])
        by_tenant = name in tenant and is_allowed(policy, policy, name, "tenant", tenant[name])
        if by_user and name in of_tenant.settings.user_may:
            held[name] = HeldSetting(value, "user", before)
        elif by_tenant and name in policy.settings.tenant_may:
            held[name] = HeldSetting(value, "tenant", before)
        else:
            held[name] = HeldSetting(value, "policy", first)
    return HeldSettings(of_user, held)


def apply_chosen(policy: Policy, base: Policy, chosen: Chosen, level: Level, may: tuple[SettingName, ...]) -> Policy:
    """The policy with the allowed choices of this level; `base` is the policy before."""
    changed = base
    for name, setting in SETTINGS.items():
        if name in chosen and name in may and is_allowed(policy, base, name, level, chosen[name]):
            changed = setting.put(changed, chosen[name])
    return changed


def find_allowed(policy: Policy, base: Policy, name: SettingName, level: Level) -> AllowedValues:
    """The allowed values: for personal data, learning and retention never looser than before."""
    match name:
        case "inject_limit":
            return AllowedValues(least=0, most=40)
        case "retention_days":
            bounds, held = policy.settings, base.retention.user_days
            most = bounds.retention_days_most if held is None else min(held, bounds.retention_days_most)
            return AllowedValues(least=min(bounds.retention_days_least, most), most=most)
        case "auto_mode":
            return AllowedValues(values=("rules", "llm") if policy.observer.use_model else ("rules",))
        case "language":
            return AllowedValues(values=("auto", "zh", "en"))
        case "learning":
            stopped = level == "user" and policy.observer.learn and not base.observer.learn
            return AllowedValues(values=(False,) if stopped else (True, False))
        case "users_may":
            return AllowedValues(values=policy.settings.user_may)
        case "summary_enabled" | "llm_rerank" | "auto_remember":
            return AllowedValues(values=(True, False))
        case _:
            held = cast("Handling", SETTINGS[name].of(base))
            return AllowedValues(values=HANDLINGS[HANDLINGS.index(held) :])


def is_allowed(policy: Policy, base: Policy, name: SettingName, level: Level, value: Any) -> bool:
    """Whether the value may be chosen at this level."""
    allowed = find_allowed(policy, base, name, level)
    if name == "users_may":
        return isinstance(value, list | tuple) and set(cast("list[str]", value)) <= set(allowed.values)
    if allowed.values:
        return any(value is each or (isinstance(value, str) and value == each) for each in allowed.values)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and (allowed.least or 0) <= value <= (allowed.most or 0)


def view_setting(
    policy: Policy, base: Policy, name: SettingName, held: HeldSetting, level: Level, *, may: bool
) -> SettingView:
    """The view of the setting at this level."""
    return SettingView(
        name=name,
        value=held.value,
        source=held.source,
        default=held.default,
        changeable=may,
        allowed=find_allowed(policy, base, name, level),
    )
