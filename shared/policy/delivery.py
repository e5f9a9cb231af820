"""What the bus, the relay, the governor and the supervisor go by."""

from pydantic import Field

from shared.policy.base import Slice


class DeliveryPolicy(Slice):
    """Retries, redrive, relay, and what counts as standing still."""

    retry_delays_ms: tuple[int, ...] = Field(
        default=(100, 500, 2000), description="Pauses before a handler is tried again"
    )
    retry_jitter: float = Field(default=0.2, ge=0, lt=1, description="Share by which each pause is longer or shorter")
    handler_concurrency: int = Field(default=4, ge=1, description="Users that a worker handles side by side")
    batch: int = Field(default=200, ge=1, description="Events fetched at once")
    relay_batch: int = Field(default=500, ge=1, description="Outbox rows published at once")
    relay_poll_ms: int = Field(default=200, ge=10, description="How often the outbox is looked at without a notice")
    outbox_max_retries: int = Field(
        default=5, ge=1, description="Refusals of the broker after which a row is set aside"
    )
    turns_under_way: int = Field(
        default=1000,
        ge=1,
        description="Turns that the workers have at once of the tenants that flood, while nobody else is about",
    )
    turns_beside_others: int = Field(
        default=1, ge=1, description="Turns that they have at once of one tenant while others are about"
    )
    others_first_s: float = Field(
        default=0.2,
        ge=0,
        description="How long as many turns of others that the workers have keep those of a flood waiting",
    )
    flood_pause_s: float = Field(
        default=0.1, ge=0, description="How long a flood then rests between its turns, for as long again"
    )
    ahead_of_turns: int = Field(
        default=10,
        ge=1,
        description="Past a tenant that has more turns under way go those of each that has no more and that wait",
    )
    tenant_about_s: float = Field(default=10.0, gt=0, description="How long a tenant is about after each of its turns")
    turn_under_way_s: float = Field(
        default=300.0, gt=0, description="How long a turn without an outcome keeps others of its tenant waiting"
    )
    redrive_after_s: float = Field(default=30.0, gt=0, description="Work without a result for so long is driven again")
    redrive_every_s: float = Field(default=10.0, gt=0, description="How often such work is looked for")
    fuse_share: float = Field(default=0.5, gt=0, le=1, description="Share of dead letters that stops a consumer ...")
    fuse_window: int = Field(default=100, ge=10, description="... among so many of its latest events")
    fuse_cooldown_s: float = Field(default=30.0, gt=0, description="How long it then takes nothing")
    stall_s: float = Field(
        default=60.0,
        gt=0,
        description="How long a partition may stand still with more to read before `/ready` is false",
    )
    stalled_after_s: float = Field(default=300.0, gt=0, description="How long a loop may rest before `/live` is false")
    silent_after_s: float = Field(
        default=20.0, gt=0, description="A process not heard of for so long is `silent` in compose's `/ready`"
    )
    restart_after_s: float = Field(
        default=60.0,
        gt=0,
        description="`smartbrain up` kills and restarts a process whose `/live` was not true for so long",
    )
