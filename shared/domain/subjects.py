"""Owners of data, requesters and their rights: the same for keys, tokens and requests without a key."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, get_args

from schemas.vocabulary import AccessScope


class Subject(NamedTuple):
    """The owner of rows: every statement over user data names both ids."""

    tenant_id: str
    user_id: str

    @property
    def params(self) -> dict[str, str]:
        """Both, as statements name them."""
        return {"tenant": self.tenant_id, "user": self.user_id}


SCOPES: tuple[AccessScope, ...] = get_args(AccessScope)

STRANGER, DENIED = "unauthenticated", "forbidden"
AT_DOOR = (STRANGER, DENIED)
"""Codes of refusals because of who asks."""


@dataclass(frozen=True, slots=True)
class Requester:
    """A requester, optionally bound to a tenant, and to one user or to ids that begin with `users_from`. `name` becomes
    `requested_by`.
    """

    name: str
    scopes: frozenset[AccessScope]
    tenant_id: str | None = None
    user_id: str | None = None
    users_from: str | None = None

    @property
    def of_whole_tenant(self) -> bool:
        """Whether the requester may act for every user."""
        return self.user_id is None and self.users_from is None


LOCAL = Requester("", frozenset(SCOPES))
"""The requester without a key on this machine: bound to nothing, and the claims of the request are accepted."""


@dataclass(frozen=True, slots=True)
class Denial:
    """A reason to refuse: a field of the request, or the missing scope."""

    field: str
    problem: str


def find_scope_denial(requester: Requester, scope: AccessScope) -> Denial | None:
    """The reason why the requester lacks this scope; None if they have it."""
    if scope in requester.scopes or "admin" in requester.scopes:
        return None
    has = ", ".join(each for each in SCOPES if each in requester.scopes) or "none"
    return Denial("scope", f"this needs {scope}, the key has {has}")


def find_tenant_denial(requester: Requester, tenant_id: str) -> Denial | None:
    """Why the requester may not act in this tenant."""
    fits = requester.tenant_id in (None, tenant_id)
    return None if fits else Denial("tenant_id", "is not the tenant of the key")


def find_user_denial(requester: Requester, user_id: str) -> Denial | None:
    """Why the requester may not act for this user of the tenant."""
    if requester.user_id is not None and user_id != requester.user_id:
        return Denial("user_id", "is not the user of the key")
    if requester.users_from is not None and not user_id.startswith(requester.users_from):
        return Denial("user_id", "is not one of the users of the key")
    return None


def find_owner_denial(requester: Requester, tenant_id: str, user_id: str | None) -> Denial | None:
    """Why the requester may not do this to the user, or to the whole tenant if no user is named."""
    if denial := find_tenant_denial(requester, tenant_id):
        return denial
    if user_id is not None:
        return find_user_denial(requester, user_id)
    problem = "this concerns every user of the tenant, and the key is not for all of them"
    return None if requester.of_whole_tenant else Denial("user_id", problem)


def find_name_denial(requester: Requester, requested_by: str) -> Denial | None:
    """Why `requested_by` is refused; a requester without a tenant may give any."""
    if requester.tenant_id is None or requested_by == requester.name:
        return None
    return Denial("requested_by", "comes from the key, but names another requester")


def sort_scopes(scopes: Iterable[AccessScope]) -> tuple[AccessScope, ...]:
    """Each once, in the order in which they are listed everywhere."""
    given = frozenset(scopes)
    return tuple(each for each in SCOPES if each in given)
