"""Every record of __consumer_offsets -> DECODED: commits parsed, records about groups passed on.

Positions in a record depend on the lengths before them. Each step of the decoding is therefore a
projection of its own: Spark computes it once a row, in a generated method small enough for the
JIT, instead of repeating it wherever it is mentioned.
"""

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from warren.decode import wire
from warren.model import tables


def conform(df: DataFrame, schema: pa.Schema) -> DataFrame:
    # `to` alone fills a missing column with nulls; `select` first makes it an error.
    return df.select(*schema.names).to(from_arrow_schema(schema))


COMMIT_KEYS = (0, 1)
GROUP_KEYS = (2, 3, 4, 5, 6, 7, 8, 16)  # parsed by `group_records`, on the driver
SHARE_KEYS = (10, 11, 12, 13, 14, 15)
STREAMS_KEYS = (17, 19, 20, 21, 22, 23)

# Versions of a commit's value.
FIRST_WITH_EPOCH = 3  # with a leader epoch before the metadata
FIRST_COMPACT = 4  # with the metadata as a compact string
NEWEST = 4

GROUP_AT = 2  # in a key, after the record's type
OFFSET_AT = 2  # in a value, after its version


def decode(records: DataFrame) -> DataFrame:
    """Decode every record of an offsets topic; `skipped` says why one cannot be."""
    decoded = (
        records.transform(with_headers)
        .transform(with_inner_sizes)
        .transform(with_ends)
        .transform(with_skipped)
        .transform(as_decoded)
    )
    return conform(decoded, tables.DECODED)


def with_headers(records: DataFrame) -> DataFrame:
    """Add `k` and `v`, the key and the value with null as empty, and their first fields."""
    k, v = F.col("k"), F.col("v")
    never_null = [F.coalesce(name, F.lit(b"")).alias(name[0]) for name in ("key", "value")]
    return records.select("*", *never_null).select(
        "*",
        wire.integer(k, F.lit(0), 2).alias("key_type"),
        wire.integer(k, F.lit(GROUP_AT), 2).alias("group_size"),
        wire.integer(v, F.lit(0), 2).alias("version"),
    )


def with_inner_sizes(records: DataFrame) -> DataFrame:
    """Find the second string of the key, and the string after the fixed part of the value."""
    topic_at = wire.after_string(F.lit(GROUP_AT), F.col("group_size"))
    metadata_at = F.when(F.col("version") < FIRST_WITH_EPOCH, OFFSET_AT + 8).otherwise(
        OFFSET_AT + 12
    )
    return records.select("*", topic_at.alias("topic_at"), metadata_at.alias("metadata_at")).select(
        "*",
        wire.integer(F.col("k"), F.col("topic_at"), 2).alias("topic_size"),
        wire.integer(F.col("v"), F.col("metadata_at"), 8).alias("metadata_head"),
    )


def with_ends(records: DataFrame) -> DataFrame:
    """Find the fields after those strings."""
    at, head = F.col("metadata_at"), F.col("metadata_head")
    partition_at = wire.after_string(F.col("topic_at"), F.col("topic_size"))
    committed_at = F.when(
        F.col("version") < FIRST_COMPACT, wire.after_string(at, F.shiftright(head, 48))
    ).otherwise(wire.after_compact_string(at, head))
    return records.select(
        "*", partition_at.alias("partition_at"), committed_at.alias("committed_at")
    )


def with_skipped(records: DataFrame) -> DataFrame:
    """Name the first field that is wrong in a record, in Burrow's words."""
    key_type = F.col("key_type")
    skipped = (
        F.when(F.length("k") < 2, "no key version")
        .when(key_type.isin(*COMMIT_KEYS), F.coalesce(wrong_key(), wrong_value()))
        .when(key_type.isin(*GROUP_KEYS), None)
        .when(key_type.isin(*SHARE_KEYS), "share group")
        .when(key_type.isin(*STREAMS_KEYS), "streams group")
        .otherwise("key version")
    )
    return records.select("*", skipped.alias("skipped"))


def wrong_key() -> Column:
    size = F.length("k")
    return (
        F.when(F.col("topic_at") > size, "group")
        .when(F.col("partition_at") > size, "topic")
        .when(F.col("partition_at") + 4 > size, "partition")
    )


def wrong_value() -> Column:
    size, version = F.length("v"), F.col("version")
    return (
        F.when(size == 0, None)  # a tombstone
        .when(size < OFFSET_AT, "no value version")
        .when((version < 0) | (version > NEWEST), "value version")
        .when(size < OFFSET_AT + 8, "offset")
        .when(F.col("metadata_at") > size, "leaderEpoch")
        .when(F.col("committed_at") > size, "metadata")
        .when(F.col("committed_at") + 8 > size, "timestamp")
    )


def as_decoded(records: DataFrame) -> DataFrame:
    k, v = F.col("k"), F.col("v")
    topic_at, partition_at, committed_at = map(F.col, ("topic_at", "partition_at", "committed_at"))
    is_commit = F.col("key_type").isin(*COMMIT_KEYS) & F.col("skipped").isNull()
    is_about_a_group = F.col("key_type").isin(*GROUP_KEYS) & F.col("skipped").isNull()
    has_offset = is_commit & (F.length("v") > 0)
    return records.select(
        F.col("partition").alias("log_partition"),
        F.col("offset").alias("order"),
        F.when(is_commit, wire.text(k, F.lit(GROUP_AT + 2), topic_at)).alias("group"),
        F.when(is_commit, wire.text(k, topic_at + 2, partition_at)).alias("topic"),
        F.when(is_commit, wire.integer(k, partition_at, 4).cast("int")).alias("partition"),
        F.when(has_offset, wire.integer(v, F.lit(OFFSET_AT), 8)).alias("offset"),
        F.when(has_offset, wire.integer(v, committed_at, 8)).alias("committed_ms"),
        F.when(is_about_a_group, F.col("key")).alias("key"),
        F.when(is_about_a_group, F.col("value")).alias("value"),
        "skipped",
    )
