"""Warren's own health, and the one place that decides whether data is current.

The structs are the answer of `/v4/health`, which leaves out every field that has its default. Where
null is a possible answer, the default is UNSET.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, Never, TypeVar

from msgspec import UNSET, Struct, UnsetType, field

ConsumerState = Literal["connecting", "catching up", "caught up", "failed"]
SparkState = Literal["starting", "up"]

LEFT_OUT: Mapping[str, Never] = MappingProxyType({})  # an empty dict is not left out
WAITING = "begins when Spark is up"
STANDBY = "standby"
SOON_S = 30.0  # of reading; after an outage, lags look too large until the commits are read

T = TypeVar("T")


def known(value: T | UnsetType | None) -> T | None:
    return None if isinstance(value, UnsetType) else value


class ClusterHealth(Struct, frozen=True):
    problem: str = ""  # why the brokers do not answer; empty if they do
    silent_brokers: Sequence[int] = []  # while others answer
    restarts: int = 0
    data_age_s: float | None = None  # None: no verdicts yet
    restored: bool = False  # its verdicts come from a snapshot
    leaderless: int | None = None
    without_log_end: int = 0
    waiting_for_log_end: int = 0
    dropped: Mapping[str, int] = {}

    @property
    def is_current(self) -> bool:
        """Good enough for alerts and history: brokers answer, verdicts are not of a snapshot."""
        return self.data_age_s is not None and not self.restored and not self.problem


class ConsumerHealth(Struct, frozen=True, omit_defaults=True):
    """Only consumers of an offsets topic have all but the last, and only once Spark is up."""

    cluster: str
    state: ConsumerState
    problem: str | None = None
    restarts: int | None = None
    records: int | None = None  # read since the start
    skipped: Mapping[str, int] = LEFT_OUT
    remaining: int | None = None
    rate: float | None = None
    seconds_left: float | UnsetType | None = UNSET
    lag: Mapping[str, int] = LEFT_OUT  # by partition of the offsets topic
    positions: Mapping[str, int] = LEFT_OUT
    behind_s: float | UnsetType | None = UNSET
    read_age_s: float | UnsetType | None = UNSET
    end_age_s: float | UnsetType | None = UNSET
    held_back: Sequence[int] = ()
    unanswered: Sequence[int] = ()
    # While a backfill runs; the groups of these partitions are not judged until it is done.
    backfill_partitions_left: int | None = None
    backfill_problem: str | None = None
    not_read: Mapping[str, str] = LEFT_OUT  # checkpoints and locations, the first 50, and why

    @property
    def is_current(self) -> bool:
        """Good enough for alerts and history: all commits are read, or will be soon.

        A consumer that has failed may lack commits, even if none was left to read at that moment.
        """
        if self.state != "caught up":
            return False
        left_s = known(self.seconds_left)
        return not self.remaining or (left_s is not None and left_s <= SOON_S)


class ServiceHealth(Struct, frozen=True, omit_defaults=True):
    problem: str  # what failed last
    restarts: int


class LockHealth(ServiceHealth, frozen=True):
    leads: bool


class RoundsHealth(LockHealth, frozen=True):
    open: int  # incidents
    silent: Sequence[str]  # clusters that cannot be judged
    silent_consumers: Sequence[str]


class NotifierHealth(ServiceHealth, frozen=True, omit_defaults=True):
    state: str | None = None
    queued: int | None = None
    outcomes: Mapping[str, int] = LEFT_OUT


class RecentHealth(ServiceHealth, frozen=True):
    moments: int
    memory_mb: float
    since_ms: int | None  # from then on nothing is missing
    oldest_ms: int | None = None  # the first moment there is


class KeeperHealth(ServiceHealth, frozen=True, omit_defaults=True):
    state: str | None = None
    directory: str | None = None
    last_moment_ms: int | UnsetType | None = UNSET
    last_rows: int | UnsetType | None = UNSET
    last_seconds: float | UnsetType | None = UNSET
    outcomes: Mapping[str, int] = LEFT_OUT


class UpkeepHealth(ServiceHealth, frozen=True, omit_defaults=True):
    state: str | None = None
    merged_ms: int | UnsetType | None = UNSET
    expired_ms: int | UnsetType | None = UNSET
    merged_older_ms: int | UnsetType | None = UNSET
    outcomes: Mapping[str, int] = LEFT_OUT


class SinkHealth(ServiceHealth, frozen=True, omit_defaults=True):
    class_name: str | None = field(default=None, name="class")
    state: str | None = None
    delivered_ms: int | UnsetType | None = UNSET
    behind_s: float | UnsetType | None = UNSET
    outcomes: Mapping[str, int] = LEFT_OUT
    rejected: Mapping[str, int] = LEFT_OUT


class SnapshotsHealth(ServiceHealth, frozen=True):
    saved_s: Mapping[str, float]  # by cluster


class IncidentsHealth(Struct, frozen=True):
    lock: LockHealth
    rounds: RoundsHealth


class HistoryHealth(Struct, frozen=True, omit_defaults=True):
    lock: LockHealth | None = None
    recent: RecentHealth | None = None
    keeper: KeeperHealth | None = None
    upkeep: UpkeepHealth | None = None


Writer = TypeVar("Writer", KeeperHealth, UpkeepHealth, SinkHealth)


def on_standby(health: Writer) -> Writer:
    """The health of a history writer or a sink while another instance leads."""
    outcomes = dict(health.outcomes)
    return type(health)(health.problem, health.restarts, state=STANDBY, outcomes=outcomes)


class Health(Struct, frozen=True, omit_defaults=True):
    """The health of the whole process; services that are not configured are left out."""

    ready: bool | None = None  # everything has been read once; None: unknown yet
    clusters: Mapping[str, ClusterHealth] = LEFT_OUT
    consumers: Mapping[str, ConsumerHealth] = LEFT_OUT
    tick_seconds: float | None = None
    spark: SparkState | None = None
    incidents: IncidentsHealth | None = None
    notifiers: dict[str, NotifierHealth] = {}
    history: HistoryHealth | None = None
    snapshots: dict[str, SnapshotsHealth] = {}
    sinks: dict[str, SinkHealth] = {}

    def consumers_of(self, cluster: str) -> dict[str, ConsumerHealth]:
        return {name: each for name, each in self.consumers.items() if each.cluster == cluster}

    @property
    def is_current_for_answers(self) -> bool:
        """All that can be read is read; a failing cluster or consumer holds up no other."""
        if self.ready:
            return True
        failing = self._failing
        return bool(self.consumers) and all(
            each.problem or each.state == "caught up" or each.cluster in failing
            for each in self.consumers.values()
        )

    @property
    def is_catching_up(self) -> bool:
        """Some consumer reads what has piled up; where no broker answers, nothing is read."""
        failing = self._failing
        return any(
            each.state == "catching up" and each.cluster not in failing
            for each in self.consumers.values()
        )

    @property
    def _failing(self) -> set[str]:
        return {name for name, each in self.clusters.items() if each.problem}
