"""A single-node broker that speaks the Kafka protocol: the default without Apache Kafka.

For one machine. It gives Kafka's guarantees to producers, consumers and groups there; it has no replicas, no
transactions, no access control and no compaction (`cleanup.policy=compact` is accepted and treated as `delete`).
"""

from shared.embedded.broker.server import Broker
from shared.embedded.broker.settings import BrokerError, BrokerSettings

__all__ = ["Broker", "BrokerError", "BrokerSettings"]
