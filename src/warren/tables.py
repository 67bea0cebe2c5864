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
    [  # one row for every record, whatever it held
        ("log_partition", pa.int32()),  # where the record stands in the offsets topic
        ("order", pa.int64()),
        ("group", pa.string()),  # null: not an offset commit
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),  # null with a group: a tombstone, the commit was deleted
        ("committed_ms", pa.int64()),
        ("key", pa.binary()),  # of records about groups and members, parsed by the driver
        ("value", pa.binary()),
        ("skipped", pa.string()),  # why a record could not be read; null when it could
    ]
)

LOG_ENDS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),  # null: the partition exists but its end could not be had
    ]
)
