"""A system whose services use a secured Kafka, each as its own user with only the rights that it needs."""

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
    """The secured listeners of this run's broker; without any the test is skipped."""
    found = find_doors()
    if found is None:
        pytest.skip("the broker has no SASL and no TLS: `make test-kafka` starts an Apache Kafka that has")
    return found


class GuardedSystem(System):
    """Each service has its own Kafka user."""

    def __init__(self, settings: Settings, doors: Doors) -> None:
        super().__init__(settings)
        self.doors = doors

    def settings_of(self, name: str) -> Settings:
        """The shared settings with the user of the service."""
        return Settings.model_validate({**dict(self.settings), **self.doors.settings(f"smartbrain-{name}")})


def give(bootstrap: str, grants: Sequence[Grant], pattern: str = PRINCIPAL) -> None:
    """Grants these rights in Kafka's access control lists."""
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
    admin = AdminClient({"bootstrap.servers": bootstrap})  # a reference, because its futures end with it
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
    """The Kafka connection of a service with these settings."""
    return open_access(Settings.model_validate(given), service)
