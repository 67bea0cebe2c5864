"""What the documentation says that the types cannot."""

CONFIGURATION = """\
# Configuration

Warren reads Burrow's configuration: a `burrow.toml` that starts Burrow starts Warren, apart from
values that Burrow takes without a word and cannot use, see
[differences](differences.md#configuration-and-process); there too is what this version does not do
yet. [config/burrow.toml](../config/burrow.toml) shows every key with its default. This page and
that file are written from the types by `python -m warren.config.document`.

`warren check-config` prints the configuration in effect, with where each value came from and with
secrets masked, and exits 1 if anything is wrong.

**The file.** `--config-dir` names a directory, `--config` a file. In a directory the first of
`burrow.json`, `burrow.toml`, `burrow.yaml`, `burrow.yml`, `burrow.dotenv` and `burrow.env` is read.
In the dotenv formats dots make the sections: `storage.default.intervals=15`.

**Case.** Names of sections and keys are the same in any case, and so are names that refer to a
section. Values keep their case. Only the keys in `spark.conf` keep theirs, and their dots need no
quotes.

**Types.** A list may be written as a text, separated by spaces. Numbers and booleans may be written
as texts; one that cannot be read is an error (Burrow takes it for 0).

**Environment.** A variable overrides a key of the file: `BURROW_` and the path of the key in upper
case, with `_` for `.` and `-`, as in `BURROW_STORAGE_DEFAULT_MIN_DISTANCE=1`. Empty variables are
ignored, lists are separated by spaces, tables are JSON objects. A variable cannot make a section:
`[cluster.x]` has to be in the file for `BURROW_CLUSTER_X_SERVERS` to count. Only `tls`, `sasl` and
`iam` sections that the file refers to may be left to the environment. `env-var-prefix` changes
`BURROW`.

**What is wrong** is told all at once, one line each, and nothing starts. An unknown key or section
is a warning, as Burrow ignores it; `warren check-config --strict` takes it for a problem. Problems
in sections that nothing refers to are warnings, as Burrow never looks there. So is a configuration
without any cluster, and a section that this version does nothing with yet.

**Files.** A relative path, of a template or any other file, starts at the working directory of
Warren, as in Burrow, and not at the directory of the configuration.

**Old names.** `group-whitelist` and `group-blacklist` work, with a warning.

**Left out.** A storage, an evaluator and an HTTP server that are not in the file are made up under
the name `default`; the HTTP server then takes any free port."""

SAMPLE = """\
# Every key of Warren's configuration, which is Burrow's, with its default.
# Keys that start with # have no default, or are in a section that is not used here.
# docs/configuration.md says how this file is found and what the environment can override."""

ABOUT = {
    "general": "The process.",
    "logging": "Log lines, one JSON object each.",
    "zookeeper": "Only with a notifier: where instances of Warren agree on the one that notifies.",
    "spark": "Warren's own: the Spark session that reads, decodes and keeps history.",
    "metrics": "Warren's own: how many series `/metrics` has.",
    "history": "Warren's own: what is kept of the past; nothing without this section or a sink.",
    "client-profile": "How to connect to Kafka; clusters and consumers name one.",
    "tls": "Certificates; client profiles, ZooKeeper, HTTP servers and sinks name one.",
    "sasl": "A log-in; client profiles name one.",
    "iam": "A log-in to AWS MSK; client profiles name one.",
    "cluster": "A Kafka cluster whose topics and log ends are read.",
    "consumer": "Where the commits of a cluster's groups are read.",
    "storage": "The history of commits that verdicts are made from. At most one.",
    "evaluator": "How verdicts are made. At most one.",
    "httpserver": "Where the HTTP API listens.",
    "notifier": "Who is told about bad groups, and how; see [notifiers](notifiers.md).",
    "http": "A request to a URL with a body made by a template, and what every notifier has.",
    "slack": "A message in a channel of Slack; templates are not needed.",
    "alertmanager": "An alert in Prometheus' Alertmanager; `extras` are its labels.",
    "email": "A mail made by a template that begins with `Subject: `, and what every notifier has.",
    "sink": "Warren's own: where history goes on to, moment by moment. See docs/sinks.md.",
    "influxdb": "Points as Telegraf's burrow input writes them, and what every sink has.",
    "elasticsearch": "Documents as Telegraf writes them, to Elasticsearch 7 to 9 and OpenSearch.",
    "parquet": "The rows of history, as Parquet files elsewhere.",
    "delta": "The rows of history, in a Delta table elsewhere.",
    "console": "A table of the worst groups on stdout, for a look.",
}
