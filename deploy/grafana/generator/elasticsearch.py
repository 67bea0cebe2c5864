"""The questions to Elasticsearch and OpenSearch, of documents as Telegraf writes them."""

import json

from grafana_foundation_sdk.models import elasticsearch as es

from generator import elastic_query as ask
from generator.questions import Asked, Source
from generator.status import TELEGRAF_GROUP, TELEGRAF_PARTITION

GROUPS = "measurement_name:burrow_group AND tag.cluster:$cluster"
GROUP = f"{GROUPS} AND tag.group:$group"
PARTITIONS = (
    "measurement_name:burrow_partition AND tag.cluster:$cluster"
    " AND tag.group:$group AND tag.topic:$topic"
)
TOPICS = "measurement_name:burrow_topic AND tag.cluster:$cluster AND tag.topic:$topic"
PRODUCED = f"{TOPICS} AND NOT tag.topic:__consumer_offsets"

GROUP_LEGEND = "{{term tag.cluster}} / {{term tag.group}}"
TOPIC_LEGEND = f"{GROUP_LEGEND} / {{{{term tag.topic}}}}"
PARTITION_LEGEND = "{{term tag.topic}} {{term tag.partition}}"
GROUP_TAGS = ("cluster", "group")
TOPIC_TAGS = (*GROUP_TAGS, "topic")
BY_PARTITION = ("topic", "partition")
COUNTED = ("OK", "WARN", "ERR")


def largest(field: str) -> es.Max:
    return es.Max(field=field, id_val="1")


def total(field: str) -> es.Sum:
    return es.Sum(field=field, id_val="1")


def counted(word: str) -> es.Dataquery:
    """A document for each group, in a minute; equal names in two clusters are two groups."""
    groups = es.Count(id_val="1")
    return ask.over_time(f"{GROUPS} AND burrow_group.status:{word}", groups, (), word, word)


OVERVIEW = {
    "groups by status": Asked([counted(word) for word in COUNTED]),
    "groups by status over time": Asked([counted(word) for word in COUNTED]),
    "total lag": Asked([ask.over_time(GROUPS, total("burrow_group.total_lag"), (), "lag")]),
    "lag by cluster": Asked(
        [
            ask.over_time(
                GROUPS,
                total("burrow_group.total_lag"),
                ("cluster",),
                "{{term tag.cluster}}",
            )
        ]
    ),
    "groups": Asked(
        [
            ask.table(
                GROUPS,
                ("burrow_group.status_code", "burrow_group.total_lag", "burrow_group.age_s"),
                GROUP_TAGS,
            )
        ],
        {
            "tag.cluster": "cluster",
            "tag.group": "group",
            "Max burrow_group.status_code": "status",
            "Max burrow_group.total_lag": "lag",
            "Max burrow_group.age_s": "age",
        },
    ),
    "points delivered": Asked(
        [
            ask.over_time(
                f"measurement_name:{measurement} AND tag.cluster:$cluster",
                es.Count(id_val="1"),
                (),
                measurement,
                measurement,
            )
            for measurement in ("burrow_group", "burrow_partition", "burrow_topic")
        ]
    ),
    "newest point": Asked(
        [ask.table("tag.cluster:$cluster", ("@timestamp",), ("cluster",))],
        {"tag.cluster": "cluster", "Max": "newest point"},
    ),
}


def of_groups(field: str) -> Asked:
    metric = largest(f"burrow_group.{field}")
    return Asked([ask.over_time(GROUP, metric, GROUP_TAGS, GROUP_LEGEND)])


def of_the_group(**names: str) -> Asked:
    """A series for each field, by the name it is shown with."""
    return Asked(
        [
            ask.over_time(GROUP, largest(f"burrow_group.{field}"), (), name.replace("_", " "), name)
            for name, field in names.items()
        ]
    )


