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

# Beside RECORDS and DECODED, where it is known: when the broker wrote a record.
LOGGED_MS = "logged_ms"

NAME = pa.dictionary(pa.int32(), pa.string())

DECODED = pa.schema(
    [  # one row for every record, whatever it holds
        ("log_partition", pa.int32()),  # where the record stands in the offsets topic
        ("order", pa.int64()),
        ("group", NAME),  # null: not an offset commit
        ("topic", NAME),
        ("partition", pa.int32()),
        ("offset", pa.int64()),  # null with a group: a tombstone, the commit was deleted
        ("committed_ms", pa.int64()),
        ("key", pa.binary()),  # only of records about groups and members
        ("value", pa.binary()),
        ("skipped", NAME),  # why a record could not be read; null when it could
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
        # From here on, as in `model.numbers`; null where unknown, and in rows of older versions.
        ("lag_low", pa.int64()),
        ("lag_high", pa.int64()),
        ("age_s", pa.float32()),  # of the oldest unread record
        ("age_low_s", pa.float32()),
        ("age_high_s", pa.float32()),
        ("age_method", pa.int8()),  # a `Method`
        ("drain_low_s", pa.float32()),  # infinite: never at this pace
        ("drain_high_s", pa.float32()),
        ("margin_s", pa.float32()),  # infinite: retention will not reach the commit
        ("lost", pa.int64()),
        ("log_start", pa.int64()),  # of LOG_END rows of one partition
        # Of PARTITION rows of one partition: what both evaluators said, and what the words stand
        # on (`model.grounds`). Moments are kept as differences, which hardly ever vary.
        ("burrow", pa.int8()),  # a `Status`, by Burrow's rules
        ("word", pa.int8()),  # a `Word`
        ("since_s", pa.int64()),  # since when; null: OK
        ("signs", pa.int16()),
        ("behind_ms", pa.int64()),  # how long before the moment its commits had been read
        ("held_ms", pa.int64()),  # from the last commit on; null: no records wait
        ("merged_ms", pa.int64()),  # from `committed_ms` to the last commit that was merged into it
        ("unreadable", pa.int64()),  # of the lag
        ("learned_s", pa.float32()),
        ("allowed_lag", pa.int64()),  # the settings in force
        ("max_time_lag_s", pa.float64()),
        ("period_s", pa.float64()),
        # Of GROUP rows, as in `model.numbers`.
        ("scalable_lag", pa.int64()),
        ("expires_s", pa.float32()),  # infinite: the brokers keep its offsets
    ]
)
NUMBERS = (  # the columns of HISTORY that GROUP and PARTITION rows take from `model.numbers`
    *("lag_low", "lag_high", "age_s", "age_low_s", "age_high_s", "age_method"),
    *("drain_low_s", "drain_high_s", "margin_s", "lost"),
)
GROUP_NUMBERS = ("scalable_lag", "expires_s")  # and those of GROUP rows alone
WORDS = (  # the columns of HISTORY that a back-test replays
    *("burrow", "word", "since_s", "signs", "behind_ms", "held_ms", "merged_ms", "unreadable"),
    *("learned_s", "allowed_lag", "max_time_lag_s", "period_s"),
)
GROUP, PARTITION, LOG_END = "group", "partition", "log_end"


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    # A column without chunks stays one.
    return pa.array([], column.type) if isinstance(array, pa.ChunkedArray) else array
