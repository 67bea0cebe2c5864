"""What Spark's logs say of a batch, in all the forms it writes; and logs that say nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.checkpoint_files import BEGAN_MS, SECOND_MS, offsets_log

from warren.errors import Unreadable
from warren.sources.checkpoint_log import read_batch, read_query_id

ORDERS = {"orders": {"0": 100, "1": 99}}
READ = {("orders", 0): 100, ("orders", 1): 99}


def test_every_form_of_the_log_says_how_far_a_batch_reads() -> None:
    named = {"left": json.dumps(ORDERS), "files": '{"logOffset":3}', "right": "-"}
    cases = {
        "one source": (offsets_log(7, ORDERS), READ),
        "without facts, as the first versions wrote it": (f"v1\n\n{json.dumps(ORDERS)}", READ),
        "a line break at the end": (offsets_log(7, ORDERS) + "\n", READ),
        "two topics": (
            offsets_log(7, ORDERS | {"bills": {"0": 5}}),
            READ | {("bills", 0): 5},
        ),
        "a source without an offset": (offsets_log(7, None, ORDERS), READ),
        "other sources": (offsets_log(7, {"logOffset": 3}, 41, ORDERS), READ),
        "a Delta table": (
            offsets_log(7, {"sourceVersion": 1, "reservoirId": "r", "index": -1}, ORDERS),
            READ,
        ),
        "the same topic twice": (
            offsets_log(7, ORDERS, {"orders": {"0": 80, "2": 1}}),
            READ | {("orders", 0): 80, ("orders", 2): 1},
        ),
        "a pattern that matches no topic yet": (offsets_log(7, {}), {}),
        "a topic whose partitions are gone": (offsets_log(7, {"orders": {}}), {}),
        "a topic's odd name": (offsets_log(7, {"ä.b-c_d": {"0": 1}}), {("ä.b-c_d", 0): 1}),
        "sources by id": (offsets_log(7, "0:" + json.dumps(ORDERS), "1:-", version=2), READ),
        "sources by name": (offsets_log(7, named, version=2), READ),
    }

    read = {name: read_batch(text.encode()) for name, (text, _) in cases.items()}

    assert {name: each.offsets for name, each in read.items()} == {
        name: expected for name, (_, expected) in cases.items()
    }
    assert all(each.reads_kafka for each in read.values())
    assert read["one source"].triggered_ms == BEGAN_MS + 7 * SECOND_MS
    assert read["without facts, as the first versions wrote it"].triggered_ms is None


def test_sources_that_are_not_kafka_are_told_from_it() -> None:
    foreign = {
        "files": {"logOffset": 3},
        "rate": 41,
        "rate by batch": {"offset": 10, "timestamp": 100},
        "kinesis": {"shardId-000000000000": {"iteratorType": "TRIM_HORIZON", "position": "1"}},
        "partitions that are no numbers": {"orders": {"zero": 5}},
        "negative": {"orders": {"0": -1}},
        "nothing": None,
    }

    read = {name: read_batch(offsets_log(0, each).encode()) for name, each in foreign.items()}

    assert {name for name, each in read.items() if each.reads_kafka or each.offsets} == set()


def test_a_log_that_is_cut_short_or_damaged_is_named() -> None:
    whole = offsets_log(7, ORDERS)
    cases = {
        "": "an empty log",
        "v9\n{}\n-": "log version 'v9'",
        "junk": "log version 'junk'",
        "v1": "the sources: the log is cut short",
        whole[:40]: "the sources: the log is cut short",
        f"v1\n{{\n{json.dumps(ORDERS)}": "the batch's facts: the log is cut short or damaged",
        whole[:-4]: "a source's offset: the log is cut short or damaged",
        "v2\n{}\n0": "source '0': the log is cut short",
    }

    for text, problem in cases.items():
        with pytest.raises(Unreadable) as raised:
            read_batch(text.encode())
        assert raised.value.field == problem, text[:50]
    with pytest.raises(Unreadable, match="a log that is not text"):
        read_batch(b"v1\n\xff\xfe")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tail: bytes) -> None:
    for head in (b"", b"v1\n{}\n", b"v2\n{}\n"):
        for read in (read_batch, read_query_id):
            try:
                read(head + tail)
            except Unreadable:
                continue


def test_the_query_id_is_in_the_metadata() -> None:
    assert read_query_id(b'{"id":"5c6a"}') == "5c6a"
    for damaged in (b"", b'{"id":', b'{"name":"x"}', b"\xff"):
        with pytest.raises(Unreadable):
            read_query_id(damaged)
