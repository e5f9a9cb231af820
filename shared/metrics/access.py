"""Requests at the door: refused ones, and those of agents over the Model Context Protocol."""

from shared.metrics.catalogue import DOOR, Alert, Panel, make_counter

REQUESTS_DENIED = make_counter(
    "smartbrain_requests_denied",
    "Requests and records refused at the door: `unauthenticated` (401), `forbidden` (403).",
    remedy="Many at once: a key has ended or was rotated too early, or somebody tries keys.",
    labels=("code",),
    from_start=("unauthenticated", "forbidden"),
    panels=(
        Panel(
            DOOR,
            "Requests refused",
            "Without a key that holds (unauthenticated), or with one that may not do it (forbidden).",
        ),
    ),
)

REQUESTS_LIMITED = make_counter(
    "smartbrain_requests_limited",
    "Requests beyond a limit of the policy, by the name of the limit: `key_per_s`, `key_at_once`, `user_per_s` (429),"
    " `requests_at_once`, `request_s` (503).",
    remedy="Policy `limits`: `key` and `user` name a client that floods, the others a service with too much to do.",
    labels=("limit",),
    from_start=("key_per_s", "key_at_once", "user_per_s", "requests_at_once", "request_s"),
    alerts=(
        Alert(
            "RequestsLimited",
            "ticket",
            expr="sum by (limit) (rate(smartbrain_requests_limited_total[5m])) > 1",
            after="10m",
            summary="{{ $value }} requests a second are beyond limits.{{ $labels.limit }}",
            action="Find the client in the log of your proxy; raise the limit only if it is meant to ask so much.",
            runbook="""
            `key_per_s`, `key_at_once`, `user_per_s`: one client asks more than its share, and others are served. It
            should wait for as long as `Retry-After` says, or import history over Kafka, where turns have no limit.
            Raise the limit if it is meant to ask so much and `smartbrain_compose_seconds` has room.
            `requests_at_once`, `request_s`: the service has more to do than it can. PostgreSQL first, then models;
            then more processes of compose, each of which has limits of its own.
            """,
        ),
    ),
    panels=(Panel(DOOR, "Requests beyond a limit", "By limit of the policy. Zero, unless somebody floods."),),
)

AGENT_CALLS = make_counter(
    "smartbrain_agent_calls",
    "Calls of tools over `/mcp`, by tool and by what became of it: `ok`, or the code of the refusal.",
    remedy="`unreachable`: compose is down or far. `no_user`: a client is not told whose memory it has.",
    labels=("tool", "outcome"),
    panels=(Panel(DOOR, "Calls of tools by agents", "By tool, and by outcome where it is not `ok`."),),
)
"""A tool is counted by its name; a call of an unknown one is a protocol error, and is not counted."""
