"""Of several instances one notifies: which, and what it must know of those before it."""

import hashlib
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from warren.clients import kafka
from warren.config import Config, Tls
from warren.notify.file_lock import FileLock
from warren.notify.kafka_lock import KafkaLock
from warren.notify.zookeeper_lock import ZookeeperLock


class Leadership(Protocol):
    def run(self, stop: threading.Event) -> None:
        """Keep trying to be the one, in a thread of its own, until `stop` is set."""
        ...

    @property
    def leads(self) -> bool:
        """Whether this instance is the one; cheap, and false before another can be."""
        ...

    @property
    def problem(self) -> str:
        """Why it cannot even try, if so."""
        ...

    def load(self) -> dict[str, bytes]:
        """What all instances share: to be read each time this one begins to lead.

        Raises `LeadershipLost`, or `StateNotKept` when it leads and still cannot; so does `save`.
        """
        ...

    def save(self, changes: Mapping[str, bytes | None]) -> None:
        """Change some entries, None deletes; what was changed is safe when this returns.

        When it raises `LeadershipLost` the changes may have been made or not: `load` tells.
        """
        ...


def leadership(config: Config) -> Leadership:
    """The lock that the configuration asks for; without a word on it, what needs nothing new."""
    match config.general.notifier_lock or _default(config):
        case "zookeeper" if config.zookeeper is not None:
            name = config.zookeeper.tls
            return ZookeeperLock(config.zookeeper, config.tls.get(name, Tls()) if name else None)
        case "kafka":
            return _kafka(config)
        case _:
            return FileLock(directory(config, os.environ))


def _default(config: Config) -> str:
    return "zookeeper" if config.zookeeper and config.zookeeper.servers else "file"


def _kafka(config: Config) -> KafkaLock:
    name = config.general.notifier_cluster or next(iter(config.clusters))
    cluster = config.clusters[name]
    settings = kafka.librdkafka(cluster.servers, config.connection(cluster))
    return KafkaLock(settings, config.general.notifier_topic)


def directory(config: Config, environ: Mapping[str, str]) -> Path:
    """Where the file lock is: the same for all instances of a user that watch the same clusters."""
    if config.general.state_dir:
        return Path(config.general.state_dir, "notifier").absolute()
    watched = sorted((name, cluster.servers) for name, cluster in config.clusters.items())
    told = sorted(config.notifiers)
    name = hashlib.sha256(repr((watched, told)).encode()).hexdigest()[:16]
    home = environ.get("XDG_STATE_HOME") or Path(environ.get("HOME") or "~", ".local", "state")
    return Path(home, "warren", f"notifier-{name}").expanduser().absolute()