CONSUMERS = {
    "status of groups": Asked(
        [ask.over_time(GROUP, largest("burrow_group.status_code"), GROUP_TAGS, GROUP_LEGEND)]
    ),
    "lag by group": Asked(
        [ask.over_time(GROUP, largest("burrow_group.total_lag"), GROUP_TAGS, GROUP_LEGEND)]
    ),
    "age by group": of_groups("age_s"),
    "drain by group": of_groups("drain_high_s"),
    "margin by group": of_groups("margin_s"),
    "lost by group": of_groups("lost"),
    "expiry by group": of_groups("expires_s"),
    "scalable by group": of_groups("scalable_lag"),
    "lag growth": Asked([ask.a_minute(GROUP, "burrow_group.total_lag", GROUP_TAGS, GROUP_LEGEND)]),
    "lag by topic": Asked(
        [ask.over_time(PARTITIONS, total("burrow_partition.lag"), TOPIC_TAGS, TOPIC_LEGEND)]
    ),
    "consumed by topic": Asked(
        [ask.a_minute(PARTITIONS, "burrow_partition.offset", TOPIC_TAGS, TOPIC_LEGEND)]
    ),
    "produced by topic": Asked(
        [
            ask.a_minute(
                PRODUCED,
                "burrow_topic.offset",
                ("cluster", "topic"),
                "{{term tag.cluster}} / {{term tag.topic}}",
            )
        ]
    ),
}
ONE_GROUP = {
    "status of the group": Asked(
        [ask.over_time(GROUP, largest("burrow_group.status_code"), (), "status")]
    ),
    "lag of the group": Asked([ask.over_time(GROUP, largest("burrow_group.total_lag"), (), "lag")]),
    "partitions of the group": Asked(
        [ask.over_time(GROUP, largest("burrow_group.partition_count"), (), "partitions")]
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
            ask.over_time(
                PARTITIONS, largest("burrow_partition.age_s"), BY_PARTITION, PARTITION_LEGEND
            )
        ]
    ),
    "partitions": Asked(
        [
            ask.table(
                PARTITIONS,
                (
                    "burrow_partition.status_code",
                    "burrow_partition.lag",
                    "burrow_partition.offset",
                ),
                BY_PARTITION,
            )
        ],
        {
            "tag.topic": "topic",
            "tag.partition": "partition",
            "Max burrow_partition.status_code": "status",
            "Max burrow_partition.lag": "lag",
            "Max burrow_partition.offset": "offset",
        },
    ),
    "status of partitions": Asked(
        [
            ask.over_time(
                PARTITIONS,
                largest("burrow_partition.status_code"),
                BY_PARTITION,
                PARTITION_LEGEND,
            )
        ]
    ),
    "lag by partition": Asked(
        [ask.over_time(PARTITIONS, largest("burrow_partition.lag"), BY_PARTITION, PARTITION_LEGEND)]
    ),
    "consumed by partition": Asked(
        [ask.a_minute(PARTITIONS, "burrow_partition.offset", BY_PARTITION, PARTITION_LEGEND)]
    ),
    "offsets by partition": Asked(
        [
            ask.over_time(
                PARTITIONS,
                largest("burrow_partition.offset"),
                BY_PARTITION,
                f"{PARTITION_LEGEND} committed",
                "committed",
            ),
            ask.over_time(
                TOPICS,
                largest("burrow_topic.offset"),
                BY_PARTITION,
                f"{PARTITION_LEGEND} log end",
                "end",
            ),
        ]
    ),
}


def values_of(tag: str, query: str) -> str:
    return json.dumps(
        {"find": "terms", "field": f"tag.{tag}", "query": query, "size": int(ask.ALL)}
    )


ELASTICSEARCH = Source(
    name="elasticsearch",
    title="Elasticsearch",
    plugin="elasticsearch",
    asked=OVERVIEW | CONSUMERS | ONE_GROUP,
    choices={
        "cluster": values_of("cluster", "measurement_name:burrow_group"),
        "group": values_of("group", "measurement_name:burrow_group AND tag.cluster:$cluster"),
        "topic": values_of(
            "topic",
            "measurement_name:burrow_partition AND tag.cluster:$cluster AND tag.group:$group",
        ),
    },
    everything="*",
    group_words=TELEGRAF_GROUP,
    partition_words=TELEGRAF_PARTITION,
    least_interval=ask.INTERVAL,
)
