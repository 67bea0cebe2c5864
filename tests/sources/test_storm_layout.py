"""Offsets of Storm's spouts, as their JSON has them."""

import json

from hypothesis import given
from hypothesis import strategies as st
from sources.test_zookeeper import everything, put, topic_consumer
from support.servers.zookeeper import Zookeeper
from support.waiting import eventually

from warren.errors import Unreadable
from warren.sources.outside_changes import OutsideCommit, OutsideKey
from warren.sources.zookeeper_layouts import StormLayout
from warren.sources.zookeeper_tree import Leaf

SPOUT = {
    "topology": {"id": "count-12-1431", "name": "count"},
    "offset": 4285,
    "partition": 1,
    "broker": {"host": "kafka-1.example.com", "port": 9092},
    "topic": "words",
}
LAYOUT = StormLayout("/storm", everything)
AT = ("word-spout", "partition_1")


def read(data: bytes) -> OutsideCommit | None:
    try:
        return LAYOUT.read(AT, Leaf(data, 1700, 5))
    except Unreadable:
        return None


def spout(**changed: object) -> bytes:
    return json.dumps(SPOUT | changed).encode()


def test_a_spouts_offset_is_a_commit_of_its_id() -> None:
    assert read(spout()) == OutsideCommit(OutsideKey("word-spout", "words", 1), 4285, 1700, 5)


def test_what_is_no_offset_is_left_out() -> None:
    cases = {
        "empty": b"",
        "not JSON": b"4285",
        "cut off": spout()[:-5],
        "not text": b"\xff\xfe{}",
        "negative offset": spout(offset=-2),
        "negative partition": spout(partition=-1),
        "offset too great": spout(offset=2**63),
        "partition too great": spout(partition=2**31),
        "a fraction": spout(offset=1.5),
        "no topic": spout(topic=""),
        "topic of another kind": spout(topic=["words"]),
        "deep": b"[" * 100_000,
        "no offset": json.dumps({"topic": "words", "partition": 1}).encode(),
    }

    taken = [name for name, data in cases.items() if read(data) is not None]

    assert taken == []


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.integers() | st.text() | st.floats(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*SPOUT]), inner),
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_data_is_a_reason_to_stop(data: bytes) -> None:
    read(data)


def test_spouts_of_one_topic_and_of_several_are_watched() -> None:
    with Zookeeper() as server, server.client() as client:
        put(client, "/storm/word-spout/partition_1", spout())
        put(client, "/storm/many-spout/words/partition_0", spout(partition=0, offset=7))
        with topic_consumer(server, LAYOUT) as followed:
            words, many = OutsideKey("word-spout", "words", 1), OutsideKey("many-spout", "words", 0)
            eventually(lambda: followed.offsets, {words: 4285, many: 7})

            put(client, "/storm/word-spout/partition_1", spout(offset=4286))
            put(client, "/storm/many-spout/words/partition_0", b"{}")
            eventually(lambda: followed.offsets, {words: 4286, many: 7})
            eventually(lambda: followed.skipped["spout offset"], 1)

            put(client, "/storm/word-spout/partition_1", spout(topic="phrases"))
            eventually(
                lambda: followed.offsets, {OutsideKey("word-spout", "phrases", 1): 4285, many: 7}
            )
