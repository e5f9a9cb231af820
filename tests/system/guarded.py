"""A system whose services come to Kafka by its guarded door, each as its own user with the rights that it needs."""

import time
from collections.abc import Sequence
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from shared.bus.access import KafkaAccess, open_access
from shared.bus.acls import PRINCIPAL, Grant
from shared.settings import Settings
from tests.kafka.secure import Doors, find_doors
from tests.system.running import System
from tests.system.wait import PATIENCE_S


def need_doors() -> Doors:
    """The guarded doors of this run's broker; without any the test is skipped."""
    found = find_doors()
    if found is None:
        pytest.skip("the broker has no SASL and no TLS: `make test-kafka` starts an Apache Kafka that has")
    return found


class GuardedSystem(System):
    """Each service comes as its own user by the guarded door."""

    def __init__(self, settings: Settings, doors: Doors) -> None:
        super().__init__(settings)
        self.doors = doors

    def settings_of(self, name: str) -> Settings:
        """The shared ones, with the user of the service."""
        return Settings.model_validate({**dict(self.settings), **self.doors.settings(f"smartbrain-{name}")})


def give(bootstrap: str, grants: Sequence[Grant], pattern: str = PRINCIPAL) -> None:
    """Kafka's lists hold these grants."""
    kinds = {"topic": ResourceType.TOPIC, "group": ResourceType.GROUP}
    operations = {
        "Read": AclOperation.READ,
        "Write": AclOperation.WRITE,
        "Create": AclOperation.CREATE,
        "Delete": AclOperation.DELETE,
        "Describe": AclOperation.DESCRIBE,
        "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
    }
    bindings = [
        AclBinding(
            kinds[grant.kind],
            name,
            ResourcePatternType.LITERAL,
            grant.principal(pattern),
            "*",
            operations[operation],
            AclPermissionType.ALLOW,
        )
        for grant in grants
        for name in grant.names
        for operation in grant.operations
    ]
    admin = AdminClient({"bootstrap.servers": bootstrap})  # held: its answers go with it
    for future in admin.create_acls([*dict.fromkeys(bindings)]).values():
        future.result(30)
    every = AclBindingFilter(
        ResourceType.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY
    )
    until = time.monotonic() + PATIENCE_S
    while not {*bindings} <= {*admin.describe_acls(every).result(30)}:
        assert time.monotonic() < until
        time.sleep(0.05)


def access_of(given: dict[str, Any], service: str = "test") -> KafkaAccess:
    """How a service with these settings reaches Kafka."""
    return open_access(Settings.model_validate(given), service)
