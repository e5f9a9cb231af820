"""Requests about the broker and its topics: versions, metadata, creation, deletion, configurations, coordinators."""

from typing import Any

from shared.embedded.broker.protocol import VERSION_RANGES, Code, KafkaRequest
from shared.embedded.broker.state import CLUSTER_ID, NODE_ID, BrokerState
from shared.embedded.broker.topics import InvalidTopicError, StoredTopic

NO_THROTTLE = 0
TOPIC_RESOURCE = 2
SET_ON_TOPIC = 1
DEFAULT = 5

Response = tuple[Any, ...]


def api_versions(_: BrokerState, request: KafkaRequest) -> Response:
    """The supported versions; a client with a newer request gets them in the layout that all clients understand."""
    return Code.NONE if request.version >= 0 else Code.UNSUPPORTED_VERSION, VERSION_RANGES, NO_THROTTLE


def metadata(state: BrokerState, request: KafkaRequest) -> Response:
    """This broker, and the requested topics (null: all), created on demand if that is allowed."""
    names, may_create = request.body
    if request.version == 0 and not names:
        names = None  # the oldest version says so
    topics = [
        _describe(state, name, may_create=may_create) for name in (state.topics.names() if names is None else names)
    ]
    return NO_THROTTLE, [(NODE_ID, *state.address, None)], CLUSTER_ID, NODE_ID, topics


def _describe(state: BrokerState, name: str, *, may_create: bool) -> Response:
    if name not in state.topics and may_create and state.settings.auto_create_topics:
        try:
            state.topics.create(name)
        except InvalidTopicError as error:
            return error.code, name, False, []
    topic = state.topics.get(name)
    if topic is None:
        return Code.UNKNOWN_TOPIC_OR_PARTITION, name, False, []
    here = [NODE_ID]
    return Code.NONE, name, False, [(Code.NONE, i, NODE_ID, here, here, []) for i in range(len(topic.partitions))]


def create_topics(state: BrokerState, request: KafkaRequest) -> Response:
    """Creates topics; an error for each that failed. `validate_only` creates none."""
    wanted, _, validate_only = request.body
    return NO_THROTTLE, [(topic[0], *_create(state, topic, validate_only=validate_only)) for topic in wanted]


def _create(state: BrokerState, wanted: Response, *, validate_only: bool) -> tuple[int, str | None]:
    name, partitions, _, assignment, configs = wanted
    if name in state.topics:
        return Code.TOPIC_ALREADY_EXISTS, f"topic {name!r} exists"
    given = {key: value for key, value in configs if value is not None}
    count = len(assignment) or partitions
    try:
        if validate_only:
            state.topics.check(name, 1 if count == -1 else count, given)
        else:
            state.topics.create(name, count, given)
    except InvalidTopicError as error:
        return error.code, str(error)
    return Code.NONE, None


def create_partitions(state: BrokerState, request: KafkaRequest) -> Response:
    """Adds partitions to topics; an error for each that failed. Topics never shrink."""
    wanted, _, validate_only = request.body
    answer: list[Any] = []
    for name, (count, _assignment) in wanted:
        error, message = Code.NONE, None
        if name not in state.topics:
            error, message = Code.UNKNOWN_TOPIC_OR_PARTITION, f"no topic {name!r}"
        elif not validate_only:
            try:
                state.topics.grow(name, count)
            except InvalidTopicError as reason:
                error, message = reason.code, str(reason)
        answer.append((name, error, message))
    return NO_THROTTLE, answer


def delete_topics(state: BrokerState, request: KafkaRequest) -> Response:
    """Deletes each topic with its messages and its committed offsets."""
    names, _ = request.body
    answer: list[Any] = []
    for name in names:
        existed = state.topics.delete(name)
        if existed:
            state.offsets.forget_topic(name)
        answer.append((name, Code.NONE if existed else Code.UNKNOWN_TOPIC_OR_PARTITION))
    return NO_THROTTLE, answer


def describe_configs(state: BrokerState, request: KafkaRequest) -> Response:
    """The effective configurations of each requested topic; a broker has none to show."""
    resources, _ = request.body
    answer: list[Any] = []
    for kind, name, keys in resources:
        topic = state.topics.get(name)
        if kind != TOPIC_RESOURCE:
            answer.append((Code.NONE, None, kind, name, []))
        elif topic is None:
            answer.append((Code.UNKNOWN_TOPIC_OR_PARTITION, f"no topic {name!r}", kind, name, []))
        else:
            answer.append((Code.NONE, None, kind, name, _configs(state, topic, keys)))
    return NO_THROTTLE, answer


def _configs(state: BrokerState, topic: StoredTopic, keys: list[str] | None) -> list[Any]:
    return [
        (key, value, False, SET_ON_TOPIC if key in topic.configs else DEFAULT, False, [])
        for key, value in state.topics.effective_configs(topic).items()
        if keys is None or key in keys
    ]


def find_coordinator(state: BrokerState, _: KafkaRequest) -> Response:
    """This broker, for every group."""
    return NO_THROTTLE, Code.NONE, None, NODE_ID, *state.address
