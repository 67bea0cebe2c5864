"""Records through all of the decoding: a batch of them on Spark, then on the driver."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import SparkSession

from warren.decode.commits import decode, without_long_metadata
from warren.model.tables import DECODED, RECORDS

Record = tuple[bytes | None, bytes | None, int, int]  # key, value, partition, offset


def decoded(spark: SparkSession, records: Sequence[Record]) -> pa.Table:
    """Decode in one job, as the pipeline does; rows come in order."""
    columns = zip(*records, strict=True)
    table = pa.table(
        [pa.array(c, t) for c, t in zip(columns, RECORDS.types, strict=True)], RECORDS.names
    )
    read = spark.createDataFrame(table).coalesce(1).transform(without_long_metadata).toArrow()
    result = decode(read)
    assert result.schema.equals(DECODED)
    return result
