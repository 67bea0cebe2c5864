"""Python functions on Arrow tables, in Spark's tasks: `mapInArrow` and `applyInArrow` of PySpark.

PySpark's own functions refuse to work without pandas, although neither they nor their tasks use it.
These make the same plans.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

import warren

Batches = Iterator[pa.RecordBatch]
# Tasks run in Python processes of their own, which stand elsewhere than this one.
PACKAGES = str(Path(warren.__file__).absolute().parents[1])


def map_in_arrow(
    rows: DataFrame, function: Callable[[Batches], Batches], schema: pa.Schema
) -> DataFrame:
    """The batches of each task through a function that returns batches of a schema."""
    column = _call(rows, function, schema, PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
    mapped = rows._jdf.mapInArrow(column, False, None)  # noqa: FBT003, SLF001  Spark's signature
    return DataFrame(mapped, rows.sparkSession)


def apply_in_arrow(
    rows: DataFrame, by: list[Column], function: Callable[[pa.Table], pa.Table], schema: pa.Schema
) -> DataFrame:
    """All rows of each group through a function that returns a table of a schema."""
    column = _call(rows, function, schema, PythonEvalType.SQL_GROUPED_MAP_ARROW_UDF)
    applied = rows.groupBy(*by)._jgd.flatMapGroupsInArrow(column)  # noqa: SLF001  see above
    return DataFrame(applied, rows.sparkSession)


def _call(rows: DataFrame, function: Callable[..., Any], schema: pa.Schema, kind: int) -> Any:
    rows.sparkSession.sparkContext.environment["PYTHONPATH"] = PACKAGES
    udf = UserDefinedFunction(function, from_arrow_schema(schema), evalType=kind)
    return udf(*(rows[name] for name in rows.columns))._jc  # noqa: SLF001  see above
