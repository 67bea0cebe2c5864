"""The whole configuration, and every kind of section in it."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from warren.config.modules import (
    CheckpointConsumer,
    Cluster,
    Consumer,
    Evaluator,
    HttpConsumer,
    HttpServer,
    Storage,
)
from warren.config.notifiers import NOTIFIERS, Notifier
from warren.config.policy_sections import PolicySettings, SilenceSettings
from warren.config.secrets import FrozenMap
from warren.config.sections import (
    ClientProfile,
    General,
    HistorySettings,
    Iam,
    Logging,
    Metrics,
    Sasl,
    Section,
    Spark,
    Tls,
    Zookeeper,
)
from warren.config.sinks import SINKS, Sink
from warren.model.policies import Policy

SINGLE: dict[str, type[Section]] = {
    "general": General,
    "logging": Logging,
    "zookeeper": Zookeeper,
    "spark": Spark,
    "metrics": Metrics,
    "history": HistorySettings,
}
# Off unless the file has the section, even if all keys have defaults.
OFF_BY_DEFAULT = ("history",)
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
        "spark_checkpoint": CheckpointConsumer,
        "http": HttpConsumer,
    },
    "storage": {"inmemory": Storage},
    "evaluator": {"caching": Evaluator, "warren": Evaluator},
    "httpserver": {"": HttpServer},
    "notifier": NOTIFIERS,
    "sink": SINKS,
    "policy": {"": PolicySettings},
    "silence": {"": SilenceSettings},
}
# Their order in the file matters.
IN_ORDER = ("policy",)
# Consumers that connect to brokers; the others connect to ZooKeeper, or to nothing.
OF_KAFKA = ("kafka", "kafka_admin")
# Added if the file has no such section; the environment cannot change these keys of theirs.
IMPLICIT = {
    "storage": {"class-name": "inmemory"},
    "evaluator": {"class-name": "caching"},
    "httpserver": {"address": ":0"},
}
ONLY_ONE = ("storage", "evaluator")
# Burrow looks these up by name only, so an entry that is not a section does no harm.
LOOKED_UP = ("client-profile", "tls", "sasl", "iam")


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """A client profile with the sections it names."""

    profile: ClientProfile
    tls: Tls | None = None
    sasl: Sasl | None = None
    iam: Iam | None = None


class Config(msgspec.Struct, frozen=True, kw_only=True):
    general: General = General()
    logging: Logging = Logging()
    zookeeper: Zookeeper | None = None
    spark: Spark = Spark()
    metrics: Metrics = Metrics()
    history: HistorySettings | None = None  # None: no history is written
    client_profiles: Mapping[str, ClientProfile] = FrozenMap()
    tls: Mapping[str, Tls] = FrozenMap()
    sasl: Mapping[str, Sasl] = FrozenMap()
    iam: Mapping[str, Iam] = FrozenMap()
    clusters: Mapping[str, Cluster] = FrozenMap()
    consumers: Mapping[str, Consumer] = FrozenMap()
    storage: Storage = Storage(name="default")
    evaluator: Evaluator = Evaluator(name="default")
    httpservers: Mapping[str, HttpServer] = FrozenMap()
    notifiers: Mapping[str, Notifier] = FrozenMap()
    sinks: Mapping[str, Sink] = FrozenMap()
    policies: Mapping[str, PolicySettings] = FrozenMap()  # in the order of the file
    silences: Mapping[str, SilenceSettings] = FrozenMap()

    def group_policies(self) -> list[Policy]:
        """In the order in which they are tried."""
        return [each.policy() for each in self.policies.values()]

    @property
    def history_directory(self) -> str:
        """Where history is, or would be; absolute, because Spark has another working directory."""
        given = self.history.directory if self.history else ""
        if "://" in given:
            return given
        state = self.general.state_dir
        return str(Path(given or (f"{state}/history" if state else "warren-history")).absolute())

    def connection(self, module: Cluster | Consumer) -> Connection:
        """How a cluster or consumer connects; without a profile, Burrow's defaults."""
        profile = self.client_profiles.get(module.client_profile, ClientProfile())
        return Connection(
            profile=profile,
            # To Burrow, a name without a section means TLS with the system's certificates.
            tls=self.tls.get(profile.tls, Tls(name=profile.tls)) if profile.tls else None,
            sasl=None if profile.iam else self.sasl.get(profile.sasl),
            iam=self.iam.get(profile.iam),
        )


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    config: Config
    path: Path  # the file
    warnings: list[str]  # shown by `serve` and by `check-config`
    unknown: list[str]  # unknown keys and sections: warnings, or with `--strict` problems
    unused: list[str]  # keys of Burrow that are set and have no effect here
    origins: Mapping[str, str]  # section.name.key: default, file, environment VARIABLE, ...
