"""burrow.toml as types: keys, defaults, bounds, old names, environment. Start at `load`."""

from warren.config.config import Config, Connection, Loaded
from warren.config.groups import GroupFilter
from warren.config.load import load
from warren.config.modules import Cluster, Consumer, Evaluator, HttpServer, Storage
from warren.config.notifiers import EmailNotifier, HttpNotifier, Notifier
from warren.config.render import render_effective
from warren.config.secrets import FrozenMap, Secret
from warren.config.sections import (
    ClientProfile,
    General,
    Iam,
    Logging,
    Metrics,
    Sasl,
    Spark,
    Tls,
    Zookeeper,
)

__all__ = [
    "ClientProfile",
    "Cluster",
    "Config",
    "Connection",
    "Consumer",
    "EmailNotifier",
    "Evaluator",
    "FrozenMap",
    "General",
    "GroupFilter",
    "HttpNotifier",
    "HttpServer",
    "Iam",
    "Loaded",
    "Logging",
    "Metrics",
    "Notifier",
    "Sasl",
    "Secret",
    "Spark",
    "Storage",
    "Tls",
    "Zookeeper",
    "load",
    "render_effective",
]
