"""Appends moments until it is killed: `python appending.py DIRECTORY FIRST_MINUTE`."""

import itertools
import sys

from history.kept import group, minute, moment, partition

from warren import jars
from warren.history import table
from warren.session import start_session

GROUPS = [f"group-{number}" for number in range(1000)]
CLUSTERS = ("local", "other")


def main(directory: str, first: int) -> None:
    started = start_session("local[1]", "appending", {}, "512m", bundles=(jars.DELTA,))
    spark = table.session(started)
    table.make(spark, directory)
    for number in itertools.count(first):
        rows = [
            row
            for cluster in CLUSTERS
            for name in GROUPS
            for row in (
                group(name, 1, 0, cluster=cluster),
                partition(name, "orders", 0, 1, 0, cluster=cluster),
            )
        ]
        table.append(spark, directory, moment(minute(number), rows), "killed")
        print(number, flush=True)  # noqa: T201  the test reads it


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
