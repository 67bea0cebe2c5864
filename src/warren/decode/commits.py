"""Every record of __consumer_offsets -> DECODED: commits parsed, records about groups passed on.

A batch is decoded as a whole. The values have a fixed layout up to one string and are read with
array operations. A commit's key is its group, its topic and the four bytes of its partition, so a
batch has few different keys without those four bytes: each is parsed once.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from warren.decode.wire import ByteStrings, after_compact_string, after_string
from warren.model import tables
from warren.model.arrays import Codes, Ints, Mask
from warren.model.tables import one_chunk

COMMIT_KEYS = (0, 1)
SHARE_KEYS = (10, 11, 12, 13, 14, 15)
STREAMS_KEYS = (17, 19, 20, 21, 22, 23)
# Parsed by `group_records`.
GROUP_KEYS = (2, 3, 4, 5, 6, 7, 8, 16, *SHARE_KEYS, *STREAMS_KEYS)

# Versions of a commit's value.
FIRST_WITH_EPOCH = 3  # with a leader epoch before the metadata
FIRST_COMPACT = 4  # with the metadata as a compact string
NEWEST = 4

TYPE_BYTES = 2  # a key begins with its type, a value with its version
OFFSET_END = TYPE_BYTES + 8
PARTITION_BYTES = 4
LONG_VALUE = 512  # bytes of a commit's value that metadata alone can explain
TAIL = 16  # bytes that matter after the metadata: two timestamps
WRONG_GROUP, WRONG_TOPIC = -2, -1  # where names end that cannot be read


def without_long_metadata(records: DataFrame) -> DataFrame:
    """Cut the metadata out of commits' long values: nobody uses it, and a batch has many of them.

    Only where a value is as long as it says; the others are left for `decode` to judge.
    """
    value, version = F.col("value"), F.hex(F.substring("value", 1, 2))
    is_commit = F.hex(F.substring("key", 1, 2)).isin("0000", "0001")
    is_long = is_commit & (F.length(value) > LONG_VALUE)
    at, with_epoch = OFFSET_END, OFFSET_END + 4
    number, compact = _number(value, at), _number(value, with_epoch)
    # A compact string of this length has two bytes of length + 1, the lower seven bits first.
    is_two_bytes = compact.bitwiseAND(F.lit(0x8080)) == 0x8000
    compact_size = F.shiftright(compact.bitwiseAND(F.lit(0x7F00)), 8) - 1
    compact_size += F.shiftleft(compact.bitwiseAND(F.lit(0x7F)), 7)
    short = (
        F.when(version.isin("0000", "0001", "0002"), _cut(value, at, number, b"\xff\xff"))
        .when(version == "0003", _cut(value, with_epoch, compact, b"\xff\xff"))
        .when((version == "0004") & is_two_bytes, _cut(value, with_epoch, compact_size, b"\0"))
    )
    kept = F.coalesce(F.when(is_long, short), value)
    return records.withColumn("value", kept)


def _number(value: Column, at: int) -> Column:
    return F.conv(F.hex(F.substring(value, at + 1, 2)), 16, 10).cast("int")


def _cut(value: Column, at: int, size: Column, no_string: bytes) -> Column:
    """The value without its string of `size` bytes; null if it is not that long."""
    after = F.lit(at + 2) + size
    short = F.concat(
        F.substring(value, 1, at), F.lit(no_string), F.substring(value, after + 1, F.lit(TAIL))
    )
    return F.when(size.between(0, (1 << 15) - 1) & (after + 8 <= F.length(value)), short)


class Reasons:
    """Why records are skipped, in Burrow's words; the first reason of a record counts."""

    def __init__(self, count: int) -> None:
        self.words: list[str] = []
        self.code: Codes = np.full(count, -1, np.int32)

    def add(self, word: str, which: Mask) -> None:
        which = which & (self.code < 0)
        if which.any():
            self.code[which] = len(self.words)
            self.words.append(word)

    @property
    def none(self) -> Mask:
        is_fine: Mask = self.code < 0
        return is_fine


def decode(records: pa.Table) -> pa.Table:
    """Decode every record of an offsets topic; `skipped` says why one cannot be."""
    keys, values = one_chunk(records["key"]), one_chunk(records["value"])
    key = ByteStrings.of(keys)
    key_type = key.integer(0, TYPE_BYTES)
    is_commit = (key.size >= TYPE_BYTES) & np.isin(key_type, COMMIT_KEYS)
    is_about_a_group = (key.size >= TYPE_BYTES) & np.isin(key_type, GROUP_KEYS)
    reasons = Reasons(len(records))
    _skip_other_keys(reasons, key, is_commit | is_about_a_group)
    names = _names(keys, key, is_commit, reasons)
    numbers = _numbers(ByteStrings.of(values), is_commit, reasons)

    is_commit &= reasons.none
    has_offset = is_commit & ~numbers.is_tombstone
    kept = is_about_a_group if is_about_a_group.any() else None
    columns = [
        records["partition"],
        records["offset"],
        _named(names.group, names.groups, is_commit),
        _named(names.topic, names.topics, is_commit),
        pa.array(names.partition, pa.int32(), mask=~is_commit),
        pa.array(numbers.offset, mask=~has_offset),
        pa.array(numbers.committed_ms, mask=~has_offset),
        *(_only(column, kept) for column in (keys, values)),
        _named(reasons.code, reasons.words, ~reasons.none),
    ]
    return pa.table(columns, schema=tables.DECODED)


