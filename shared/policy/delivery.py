"""The policy of the bus, the relay, the governor and the supervisor."""

from pydantic import Field

from shared.policy.base import Slice


class DeliveryPolicy(Slice):
    """Retries, redrive, relay, and the limits for stalled work."""

    retry_delays_ms: tuple[int, ...] = Field(default=(100, 500, 2000), description="Pauses before a handler is retried")
    retry_jitter: float = Field(
        default=0.2, ge=0, lt=1, description="Share by which each pause may be longer or shorter"
    )
    handler_concurrency: int = Field(default=4, ge=1, description="Users that a worker handles concurrently")
    batch: int = Field(default=200, ge=1, description="Events fetched at once")
    relay_batch: int = Field(default=500, ge=1, description="Outbox rows published at once")
    relay_poll_ms: int = Field(default=200, ge=10, description="How often the outbox is checked without a notification")
    outbox_max_retries: int = Field(
        default=5, ge=1, description="Refusals of the broker after which a row is set aside"
    )
    turns_under_way: int = Field(
        default=1000,
        ge=1,
        description="Turns that the workers have at once of tenants that flood, while no other tenant is active",
    )
    turns_beside_others: int = Field(
        default=1, ge=1, description="Turns of one tenant that they have at once while other tenants are active"
    )
    others_first_s: float = Field(
        default=0.2,
        ge=0,
        description="How long a flood waits at most for turns of other tenants that the workers have",
    )
    flood_pause_s: float = Field(
        default=0.1,
        ge=0,
        description="Pause between turns of a flood while another tenant committed within `others_first_s`",
    )
    ahead_of_turns: int = Field(
        default=10,
        ge=1,
        description="Turns under way of one tenant above which those of a tenant with no more overtake them",
    )
    tenant_about_s: float = Field(
        default=10.0, gt=0, description="How long a tenant counts as active after each of its turns"
    )
    turn_under_way_s: float = Field(
        default=300.0,
        gt=0,
        description="How long a turn without an outcome counts as under way and delays others of its tenant",
    )
    redrive_after_s: float = Field(default=30.0, gt=0, description="Work without a result for this long is redriven")
    redrive_every_s: float = Field(default=10.0, gt=0, description="How often to look for such work")
    fuse_share: float = Field(default=0.5, gt=0, le=1, description="Share of dead letters that stops a consumer ...")
    fuse_window: int = Field(default=100, ge=10, description="... among so many of its latest events")
    fuse_cooldown_s: float = Field(default=30.0, gt=0, description="How long it then pauses")
    stall_s: float = Field(
        default=60.0,
        gt=0,
        description="How long a partition may make no progress with records left before `/ready` is false",
    )
    stalled_after_s: float = Field(
        default=300.0, gt=0, description="How long a loop may make no progress before `/live` is false"
    )
    silent_after_s: float = Field(
        default=20.0,
        gt=0,
        description="A process that has not reported for this long is `silent` in compose's `/ready`",
    )
    restart_after_s: float = Field(
        default=60.0,
        gt=0,
        description="`smartbrain up` kills and restarts a process whose `/live` has been false for this long",
    )
