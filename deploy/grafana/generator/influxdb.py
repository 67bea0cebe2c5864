"""The questions in InfluxQL."""

from generator.influxql import (
    GROUP_TAGS,
    INTERVAL,
    MINUTE,
    PARTITION_TAGS,
    TOPIC_TAGS,
    InfluxQuery,
    added,
    moved,
    moved_together,
    newest,
    select,
)
from generator.questions import Asked, Source
from generator.status import TELEGRAF_GROUP, TELEGRAF_PARTITION

CLUSTER = '"cluster" =~ /^$cluster$/'
IN_CLUSTER = f"$timeFilter AND {CLUSTER}"
IN_GROUP = f'{IN_CLUSTER} AND "group" =~ /^$group$/'
IN_TOPIC = f'{IN_GROUP} AND "topic" =~ /^$topic$/'
PRODUCED = f'{IN_CLUSTER} AND "topic" =~ /^$topic$/ AND "topic" != \'__consumer_offsets\''
THE_GROUP = "$timeFilter AND \"cluster\" = '$cluster' AND \"group\" = '$group'"
ITS_TOPIC = f'{THE_GROUP} AND "topic" =~ /^$topic$/'
ITS_END = '$timeFilter AND "cluster" = \'$cluster\' AND "topic" =~ /^$topic$/'

GROUP_LEGEND = "$tag_cluster / $tag_group"
TOPIC_LEGEND = f"{GROUP_LEGEND} / $tag_topic"
PARTITION_LEGEND = "$tag_topic $tag_partition"
COUNTED = {1: "OK", 3: "WARN", 4: "ERR"}


def counted_now(code: int) -> str:
    what, recent = 'last("status_code") AS "code"', f"time > now() - 5m AND {CLUSTER}"
    inner = select(what, '"burrow_group"', recent, *GROUP_TAGS)
    return select('count("code")', f"({inner})", f'"code" = {code}')


def counted(code: int) -> str:
    inner = newest("status_code", "burrow_group", IN_CLUSTER, *GROUP_TAGS)
    where = f'$timeFilter AND "status_code" = {code}'
    return select('count("status_code")', f"({inner})", where, INTERVAL, fill="none")


LAG_OF_GROUPS = newest("total_lag", "burrow_group", IN_CLUSTER, *GROUP_TAGS)
OVERVIEW = {
    "groups by status": Asked(
        [InfluxQuery(counted_now(code), word, word) for code, word in COUNTED.items()]
    ),
    "groups by status over time": Asked(
        [InfluxQuery(counted(code), word, word) for code, word in COUNTED.items()]
    ),
    "total lag": Asked([InfluxQuery(added("total_lag", LAG_OF_GROUPS, INTERVAL), "lag")]),
    "lag by cluster": Asked(
        [InfluxQuery(added("total_lag", LAG_OF_GROUPS, INTERVAL, "cluster"), "$tag_cluster")]
    ),
    "groups": Asked(
        [
            InfluxQuery(
                select(
                    'last("status_code") AS "status", last("total_lag") AS "lag",'
                    ' last("age_s") AS "age"',
                    '"burrow_group"',
                    IN_CLUSTER,
                    *GROUP_TAGS,
                ),
                kind="table",
            )
        ],
        {
            "cluster": "cluster",
            "group": "group",
            "status": "status",
            "lag": "lag",
            "age": "age",
            "Time": "",
        },
    ),
    "points delivered": Asked(
        [
            InfluxQuery(
                select('count("status_code")', f'"{measurement}"', IN_CLUSTER, MINUTE, fill="0"),
                measurement,
                measurement,
            )
            for measurement in ("burrow_group", "burrow_partition")
        ]
    ),
    "newest point": Asked(
        [
            InfluxQuery(
                select('last("status_code")', '"burrow_group"', IN_CLUSTER, "cluster"),
                kind="table",
            )
        ],
        {"cluster": "cluster", "Time": "newest point", "last": ""},
    ),
}


def of_groups(field: str) -> Asked:
    return Asked([InfluxQuery(newest(field, "burrow_group", IN_GROUP, *GROUP_TAGS), GROUP_LEGEND)])


def of_the_group(**names: str) -> Asked:
    """A series for each field, by the name it is shown with."""
    return Asked(
        [
            InfluxQuery(newest(field, "burrow_group", THE_GROUP), name.replace("_", " "), name)
            for name, field in names.items()
        ]
    )


