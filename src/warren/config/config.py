"""The whole configuration, and what is known about how it came to be."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from warren.config.history import History
from warren.config.modules import Cluster, Consumer, Evaluator, HttpServer, Storage
from warren.config.notifiers import Notifier
from warren.config.secrets import FrozenMap
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
from warren.config.sinks import Sink


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
    history: History | None = None  # None: nothing is kept
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

    @property
    def history_directory(self) -> str:
        """Where history is, or would be: absolute, as Spark works in a directory of its own."""
        given = self.history.directory if self.history else ""
        if "://" in given:
            return given
        state = self.general.state_dir
        return str(Path(given or (f"{state}/history" if state else "warren-history")).absolute())

    def connection(self, module: Cluster | Consumer) -> Connection:
        """Gather how a cluster or consumer connects; without a profile, Burrow's defaults."""
        profile = self.client_profiles.get(module.client_profile, ClientProfile())
        return Connection(
            profile=profile,
            # Burrow takes a name without a section for TLS with the system's certificates.
            tls=self.tls.get(profile.tls, Tls(name=profile.tls)) if profile.tls else None,
            sasl=None if profile.iam else self.sasl.get(profile.sasl),
            iam=self.iam.get(profile.iam),
        )


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    config: Config
    path: Path  # the file
    warnings: list[str]  # worth telling, in `serve` and in `check-config`
    unknown: list[str]  # keys and sections nobody knows: warnings, or with `--strict` problems
    unused: list[str]  # Burrow's keys that were set and do nothing here
    origins: Mapping[str, str]  # section.name.key: default, file, environment VARIABLE, ...
