"""The sections without a name, and the profiles that clusters, consumers and servers refer to."""

from typing import Annotated, Literal

import msgspec

from warren.config import keys
from warren.config.keys import (
    Check,
    Count,
    HostPort,
    KafkaVersion,
    Name,
    NonNegative,
    OptionalUrl,
    Period,
    Regexp,
    Tolerated,
    ZookeeperPath,
    key,
    one_of,
)
from warren.config.secrets import FrozenMap, Secret

LEVELS = ("debug", "info", "warn", "error", "panic", "fatal")


def _level(text: str) -> str:
    """Accept any case; a level that Burrow does not know is a warning, and means info."""
    level = text.lower() or "info"
    if level not in LEVELS:
        raise Tolerated(f"{text!r} is not one of {', '.join(LEVELS)}; info is used", "info")
    return level


Level = Annotated[str, Check(_level, f"one of {', '.join(LEVELS)}")]
Mechanism = Annotated[
    str, one_of("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "", fold=str.upper)
]

NotifierLock = Annotated[str, one_of("zookeeper", "kafka", "file", "", fold=str.lower)]
Exporter = Annotated[str, one_of("kafka-lag-exporter", "kafka_exporter", fold=str.lower)]


class Section(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """A table of the file. A text that is not set is empty, as in Burrow."""


class General(Section, frozen=True, kw_only=True):
    pidfile: Annotated[
        str, key("File that holds the process id, relative to the working directory.")
    ] = "burrow.pid"
    stdout_logfile: Annotated[
        str, key("File for everything that would go to stdout and stderr.", example="burrow.out")
    ] = ""
    access_control_allow_origin: Annotated[
        str,
        key("Value of the CORS header on the HTTP API's answers.", example="https://example.com"),
    ] = ""
    external_url: Annotated[
        OptionalUrl,
        key(
            "Warren's own. The URL of this instance for people, used for links in notifications.",
            default="host and port of the first `httpserver`",
            example="https://warren.example.com",
        ),
    ] = ""
    grafana_url: Annotated[
        OptionalUrl,
        key(
            "Warren's own. A Grafana dashboard that the page links to from a group; in it, "
            "`{{.Cluster}}`, `{{.Group}}`, `{{.From}}` and `{{.To}}` (ms) are filled in.",
            example="https://grafana.example.com/lag?var-group={{.Group}}&from={{.From}}",
        ),
    ] = ""
    env_var_prefix: Annotated[
        str,
        key("First part of the environment variables' names.", file_only="it names the variables"),
    ] = "burrow"
    state_dir: Annotated[
        str,
        key(
            "Warren's own. Directory for data that survives a restart; without it every start "
            "reads the offsets topics from the beginning.",
            example="/var/lib/warren",
        ),
    ] = ""
    snapshot_interval: Annotated[
        Period,
        key("Warren's own. Seconds between two snapshots of the windows in `state-dir`."),
    ] = 60
    notifier_lock: Annotated[
        NotifierLock,
        key(
            "Warren's own. How several instances decide which one notifies, and which one writes "
            "history to a URL; if not set, ZooKeeper if `[zookeeper]` names servers, else a file.",
            example="kafka",
        ),
    ] = ""
    notifier_cluster: Annotated[
        Name,
        key(
            "Warren's own, with notifier-lock kafka: the `cluster` section to use; the first if "
            "not set.",
            example="local",
        ),
    ] = ""
    notifier_topic: Annotated[
        str,
        key("Warren's own, with notifier-lock kafka: the topic; Warren creates it if need be."),
    ] = "warren-notifier"


class Logging(Section, frozen=True, kw_only=True):
    level: Annotated[Level, key("Lowest level of the log lines to write.")] = "info"
    filename: Annotated[
        str, key("Log file, rotated by size; stdout if not set.", example="logs/burrow.log")
    ] = ""
    maxsize: Annotated[int, key("Megabytes at which the log file is rotated; 0 means 100.")] = 100
    maxbackups: Annotated[int, key("Rotated files to keep; 0 keeps all.")] = 10
    maxage: Annotated[int, key("Days to keep rotated files; 0 keeps them for ever.")] = 30
    use_localtime: Annotated[bool, key("Name rotated files by local time instead of UTC.")] = False
    use_compression: Annotated[bool, key("Compress rotated files with gzip.")] = False


class Zookeeper(Section, frozen=True, kw_only=True):
    servers: Annotated[
        tuple[HostPort, ...],
        key(
            "ZooKeeper servers; the instances agree there which one notifies.",
            example='["localhost:2181"]',
        ),
    ]
    timeout: Annotated[Period, key("Session time-out, seconds.")] = 6
    root_path: Annotated[ZookeeperPath, key("Path of the nodes for that agreement.")] = "/burrow"
    tls: Annotated[
        Name, key("The `tls` section to connect with; its cafile is required.", example="mytls")
    ] = ""


class Spark(Section, frozen=True, kw_only=True):
    """Warren's own: the Spark session that reads and decodes commits and writes history."""

    master: Annotated[
        str, key("Where Spark runs: local cores, or a standalone, YARN or Kubernetes cluster.")
    ] = "local[*]"
    driver_memory: Annotated[str, key("Memory of the driver's Java process.")] = "2g"
    conf: Annotated[
        FrozenMap[str],
        key(
            "Further Spark settings; case matters in their names.",
            case="kept",
            example='{ "spark.sql.shuffle.partitions" = "4" }',
        ),
    ] = FrozenMap()


class Metrics(Section, frozen=True, kw_only=True):
    """Warren's own: which series `/metrics` has, and how many at most."""

    by_partition: Annotated[
        Regexp,
        key(
            "Groups whose name matches have a series for each partition, even if by-topic or "
            "by-group match too.",
            example="^prod-",
        ),
    ] = ""
    by_topic: Annotated[
        Regexp,
        key(
            "Groups whose name matches have a series for each topic instead of each partition.",
            example="^bulk-",
        ),
    ] = ""
    by_group: Annotated[
        Regexp,
        key("Groups whose name matches have only series of the whole group.", example="^dev-"),
    ] = ""
    max_series: Annotated[
        NonNegative,
        key(
            "At most this many series of groups and topics; 0 is no limit. A metric counts the "
            "rest."
        ),
    ] = 0
    also: Annotated[
        tuple[Exporter, ...],
        key(
            "Exporters whose metrics are served too, under their names and labels, so that their "
            "dashboards go on working.",
            example='["kafka-lag-exporter"]',
        ),
    ] = ()


class NamedSection(Section, frozen=True, kw_only=True):
    """A section with a name of its own, as in `[cluster.NAME]`."""

    name: str = ""


class ClientProfile(NamedSection, frozen=True, kw_only=True):
    client_id: Annotated[str, key("Client id shown to the brokers.")] = "burrow-lagchecker"
    kafka_version: Annotated[KafkaVersion, key("Lowest version of the brokers.")] = "2.8.0"
    tls: Annotated[Name, key("The `tls` section to connect with.", example="mytls")] = ""
    sasl: Annotated[Name, key("The `sasl` section to log in with.", example="mysasl")] = ""
    iam: Annotated[
        Name,
        key("The `iam` section to log in with, instead of `sasl`; needs `tls`.", example="myiam"),
    ] = ""
    dial_timeout: Annotated[Period, key("Time-out for connecting, seconds.")] = 30
    read_timeout: Annotated[Period, key("Time-out for an answer, seconds.")] = 30

    @property
    def kafka_release(self) -> tuple[int, ...]:
        return tuple(int(part) for part in keys.resolve(self.kafka_version).split("."))


class Tls(NamedSection, frozen=True, kw_only=True):
    certfile: Annotated[str, key("Certificate, PEM.", example="cert.pem")] = ""
    keyfile: Annotated[str, key("Private key of the certificate, PEM.", example="key.pem")] = ""
    cafile: Annotated[
        str, key("Certificates to trust, PEM; the system's if not set.", example="ca.pem")
    ] = ""
    noverify: Annotated[bool, key("Do not verify the other side's certificate.")] = False


class Sasl(NamedSection, frozen=True, kw_only=True):
    username: Annotated[str, key("User name; client id with OAUTHBEARER.", example="warren")] = ""
    password: Annotated[
        Secret, key("Password; client secret with OAUTHBEARER.", example="secret")
    ] = Secret()
    mechanism: Annotated[Mechanism, key("PLAIN if not set.", example="SCRAM-SHA-512")] = ""
    token_url: Annotated[
        OptionalUrl,
        key(
            "Warren's own, OAUTHBEARER: where an OIDC provider issues tokens for the client id and "
            "secret.",
            example="https://id.example.com/oauth2/token",
        ),
    ] = ""
    scope: Annotated[
        str, key("Warren's own, OAUTHBEARER: scope of the token to request.", example="kafka")
    ] = ""
    handshake_first: Annotated[
        bool,
        key(
            "Send the SASL handshake first.", unused="Warren always does; brokers need it since 1.0"
        ),
    ] = False


class Iam(NamedSection, frozen=True, kw_only=True):
    region: Annotated[str, key("AWS region of the MSK cluster; required.", example="eu-west-1")] = (
        ""
    )
    role_arn: Annotated[
        str,
        key("Role to assume, instead of `profile`.", example="arn:aws:iam::123456789012:role/x"),
    ] = ""
    profile: Annotated[
        str, key("AWS profile; AWS's default credentials if neither is set.", example="default")
    ] = ""


class HistorySettings(Section, frozen=True, kw_only=True):
    """Warren's own: verdicts and log ends in a Delta table; written only if the section exists."""

    directory: Annotated[
        str,
        key(
            "Where the table is: a directory, or a URL that Spark can read and write.",
            default="`history` in `general.state-dir`, else `./warren-history`",
            example="/var/lib/warren/history",
        ),
    ] = ""
    history_interval: Annotated[Period, key("Seconds between two moments in history.")] = 60
    history_days: Annotated[Count, key("Days after which a moment is deleted.")] = 30
    history_granularity: Annotated[
        Literal["partition", "topic", "group"],
        key(
            "Rows of a group: one for each partition, one for each topic, or only the group's own. "
            "Log ends have the same detail as the groups that read the topic."
        ),
    ] = "partition"
    by_partition: Annotated[
        Regexp,
        key("Groups whose name matches have rows of partitions.", example="^important-"),
    ] = ""
    by_topic: Annotated[
        Regexp,
        key(
            "Groups whose name matches have rows of topics, even if by-partition matches too.",
            example="^bulk-",
        ),
    ] = ""
    by_group: Annotated[
        Regexp,
        key(
            "Groups whose name matches have only their own row, even if the other two match too.",
            example="^dev-",
        ),
    ] = ""
