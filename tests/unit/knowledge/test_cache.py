"""What knowledge answered is used again for whom it was answered to, until it is old or an erasure ends it."""

from schemas.retrieval_plan import RetrievalPlan
from shared.cache import UserCache
from shared.domain.subjects import Subject
from shared.knowledge.port import AnswerKey, Bundle, Scope, to_answer_key

PLAN = RetrievalPlan.model_validate({"version": "0.1", "queries": [{"text": "returns"}]})
ANNA, BERT, SHOP = Scope("t", user_id="anna"), Scope("t", user_id="bert"), Scope("t", "shop", user_id="anna")


def owner(scope: Scope) -> Subject:
    """Under whom an answer is kept."""
    return Subject(scope.tenant_id, scope.user_id)


def filled(*scopes: Scope) -> UserCache[AnswerKey, Bundle]:
    """A cache with an answer to each of these."""
    cache = UserCache[AnswerKey, Bundle](lambda: 0.0, most=10)
    for scope in scopes:
        cache.put(owner(scope), 0, to_answer_key(scope, 1, PLAN), Bundle(left_out=1))
    return cache


def there(cache: UserCache[AnswerKey, Bundle], *scopes: Scope) -> list[bool]:
    return [cache.find(owner(scope), to_answer_key(scope, 1, PLAN)) is not None for scope in scopes]


def test_an_answer_to_one_user_is_no_answer_to_another() -> None:
    assert there(filled(ANNA), ANNA, BERT, SHOP, Scope("t")) == [True, False, False, False]


def test_of_a_user_whose_words_are_erased_nothing_is_kept_in_any_organisation() -> None:
    cache = filled(ANNA, BERT, SHOP, Scope("other", user_id="anna"))
    cache.drop(Subject("t", "anna"))
    assert there(cache, ANNA, BERT, SHOP, Scope("other", user_id="anna")) == [False, True, False, True]
    cache.clear()
    assert there(cache, BERT) == [False]
