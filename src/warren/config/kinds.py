"""Every kind of section there is, and the Struct that describes it."""

from collections.abc import Mapping

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

SINGLE: dict[str, type[Section]] = {
    "general": General,
    "logging": Logging,
    "zookeeper": Zookeeper,
    "spark": Spark,
    "metrics": Metrics,
}
# Sections with names, by class-name; those without one are under the empty class-name.
NAMED: dict[str, Mapping[str, type[Section]]] = {
    "client-profile": {"": ClientProfile},
    "tls": {"": Tls},
    "sasl": {"": Sasl},
    "iam": {"": Iam},
    "cluster": {"kafka": Cluster},
    "consumer": {"kafka": Consumer, "kafka_zk": Consumer, "storm": Consumer},
    "storage": {"inmemory": Storage},
    "evaluator": {"caching": Evaluator},
    "httpserver": {"": HttpServer},
    "notifier": NOTIFIERS,
}
# Made up when there is no such section; these keys of theirs the environment cannot change.
IMPLICIT = {
    "storage": {"class-name": "inmemory"},
    "evaluator": {"class-name": "caching"},
    "httpserver": {"address": ":0"},
}
ONLY_ONE = ("storage", "evaluator")
# Burrow looks these up by name only: an entry that is no section harms nobody.
LOOKED_UP = ("client-profile", "tls", "sasl", "iam")
