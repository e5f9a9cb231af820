"""How many turns of each tenant may leave the outbox now, and whose go past those of others. Pure."""

from shared.domain.tenant_queues import TenantQueues
from shared.policy import DeliveryPolicy


def share_room(queues: TenantQueues, policy: DeliveryPolicy) -> dict[str, int]:
    """By tenant that waits, how many of its turns may leave, where any may.

    Whoever has more turns waiting than may be under way beside others floods. Those who flood share what the workers
    take while nobody else is about; beside anybody else each has a few turns under way, so that the workers are soon
    free for his. While the workers have as many turns of others, a flood waits for their end, or for a moment since its
    own last one, so that many who speak in turn cannot keep it out; in the moment after that turn it rests a little
    between its own, for who has just spoken is likely to speak again. Room is given by the quarter: workers take many
    turns together more cheaply than one by one.
    """
    beside = policy.turns_beside_others
    flooding = {each.tenant_id for each in queues.waiting if each.waiting > beside}
    quiet = (queues.about | {each.tenant_id for each in queues.waiting}) - flooding
    leaving = sum(each.waiting for each in queues.waiting if each.tenant_id not in flooding)
    rest_s = 0.0
    if queues.busy + leaving >= beside:
        rest_s = policy.others_first_s
    elif queues.recent - flooding:
        rest_s = policy.flood_pause_s
    share = max(beside, policy.turns_under_way // max(1, len(flooding)))
    rooms: dict[str, int] = {}
    for each in queues.waiting:
        if each.tenant_id in flooding and each.rested_s < rest_s:
            continue
        most = beside if quiet - {each.tenant_id} else share
        room = most - each.under_way
        if room >= max(1, most // 4):
            rooms[each.tenant_id] = room
    return rooms


def choose_ahead(queues: TenantQueues, policy: DeliveryPolicy) -> frozenset[str]:
    """The tenants whose turns go past those of another: it has many under way, and they themselves have few.

    What is in a topic is read in its order, and workers that had only one tenant have hundreds of its turns.
    """
    return frozenset(
        each.tenant_id
        for each in queues.waiting
        if queues.crowding - {each.tenant_id} and each.waiting + each.under_way <= policy.ahead_of_turns
    )
