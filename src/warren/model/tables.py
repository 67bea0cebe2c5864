"""The tables that flow between stages, each declared once, in Arrow's types."""

import pyarrow as pa

RECORDS = pa.schema(
    [  # as Spark's Kafka source gives them
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
    ]
)

DECODED = pa.schema(
    [  # one row for every record, whatever it holds
        ("log_partition", pa.int32()),  # where the record stands in the offsets topic
        ("order", pa.int64()),
        ("group", pa.string()),  # null: not an offset commit
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),  # null with a group: a tombstone, the commit was deleted
        ("committed_ms", pa.int64()),
        ("key", pa.binary()),  # only of records about groups and members; the driver parses them
        ("value", pa.binary()),
        ("skipped", pa.string()),  # why a record could not be read; null when it could
    ]
)

LOG_ENDS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),  # null: the partition exists, but no broker gave its end
    ]
)

HISTORY = pa.schema(
    [  # one Delta table; a moment's rows are appended together or not at all
        ("day", pa.date32()),  # of the moment, UTC; the table is partitioned by it and by cluster
        ("cluster", pa.string()),
        ("moment_ms", pa.int64()),  # of the board the row was taken from
        ("kind", pa.string()),  # which of the three a row is: GROUP, PARTITION or LOG_END
        ("group", pa.string()),  # null for LOG_END
        ("topic", pa.string()),  # null for GROUP
        ("partition", pa.int32()),  # null for GROUP, and where granularity folded partitions
        ("status", pa.int8()),  # a `Status`; null for LOG_END
        ("complete", pa.float32()),
        ("lag", pa.int64()),  # current lag; of GROUP the total
        ("offset", pa.int64()),  # last commit, or log end; of GROUP the sum, as Telegraf writes it
        (
            "committed_ms",
            pa.int64(),
        ),  # of that commit; of GROUP, and of folded partitions, the newest
        ("max_lag", pa.int64()),  # of GROUP, and of folded partitions: the greatest among them
        ("partitions", pa.int32()),  # how many a GROUP row, or a folded row, stands for
        ("owner", pa.string()),  # of PARTITION, "" when nobody
        ("client", pa.string()),
    ]
)
GROUP, PARTITION, LOG_END = "group", "partition", "log_end"
