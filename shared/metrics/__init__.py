"""Every metric. All are known to every process, so that each shows all of them at /metrics."""

from shared.metrics import packages, turns, access, agents, outbox, delivery, models, memory, erasure  # isort: skip # as in the dashboard

__all__ = ("access", "agents", "delivery", "erasure", "memory", "models", "outbox", "packages", "turns")