def _skip_other_keys(reasons: Reasons, key: ByteStrings, is_ours: Mask) -> None:
    if is_ours.all():
        return
    reasons.add("no key version", key.size < TYPE_BYTES)
    reasons.add("key version", ~is_ours)


class Names(NamedTuple):
    """The names in each commit's key, as indices of `groups` and `topics`."""

    group: Codes
    topic: Codes
    partition: Ints
    groups: list[str]
    topics: list[str]


def _names(keys: pa.Array, key: ByteStrings, is_commit: Mask, reasons: Reasons) -> Names:
    pairs = pc.binary_slice(keys, 0, -PARTITION_BYTES).dictionary_encode()
    code: Codes = pairs.indices.fill_null(0).to_numpy(zero_copy_only=False)
    parsed = [_read_names(pair) for pair in pairs.dictionary.to_pylist()] or [("", "", 0)]
    groups, topics = _Numbers(), _Numbers()
    group = np.array([groups.of(name) for name, _, _ in parsed], np.int32)[code]
    topic = np.array([topics.of(name) for _, name, _ in parsed], np.int32)[code]
    partition_at = key.size - PARTITION_BYTES
    names_end = np.array([end for _, _, end in parsed], np.int64)[code]
    # A key that is cut off, or has more bytes after the partition, is parsed by itself.
    odd = np.flatnonzero(is_commit & (names_end != partition_at))
    for at in odd.tolist():
        first, second, end = _read_names(keys[at].as_py())
        group[at], topic[at], names_end[at] = groups.of(first), topics.of(second), end
    if len(odd):
        partition_at = np.where(is_commit, names_end, 0)
        reasons.add("group", partition_at == WRONG_GROUP)
        reasons.add("topic", partition_at == WRONG_TOPIC)
        reasons.add("partition", is_commit & (partition_at + PARTITION_BYTES > key.size))
    partition = key.integer(partition_at, PARTITION_BYTES)
    return Names(group, topic, partition, [*groups.of_name], [*topics.of_name])


def _read_names(key: bytes) -> tuple[str, str, int]:
    """Read the group, the topic and where they end; bytes that are not UTF-8 become U+FFFD."""
    names, at = [], TYPE_BYTES
    for wrong in (WRONG_GROUP, WRONG_TOPIC):
        size = int.from_bytes(key[at : at + 2], "big", signed=True)
        end = at + 2 + max(size, 0)
        if size < -1 or end > len(key):
            return "", "", wrong
        names.append(key[at + 2 : end].decode(errors="replace"))
        at = end
    return names[0], names[1], at


class _Numbers:
    """A number for each name, in the order they come."""

    def __init__(self) -> None:
        self.of_name: dict[str, int] = {}

    def of(self, name: str) -> int:
        return self.of_name.setdefault(name, len(self.of_name))


class Numbers(NamedTuple):
    """What each commit's value says."""

    offset: Ints
    committed_ms: Ints
    is_tombstone: Mask


def _numbers(value: ByteStrings, is_commit: Mask, reasons: Reasons) -> Numbers:
    version = value.integer(0, TYPE_BYTES)
    metadata_at = np.where(version < FIRST_WITH_EPOCH, OFFSET_END, OFFSET_END + 4)
    head = value.integer(metadata_at, 8)
    committed_at = after_string(metadata_at, head >> 48)
    compact = np.flatnonzero(version >= FIRST_COMPACT)
    if len(compact):
        committed_at[compact] = after_compact_string(metadata_at[compact], head[compact])
    is_tombstone: Mask = value.size == 0
    has_value = is_commit & ~is_tombstone
    is_whole = (version >= 0) & (version <= NEWEST) & (committed_at + 8 <= value.size)
    if not (is_whole | ~has_value).all():
        reasons.add("no value version", has_value & (value.size < TYPE_BYTES))
        reasons.add("value version", has_value & ((version < 0) | (version > NEWEST)))
        reasons.add("offset", has_value & (value.size < OFFSET_END))
        reasons.add("leaderEpoch", has_value & (metadata_at > value.size))
        reasons.add("metadata", has_value & (committed_at > value.size))
        reasons.add("timestamp", has_value & ~is_whole)
    return Numbers(value.integer(TYPE_BYTES, 8), value.integer(committed_at, 8), is_tombstone)


def _named(code: Codes, names: list[str], which: Mask) -> pa.Array:
    """A column of names, null where `which` is false."""
    if not which.any():
        return pa.nulls(len(code), tables.NAME)
    return pa.DictionaryArray.from_arrays(pa.array(code, pa.int32(), mask=~which), names)


def _only(column: pa.Array, which: Mask | None) -> pa.Array:
    if which is None:
        return pa.nulls(len(column), column.type)
    return pc.if_else(pa.array(which), column, pa.scalar(None, column.type))
