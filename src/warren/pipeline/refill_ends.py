"""Reads log ends of the last week from history, once, for clusters whose past is not remembered.

After a start without a snapshot, or with an old one, ages would have no bounds until Warren has
watched for that long itself. History knows which log ends were known then.
"""

import threading
from collections.abc import Callable, Iterable

import structlog
from pyspark.sql import SparkSession

from warren.errors import NotKept
from warren.history.past_ends import PastRound, past_ends
from warren.history.table import POOL
from warren.history.table_files import TableFiles
from warren.pipeline.cluster import MS, ClusterState
from warren.pipeline.consumers import Sources
from warren.windows.past_rounds import PastRounds

log = structlog.get_logger()

POLL_S = 1.0
SHORT_S = 600.0  # an absence that leaves no gap worth filling
LATE_S = 60.0  # how far two instances that write history may be apart in what they have read


class EndsRefill:
    """Fills every cluster as soon as it has caught up; a table that cannot be read is logged."""

    def __init__(
        self,
        files: TableFiles,
        spark: SparkSession,
        clusters: Iterable[ClusterState],
        sources: Callable[[ClusterState], Sources],
        began_s: float,
    ) -> None:
        """What was remembered before `began_s` is from a snapshot."""
        self.problem = ""
        self.restarts = 0
        self._files, self._spark = files, spark
        self._waiting = [*clusters]
        self._sources = sources
        self._began_s = began_s

    def run(self, stop: threading.Event) -> None:
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", POOL)
        while self._waiting and not stop.wait(POLL_S):
            for cluster in [each for each in self._waiting if self._is_current(each)]:
                self._waiting.remove(cluster)
                if self._was_away(cluster):
                    self._fill(cluster, stop)
        stop.wait()

    def _is_current(self, cluster: ClusterState) -> bool:
        """Whether all commits before the first round of this run have been read.

        A commit that is read later would be compared with rounds that it is newer than.
        """
        with cluster.lock:
            past = cluster.windows.ends.rows.past.columns
            answered_s = [each.answered_s for each in past if each.asked_s >= self._began_s]
            return bool(answered_s) and self._sources(cluster).all_read_s() >= answered_s[0]

    def _was_away(self, cluster: ClusterState) -> bool:
        with cluster.lock:
            past = cluster.windows.ends.rows.past.columns
            saved_s = [each.answered_s for each in past if each.asked_s < self._began_s]
        return not saved_s or self._began_s - saved_s[-1] > SHORT_S

    def _fill(self, cluster: ClusterState, stop: threading.Event) -> None:
        began_ms = int(self._began_s * MS)
        try:
            found = past_ends(self._files, self._spark, cluster.name, began_ms)
            rounds = fill(cluster, found, stop)
        except NotKept as error:
            log.warning(
                "log ends of the past are not known", cluster=cluster.name, reason=str(error)
            )
            return
        if rounds:
            log.info("read log ends of the past from history", cluster=cluster.name, rounds=rounds)


def fill(cluster: ClusterState, found: Iterable[PastRound], stop: threading.Event) -> int:
    """Put these rounds among those that the cluster remembers; returns how many were found.

    Reading takes long and needs no lock; each round takes the lock for a moment.
    """
    with cluster.lock:
        counts = dict(cluster.topics.counts) if cluster.topics else {}
    rounds = PastRounds(counts, LATE_S)
    for each in found:
        if stop.is_set():
            return 0
        rounds.add(each.moment_ms / MS, each.ends)
    count = len(rounds)
    while not stop.is_set():
        with cluster.lock:
            if not rounds.give(cluster.windows.ends):
                break
    return count
