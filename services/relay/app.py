"""Relay: wires the loop that publishes the outbox."""

from services.relay.handler import Relay
from shared.runtime import Runtime
from shared.service import Service


def build(rt: Runtime) -> Service:
    """The relay as a service: `run` goes on until cancelled."""
    relay = Relay(rt)
    return Service("relay", run=relay.run, ready=relay.ready, measure=relay.measure, stalled=relay.list_stalled)
