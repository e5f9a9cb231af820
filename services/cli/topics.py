"""`smartbrain topics`: the topics of SmartBrain, and the access control lists that it needs."""

from typing import Annotated, Any

import typer

from schemas.topics import TOPICS, Topic
from services.cli.output import AsJson, emit, out
from shared.bus.acls import PRINCIPAL, Grant, list_grants


def topics(
    acls: Annotated[
        bool, typer.Option("--acls", help="Print the access control lists that each service needs.")
    ] = False,
    principal: Annotated[
        str, typer.Option("--principal", help="User of a service in Kafka; {service} stands for its name.")
    ] = PRINCIPAL,
    as_json: AsJson = False,
) -> None:
    """List the topics, or with --acls print the commands that grant each service its rights."""
    if acls:
        _show_grants(list_grants(), principal, as_json=as_json)
    elif as_json:
        emit([to_json(each) for each in TOPICS])
    else:
        for each in TOPICS:
            out.print(f"{each.name}  {each.partitions} partitions, {each.retention_hours} h", markup=False)
            out.print(f"  from {each.producer}; to {', '.join(each.readers)}", markup=False)


def _show_grants(grants: list[Grant], principal: str, *, as_json: bool) -> None:
    if as_json:
        emit(
            [
                {
                    "service": each.service,
                    "principal": each.principal(principal),
                    "operations": each.operations,
                    each.kind: each.names,
                    "command": each.command(principal),
                }
                for each in grants
            ]
        )
        return
    shown = ""
    for each in grants:
        if each.service != shown:
            shown = each.service
            out.print(f"# {shown}", markup=False)
        out.print(each.command(principal), markup=False)


def to_json(topic: Topic) -> dict[str, Any]:
    return {
        "name": topic.name,
        "dead_letter": topic.dead_letter,
        "key": topic.key,
        "messages": topic.messages,
        "partitions": topic.partitions,
        "retention_hours": topic.retention_hours,
        "carries_text": topic.carries_text,
        "producer": topic.producer,
        "consumers": [{"service": each.service, "group": each.group} for each in topic.consumers],
    }
