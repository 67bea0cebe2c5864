"""Saves what a restart needs, a file for each cluster: windows, log ends, members, positions.

The snapshot is the only checkpoint: its windows hold exactly the records before its positions. A
new file is written beside the old one and replaces it in one step, so there is always a whole one.
"""

import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import msgspec
import numpy as np
import structlog

from warren.config import Config, Storage
from warren.errors import NotKept, StartError
from warren.model.health import SnapshotsHealth
from warren.model.query_facts import QueryFacts
from warren.pipeline.cluster import ClusterState, new_cluster
from warren.pipeline.consumers import TopicConsumer
from warren.sources.log_ends import TopicListing
from warren.windows import snapshot_arrays
from warren.windows.snapshot_arrays import Arrays, Buffers, RawColumns

log = structlog.get_logger()

VERSION = 3
# Members of the file, beside the arrays of the windows.
FACTS = "facts"  # JSON
MEMBERSHIP = "membership"  # bytes


class SnapshotFacts(msgspec.Struct):
    version: int
    settings: dict[str, Any]  # those that decide what the windows hold
    saved_s: float  # the time of the windows
    topics_s: float
    partition_counts: dict[str, int]
    topic_ids: dict[str, UUID]
    positions: dict[str, dict[int, int]]  # by consumer
    names: snapshot_arrays.SavedNames
    read_ids: dict[str, UUID]  # of the offsets topics that the positions belong to, by consumer
    elsewhere: dict[str, list[str]]  # groups from outside Kafka's topic, by consumer
    read_s: dict[str, dict[int, float]] = {}  # up to when each partition was read, by consumer
    queries: dict[str, QueryFacts] = {}  # by group


class Unusable(Exception):
    """A snapshot that cannot be restored, and why."""


@dataclass
class Snapshots:
    """Saves every cluster at each interval and at the end; runs beside the pipeline."""

    directory: Path
    interval_s: float
    clusters: Mapping[str, ClusterState]
    topic_consumers: Mapping[str, TopicConsumer]
    storage: Storage
    kind: str = "snapshots"
    name: str = "state"
    problem: str = ""
    restarts: int = 0
    _saved_s: dict[str, float] = field(default_factory=dict)

    def restore(self) -> None:
        """Fill the empty clusters; a file that cannot be used is renamed and logged."""
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StartError(f"cannot use general.state-dir: {error}") from error
        for cluster in self.clusters.values():
            file = self._file(cluster)
            began = time.monotonic()
            try:
                saved_s = self._restore(cluster, file)
            except FileNotFoundError:
                continue
            except Unusable as error:
                log.warning(
                    "snapshot not used; reading the offsets topic from the start",
                    cluster=cluster.name,
                    reason=str(error),
                    file=str(_rename_unusable(file)),
                )
                continue
            log.info(
                "restored from a snapshot",
                cluster=cluster.name,
                age_s=round(cluster.clock() - saved_s, 1),
                took_s=round(time.monotonic() - began, 2),
            )

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(self.interval_s):
            try:
                self.save()
            except OSError as error:
                raise NotKept("the snapshot cannot be saved", str(error)) from error
            self.problem = ""

    def save_last(self) -> None:
        """Save at the end; there is no retry."""
        try:
            self.save()
        except OSError as error:
            log.error("the last snapshot cannot be saved", problem=str(error))  # noqa: TRY400  # a line, not a trace

    def save(self) -> None:
        """Save the clusters that have data; raises OSError if the disk fails."""
        for cluster in self.clusters.values():
            own = self._own(cluster)
            # While a backfill runs nothing is saved: the next start begins it again.
            if cluster.ends_s and not any(each.live_events is not None for each in own.values()):
                with _turn(self.directory):
                    buffers = snapshot_arrays.allocate(cluster.windows)
                    with cluster.lock:
                        facts, columns, members = self._copy(cluster, own, buffers)
                    del buffers
                    arrays = snapshot_arrays.arrange(columns) | {
                        MEMBERSHIP: np.frombuffer(members, np.uint8)
                    }
                    _write(self._file(cluster), facts, arrays)
                    del arrays
                    with cluster.lock:
                        snapshot_arrays.release(cluster.windows)
                self._saved_s[cluster.name] = cluster.clock()

    def health(self) -> SnapshotsHealth:
        saved_s = {name: round(at, 3) for name, at in self._saved_s.items()}
        return SnapshotsHealth(self.problem, self.restarts, saved_s)

    def _file(self, cluster: ClusterState) -> Path:
        return self.directory / f"{quote(cluster.name, safe='')}.npz"

    def _own(self, cluster: ClusterState) -> dict[str, TopicConsumer]:
        return {
            name: each for name, each in self.topic_consumers.items() if each.cluster is cluster
        }

    def _settings(self, topic_consumers: Mapping[str, TopicConsumer]) -> dict[str, Any]:
        return {
            "intervals": self.storage.intervals,
            "min-distance": self.storage.min_distance,
            "groups": [self.storage.group_allowlist, self.storage.group_denylist],
            **{
                f"consumer {name}": {
                    "offsets-topic": each.settings.offsets_topic,
                    "isolation-level": each.settings.isolation_level,
                    "groups": [each.settings.group_allowlist, each.settings.group_denylist],
                }
                for name, each in topic_consumers.items()
            },
        }

    def _copy(
        self, cluster: ClusterState, own: Mapping[str, TopicConsumer], buffers: Buffers
    ) -> tuple[SnapshotFacts, RawColumns, bytes]:
        # Until a cluster has caught up, its windows are as of the snapshot it was restored from.
        as_of_s = cluster.restored_s or cluster.clock()
        topics = cluster.topics or TopicListing({}, {}, {})
        # For an offsets topic, the count that the orders in the windows are based on.
        homes = {each.settings.offsets_topic: each.homes.count for each in own.values()}
        counts = {topic: count for topic, count in homes.items() if count}
        names, columns = snapshot_arrays.copy(cluster.windows, buffers)
        facts = SnapshotFacts(
            VERSION,
            self._settings(own),
            as_of_s,
            cluster.topics_s,
            dict(topics.counts) | counts,
            dict(topics.ids),
            {name: dict(each.progress.position) for name, each in own.items()},
            names,
            {name: each.read_id for name, each in own.items() if each.read_id},
            {name: sorted(groups) for name, groups in cluster.known_outside_groups().items()},
            {name: dict(each.progress.read_s) for name, each in own.items()},
            dict(cluster.queries),
        )
        return facts, columns, cluster.membership.dump()

    def _restore(self, cluster: ClusterState, file: Path) -> float:
        own = self._own(cluster)
        facts, arrays = _read(file)
        if facts.settings != self._settings(own):
            raise Unusable("it was made with other settings")
        empty = new_cluster(cluster.name, self.storage)
        windows, membership = empty.windows, empty.membership
        try:
            snapshot_arrays.restore(windows, facts.names, arrays)
            membership.restore(arrays[MEMBERSHIP].tobytes())
        except (IndexError, KeyError, TypeError, ValueError, msgspec.MsgspecError) as error:
            raise Unusable(f"its parts do not fit together: {error}") from error
        windows.ends.rows.remember(facts.saved_s)
        cluster.windows, cluster.membership = windows, membership
        cluster.restored_outside_groups = {
            name: {*groups} for name, groups in facts.elsewhere.items()
        }
        cluster.queries = facts.queries
        cluster.topics = TopicListing(facts.partition_counts, {}, facts.topic_ids)
        cluster.topics_s, cluster.restored_s = facts.topics_s, facts.saved_s
        for name, topic_consumer in own.items():
            position = facts.positions.get(name, {})
            topic_consumer.progress.position.update(position)
            read_s = facts.read_s.get(name, dict.fromkeys(position, facts.saved_s))
            topic_consumer.progress.read_s.update(read_s)
            topic_consumer.read_id = facts.read_ids.get(name)
            topic_consumer.homes.count = facts.partition_counts.get(
                topic_consumer.settings.offsets_topic, 0
            )
        return facts.saved_s


