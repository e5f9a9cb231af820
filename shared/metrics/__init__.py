"""Every metric. All processes import all of them, so that each shows all at /metrics."""

from shared.metrics import turns, delivery, outbox, packages, composition, access, erasure, models, memory  # isort: skip # as in the dashboards

__all__ = ("access", "composition", "delivery", "erasure", "memory", "models", "outbox", "packages", "turns")
