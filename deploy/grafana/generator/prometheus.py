"""The questions in PromQL, of what Warren shows on /metrics."""

from collections.abc import Mapping

from grafana_foundation_sdk.models.prometheus import Dataquery, PromQueryFormat

from generator.alerts import AGE, DRAIN, EXPIRE, LOST, MARGIN, SCALABLE
from generator.questions import Asked, Source
from generator.status import BURROW_GROUP, BURROW_PARTITION

STATUS = "burrow_kafka_consumer_status"
LAG = "burrow_kafka_consumer_lag_total"
PARTITION_LAG = "burrow_kafka_consumer_partition_lag"
PARTITION_STATUS = "burrow_kafka_topic_partition_status"
OFFSET = "burrow_kafka_consumer_current_offset"
LOG_END = "burrow_kafka_topic_partition_offset"
PARTITION_AGE = "warren_partition_time_lag_seconds"
TOPIC_LAG = "warren_consumer_topic_lag"  # of groups without series by partition

CLUSTER = '{cluster=~"$cluster"}'
GROUP = '{cluster=~"$cluster",consumer_group=~"$group"}'
TOPIC = '{cluster=~"$cluster",consumer_group=~"$group",topic=~"$topic"}'
PRODUCED = '{cluster=~"$cluster",topic=~"$topic",topic!="__consumer_offsets"}'
THE_GROUP = '{cluster="$cluster",consumer_group="$group"}'
ITS_TOPIC = '{cluster="$cluster",consumer_group="$group",topic=~"$topic"}'
ITS_END = '{cluster="$cluster",topic=~"$topic"}'

BY_TOPIC = "sum by (cluster, consumer_group, topic)"
A_MINUTE = "[$__rate_interval]) * 60"
GROUP_LEGEND = "{{cluster}} / {{consumer_group}}"
TOPIC_LEGEND = f"{GROUP_LEGEND} / {{{{topic}}}}"
PARTITION_LEGEND = "{{topic}} {{partition}}"
HIDDEN = {"Time": "", "__name__": "", "instance": "", "job": ""}


def over_time(expr: str, legend: str, ref_id: str = "A") -> Dataquery:
    return Dataquery(expr=expr, legend_format=legend, ref_id=ref_id, range_val=True)


def now(expr: str, legend: str, ref_id: str = "A") -> Dataquery:
    return Dataquery(expr=expr, legend_format=legend, ref_id=ref_id, instant=True, range_val=False)


def rows(**exprs: str) -> list[Dataquery]:
    """One table for each expression, to be joined by labels."""
    return [
        Dataquery(
            expr=expr,
            ref_id=ref_id,
            instant=True,
            range_val=False,
            format_val=PromQueryFormat.TABLE,
        )
        for ref_id, expr in exprs.items()
    ]


def counted(code: int) -> str:
    return f"count({STATUS}{CLUSTER} == {code}) or vector(0)"


