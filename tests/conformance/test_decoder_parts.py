"""Burrow's cases for parts of a record, each completed to a whole one around the part."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pyspark.sql import SparkSession
from support.decoding import decoded
from support.records import blob, commit_key, commit_value, group_key, int16, int32, int64, string

from warren.decode.cursor import Cursor
from warren.decode.group_records import Value, parse_group_record, read_assignment
from warren.errors import Unreadable
from warren.model.group_events import ClassicGroup, Malformed

Case = dict[str, Any]
Fields = dict[str, Any]

KEY, VALUE = commit_key("g", "t", 3), commit_value(8372, 1637)
HEADER = string("consumer") + int32(7) + string("range") + string("leader")
MEMBER = string("m") + string("cli") + string("/h") + int32(1) + int32(1) + blob(b"")
# Burrow's reader of strings does not know what it reads; we name the field it stands for.
UNDERFLOWS = {"string underflow": "group", "compact string underflow": "metadata"}


class Whole(NamedTuple):
    key: bytes
    value: bytes


def test_parts_of_commits(
    spark: SparkSession,
    vectors: Callable[[str], dict[str, Any]],
    record_case: Callable[[str, bool], None],
) -> None:
    parts = [part for part in vectors("decoder")["sub_decoders"] if part["decoder"] in COMMITS]
    wholes = [
        (n, whole) for n, part in enumerate(parts) for whole in COMMITS[part["decoder"]](part)
    ]
    records = [(*whole, n, number) for number, (n, whole) in enumerate(wholes)]

    rows = decoded(spark, records).to_pylist()

    wrong = []
    for n, part in enumerate(parts):
        of_part = [row for row in rows if row["log_partition"] == n]
        ok = bool(of_part) and all(is_expected(part, row) for row in of_part)
        record_case(name_of(n, part), ok)
        wrong += [] if ok else [(part, of_part)]
    assert wrong == []


def test_parts_of_groups(
    vectors: Callable[[str], dict[str, Any]], record_case: Callable[[str, bool], None]
) -> None:
    parts = [part for part in vectors("decoder")["sub_decoders"] if part["decoder"] not in COMMITS]

    wrong = []
    for n, part in enumerate(parts):
        read = GROUPS[part["decoder"]](data_of(part))
        ok = bool(read) and all(each == (part["error_at"] or kept_fields(part)) for each in read)
        record_case(name_of(n, part), ok)
        wrong += [] if ok else [(part, read)]
    assert wrong == []


def data_of(part: Case) -> bytes:
    return bytes.fromhex(part["bytes_hex"])


def name_of(n: int, part: Case) -> str:
    return f"{part['decoder']} {n}"


def kept_fields(part: Case) -> Fields:
    """Leave out what is read over and not kept; what comes after it shows that it was."""
    kept = {name: value for name, value in part["fields"].items() if not name.endswith("_timeout")}
    return kept | ({"group_instance_id": ""} if part["decoder"] == "metadata_member_v1" else {})


def is_expected(part: Case, row: Fields) -> bool:
    if part["error_at"]:
        return bool(row["skipped"] == UNDERFLOWS.get(part["error_at"], part["error_at"]))
    fields = dict(part["fields"])
    if part["decoder"] == "string":
        return bool(row["group"] == fields["value"])
    if part["decoder"] == "compact_string":  # it is not kept: what comes after it is read rightly
        return bool(row["committed_ms"] == 1637)
    as_ours = {"timestamp": "committed_ms"}
    return all(row[as_ours.get(name, name)] == value for name, value in fields.items())


def commit_values(*versions: int) -> Callable[[Case], Sequence[Whole]]:
    return lambda part: [Whole(KEY, int16(version) + data_of(part)) for version in versions]


def with_string(part: Case) -> Sequence[Whole]:
    after = b"" if part["error_at"] else string("t") + int32(3)
    return [Whole(int16(kind) + data_of(part) + after, VALUE) for kind in (0, 1)]


def with_compact_string(part: Case) -> Sequence[Whole]:
    after = b"" if part["error_at"] else int64(1637) + b"\0"
    return [Whole(KEY, int16(4) + int64(8372) + int32(0) + data_of(part) + after)]


COMMITS: dict[str, Callable[[Case], Sequence[Whole]]] = {
    "offset_key": lambda part: [Whole(int16(kind) + data_of(part), VALUE) for kind in (0, 1)],
    "offset_value_v0_v1": commit_values(0, 1),
    "offset_value_v3": commit_values(3),
    "offset_value_v4": commit_values(4),
    "string": with_string,
    "compact_string": with_compact_string,
}


def headers(*versions: int) -> Callable[[bytes], list[str | Fields]]:
    def read(data: bytes) -> list[str | Fields]:
        return [header(data, version) for version in versions]

    return read


def header(data: bytes, version: int) -> str | Fields:
    try:
        read = Value(Cursor(data), version).header()
    except Unreadable as error:
        return error.field
    fields = vars(read)
    return fields if version >= 2 else {k: v for k, v in fields.items() if k in BEFORE_VERSION_2}


BEFORE_VERSION_2 = ("protocol_type", "generation", "protocol", "leader")


def members(*versions: int) -> Callable[[bytes], list[str | Fields]]:
    def read(data: bytes) -> list[str | Fields]:
        return [member(data, version) for version in versions]

    return read


def member(data: bytes, version: int) -> str | Fields:
    """Read one member, alone in its group."""
    since = int64(0) if version >= 2 else b""
    value = int16(version) + HEADER + since + int32(1) + data
    event = parse_group_record(group_key("g"), value)
    if isinstance(event, Malformed):
        return event.reason
    assert isinstance(event, ClassicGroup)
    (read,) = event.members
    return {
        "member_id": read.member_id,
        "client_id": read.client_id,
        "client_host": read.client_host,
        "assignment": {topic: [*numbers] for topic, numbers in read.assigned.items()},
        "group_instance_id": read.instance_id,
    }


def assignments(data: bytes) -> list[str | Fields]:
    """Read an assignment alone, for the field; as a member of a group has it, it is one of many."""
    try:
        alone: str | Fields = {
            t: [*numbers] for t, numbers in read_assignment(Cursor(data)).items()
        }
    except Unreadable as error:
        assert member(MEMBER + blob(int16(0) + data), 1) == "assignment"
        return [error.field]
    within = member(MEMBER + blob(int16(0) + data), 1)
    assert isinstance(within, dict)
    return [alone, within["assignment"]]


GROUPS: dict[str, Callable[[bytes], list[str | Fields]]] = {
    "metadata_header_v0_v1": headers(0, 1),
    "metadata_header_v2_v3": headers(2, 3),
    "metadata_member_v1": members(1),
    "metadata_member_v3": members(3),
    "member_assignment": assignments,
}
