"""The modules of the pipeline: clusters, consumers, storage, evaluator and HTTP servers."""

from typing import Annotated, Literal

from msgspec import Meta

from warren.config.keys import (
    AllowedHost,
    Count,
    HostPort,
    Listen,
    Name,
    NonNegative,
    Period,
    Regexp,
    Seconds,
    ZookeeperParent,
    key,
)
from warren.config.secrets import Secret
from warren.config.sections import NamedSection
from warren.model.group_filter import GroupFilter

_NO_THREADS = "nothing waits in queues or for workers here"


class Filtered(NamedSection, frozen=True, kw_only=True):
    """A module that cares about some groups only."""

    group_allowlist: Annotated[
        Regexp,
        key(
            "Only groups in whose name this is found; all if empty.",
            formerly="group-whitelist",
            example="^important-",
        ),
    ] = ""
    group_denylist: Annotated[
        Regexp,
        key(
            "Except groups in whose name this is found; none if empty.",
            formerly="group-blacklist",
            example="^(console-consumer-|python-kafka-consumer-|quick-).*$",
        ),
    ] = ""

    @property
    def groups(self) -> GroupFilter:
        return GroupFilter(self.group_allowlist, self.group_denylist)


class Cluster(NamedSection, frozen=True, kw_only=True):
    class_name: Annotated[str, key("What kind of cluster.")] = "kafka"
    servers: Annotated[
        tuple[HostPort, ...], key("Brokers to ask first.", example='["localhost:9092"]')
    ]
    client_profile: Annotated[
        Name, key("The `client-profile` section to connect with.", example="local")
    ] = ""
    offset_refresh: Annotated[Period, key("Seconds between readings of the log ends.")] = 10
    topic_refresh: Annotated[Period, key("Seconds between readings of the topic list.")] = 60
    groups_reaper_refresh: Annotated[
        Seconds, key("Seconds between removals of groups the brokers no longer know; 0 is never.")
    ] = 0


class Consumer(Filtered, frozen=True, kw_only=True):
    class_name: Annotated[
        str,
        key(
            "Where commits are read: Kafka's offsets topic; the brokers, asked group by group "
            "(Warren's own); ZooKeeper; ZooKeeper for Storm's spouts."
        ),
    ] = "kafka"
    cluster: Annotated[Name, key("The `cluster` section the groups belong to.", example="local")]
    servers: Annotated[
        tuple[HostPort, ...],
        key("Brokers; ZooKeeper servers for `kafka_zk` and `storm`.", example='["localhost:9092"]'),
    ]
    client_profile: Annotated[
        Name,
        key(
            "`kafka`, `kafka_admin`: the `client-profile` section to connect with.",
            example="local",
        ),
    ] = ""
    offsets_topic: Annotated[str, key("`kafka`: topic that holds the commits.")] = (
        "__consumer_offsets"
    )
    start_latest: Annotated[bool, key("`kafka`: begin at the end of the topic.")] = False
    backfill_earliest: Annotated[
        bool, key("`kafka`: with start-latest, read what was there before as well.")
    ] = False
    isolation_level: Annotated[
        Literal["read-committed", "read-uncommitted"],
        key("Warren's own, `kafka`: whether commits of aborted transactions are left out."),
    ] = "read-committed"
    group_refresh: Annotated[
        Seconds,
        key(
            "Warren's own, `kafka_admin`: seconds between polls of the groups; 0 is the cluster's "
            "`offset-refresh`."
        ),
    ] = 0
    zookeeper_path: Annotated[
        ZookeeperParent,
        key(
            "`kafka_zk`: path of the cluster in ZooKeeper, above /consumers. `storm`: the spouts' "
            "zkRoot.",
            example="/kafka",
        ),
    ] = ""
    zookeeper_timeout: Annotated[Period, key("ZooKeeper classes: session time-out, seconds.")] = 30


class Storage(Filtered, frozen=True, kw_only=True):
    class_name: Annotated[str, key("Where history is kept.")] = "inmemory"
    intervals: Annotated[Count, key("Commits kept for each partition.")] = 10
    expire_group: Annotated[
        Period, key("Seconds after its last commit at which a group is forgotten.")
    ] = 604_800
    min_distance: Annotated[
        int, key("Commits of a partition closer than this many seconds are kept as one.")
    ] = 0
    max_groups: Annotated[
        NonNegative, key("Warren's own. Groups of a cluster, at most; 0 is no limit.")
    ] = 500_000
    max_topics: Annotated[
        NonNegative, key("Warren's own. Topics of a cluster, at most; 0 is no limit.")
    ] = 200_000
    max_partitions: Annotated[
        NonNegative,
        key(
            "Warren's own. Partitions of all groups of a cluster, at most, about 0.5 kB of memory "
            "each; 0 is no limit. What does not fit is left out, counted and logged."
        ),
    ] = 5_000_000
    workers: Annotated[Count, key("Burrow's threads.", unused=_NO_THREADS)] = 20
    queue_depth: Annotated[NonNegative, key("Burrow's queues.", unused=_NO_THREADS)] = 1


class Evaluator(NamedSection, frozen=True, kw_only=True):
    class_name: Annotated[str, key("How verdicts are made.")] = "caching"
    expire_cache: Annotated[Seconds, key("Seconds that a verdict may be old.")] = 10
    minimum_complete: Annotated[
        float,
        Meta(le=1),
        key(
            "Part of the window, up to 1, that must be filled before a partition can be bad; 0, "
            "and anything below, asks for nothing."
        ),
    ] = 0.0
    allowed_lag: Annotated[NonNegative, key("Lag, in messages, that counts as none.")] = 0


class HttpServer(NamedSection, frozen=True, kw_only=True):
    address: Annotated[Listen, key("Where to listen; :0 is any free port.", example=":8000")]
    timeout: Annotated[
        int, key("Time-out of a request and of an idle connection, seconds; 0 is none.")
    ] = 300
    tls: Annotated[
        Name,
        key("The `tls` section to serve with; certfile and keyfile required.", example="mytls"),
    ] = ""
    client_cafile: Annotated[
        str,
        key(
            "Warren's own, with `tls`: only clients with a certificate of these authorities, PEM.",
            example="clients.pem",
        ),
    ] = ""
    read_token: Annotated[
        Secret,
        key(
            "Warren's own. Who asks must give it, as bearer token or as password of basic "
            "authentication; probes below /burrow/admin need none.",
            example="secret",
        ),
    ] = Secret()
    write_token: Annotated[
        Secret,
        key(
            "Warren's own. The same for who changes something: DELETE, and POST of the log level; "
            "it is good for reading too.",
            example="secret",
        ),
    ] = Secret()
    allowed_hosts: Annotated[
        tuple[AllowedHost, ...],
        key(
            "Warren's own. Further names under which people reach it with a browser; .example.com "
            "is that and all names below it, * is any name.",
            example='["warren.example.com"]',
        ),
    ] = ()
    allow_writes: Annotated[
        bool, key("Warren's own. Whether requests may change anything at all.")
    ] = True
    max_connections: Annotated[
        Count, key("Warren's own. Connections at a time, for each worker; more have to wait.")
    ] = 512
