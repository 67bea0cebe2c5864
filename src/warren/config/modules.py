"""The modules of the pipeline: clusters, consumers, storage, evaluator and HTTP servers."""

from typing import Annotated, Literal

from msgspec import Meta

from warren.config.keys import (
    AllowedHost,
    Count,
    GroupTemplate,
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

_NO_THREADS = "Warren has no such queues and workers"


class Filtered(NamedSection, frozen=True, kw_only=True):
    """A module that accepts only some groups."""

    group_allowlist: Annotated[
        Regexp,
        key(
            "Only groups whose name matches; all if empty.",
            formerly="group-whitelist",
            example="^important-",
        ),
    ] = ""
    group_denylist: Annotated[
        Regexp,
        key(
            "Except groups whose name matches; none if empty.",
            formerly="group-blacklist",
            example="^(console-consumer-|python-kafka-consumer-|quick-).*$",
        ),
    ] = ""

    @property
    def groups(self) -> GroupFilter:
        return GroupFilter(self.group_allowlist, self.group_denylist)


class Cluster(NamedSection, frozen=True, kw_only=True):
    class_name: Annotated[str, key("The kind of cluster.")] = "kafka"
    servers: Annotated[
        tuple[HostPort, ...], key("Brokers to connect to first.", example='["localhost:9092"]')
    ]
    client_profile: Annotated[
        Name, key("The `client-profile` section to connect with.", example="local")
    ] = ""
    offset_refresh: Annotated[Period, key("Seconds between two reads of the log ends.")] = 10
    topic_refresh: Annotated[Period, key("Seconds between two reads of the topic list.")] = 60
    groups_reaper_refresh: Annotated[
        Seconds,
        key("Seconds between two removals of groups that the brokers no longer have; 0 is never."),
    ] = 0
    record_reads: Annotated[
        Seconds,
        key(
            "Warren's own. At most so many reads of a single record a second, to tell transaction "
            "markers from lag; 0 reads none."
        ),
    ] = 10


class Consumer(Filtered, frozen=True, kw_only=True):
    class_name: Annotated[
        str,
        key(
            "Where Warren reads commits: Kafka's offsets topic; the brokers, polled group by group "
            "(Warren's own); ZooKeeper; ZooKeeper for Storm's spouts; the checkpoints of Spark's "
            "streaming queries, or reports over HTTP (Warren's own, docs/spark-jobs.md)."
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
    offsets_topic: Annotated[str, key("`kafka`: the topic with the commits.")] = (
        "__consumer_offsets"
    )
    start_latest: Annotated[bool, key("`kafka`: start at the end of the topic.")] = False
    backfill_earliest: Annotated[
        bool, key("`kafka`: with start-latest, then read the older commits too.")
    ] = False
    isolation_level: Annotated[
        Literal["read-committed", "read-uncommitted"],
        key("Warren's own, `kafka`: with read-committed, ignore commits of aborted transactions."),
    ] = "read-committed"
    group_refresh: Annotated[
        Seconds,
        key(
            "Warren's own, `kafka_admin`, `spark_checkpoint`: seconds between polls of the groups, "
            "or looks at the checkpoints; 0 is the cluster's `offset-refresh`."
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


class ServerlessConsumer(Consumer, frozen=True, kw_only=True):
    """It has no keys about where to connect to."""

    servers: tuple[HostPort, ...] = ()
    client_profile: str = ""
    offsets_topic: str = ""
    start_latest: bool = False
    backfill_earliest: bool = False
    isolation_level: Literal["read-committed", "read-uncommitted"] = "read-committed"
    zookeeper_path: str = ""
    zookeeper_timeout: int = 0


class HttpConsumer(ServerlessConsumer, frozen=True, kw_only=True):
    """Programs report to it over HTTP."""

    group_refresh: int = 0


class CheckpointConsumer(ServerlessConsumer, frozen=True, kw_only=True):
    """It reads files, through Spark."""

    locations: Annotated[
        tuple[str, ...],
        key(
            "Checkpoints of Spark's streaming queries, or directories that hold some: paths, URLs "
            "that Spark can read, or patterns with * of either.",
            example='["s3a://lake/checkpoints/*"]',
        ),
    ]
    group: Annotated[
        GroupTemplate,
        key(
            "How a checkpoint's group is named: {name} is the checkpoint's directory, {parent} the "
            "one above, {id} the id of the query."
        ),
    ] = "{name}"


class Storage(Filtered, frozen=True, kw_only=True):
    class_name: Annotated[str, key("Where the commits are kept.")] = "inmemory"
    intervals: Annotated[Count, key("Commits kept for each partition.")] = 10
    expire_group: Annotated[
        Period, key("Seconds after its last commit when a group is removed.")
    ] = 604_800
    min_distance: Annotated[
        int, key("Commits of a partition closer together than this many seconds count as one.")
    ] = 0
    max_groups: Annotated[
        NonNegative, key("Warren's own. At most this many groups per cluster; 0 is no limit.")
    ] = 500_000
    max_topics: Annotated[
        NonNegative, key("Warren's own. At most this many topics per cluster; 0 is no limit.")
    ] = 200_000
    max_partitions: Annotated[
        NonNegative,
        key(
            "Warren's own. At most this many partitions of all groups per cluster, with about 0.5 "
            "kB of memory each; 0 is no limit. Commits beyond a limit are dropped, counted and "
            "logged."
        ),
    ] = 5_000_000
    workers: Annotated[Count, key("Burrow's threads.", unused=_NO_THREADS)] = 20
    queue_depth: Annotated[NonNegative, key("Burrow's queues.", unused=_NO_THREADS)] = 1


class Evaluator(NamedSection, frozen=True, kw_only=True):
    class_name: Annotated[
        str,
        key(
            "How verdicts are made: caching, by Burrow's rules; warren, Warren's own, by Warren's "
            "(docs/judgement.md). The other one is the second opinion."
        ),
    ] = "caching"
    expire_cache: Annotated[Seconds, key("Highest age of a verdict, seconds.")] = 10
    minimum_complete: Annotated[
        float,
        Meta(le=1),
        key(
            "Part of the window, up to 1, that must be filled before a partition can be bad; with "
            "0 or less, nothing has to be filled."
        ),
    ] = 0.0
    allowed_lag: Annotated[
        NonNegative, key("Lag, in messages, up to which a partition counts as having none.")
    ] = 0

    @property
    def says_words(self) -> bool:
        """Whether Warren's words decide, and not Burrow's rules."""
        return self.class_name == "warren"


class HttpServer(NamedSection, frozen=True, kw_only=True):
    address: Annotated[Listen, key("Address to listen on; :0 is any free port.", example=":8000")]
    timeout: Annotated[
        int, key("Time-out of a request and of an idle connection, seconds; 0 is no time-out.")
    ] = 300
    tls: Annotated[
        Name,
        key("The `tls` section to serve with; certfile and keyfile required.", example="mytls"),
    ] = ""
    client_cafile: Annotated[
        str,
        key(
            "Warren's own, with `tls`: accept only clients with a certificate from these CAs, PEM.",
            example="clients.pem",
        ),
    ] = ""
    read_token: Annotated[
        Secret,
        key(
            "Warren's own. If set, requests need it as bearer token or as password of basic "
            "authentication, except probes below /burrow/admin.",
            example="secret",
        ),
    ] = Secret()
    write_token: Annotated[
        Secret,
        key(
            "Warren's own. The same for requests that change something: DELETE, and POST of the "
            "log level. It is also valid for reading.",
            example="secret",
        ),
    ] = Secret()
    report_token: Annotated[
        Secret,
        key(
            "Warren's own. If set, reports of offsets need it or the write-token. It is valid for "
            "nothing else; without it they need the write-token.",
            example="secret",
        ),
    ] = Secret()
    silence_token: Annotated[
        Secret,
        key(
            "Warren's own. If set, it is valid for reading, and for adding and ending silences, as "
            "the page's Acknowledge and Silence do; the write-token is, too. Without it they need "
            "the write-token.",
            example="secret",
        ),
    ] = Secret()
    allowed_hosts: Annotated[
        tuple[AllowedHost, ...],
        key(
            "Warren's own. Further host names under which browsers reach this server; .example.com "
            "means that name and all below it, * any name.",
            example='["warren.example.com"]',
        ),
    ] = ()
    allow_writes: Annotated[bool, key("Warren's own. Whether requests may change anything.")] = True
    max_connections: Annotated[
        Count, key("Warren's own. Connections at once, for each worker; more have to wait.")
    ] = 512
