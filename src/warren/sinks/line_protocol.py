r"""Points as lines of InfluxDB's line protocol, made by Spark's own expressions.

Escaping is Telegraf's: what the protocol has no way to write, such as a line break in a tag, is
written as the two characters `\n`, and a backslash at the end of a tag is left out.
"""

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from warren.sinks.points import COUNTS, TAGS

_BLANKS = {"\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r"}
_IN_TAGS = {**_BLANKS, ",": r"\,", " ": r"\ ", "=": r"\="}


def lines(points: DataFrame) -> DataFrame:
    """One column, `text`: a line for each point, with its line break."""
    text = F.concat(
        F.col("measurement"),
        *(_tag(name) for name in TAGS),
        F.lit(" "),
        F.concat_ws(",", *(_count(name) for name in COUNTS), _status(), _status_code()),
        F.lit(" "),
        F.col("moment_ms").cast("string"),
        F.lit("000000\n"),  # nanoseconds
    )
    return points.select(text.alias("text"))


def _tag(name: str) -> Column:
    value = F.rtrim(F.col(name), F.lit("\\"))
    escaped = reduce(
        lambda text, pair: F.replace(text, F.lit(pair[0]), F.lit(pair[1])), _IN_TAGS.items(), value
    )
    # A tag must not be empty: Telegraf leaves such a one out.
    return F.when(F.length(value) > 0, F.concat(F.lit(f",{name}="), escaped)).otherwise("")


def _count(name: str) -> Column:
    return F.concat(F.lit(f"{name}="), F.col(name).cast("string"), F.lit("i"))


def _status() -> Column:
    return F.concat(F.lit('status="'), F.col("status"), F.lit('"'))


def _status_code() -> Column:
    return F.concat(F.lit("status_code="), F.col("status_code").cast("string"), F.lit("i"))
