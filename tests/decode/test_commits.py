"""Decoding: many records in one job, each next to what it should come out as."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession
from support.decoding import decoded
from support.plain_decoder import plain_reading
from support.records import commit_key, commit_value, group_key, int16, int64, string, varint

from warren.decode.commits import (
    GROUP_KEYS,
    LONG_VALUE,
    decode,
    without_long_metadata,
)
from warren.model.tables import DECODED, RECORDS

Row = dict[str, Any]
Record = tuple[bytes | None, bytes | None]
Whole = tuple[bytes, bytes]

KEY = commit_key("billing", "orders", 3)
VALUE = commit_value(42, 1_700_000_000_123)
COLUMNS = "key binary, value binary, partition int, offset long"
COMMIT: Row = {
    "group": "billing",
    "topic": "orders",
    "partition": 3,
    "offset": 42,
    "committed_ms": 1_700_000_000_123,
}


def rows_of(spark: SparkSession, records: Sequence[Record]) -> list[Row]:
    """Decode in one job; each row without its nulls, its log position checked and taken off."""
    table = decoded(spark, [(*record, n % 50, n + 1000) for n, record in enumerate(records)])
    by_order = {row.pop("order"): row for row in table.to_pylist()}
    assert all(row.pop("log_partition") == (n - 1000) % 50 for n, row in by_order.items())
    in_order = [by_order[n + 1000] for n in range(len(records))]
    return [{name: got for name, got in row.items() if got is not None} for row in in_order]


def wrong(spark: SparkSession, cases: Mapping[str, tuple[Record, Row]]) -> dict[str, Row]:
    rows = rows_of(spark, [record for record, _ in cases.values()])
    pairs = zip(cases.items(), rows, strict=True)
    return {name: row for (name, (_, expected)), row in pairs if row != expected}


def test_commits_of_every_version_are_read(spark: SparkSession) -> None:
    cases = {
        f"value {version}, {len(metadata or '')} characters of metadata": (
            (KEY, commit_value(42, 1_700_000_000_123, version=version, metadata=metadata)),
            COMMIT,
        )
        for version in range(5)
        for metadata in (None, "", "host-1", "x" * 126, "x" * 127, "x" * 200, "x" * 20_000)
    }
    cases |= {
        "key type 0": ((commit_key("billing", "orders", 3, key_type=0), VALUE), COMMIT),
        "tagged topic id": (
            (KEY, commit_value(42, 1_700_000_000_123, version=4, tags={0: bytes(range(16))})),
            COMMIT,
        ),
        "a varint of three bytes": (
            (KEY, commit_value(42, 1_700_000_000_123, version=4, metadata="x" * 300_000)),
            COMMIT,
        ),
        "a varint longer than it need be": (
            (KEY, b"\0\4" + int64(42) + b"\0\0\0\0" + b"\x82\x80\x80\x80\0x" + VALUE[-8:]),
            COMMIT,
        ),
        "bytes after the end": ((KEY + b"more", VALUE + b"more"), COMMIT),
        "extremes": (
            (commit_key(None, "t", -(2**31)), commit_value(-(2**63), 2**63 - 1)),
            {
                "group": "",
                "topic": "t",
                "partition": -(2**31),
                "offset": -(2**63),
                "committed_ms": 2**63 - 1,
            },
        ),
    }

    assert wrong(spark, cases) == {}


def test_a_commit_without_a_value_is_a_tombstone(spark: SparkSession) -> None:
    tombstone = {"group": "billing", "topic": "orders", "partition": 3}
    cases = {"null": ((KEY, None), tombstone), "empty": ((KEY, b""), tombstone)}

    assert wrong(spark, cases) == {}


def test_records_about_groups_are_passed_on_whole(spark: SparkSession) -> None:
    cases: dict[str, tuple[Record, Row]] = {}
    for kind in GROUP_KEYS:
        key = group_key("billing", kind)
        cases[f"{kind}"] = (key, b"any"), {"key": key, "value": b"any"}
        cases[f"{kind} tombstone"] = (key, None), {"key": key}
        cases[f"{kind} malformed"] = (int16(kind), b""), {"key": int16(kind), "value": b""}

    assert wrong(spark, cases) == {}


def test_what_cannot_be_read_says_why(spark: SparkSession) -> None:
    reasons: dict[str, list[Record]] = {
        "no key version": [(None, VALUE), (b"", VALUE), (b"\0", VALUE), (None, None)],
        "key version": [(int16(kind) + KEY[2:], VALUE) for kind in (-1, 9, 18, 24, 258, 32767)],
        "group": [(b"\0\1" + int16(size) + KEY[4:], VALUE) for size in (-2, -32768, 32767)],
        "topic": [(b"\0\1" + string("g") + int16(size) + bytes(9), VALUE) for size in (-2, 10)],
        "partition": [(KEY[:-1], VALUE), (KEY[:-4], None)],
        "no value version": [(KEY, b"\0")],
        "value version": [(KEY, int16(version) + VALUE[2:]) for version in (-1, 5, 260)],
        "offset": [(KEY, VALUE[:9]), (KEY, VALUE[:2])],
        "leaderEpoch": [(KEY, VALUE[:13])],
        "metadata": [
            (KEY, VALUE[:14] + b"\xff\xfe" + VALUE[-8:]),
            (KEY, b"\0\4" + VALUE[2:14] + b"\xff\xff\xff\xff\xff\0" + VALUE[-8:]),
            (KEY, b"\0\4" + VALUE[2:14] + varint(2**32 - 1) + VALUE[-8:]),
            (KEY, b"\0\4" + VALUE[2:14] + varint(2**28) + VALUE[-8:]),
        ],
        "timestamp": [(KEY, VALUE[:-1]), (KEY, b"\0\4" + VALUE[2:14] + b"\1" + bytes(7))],
    }
    cases = {
        f"{reason} {n}": (record, {"skipped": reason})
        for reason, records in reasons.items()
        for n, record in enumerate(records)
    }

    assert wrong(spark, cases) == {}


def test_names_that_are_not_utf8_are_kept_with_the_bad_bytes_replaced(spark: SparkSession) -> None:
    names = [
        b"caf\xc3\xa9",
        b"\xff",
        b"a\xc3(b",
        b"\xf0\x9f\x98",
        b"\xed\xa0\x80",
        b"\xc0\x80",
        b"\0",
    ]
    cases = {
        repr(name): (
            (commit_key(name, name, 3), VALUE),
            COMMIT | dict.fromkeys(("group", "topic"), name.decode(errors="replace")),
        )
        for name in names
    }

    assert wrong(spark, cases) == {}


def test_any_bytes_come_out_as_a_plain_reading_of_them_says(spark: SparkSession) -> None:
    records = [*truncated_records(), *damaged_records()]

    rows = rows_of(spark, records)

    pairs = zip(records, rows, strict=True)
    assert [(record, row) for record, row in pairs if row != plain_reading(*record)] == []


def truncated_records() -> list[Whole]:
    values = [commit_value(7, 11, version=v, metadata="m" * n) for v in range(5) for n in (0, 150)]
    keys = [commit_key("g", "topic", 1), group_key("group"), commit_key(None, None, 1)]
    of_keys = [(key[:n], VALUE) for key in keys for n in range(len(key) + 1)]
    return of_keys + [(KEY, value[:n]) for value in values for n in range(len(value) + 1)]


def damaged_records() -> list[Whole]:
    """Make records with one to three bytes changed, and bytes that mean nothing."""
    chance = random.Random(4)  # noqa: S311 - the same records in every run
    values = [commit_value(7, 11, version=v, metadata="meta") for v in range(5)]

    def damage(data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(chance.randrange(1, 4)):
            changed[chance.randrange(len(changed))] = chance.choice((0, 1, 2, 127, 128, 254, 255))
        return bytes(changed)

    damaged = [(damage(KEY), damage(chance.choice(values))) for _ in range(1500)]
    damaged += [(KEY, damage(chance.choice(values))) for _ in range(1500)]
    noise = [(chance.randbytes(chance.randrange(12)), VALUE) for _ in range(500)]
    return damaged + noise


def test_long_metadata_is_cut_out_on_spark_and_changes_nothing(spark: SparkSession) -> None:
    values = [
        commit_value(7, 11, version=version, metadata="m" * size, tags=tags)
        for version in range(5)
        for size in (400, 600, 4_096, 16_000)
        for tags in ({}, {0: bytes(range(16))})
        if version == 4 or not tags
    ]
    lying = [value[:16] + value[17:] for value in values] + [value[:-9] for value in values]
    # Two bytes for a length of one: they say that there is no metadata.
    no_metadata = commit_value(7, 11, version=4, metadata=None)
    at = no_metadata.index(b"\0", 14)
    lying.append(no_metadata[:at] + b"\x80\0" + no_metadata[at + 1 :] + b"m" * 600)
    records = [(KEY, value) for value in values + lying]
    other = group_key("billing"), commit_value(7, 11, metadata="m" * 600)
    frame = spark.createDataFrame([(*record, 0, 0) for record in [*records, other]], COLUMNS)

    short = [bytes(row.value) for row in frame.transform(without_long_metadata).collect()]

    was_cut = [len(value) < 100 for value in short[: len(values)]]
    assert was_cut == [LONG_VALUE < len(value) < 1 << 15 for value in values]
    assert short[-1] == other[1]
    rows = rows_of(spark, records)
    pairs = zip(records, rows, strict=True)
    assert [record for record, row in pairs if row != plain_reading(*record)] == []


def test_a_batch_without_records_is_decoded_too() -> None:
    assert decode(RECORDS.empty_table()).schema.equals(DECODED)
