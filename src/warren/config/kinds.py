"""Every kind of section there is, and the Struct that describes it."""

from collections.abc import Mapping

from warren.config.history import History
from warren.config.modules import Cluster, Consumer, Evaluator, HttpServer, Storage
from warren.config.notifiers import NOTIFIERS
from warren.config.sections import (
    ClientProfile,
    General,
    Iam,
    Logging,
    Metrics,
    Sasl,
    Section,
    Spark,
    Tls,
    Zookeeper,
)
from warren.config.sinks import SINKS

SINGLE: dict[str, type[Section]] = {
    "general": General,
    "logging": Logging,
    "zookeeper": Zookeeper,
    "spark": Spark,
    "metrics": Metrics,
    "history": History,
}
# What is not asked for is not done: without the section there is none.
ASKED_FOR = ("history",)
# Sections with names, by class-name; those without one are under the empty class-name.
NAMED: dict[str, Mapping[str, type[Section]]] = {
    "client-profile": {"": ClientProfile},
    "tls": {"": Tls},
    "sasl": {"": Sasl},
    "iam": {"": Iam},
    "cluster": {"kafka": Cluster},
    "consumer": {
        "kafka": Consumer,
        "kafka_admin": Consumer,
        "kafka_zk": Consumer,
        "storm": Consumer,
    },
    "storage": {"inmemory": Storage},
    "evaluator": {"caching": Evaluator},
    "httpserver": {"": HttpServer},
    "notifier": NOTIFIERS,
    "sink": SINKS,
}
# Consumers that connect to brokers; the others to ZooKeeper.
OF_KAFKA = ("kafka", "kafka_admin")
# Made up when there is no such section; these keys of theirs the environment cannot change.
IMPLICIT = {
    "storage": {"class-name": "inmemory"},
    "evaluator": {"class-name": "caching"},
    "httpserver": {"address": ":0"},
}
ONLY_ONE = ("storage", "evaluator")
# Burrow looks these up by name only: an entry that is no section harms nobody.
LOOKED_UP = ("client-profile", "tls", "sasl", "iam")
