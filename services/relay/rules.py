"""How many turns of each tenant may leave the outbox now. Pure."""

from shared.domain.tenant_queues import TenantQueues
from shared.policy import DeliveryPolicy


def share_room(queues: TenantQueues, policy: DeliveryPolicy) -> dict[str, int]:
    """By tenant that waits, how many of its turns may leave, where any may.

    Whoever has more turns waiting than may be under way beside others floods. Those who flood share what the workers
    take while nobody else is about; beside anybody else each has a few turns under way, so that the workers are soon
    free for his. Room is given by the quarter: workers take many turns together more cheaply than one by one.
    """
    beside = policy.turns_beside_others
    flooding = {each.tenant_id for each in queues.waiting if each.waiting > beside}
    quiet = (queues.about | {each.tenant_id for each in queues.waiting}) - flooding
    share = max(beside, policy.turns_under_way // max(1, len(flooding)))
    most = {each.tenant_id: beside if quiet - {each.tenant_id} else share for each in queues.waiting}
    rooms = {each.tenant_id: most[each.tenant_id] - each.under_way for each in queues.waiting}
    return {tenant: room for tenant, room in rooms.items() if room >= max(1, most[tenant] // 4)}
