"""The owner of a knowledge result, and who may see it."""

from typing import Any

import pytest

from schemas.promotion import Visibility
from shared.knowledge.owners import KnowledgeOwner, find_audience, may_see, owner_of, read_owner
from shared.knowledge.port import Scope

LIN = Scope("acme", "shop-7", user_id="lin")
PAGE = "https://docs.example.org/page"
OWN = "smartbrain://turn/01a1fdad-5b3d-74fe-9231-03d61e718926#1"


@pytest.mark.parametrize(
    ("owner", "seen"),
    [
        (KnowledgeOwner(), True),
        (KnowledgeOwner("acme"), True),
        (KnowledgeOwner("acme", "shop-7"), True),
        (KnowledgeOwner("acme", "shop-7", "lin"), True),
        (KnowledgeOwner("acme", "", "lin"), True),
        (KnowledgeOwner("acme", "", "bo"), False),
        (KnowledgeOwner("acme", "shop-7", "bo"), False),
        (KnowledgeOwner("acme", "shop-8"), False),
        (KnowledgeOwner("acme", "shop-8", "lin"), False),
        (KnowledgeOwner("other"), False),
        (KnowledgeOwner("other", "shop-7", "lin"), False),
        (KnowledgeOwner("acme", "", "Lin"), False),
        (None, False),
    ],
)
def test_visibility_by_owner(owner: KnowledgeOwner | None, seen: bool) -> None:
    assert may_see(LIN, owner) is seen


@pytest.mark.parametrize(
    "owner", [KnowledgeOwner("acme", user_id="lin"), KnowledgeOwner("acme", "shop-7"), KnowledgeOwner("other")]
)
def test_an_unnamed_user_sees_only_the_tenants_results(owner: KnowledgeOwner) -> None:
    assert may_see(Scope("acme"), KnowledgeOwner("acme"))
    assert not may_see(Scope("acme"), owner)


@pytest.mark.parametrize(
    ("item", "uri", "owner"),
    [
        ({}, PAGE, KnowledgeOwner()),
        ({"metadata": {}}, PAGE, KnowledgeOwner()),
        ({"metadata": "x"}, PAGE, KnowledgeOwner()),
        ({"metadata": {"owner": None}}, PAGE, KnowledgeOwner()),
        ({"metadata": {"owner": {}}}, OWN, KnowledgeOwner()),
        ({"metadata": {"owner": {"user_id": "林"}}}, PAGE, KnowledgeOwner(user_id="林")),
        ({"owner": {"tenant_id": "a", "org_id": "b", "user_id": "c"}}, PAGE, KnowledgeOwner("a", "b", "c")),
        ({"owner": {"user_id": "c"}, "metadata": {"owner": {}}}, PAGE, KnowledgeOwner(user_id="c")),
        ({"owner": {"org_id": None, "user_id": "c"}}, PAGE, KnowledgeOwner(user_id="c")),
        ({}, OWN, None),
        ({}, OWN.upper(), None),
        ({"owner": "lin"}, PAGE, None),
        ({"owner": ["lin"]}, PAGE, None),
        ({"owner": False}, PAGE, None),
        ({"owner": {"user_id": 7}}, PAGE, None),
        ({"owner": {"user_id": ["lin"]}}, PAGE, None),
        ({"owner": {"user_id": "x" * 1000}}, PAGE, None),
    ],
)
def test_an_owner_is_parsed_or_unknown(item: dict[str, Any], uri: str, owner: KnowledgeOwner | None) -> None:
    assert read_owner(item, uri) == owner


@pytest.mark.parametrize("scope", [LIN, Scope("acme"), Scope("acme", "shop-7"), Scope("租户", "门店", "p", "林")])
def test_an_offered_document_is_parsed_with_its_owner(scope: Scope) -> None:
    owner = read_owner({"metadata": {"owner": owner_of(scope)}}, OWN)
    assert owner == KnowledgeOwner(scope.tenant_id, scope.org_id, scope.user_id)
    assert may_see(scope, owner)


@pytest.mark.parametrize(
    ("visibility", "org_id", "audience"),
    [
        ("store", "shop-7", "shop-7"),
        ("region", "north", "north"),
        ("store", "", None),
        ("region", "", None),
        ("brand", "", ""),
        ("brand", "shop-7", ""),
        ("global", "", ""),
        ("global", "shop-7", ""),
    ],
)
def test_the_owner_of_a_written_promotion(visibility: Visibility, org_id: str, audience: str | None) -> None:
    assert find_audience(visibility, org_id) == audience
