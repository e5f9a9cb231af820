"""What knowledge answered is used again for whom it was answered to, until it is old or an erasure ends it."""

from schemas.retrieval_plan import RetrievalPlan
from shared.knowledge.cache import KnowledgeCache, key_of
from shared.knowledge.port import Bundle, Scope

PLAN = RetrievalPlan.model_validate({"version": "0.1", "queries": [{"text": "returns"}]})
ANNA, BERT, SHOP = Scope("t", user_id="anna"), Scope("t", user_id="bert"), Scope("t", "shop", user_id="anna")


def filled(*scopes: Scope) -> KnowledgeCache:
    """A cache with an answer to each of these."""
    cache = KnowledgeCache(lambda: 0.0, 10, 60.0)
    for scope in scopes:
        cache.put(key_of(scope, 1, PLAN), Bundle(left_out=1))
    return cache


def there(cache: KnowledgeCache, *scopes: Scope) -> list[bool]:
    return [cache.get(key_of(scope, 1, PLAN)) is not None for scope in scopes]


def test_an_answer_to_one_user_is_no_answer_to_another() -> None:
    assert there(filled(ANNA), ANNA, BERT, SHOP, Scope("t")) == [True, False, False, False]


def test_of_a_user_whose_words_are_erased_nothing_is_kept_in_any_organisation() -> None:
    cache = filled(ANNA, BERT, SHOP, Scope("other", user_id="anna"))
    cache.forget("t", "anna")
    assert there(cache, ANNA, BERT, SHOP, Scope("other", user_id="anna")) == [False, True, False, True]
    cache.clear()
    assert there(cache, BERT) == [False]
