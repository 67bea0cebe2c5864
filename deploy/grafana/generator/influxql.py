"""InfluxQL, of the points that Telegraf would write and Warren's sink does.

A sum over partitions is taken of the last value that each has in an interval: then it is right
however many points fall into one.
"""

from grafana_foundation_sdk.cog.variants import Dataquery

INTERVAL = "time($__interval)"
MINUTE = "time(1m)"
GROUP_TAGS = ("cluster", "group")
TOPIC_TAGS = (*GROUP_TAGS, "topic")
PARTITION_TAGS = (*TOPIC_TAGS, "partition")


class InfluxQuery(Dataquery):
    """The foundation SDK has no type for InfluxQL."""

    def __init__(
        self, query: str, alias: str = "", ref_id: str = "A", kind: str = "time_series"
    ) -> None:
        self.query, self.alias, self.ref_id, self.kind = query, alias, ref_id, kind

    def to_json(self) -> dict[str, object]:
        return {
            "refId": self.ref_id,
            "query": self.query,
            "rawQuery": True,
            "alias": self.alias,
            "resultFormat": self.kind,
        }


def select(what: str, source: str, where: str, *by: str, fill: str = "") -> str:
    groups = ", ".join(each if "(" in each else f'"{each}"' for each in by)
    end = f" fill({fill})" if fill else ""
    asked = f"SELECT {what} FROM {source} WHERE {where}"  # noqa: S608  for files, of our own words
    return f"{asked} GROUP BY {groups}{end}" if by else asked


def newest(field: str, measurement: str, where: str, *tags: str) -> str:
    """The newest value of each interval, for each of the tags' values."""
    what = f'last("{field}") AS "{field}"'
    return select(what, f'"{measurement}"', where, INTERVAL, *tags, fill="none")


def moved(measurement: str, where: str, *tags: str) -> str:
    """How far the offset of each partition moves in a minute."""
    what = 'difference(mean("offset"))'
    return select(what, f'"{measurement}"', where, MINUTE, *tags, fill="previous")


def moved_together(measurement: str, where: str, *tags: str) -> str:
    """How far the offsets of all partitions move in a minute.

    Partitions are added before the difference is taken: InfluxDB 1 takes a difference in a subquery
    over the lines of all partitions as if they were one series, and so it does with fill(previous).
    """
    inner = select(
        'mean("offset") AS "offset"',
        f'"{measurement}"',
        where,
        MINUTE,
        *(*tags, "partition"),
        fill="none",
    )
    return select('difference(sum("offset"))', f"({inner})", "$timeFilter", MINUTE, *tags)


def added(field: str, inner: str, *by: str) -> str:
    return select(f'sum("{field}")', f"({inner})", "$timeFilter", *by, fill="none")
