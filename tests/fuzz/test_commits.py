"""Records of any bytes, a great many at once, read on Spark as one reads them field by field."""

import os
import secrets

import pytest
from fuzz.mutations import Mutations
from pyspark.sql import SparkSession
from support import records
from support.decoding import decoded
from support.plain_decoder import plain_reading

CASES = int(os.environ.get("WARREN_FUZZ_RECORDS", "100000"))
FIELDS = ("group", "topic", "partition", "offset", "committed_ms", "key", "value", "skipped")


def test_any_bytes_come_out_as_a_plain_reading_of_them_says(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = secrets.randbits(32)
    whole = Mutations(
        [
            records.commit_key("group", "topic", 3),
            records.commit_key("caf\u00e9" * 50, "t", 2**31 - 1, 0),
            records.commit_key(None, None, -1),
            records.group_key("group"),
        ],
        [],
        seed,
    )
    values = Mutations(
        [
            records.commit_value(7, 11, version=version, metadata=text)
            for version in range(5)
            for text in ("", "meta", "m" * 200, "m" * 600, None)
        ],
        [],
        seed + 1,
    )
    keys, held = ([each.next() for _ in range(CASES)] for each in (whole, values))
    rows = decoded(spark, [(*both, 0, n) for n, both in enumerate(zip(keys, held, strict=True))])
    columns = [rows[name].to_pylist() for name in FIELDS]
    found = (dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True))

    wrong = [
        (seed, key, value, row)
        for key, value, row in zip(keys, held, found, strict=True)
        if {name: got for name, got in row.items() if got is not None} != plain_reading(key, value)
    ]
    assert wrong[:3] == []
    with capsys.disabled():
        print(f"\nrecords on Spark: {CASES:,} cases, seed {seed}", end="")  # noqa: T201  # how much was tried
