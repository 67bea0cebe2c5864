"""Which rows a batch of a stream holds: those in the files that history grew by."""

from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from support import sink_streams

from warren.history import table
from warren.sinks.checkpoint import Origin
from warren.sinks.stream import files, rows_in

ODD = "a b:%20{c}[d]*?é="


def test_files_are_read_from_the_origin_on_whatever_they_are_called(
    spark: SparkSession, tmp_path: Path
) -> None:
    history, session = str(tmp_path / "[odd] {100%25} é"), table.session(spark)
    table.make(session, history)
    for number in range(3):
        rows = sink_streams.moment(number)
        named = pa.array([ODD] * len(rows), pa.string())
        rows = rows.set_column(rows.schema.get_field_index("cluster"), "cluster", named)
        table.append(session, history, rows, "tests")
    origin = Origin("stream", sink_streams.FIRST_MS + sink_streams.MINUTE_MS)
    found: list[tuple[str, int, int]] = []

    def take(batch: DataFrame, _: int) -> None:
        rows = rows_in(spark, batch, history, origin)
        found.extend(tuple(row) for row in rows.groupBy("cluster", "moment_ms").count().collect())

    writer = files(spark, history, origin).writeStream.foreachBatch(take)
    checkpoint = str(tmp_path / "checkpoint")
    query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    query.awaitTermination(60)

    assert sorted(found) == [
        (ODD, sink_streams.FIRST_MS + number * sink_streams.MINUTE_MS, 41) for number in (1, 2)
    ]
