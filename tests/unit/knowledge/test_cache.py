"""Answers of the knowledge side are cached per owner until they expire or an erasure clears them."""

from schemas.retrieval_plan import RetrievalPlan
from shared.cache import UserCache
from shared.domain.subjects import Subject
from shared.knowledge.port import AnswerKey, Bundle, Scope, to_answer_key

PLAN = RetrievalPlan.model_validate({"version": "0.1", "queries": [{"text": "returns"}]})
ANNA, BERT, SHOP = Scope("t", user_id="anna"), Scope("t", user_id="bert"), Scope("t", "shop", user_id="anna")


def owner(scope: Scope) -> Subject:
    """The owner of a cached answer."""
    return Subject(scope.tenant_id, scope.user_id)


def fill_cache(*scopes: Scope) -> UserCache[AnswerKey, Bundle]:
    """A cache with an answer for each of these owners."""
    cache = UserCache[AnswerKey, Bundle](lambda: 0.0, most=10)
    for scope in scopes:
        cache.put(owner(scope), 0, to_answer_key(scope, 1, PLAN), Bundle(left_out=1))
    return cache


def there(cache: UserCache[AnswerKey, Bundle], *scopes: Scope) -> list[bool]:
    return [cache.find(owner(scope), to_answer_key(scope, 1, PLAN)) is not None for scope in scopes]


def test_an_answer_for_one_user_is_not_used_for_another() -> None:
    assert there(fill_cache(ANNA), ANNA, BERT, SHOP, Scope("t")) == [True, False, False, False]


def test_an_erasure_clears_a_users_answers_of_every_organisation() -> None:
    cache = fill_cache(ANNA, BERT, SHOP, Scope("other", user_id="anna"))
    cache.drop(Subject("t", "anna"))
    assert there(cache, ANNA, BERT, SHOP, Scope("other", user_id="anna")) == [False, True, False, True]
    cache.clear()
    assert there(cache, BERT) == [False]
