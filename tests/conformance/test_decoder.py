"""Whole records through the decode on Spark and the reading of members, against what Burrow sent.

Burrow's answer stands as requests to its storage and a reason in its log. Where it is wrong, the
table `DIFFERENCES` says what is right instead, by a rule that finds such cases in any vectors.
"""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession
from support.decoding import decoded
from support.plain_decoder import plain_reading

from warren.config import GroupFilter
from warren.decode.commits import GROUP_KEYS
from warren.decode.group_records import parse_group_record
from warren.model.group_events import ClassicGroup, Event, GroupDeleted, Malformed
from warren.windows.group_members import Membership

Case = dict[str, Any]
Row = dict[str, Any]


class Outcome(NamedTuple):
    requests: list[Row]  # as Burrow's, in its order
    reason: str | None  # why the record, or the rest of it, could not be read


class Difference(NamedTuple):
    why: str
    applies: Callable[[Case], bool]
    is_right: Callable[[Case, Outcome], bool]


def test_messages(
    spark: SparkSession,
    vectors: Callable[[str], dict[str, Any]],
    record_case: Callable[[str, bool], None],
) -> None:
    cases = vectors("decoder")["messages"]
    records = [
        (key_of(case), value_of(case), n, case["message_offset"]) for n, case in enumerate(cases)
    ]

    rows = decoded(spark, records).to_pylist()

    wrong = {}
    for row in rows:
        case = cases[row["log_partition"]]
        outcome = outcome_of(row, filter_of(case))
        ok = is_as_it_should_be(case, outcome)
        record_case(case["id"], ok)
        if not ok:
            wrong[case["id"]] = outcome
    assert wrong == {}
    assert len(rows) == len(cases)


@pytest.mark.skipif("WARREN_VECTORS" in os.environ, reason="others need not show them all")
def test_every_difference_from_burrow_is_shown_by_a_case(
    vectors: Callable[[str], dict[str, Any]],
) -> None:
    cases = vectors("decoder")["messages"]

    assert [each.why for each in DIFFERENCES if not any(map(each.applies, cases))] == []


def key_of(case: Case) -> bytes:
    return bytes.fromhex(case["key_hex"])


def value_of(case: Case) -> bytes | None:
    return None if case["value_hex"] is None else bytes.fromhex(case["value_hex"])


def filter_of(case: Case) -> GroupFilter:
    return GroupFilter(case.get("group_allowlist", ""), case.get("group_denylist", ""))


def burrow_reason(case: Case) -> str | None:
    failures = [line["reason"] for line in case["log"] if line["msg"] == "failed to decode"]
    return failures[0] if failures else None


def is_as_it_should_be(case: Case, outcome: Outcome) -> bool:
    for difference in DIFFERENCES:
        if difference.applies(case):
            return difference.is_right(case, outcome)
    return outcome == Outcome(case["requests"], burrow_reason(case))


def outcome_of(row: Row, wanted: GroupFilter) -> Outcome:
    """What the pipeline makes of a decoded row, in the form of Burrow's requests."""
    if row["skipped"] is not None:
        return Outcome([], row["skipped"])
    if row["group"] is not None:
        return Outcome([commit_request(row)] if wanted.accepts(row["group"]) else [], None)
    event = parse_group_record(row["key"], row["value"])
    if isinstance(event, Malformed):
        return Outcome([], event.reason)
    reason = event.wrong if isinstance(event, ClassicGroup) else None
    return Outcome(group_requests(event) if wanted.accepts(event.group) else [], reason)


def commit_request(row: Row) -> Row:
    names = ("group", "topic", "partition", "offset", "order")
    request = {name: row[name] for name in names} | {"timestamp": row["committed_ms"]}
    return request | {"type": "StorageSetConsumerOffset"}


def group_requests(event: Event) -> list[Row]:
    if isinstance(event, GroupDeleted):
        return [{"type": "StorageSetDeleteGroup", "group": event.group}]
    if not isinstance(event, ClassicGroup):
        return []
    if not event.members:
        return [{"type": "StorageClearConsumerOwners", "group": event.group}]
    owners = Membership().fold([event]).owners[event.group]
    return [
        {
            "type": "StorageSetConsumerOwner",
            "group": event.group,
            "topic": topic,
            "partition": partition,
            "owner": owner,
            "client_id": client_id,
        }
        for (topic, partition), (owner, client_id) in sorted(owners.items())
    ]


def key_type(case: Case) -> int:
    return int.from_bytes(key_of(case)[:2], signed=True) if len(key_of(case)) > 1 else -1


def refused_version(case: Case, what: str) -> int | None:
    """Which version Burrow does not know, of a key or a value."""
    versions = [line["version"] for line in case["log"] if line.get("reason") == what]
    return versions[0] if versions else None


def is_commit(case: Case) -> bool:
    return key_type(case) in (0, 1)


def has_long_metadata(case: Case) -> bool:
    """Value version 4 with a length that takes more than one byte."""
    value = value_of(case) or b""
    return is_commit(case) and value[:2] == b"\0\4" and len(value) > 14 and value[14] >= 0x80


def reads_plainly(case: Case, outcome: Outcome) -> bool:
    reading = plain_reading(key_of(case), value_of(case) or b"")
    if "skipped" in reading:
        return outcome == Outcome([], reading["skipped"])
    names = ("group", "topic", "partition", "offset", "committed_ms")
    row = {name: reading.get(name) for name in names} | {"order": case["message_offset"]}
    accepted = filter_of(case).accepts(reading["group"])
    return outcome == Outcome([commit_request(row)] if accepted else [], None)


def is_skipped(_: Case, outcome: Outcome) -> bool:
    return outcome.requests == [] and outcome.reason is not None


def is_dropped(_: Case, outcome: Outcome) -> bool:
    return outcome == Outcome([], None)


def is_denied(case: Case) -> bool:
    event = parse_group_record(key_of(case), value_of(case))
    return not isinstance(event, Malformed) and not filter_of(case).accepts(event.group)


DIFFERENCES = [
    Difference(
        "a record that crashes Burrow is skipped, and the reason is told",
        lambda case: "process_crash" in case,
        is_skipped,
    ),
    Difference(
        "a commit without a value deletes the commit",
        lambda case: is_commit(case) and not value_of(case),
        reads_plainly,
    ),
    Difference(
        "metadata of a commit may be longer than 126 bytes",
        has_long_metadata,
        reads_plainly,
    ),
    Difference(
        "commits of value version 2 are read",
        lambda case: is_commit(case) and refused_version(case, "value version") == 2,
        reads_plainly,
    ),
    Difference(
        "newer kinds of records are read, or skipped under their own name; never for their type",
        lambda case: refused_version(case, "key version") in GROUP_KEYS,
        lambda _, outcome: outcome.reason != "key version",
    ),
    Difference(
        "classic groups of value version 4 are read, and refused for what is wrong in them only",
        lambda case: key_type(case) == 2 and refused_version(case, "value version") == 4,
        lambda _, outcome: outcome.reason != "value version",
    ),
    Difference(
        "allow and deny lists hold for the members of a group and its deletion as well",
        lambda case: key_type(case) == 2 and is_denied(case),
        is_dropped,
    ),
]