OVERVIEW = {
    "groups by status": Asked(
        [now(counted(code), word, word) for code, word in BURROW_GROUP.items()]
    ),
    "groups by status over time": Asked(
        [over_time(counted(code), word, word) for code, word in BURROW_GROUP.items()]
    ),
    "total lag": Asked([over_time(f"sum({LAG}{CLUSTER})", "lag")]),
    "lag by cluster": Asked([over_time(f"sum by (cluster) ({LAG}{CLUSTER})", "{{cluster}}")]),
    "groups": Asked(
        rows(status=f"{STATUS}{CLUSTER}", lag=f"{LAG}{CLUSTER}", age=f"{AGE}{CLUSTER}"),
        {
            "cluster": "cluster",
            "consumer_group": "group",
            "Value #status": "status",
            "Value #lag": "lag",
            "Value #age": "age",
            **HIDDEN,
        },
    ),
}
CONSUMERS = {
    "status of groups": Asked([over_time(STATUS + GROUP, GROUP_LEGEND)]),
    "lag by group": Asked([over_time(LAG + GROUP, GROUP_LEGEND)]),
    "age by group": Asked([over_time(AGE + GROUP, GROUP_LEGEND)]),
    "drain by group": Asked([over_time(f"{DRAIN}_high{GROUP}", GROUP_LEGEND)]),
    "margin by group": Asked([over_time(MARGIN + GROUP, GROUP_LEGEND)]),
    "lost by group": Asked([over_time(LOST + GROUP, GROUP_LEGEND)]),
    "expiry by group": Asked([over_time(EXPIRE + GROUP, GROUP_LEGEND)]),
    "scalable by group": Asked([over_time(SCALABLE + GROUP, GROUP_LEGEND)]),
    "lag growth": Asked([over_time(f"deriv({LAG}{GROUP}{A_MINUTE}", GROUP_LEGEND)]),
    "lag by topic": Asked(
        [over_time(f"{BY_TOPIC} ({PARTITION_LAG}{TOPIC} or {TOPIC_LAG}{TOPIC})", TOPIC_LEGEND)]
    ),
    # A rewind is negative: deriv, not rate.
    "consumed by topic": Asked(
        [over_time(f"{BY_TOPIC} (deriv({OFFSET}{TOPIC}{A_MINUTE})", TOPIC_LEGEND)]
    ),
    # A log end falls only when its topic is made anew: rate, not deriv.
    "produced by topic": Asked(
        [
            over_time(
                f"sum by (cluster, topic) (rate({LOG_END}{PRODUCED}{A_MINUTE})",
                "{{cluster}} / {{topic}}",
            )
        ]
    ),
}
ONE_GROUP = {
    "status of the group": Asked([now(STATUS + THE_GROUP, "status")]),
    "lag of the group": Asked([over_time(LAG + THE_GROUP, "lag")]),
    "partitions of the group": Asked([now(f"count({PARTITION_LAG}{THE_GROUP})", "partitions")]),
    "age of the group": Asked(
        [
            over_time(AGE + THE_GROUP, "age"),
            over_time(f"{AGE}_low{THE_GROUP}", "at least", "low"),
            over_time(f"{AGE}_high{THE_GROUP}", "at most", "high"),
        ]
    ),
    "age now": Asked([now(AGE + THE_GROUP, "age")]),
    "drain of the group": Asked(
        [
            now(f"{DRAIN}_low{THE_GROUP}", "at least", "low"),
            now(f"{DRAIN}_high{THE_GROUP}", "at most", "high"),
        ]
    ),
    "margin of the group": Asked([now(MARGIN + THE_GROUP, "margin")]),
    "lost by the group": Asked([now(LOST + THE_GROUP, "lost")]),
    "expiry of the group": Asked([now(EXPIRE + THE_GROUP, "expiry")]),
    "scalable of the group": Asked([now(SCALABLE + THE_GROUP, "lag")]),
    "age by partition": Asked([over_time(PARTITION_AGE + ITS_TOPIC, PARTITION_LEGEND)]),
    "partitions": Asked(
        rows(
            status=PARTITION_STATUS + ITS_TOPIC,
            lag=PARTITION_LAG + ITS_TOPIC,
            offset=OFFSET + ITS_TOPIC,
        ),
        {
            "topic": "topic",
            "partition": "partition",
            "Value #status": "status",
            "Value #lag": "lag",
            "Value #offset": "offset",
            "cluster": "",
            "consumer_group": "",
            **HIDDEN,
        },
    ),
    "status of partitions": Asked([over_time(PARTITION_STATUS + ITS_TOPIC, PARTITION_LEGEND)]),
    "lag by partition": Asked([over_time(PARTITION_LAG + ITS_TOPIC, PARTITION_LEGEND)]),
    "consumed by partition": Asked(
        [over_time(f"deriv({OFFSET}{ITS_TOPIC}{A_MINUTE}", PARTITION_LEGEND)]
    ),
    "offsets by partition": Asked(
        [
            over_time(OFFSET + ITS_TOPIC, f"{PARTITION_LEGEND} committed", "committed"),
            over_time(LOG_END + ITS_END, f"{PARTITION_LEGEND} log end", "end"),
        ]
    ),
}
CHOICES: Mapping[str, str] = {
    "cluster": f"label_values({STATUS}, cluster)",
    "group": f"label_values({STATUS}{CLUSTER}, consumer_group)",
    "topic": f"label_values({PARTITION_LAG}{GROUP}, topic)",
}

PROMETHEUS = Source(
    name="prometheus",
    title="Prometheus",
    plugin="prometheus",
    asked=OVERVIEW | CONSUMERS | ONE_GROUP,
    choices=CHOICES,
    everything=".*",
    group_words=BURROW_GROUP,
    partition_words=BURROW_PARTITION,
    least_interval="",
)