def snapshots_of(
    config: Config,
    clusters: Mapping[str, ClusterState],
    topic_consumers: Mapping[str, TopicConsumer],
) -> Snapshots | None:
    """The snapshots of a configuration; None if it has no state directory."""
    general = config.general
    if not general.state_dir:
        return None
    directory = Path(general.state_dir).absolute() / "snapshots"
    return Snapshots(
        directory, general.snapshot_interval, clusters, topic_consumers, config.storage
    )


def _rename_unusable(file: Path) -> Path:
    """Return the new path, or the old one if the disk does not allow it."""
    aside = file.with_suffix(".unusable")
    try:
        return file.replace(aside)
    except OSError:
        return file


@contextmanager
def _turn(directory: Path) -> Iterator[None]:
    """Let one thread save at a time, also among instances that share the directory."""
    with (directory / "lock").open("ab") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield


def _write(file: Path, facts: SnapshotFacts, arrays: Arrays) -> None:
    # Not msgspec's own writer: names may hold bytes that are not text.
    encoded = json.dumps(msgspec.to_builtins(facts, str_keys=True)).encode()
    unfinished = file.with_suffix(".unfinished")
    try:
        with unfinished.open("wb") as out:
            np.savez(out, **{FACTS: np.frombuffer(encoded, np.uint8), **arrays})  # type: ignore[arg-type]  # typed as if a flag could be among them
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _read(file: Path) -> tuple[SnapshotFacts, Arrays]:
    try:
        with file.open("rb") as opened, np.load(opened) as saved:
            facts = json.loads(saved[FACTS].tobytes())
            arrays = {name: saved[name] for name in saved.files if name != FACTS}
            version = facts["version"]
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged file can fail in zipfile, NumPy or JSON
        raise Unusable(f"it is damaged: {error}") from error
    if version != VERSION:
        raise Unusable(f"it has version {version}, this Warren reads version {VERSION}")
    try:
        return msgspec.convert(facts, SnapshotFacts, strict=False), arrays
    except msgspec.ValidationError as error:
        raise Unusable(f"it is damaged: {error}") from error
