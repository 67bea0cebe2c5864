"""Holds a stage to the table it promised: a wrong column fails in the stage that made it."""

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema


def conform(df: DataFrame, schema: pa.Schema) -> DataFrame:
    # `to` alone fills a missing column with nulls; `select` first makes it an error.
    return df.select(*schema.names).to(from_arrow_schema(schema))
