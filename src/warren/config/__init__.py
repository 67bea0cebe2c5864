"""burrow.toml as types: keys, defaults, bounds, old names, environment. Start at `load`."""

from warren.config.config import Config, Connection, Loaded
from warren.config.explain_policy import explain_policy
from warren.config.load import load
from warren.config.modules import Cluster, Consumer, Evaluator, HttpServer, Storage
from warren.config.notifiers import (
    AlertmanagerNotifier,
    EmailNotifier,
    HttpNotifier,
    Notifier,
    OverHttp,
    SlackNotifier,
)
from warren.config.policy_sections import PolicySettings, SilenceSettings
from warren.config.render import render_effective
from warren.config.secrets import FrozenMap, Secret
from warren.config.sections import (
    ClientProfile,
    General,
    HistorySettings,
    Iam,
    Logging,
    Metrics,
    Sasl,
    Spark,
    Tls,
    Zookeeper,
)
from warren.config.sinks import (
    ConsoleSink,
    ElasticsearchSink,
    FilesSink,
    HttpSink,
    InfluxdbSink,
    Sink,
)
from warren.model.group_filter import GroupFilter

__all__ = [
    "AlertmanagerNotifier",
    "ClientProfile",
    "Cluster",
    "Config",
    "Connection",
    "ConsoleSink",
    "Consumer",
    "ElasticsearchSink",
    "EmailNotifier",
    "Evaluator",
    "FilesSink",
    "FrozenMap",
    "General",
    "GroupFilter",
    "HistorySettings",
    "HttpNotifier",
    "HttpServer",
    "HttpSink",
    "Iam",
    "InfluxdbSink",
    "Loaded",
    "Logging",
    "Metrics",
    "Notifier",
    "OverHttp",
    "PolicySettings",
    "Sasl",
    "Secret",
    "SilenceSettings",
    "Sink",
    "SlackNotifier",
    "Spark",
    "Storage",
    "Tls",
    "Zookeeper",
    "explain_policy",
    "load",
    "render_effective",
]
