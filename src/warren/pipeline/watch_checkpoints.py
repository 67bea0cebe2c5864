"""Watches the checkpoints of Spark's streaming queries, which commit nothing to Kafka."""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import structlog
from pyspark.sql import SparkSession

from warren.config.modules import CheckpointConsumer
from warren.pipeline import steps
from warren.pipeline.outside_consumer import OutsideConsumer, forget_vanished
from warren.sources.checkpoint_groups import CheckpointGroups
from warren.sources.checkpoints import Checkpoint, Checkpoints
from warren.sources.outside_changes import OutsideChanges
from warren.spark.hadoop_files import HadoopFiles

log = structlog.get_logger()

WORKERS = 8  # remote file systems take their time for each file
MIN_PAUSE_S = 0.2
UNREADABLE = "unreadable checkpoint"
NO_CHECKPOINT, NO_BATCH = "there is no checkpoint yet", "it has no committed batch yet"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class CheckpointWatcher:
    """Keeps what it has read after a failure, so that a known batch is not a new commit."""

    def __init__(
        self, outside_consumer: OutsideConsumer, spark: SparkSession, changed: Callable[[], None]
    ) -> None:
        settings = outside_consumer.settings
        assert isinstance(settings, CheckpointConsumer)  # noqa: S101  by its class-name
        self._outside_consumer = outside_consumer
        self._changed = changed
        self._workers = ThreadPoolExecutor(WORKERS, f"checkpoints {settings.name}")
        self._checkpoints = Checkpoints(
            HadoopFiles(spark),
            [*dict.fromkeys(map(_absolute, settings.locations))],
            outside_consumer.cluster.windows.intervals,
            self._workers,
        )
        self._groups = CheckpointGroups(settings.group, outside_consumer.accepts)
        self._logged: dict[str, str] = {}  # problems, by checkpoint
        # Groups of the last run that have not been read in this one, and may still be there.
        self._unread = {*outside_consumer.cluster.restored_outside_groups.get(settings.name, ())}
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
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _look(self, stop: threading.Event) -> None:
        began_s = self._outside_consumer.cluster.clock()
        self._checkpoints.look(stop.is_set)
        if stop.is_set():
            return
        checkpoints = self._checkpoints.known.values()
        self._fold(self._groups.take(checkpoints, int(began_s * 1000)))
        has_narrowed = self._narrow_unread()
        self._note_read(checkpoints, began_s)
        self._note_problems()
        if self._checkpoints.is_complete and not self._has_failed:
            self._note_caught_up()
        if has_narrowed:
            forget_vanished(self._outside_consumer.cluster)

    def _fold(self, changes: OutsideChanges) -> None:
        if changes.commits or changes.queries:
            steps.fold_outside_changes(
                self._outside_consumer, changes, self._outside_consumer.cluster.clock()
            )
            self._changed()

    def _note_read(self, checkpoints: Iterable[Checkpoint], began_s: float) -> None:
        """Up to when the groups have been read: not those whose checkpoint could not be."""
        outside_consumer, failed = self._outside_consumer, self._checkpoints.problems
        read = {
            each.path
            for each in checkpoints
            if each.is_read and not each.problem and each.location not in failed
        }
        with outside_consumer.cluster.lock:
            groups, name = self._groups.groups, outside_consumer.settings.name
            outside_consumer.cluster.outside_groups[name] = groups | self._unread
            held = {*outside_consumer.answered_s} & groups
            moments = {group: outside_consumer.answered_s[group] for group in held}
            moments |= {group: began_s for group in groups if self._groups.shown_by(group) in read}
            outside_consumer.answered_s = moments
        if self._checkpoints.is_complete and not self._has_failed:
            outside_consumer.polled_s = began_s

    @property
    def _has_failed(self) -> bool:
        """Whether no location can be listed: others do not suffer from one that cannot."""
        return len(self._checkpoints.problems) == len(self._checkpoints.locations)

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
        """Leave those groups out that are gone: all was listed, and theirs can be read."""
        if not self._unread or self._checkpoints.problems or not self._checkpoints.is_complete:
            return False
        before, known = self._unread, self._checkpoints.known.values()
        self._unread = before & {self._groups.group_of(each) for each in known if each.problem}
        return self._unread != before

    def _note_problems(self) -> None:
        """Log each problem of a location or a checkpoint once."""
        found = {
            path: f"cannot be listed: {problem}"
            for path, problem in self._checkpoints.problems.items()
        }
        self._set_problem("; ".join(f"{each} {found[each]}" for each in sorted(found)))
        unreadable = self._checkpoints.unreadable
        new = len(unreadable.keys() - self._logged.keys())
        self._outside_consumer.skips.total.update({UNREADABLE: new} if new else {})
        found |= unreadable
        found |= dict.fromkeys(self._checkpoints.empty, NO_CHECKPOINT)
        found |= {
            path: self._why_left_out(checkpoint)
            for path, checkpoint in self._checkpoints.known.items()
            if path not in found and self._why_left_out(checkpoint)
        }
        for path in sorted(path for path in found if self._logged.get(path) != found[path]):
            is_early = found[path] in {NO_CHECKPOINT, NO_BATCH}
            write = self._log.info if is_early else self._log.warning
            write("not read", checkpoint=path, problem=found[path])
        self._logged = found

    def _why_left_out(self, checkpoint: Checkpoint) -> str:
        if checkpoint.newest is None:
            return NO_BATCH if checkpoint.is_read else ""
        if not checkpoint.reads_kafka:
            return "it reads nothing from Kafka"
        group = self._groups.group_of(checkpoint)
        if not group:
            return "it has no query id, and its group is named by it"
        if self._groups.shown_by(group) not in {"", checkpoint.path}:
            return f"another checkpoint that committed later is group {group!r}, too"
        return ""

    def _set_problem(self, problem: str) -> None:
        problem = problem if self._has_failed else ""
        if problem == self._outside_consumer.problem:
            return
        if not problem:
            self._log.info("locations can be listed again")
        self._outside_consumer.problem = problem
        self._changed()


def _absolute(location: str) -> str:
    """Spark has another working directory. A path without a scheme is on its default system."""
    return location if _SCHEME.match(location) else str(Path(location).absolute())