CONSUMERS = {
    "status of groups": Asked(
        [InfluxQuery(newest("status_code", "burrow_group", IN_GROUP, *GROUP_TAGS), GROUP_LEGEND)]
    ),
    "lag by group": Asked(
        [InfluxQuery(newest("total_lag", "burrow_group", IN_GROUP, *GROUP_TAGS), GROUP_LEGEND)]
    ),
    "age by group": of_groups("age_s"),
    "drain by group": of_groups("drain_high_s"),
    "margin by group": of_groups("margin_s"),
    "lost by group": of_groups("lost"),
    "expiry by group": of_groups("expires_s"),
    "scalable by group": of_groups("scalable_lag"),
    "lag growth": Asked(
        [
            InfluxQuery(
                select(
                    'difference(last("total_lag"))',
                    '"burrow_group"',
                    IN_GROUP,
                    MINUTE,
                    *GROUP_TAGS,
                    fill="previous",
                ),
                GROUP_LEGEND,
            )
        ]
    ),
    "lag by topic": Asked(
        [
            InfluxQuery(
                added(
                    "lag",
                    newest("lag", "burrow_partition", IN_TOPIC, *PARTITION_TAGS),
                    INTERVAL,
                    *TOPIC_TAGS,
                ),
                TOPIC_LEGEND,
            )
        ]
    ),
    "consumed by topic": Asked(
        [InfluxQuery(moved_together("burrow_partition", IN_TOPIC, *TOPIC_TAGS), TOPIC_LEGEND)]
    ),
    "produced by topic": Asked(
        [
            InfluxQuery(
                moved_together("burrow_topic", PRODUCED, "cluster", "topic"),
                "$tag_cluster / $tag_topic",
            )
        ]
    ),
}
BY_PARTITION = ("topic", "partition")
ONE_GROUP = {
    "status of the group": Asked(
        [InfluxQuery(newest("status_code", "burrow_group", THE_GROUP), "status")]
    ),
    "lag of the group": Asked([InfluxQuery(newest("total_lag", "burrow_group", THE_GROUP), "lag")]),
    "partitions of the group": Asked(
        [InfluxQuery(newest("partition_count", "burrow_group", THE_GROUP), "partitions")]
    ),
    "age of the group": of_the_group(age="age_s", at_least="age_low_s", at_most="age_high_s"),
    "age now": of_the_group(age="age_s"),
    "drain of the group": of_the_group(at_least="drain_low_s", at_most="drain_high_s"),
    "margin of the group": of_the_group(margin="margin_s"),
    "lost by the group": of_the_group(lost="lost"),
    "expiry of the group": of_the_group(expiry="expires_s"),
    "scalable of the group": of_the_group(lag="scalable_lag"),
    "age by partition": Asked(
        [
            InfluxQuery(
                newest("age_s", "burrow_partition", ITS_TOPIC, *BY_PARTITION), PARTITION_LEGEND
            )
        ]
    ),
    "partitions": Asked(
        [
            InfluxQuery(
                select(
                    'last("status_code") AS "status", last("lag") AS "lag",'
                    ' last("offset") AS "offset"',
                    '"burrow_partition"',
                    ITS_TOPIC,
                    *BY_PARTITION,
                ),
                kind="table",
            )
        ],
        {
            "topic": "topic",
            "partition": "partition",
            "status": "status",
            "lag": "lag",
            "offset": "offset",
            "Time": "",
        },
    ),
    "status of partitions": Asked(
        [
            InfluxQuery(
                newest("status_code", "burrow_partition", ITS_TOPIC, *BY_PARTITION),
                PARTITION_LEGEND,
            )
        ]
    ),
    "lag by partition": Asked(
        [InfluxQuery(newest("lag", "burrow_partition", ITS_TOPIC, *BY_PARTITION), PARTITION_LEGEND)]
    ),
    "consumed by partition": Asked(
        [InfluxQuery(moved("burrow_partition", ITS_TOPIC, *BY_PARTITION), PARTITION_LEGEND)]
    ),
    "offsets by partition": Asked(
        [
            InfluxQuery(
                newest("offset", "burrow_partition", ITS_TOPIC, *BY_PARTITION),
                f"{PARTITION_LEGEND} committed",
                "committed",
            ),
            InfluxQuery(
                newest("offset", "burrow_topic", ITS_END, *BY_PARTITION),
                f"{PARTITION_LEGEND} log end",
                "end",
            ),
        ]
    ),
}
CHOICES = {
    "cluster": 'SHOW TAG VALUES FROM "burrow_group" WITH KEY = "cluster"',
    "group": f'SHOW TAG VALUES FROM "burrow_group" WITH KEY = "group" WHERE {CLUSTER}',
    "topic": 'SHOW TAG VALUES FROM "burrow_partition" WITH KEY = "topic"'
    f' WHERE {CLUSTER} AND "group" =~ /^$group$/',
}

INFLUXDB = Source(
    name="influxdb",
    title="InfluxDB",
    plugin="influxdb",
    asked=OVERVIEW | CONSUMERS | ONE_GROUP,
    choices=CHOICES,
    everything=".*",
    group_words=TELEGRAF_GROUP,
    partition_words=TELEGRAF_PARTITION,
    least_interval="1m",
)
