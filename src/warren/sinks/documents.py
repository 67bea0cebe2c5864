"""Points as entries of the bulk API: an action, and a document as Telegraf writes it."""

import re
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from warren.sinks.points import COUNTS, MEASUREMENTS, TAGS

_BY_CODE = {"Y": "yyyy", "y": "yy", "m": "MM", "d": "dd", "H": "HH"}  # strftime's, and Java's


def entries(points: DataFrame, index: str) -> DataFrame:
    """One column, `text`: two lines for each point.

    The id is made of what the point is about, so that a document sent twice is there once.
    """
    moment = F.timestamp_millis("moment_ms")
    action = F.struct(
        F.struct(index_name(index, moment).alias("_index"), _id().alias("_id")).alias("index")
    )
    text = F.concat(
        F.to_json(action), F.lit("\n"), F.to_json(F.struct(*_document(moment))), F.lit("\n")
    )
    return points.select(text.alias("text"))


def _document(moment: Column) -> list[Column]:
    fields = F.struct(*COUNTS, "status", "status_code")
    tags = F.struct(*TAGS)  # an empty owner too, as Telegraf writes it
    iso = F.concat(F.replace(moment.cast("string"), F.lit(" "), F.lit("T")), F.lit("Z"))
    # What is null is left out of the text: only the point's own measurement is in it.
    of_measurement = (
        F.when(F.col("measurement") == name, fields).alias(name) for name in MEASUREMENTS.values()
    )
    return [
        iso.alias("@timestamp"),
        F.col("measurement").alias("measurement_name"),
        tags.alias("tag"),
        *of_measurement,
    ]


def index_name(pattern: str, moment: Column) -> Column:
    """`telegraf-%Y.%m.%d` of a moment."""
    texts = [
        F.date_format(moment, _BY_CODE[part[1]]) if part.startswith("%") else F.lit(part)
        for part in re.split("(%.)", pattern)
        if part
    ]
    return F.concat(*texts)


def _id() -> Column:
    names = [F.coalesce(name, F.lit("")) for name in ("cluster", "group", "topic", "partition")]
    parts = [F.col("measurement"), *names, F.col("moment_ms").cast("string")]
    return F.md5(reduce(lambda text, part: F.concat(text, F.lit("\0"), part), parts))
