"""Requests and responses of the embedded broker in every version that it supports."""

from io import BytesIO

import pytest

from shared.embedded.broker import protocol
from shared.embedded.broker.protocol import VERSION_RANGES, KafkaRequest, decode, encode, fit_layout

METADATA = (0, [(1, "host", 9092, None)], "cluster", 1, [(0, "t", False, [(0, 0, 1, [1], [1], [])])])


def test_the_versions_of_a_request_have_no_gap() -> None:
    for key, lowest, highest in VERSION_RANGES:
        assert lowest <= highest
        assert all((key, version) in protocol._STRUCTS for version in range(lowest, highest + 1))


@pytest.mark.parametrize("version", range(6))
def test_metadata_matches_its_version(version: int) -> None:
    request = KafkaRequest(3, version, 7, "c", 1, ())
    schema = protocol._STRUCTS[3, version].RESPONSE_TYPE.SCHEMA
    read = dict(zip(schema.names, schema.decode(BytesIO(encode(request, METADATA)[8:])), strict=True))
    assert [broker[:3] for broker in read["brokers"]] == [(1, "host", 9092)]
    ((error, name, *_, partitions),) = read["topics"]
    assert (error, name) == (0, "t")
    assert partitions[0][:4] == (0, 0, 1, [1])
    assert ("cluster_id" in read, "throttle_time_ms" in read) == (version >= 2, version >= 3)


@pytest.mark.parametrize(("version", "body", "expected"), [(0, ([],), ([], True)), (4, (["t"], False), (["t"], False))])
def test_a_field_that_an_old_request_lacks_has_its_former_meaning(version: int, body: tuple, expected: tuple) -> None:
    kind = protocol._STRUCTS[3, version]
    frame = protocol._HEADER.pack(3, version, 7, -1) + kind.SCHEMA.encode(body)
    assert decode(frame, 1).body == expected


def test_fields_of_other_versions_are_omitted_or_empty() -> None:
    old, new = (protocol._STRUCTS[11, version].SCHEMA for version in (0, 5))
    joined = ("g", 10_000, "", "consumer", [("range", b"x")])
    assert fit_layout(joined, old, new) == ("g", 10_000, 0, "", None, "consumer", [("range", b"x")])
    assert fit_layout(fit_layout(joined, old, new), new, old) == joined
    assert fit_layout(None, old, new) is None
