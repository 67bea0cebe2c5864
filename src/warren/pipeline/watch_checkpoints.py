"""Watches the checkpoints of Spark's streaming queries, which commit nothing to Kafka."""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import structlog
from pyspark.sql import SparkSession

from warren.config.modules import CheckpointConsumer
from warren.model.query_facts import QueryFacts
from warren.pipeline import steps
from warren.pipeline.outside_consumer import OutsideConsumer, forget_vanished
from warren.sources.checkpoint_batches import Checkpoint
from warren.sources.checkpoint_groups import CheckpointGroups
from warren.sources.checkpoint_homes import KEPT_S, LOST
from warren.sources.checkpoints import Checkpoints
from warren.sources.outside_changes import OutsideChanges
from warren.spark.hadoop_files import HadoopFiles

log = structlog.get_logger()

MIN_PAUSE_S = 0.2
MOST_NAMED = 50  # that health names
UNREADABLE = "unreadable checkpoint"
NO_CHECKPOINT, NO_BATCH = "there is no checkpoint yet", "it has no committed batch yet"
REPORTED = "its query is reported, and the reports count"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class CheckpointWatcher:
    """Keeps what it has read after a failure, so that a known batch is not a new commit."""

    def __init__(
        self, outside_consumer: OutsideConsumer, spark: SparkSession, changed: Callable[[], None]
    ) -> None:
        settings, cluster = outside_consumer.settings, outside_consumer.cluster
        assert isinstance(settings, CheckpointConsumer)  # noqa: S101  by its class-name
        self._outside_consumer = outside_consumer
        self._changed = changed
        self._checkpoints = Checkpoints(
            HadoopFiles(spark),
            [*dict.fromkeys(map(_absolute, settings.locations))],
            cluster.windows.intervals,
        )
        queries = cluster.queries.items()
        self._before = {name: each.place for name, each in queries if each.origin == "checkpoint"}
        self._groups = CheckpointGroups(settings.group, outside_consumer.accepts, self._before)
        self._began_s = time.monotonic()
        self._logged: dict[str, str] = {}  # problems, by checkpoint
        self._reported = dict[str, QueryFacts]()  # of groups whose reports count
        self._bare = set[str]()  # locations where nothing is, and groups of the last run were
        # Groups of the last run that have not been read in this one, and may still be there.
        self._unread = {*cluster.restored_outside_groups.get(settings.name, ())}
        self._log = log.bind(
            type="module", coordinator="consumer", class_="spark_checkpoint", name=settings.name
        )

    def run(self, stop: threading.Event) -> None:
        """Look every period, and at once again while there is more to read."""
        while not stop.is_set():
            began = time.monotonic()
            self._look(stop)
            period_s = self._outside_consumer.period_s if self._checkpoints.is_complete else 0
            stop.wait(max(began + period_s - time.monotonic(), MIN_PAUSE_S))
        self._checkpoints.close()

    def _look(self, stop: threading.Event) -> None:
        now_s = self._outside_consumer.cluster.clock()
        self._checkpoints.look(now_s, stop.is_set)
        if stop.is_set():
            return
        self._fold(self._groups.take(self._checkpoints.known.values(), int(now_s * 1000)))
        has_narrowed = self._narrow_unread()
        self._note_read()
        self._note_problems()
        if self._checkpoints.is_complete and not self._checkpoints.has_failed:
            self._note_caught_up()
        if has_narrowed:
            forget_vanished(self._outside_consumer.cluster)

    def _fold(self, changes: OutsideChanges) -> None:
        """Fold what counts: of groups that are reported as well, nothing does."""
        if not changes.commits and not changes.queries:
            return
        cluster = self._outside_consumer.cluster
        with cluster.lock:
            reported = cluster.reported_groups(
                {each.key.group for each in changes.commits}, changes.queries
            )
            commits = [each for each in changes.commits if each.key.group not in reported]
            steps.fold_outside_changes(
                self._outside_consumer, changes._replace(commits=commits), cluster.clock()
            )
        self._changed()

    def _note_read(self) -> None:
        """Up to when each group has been read; of what cannot be read that is long ago."""
        outside_consumer, known = self._outside_consumer, self._checkpoints.known
        with outside_consumer.cluster.lock:
            groups, name = self._groups.groups, outside_consumer.settings.name
            outside_consumer.cluster.outside_groups[name] = groups | self._unread
            outside_consumer.answered_s = {
                group: known[self._groups.shown_by(group)].read_s for group in groups
            }
            self._reported = outside_consumer.cluster.reported_groups(groups, {})
        if self._checkpoints.is_complete and not self._checkpoints.has_failed:
            outside_consumer.polled_s = self._checkpoints.looked_s

    def _note_caught_up(self) -> None:
        outside_consumer = self._outside_consumer
        if not outside_consumer.is_caught_up:
            outside_consumer.is_caught_up = True
            with outside_consumer.cluster.lock:
                removals = outside_consumer.removals_of_absent(self._groups.places)
            self._fold(OutsideChanges(removals, {}, Counter()))
            self._log.info(
                "caught up",
                records=outside_consumer.records,
                checkpoints=len(self._checkpoints.known),
                groups=len(self._groups.groups),
            )
            forget_vanished(outside_consumer.cluster)
            self._changed()

    def _narrow_unread(self) -> bool:
        """Leave those groups out that are gone: where they would be was listed, and can be read."""
        if not self._unread or not self._checkpoints.is_complete:
            return False
        known = [each for each in self._checkpoints.known.values() if each.problem]
        kept, self._bare = {self._groups.group_of(each) for each in known}, set()
        for group in self._unread - kept:
            place = self._before.get(group, "")
            bare = self._checkpoints.bare_location(place)
            if bare and time.monotonic() - self._began_s < KEPT_S:
                self._bare.add(bare)
                kept.add(group)
            elif self._checkpoints.failing_location(place):
                kept.add(group)
        before, self._unread = self._unread, self._unread & kept
        return self._unread != before

    def _note_problems(self) -> None:
        """Log each problem of a location or a checkpoint once."""
        found = {
            path: f"cannot be listed: {problem}"
            for path, problem in self._checkpoints.problems.items()
        }
        problems = "; ".join(f"{each} {found[each]}" for each in sorted(found))
        self._set_problem(problems if self._checkpoints.has_failed else "")
        unreadable = self._checkpoints.unreadable
        new = len(unreadable.keys() - self._logged.keys())
        self._outside_consumer.skips.total.update({UNREADABLE: new} if new else {})
        found |= unreadable
        found |= dict.fromkeys(self._checkpoints.empty, NO_CHECKPOINT)
        found |= dict.fromkeys(self._bare, LOST)
        found |= {
            path: self._why_left_out(checkpoint)
            for path, checkpoint in self._checkpoints.known.items()
            if path not in found and self._why_left_out(checkpoint)
        }
        for path in sorted(path for path in found if self._logged.get(path) != found[path]):
            is_usual = found[path] in {NO_CHECKPOINT, NO_BATCH, REPORTED}
            write = self._log.info if is_usual else self._log.warning
            write("not read", checkpoint=path, problem=found[path])
        self._logged = found
        named = islice(sorted(found.items()), MOST_NAMED)
        self._outside_consumer.not_read = dict(named)

    def _why_left_out(self, checkpoint: Checkpoint) -> str:
        if checkpoint.newest is None:
            return NO_BATCH if checkpoint.is_read else ""
        if not checkpoint.reads_kafka:
            return "it reads nothing from Kafka"
        group = self._groups.group_of(checkpoint)
        if not group:
            return "it has no query id, and its group is named by it"
        if self._groups.shown_by(group) not in {"", checkpoint.path}:
            return f"its group {group!r} is that of {self._groups.shown_by(group)}"
        return self._why_reported(group, checkpoint.query_id)

    def _why_reported(self, group: str, query_id: str) -> str:
        if group not in self._reported:
            return ""
        if self._reported[group].id in {"", query_id}:
            return REPORTED
        return f"another query reports its group {group!r}, and its reports count"

    def _set_problem(self, problem: str) -> None:
        if problem == self._outside_consumer.problem:
            return
        if not problem:
            self._log.info("locations can be listed again")
        self._outside_consumer.problem = problem
        self._changed()


def _absolute(location: str) -> str:
    """Spark has another working directory. A path without a scheme is on its default system."""
    return location if _SCHEME.match(location) else str(Path(location).absolute())
