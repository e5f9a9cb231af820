"""What today's shares of the models still allow: read beside the account that every worker adds to."""

from shared.db import Database
from shared.domain.subjects import Subject
from shared.model_calls import budget
from shared.model_calls.budget import ModelBudget
from shared.models.cost import Spent
from shared.policy import ObserverPolicy
from shared.store import model_answers


async def load_left(db: Database, limits: ObserverPolicy, subject: Subject, spent: Spent) -> ModelBudget:
    """What is left of the share of the user, who spent so much today, and of that of the tenant."""
    own = budget.subtract_spent(limits.model_tokens_per_day, limits.model_seconds_per_day, spent)
    if not (limits.tenant_model_tokens_per_day or limits.tenant_model_seconds_per_day):
        return own
    async with db.system() as conn:
        all_spent = await model_answers.tenant_today(conn, subject.tenant_id)
    shared = budget.subtract_spent(limits.tenant_model_tokens_per_day, limits.tenant_model_seconds_per_day, all_spent)
    return budget.choose_least(own, shared)
