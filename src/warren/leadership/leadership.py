"""Of several instances one notifies, and one writes history: which one, and their shared state.

The two are decided separately: a Burrow may hold the notifiers' lock for years, and instances with
different history directories all write.
"""

import hashlib
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from warren.clients import kafka
from warren.config import Config, Tls
from warren.leadership.file_lock import FileLock
from warren.leadership.kafka_lock import KafkaLock
from warren.leadership.lease import HISTORY, NOTIFIER
from warren.leadership.zookeeper_lock import ZookeeperLock


class Leadership(Protocol):
    def run(self, stop: threading.Event) -> None:
        """Try to lead, in a thread of its own, until `stop` is set."""
        ...

    @property
    def leads(self) -> bool:
        """Whether this instance leads; cheap, and false before another can lead."""
        ...

    @property
    def problem(self) -> str:
        """Why it cannot even try to lead; empty if it can."""
        ...

    def load(self) -> dict[str, bytes]:
        """Read the shared state, each time this instance starts to lead.

        Raises `LeadershipLost`, or `StateNotKept` if it leads but the state is unusable; so does
        `save`.
        """
        ...

    def save(self, changes: Mapping[str, bytes | None]) -> None:
        """Change some entries, None deletes one; the changes are durable when this returns.

        After `LeadershipLost` the changes may have been made or not: `load` shows.
        """
        ...


def leadership(config: Config) -> Leadership:
    """The lock that decides which instance notifies."""
    return _lock(config, NOTIFIER, "", directory(config, os.environ))


def history_leadership(config: Config) -> Leadership:
    """The lock that decides which instance writes to this history directory."""
    place = config.history_directory
    if "://" not in place:
        return FileLock(Path(place, "_lock"), HISTORY)
    name = f"history-{_short_hash(place)}"
    return _lock(config, HISTORY, name, directory(config, os.environ) / name)


def _lock(config: Config, duty: str, name: str, files: Path) -> Leadership:
    """The configured lock; by default one that needs no further set-up."""
    match config.general.notifier_lock or _default(config):
        case "zookeeper" if config.zookeeper is not None:
            tls = config.tls.get(config.zookeeper.tls, Tls()) if config.zookeeper.tls else None
            return ZookeeperLock(config.zookeeper, tls, name or NOTIFIER, duty)
        case "kafka":
            return _kafka(config, duty, name)
        case _:
            return FileLock(files, duty)


def _default(config: Config) -> str:
    return "zookeeper" if config.zookeeper and config.zookeeper.servers else "file"


def _kafka(config: Config, duty: str, name: str) -> KafkaLock:
    cluster = config.clusters[config.general.notifier_cluster or next(iter(config.clusters))]
    settings = kafka.librdkafka(cluster.servers, config.connection(cluster))
    topic = config.general.notifier_topic
    return KafkaLock(settings, f"{topic}-{name}" if name else topic, duty)


def directory(config: Config, environ: Mapping[str, str]) -> Path:
    """The file lock's directory: the same for a user's instances that watch the same clusters."""
    if config.general.state_dir:
        return Path(config.general.state_dir, "notifier").absolute()
    watched = sorted((name, cluster.servers) for name, cluster in config.clusters.items())
    name = _short_hash(repr(watched))
    home = environ.get("XDG_STATE_HOME") or Path(environ.get("HOME") or "~", ".local", "state")
    return Path(home, "warren", f"notifier-{name}").expanduser().absolute()


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
