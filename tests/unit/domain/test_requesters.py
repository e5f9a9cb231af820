"""Authorisation of requesters: scopes, tenants and users, and names."""

import pytest

from schemas.vocabulary import AccessScope
from shared.domain.subjects import (
    LOCAL,
    SCOPES,
    Requester,
    find_name_denial,
    find_owner_denial,
    find_scope_denial,
    sort_scopes,
)

ALL = frozenset(SCOPES)
TENANT = Requester("key:app", ALL, "acme")
ONE = Requester("lin", ALL, "acme", user_id="lin")
SOME = Requester("key:shop", ALL, "acme", users_from="shop-")
OWNERS: list[tuple[Requester, str, str | None, str | None]] = [
    (LOCAL, "acme", "lin", None),
    (LOCAL, "default", None, None),
    (TENANT, "acme", "lin", None),
    (TENANT, "acme", None, None),
    (TENANT, "Acme", "lin", "tenant_id"),
    (TENANT, "acme ", "lin", "tenant_id"),
    (TENANT, "default", "lin", "tenant_id"),
    (TENANT, "", None, "tenant_id"),
    (ONE, "acme", "lin", None),
    (ONE, "acme", "linda", "user_id"),
    (ONE, "acme", "Lin", "user_id"),
    (ONE, "acme", "", "user_id"),
    (ONE, "acme", None, "user_id"),
    (ONE, "other", "lin", "tenant_id"),
    (SOME, "acme", "shop-7", None),
    (SOME, "acme", "shop-", None),
    (SOME, "acme", "shop", "user_id"),
    (SOME, "acme", "my-shop-7", "user_id"),
    (SOME, "acme", None, "user_id"),
    (SOME, "other", "shop-7", "tenant_id"),
]


@pytest.mark.parametrize(("requester", "tenant_id", "user_id", "field"), OWNERS)
def test_the_owners_that_a_requester_may_access(
    requester: Requester, tenant_id: str, user_id: str | None, field: str | None
) -> None:
    denial = find_owner_denial(requester, tenant_id, user_id)
    assert (denial.field if denial else None) == field


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("held", SCOPES)
def test_a_scope_includes_only_itself_and_admin_includes_all(scope: AccessScope, held: AccessScope) -> None:
    denial = find_scope_denial(Requester("key:app", frozenset({held}), "acme"), scope)
    assert (denial is None) == (held in (scope, "admin"))
    assert denial is None or denial.problem == f"this needs {scope}, the key has {held}"


def test_a_requester_without_the_scope_is_told_so() -> None:
    denial = find_scope_denial(Requester("lin", frozenset(), "acme"), "read")
    assert denial is not None
    assert denial.problem == "this needs read, the key has none"


@pytest.mark.parametrize(
    ("requester", "requested_by", "allowed"),
    [
        (LOCAL, "anybody", True),
        (TENANT, "key:app", True),
        (TENANT, "app", False),
        (TENANT, "lin", False),
        (ONE, "lin", True),
        (ONE, "ops", False),
        (SOME, "shop-7", False),
    ],
)
def test_the_names_in_which_a_requester_may_act(requester: Requester, requested_by: str, allowed: bool) -> None:
    assert (find_name_denial(requester, requested_by) is None) == allowed


def test_scopes_have_a_fixed_order() -> None:
    assert sort_scopes(["admin", "read", "erase", "read"]) == ("read", "erase", "admin")
