"""Names as the line protocol can hold them, which is as Telegraf writes them."""

from pyspark.sql import SparkSession

from warren.model.tables import HISTORY, LOG_END, PARTITION
from warren.sinks.elasticsearch import entries
from warren.sinks.influxdb import lines
from warren.sinks.points import points

NAMES = {
    "plain": "plain",
    "a b": r"a\ b",
    "a,b=c": r"a\,b\=c",
    'say "x"': r'say\ "x"',
    "two\nlines\tand\rmore\f": r"two\nlines\tand\rmore\f",
    "back\\slash": "back\\slash",
    "ends with \\\\": r"ends\ with\ ",
    "유니코드": "유니코드",
}


def test_names_are_escaped_as_telegraf_escapes_them(spark: SparkSession) -> None:
    schema = spark.createDataFrame(HISTORY.empty_table()).schema
    empty = dict.fromkeys(HISTORY.names)
    rows = [
        empty | {"cluster": "c", "moment_ms": 5, "kind": PARTITION, "group": name, "lag": 0}
        for name in [*NAMES, ""]
    ]
    rows.append(empty | {"cluster": "c", "moment_ms": 5, "kind": LOG_END, "topic": "folded"})
    made = points(spark.createDataFrame([tuple(row.values()) for row in rows], schema))

    written = [row.text for row in lines(made).collect()]
    documents = [row.text for row in entries(made, "i").collect()]

    fields = "lag=0i,offset=0i,timestamp=0i 5000000\n"
    assert written == [
        *(f"burrow_partition,cluster=c,group={name} {fields}" for name in NAMES.values()),
        f"burrow_partition,cluster=c {fields}",
        "burrow_topic,cluster=c,topic=folded offset=0i 5000000\n",
    ]
    assert all(document.count("\n") == 2 for document in documents)
