"""What Warren tells of itself, and the one place that says whether something is current.

The structs are the answer of `/v4/health`. A field that has its default is left out of it: it was
not told. Where null is an answer as well, the default is UNSET.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, Never, TypeVar

from msgspec import UNSET, Struct, UnsetType, field

ConsumerState = Literal["connecting", "catching up", "caught up", "failed"]
SparkState = Literal["starting", "up"]

NOT_TOLD: Mapping[str, Never] = MappingProxyType({})  # an empty dict is told
WAITING = "begins when Spark is up"
STANDBY = "standby"
SOON_S = 30.0  # of reading; after an outage lag seems great until the commits are read

T = TypeVar("T")


def known(value: T | UnsetType | None) -> T | None:
    return None if isinstance(value, UnsetType) else value


class ClusterHealth(Struct, frozen=True):
    problem: str = ""  # why the brokers do not answer, if so
    silent_brokers: Sequence[int] = []  # while others answer
    restarts: int = 0
    data_age_s: float | None = None  # None: nothing is judged yet
    restored: bool = False  # its verdicts are of a snapshot
    leaderless: int | None = None
    without_log_end: int = 0
    waiting_for_log_end: int = 0
    dropped: Mapping[str, int] = {}

    @property
    def is_current(self) -> bool:
        """Enough for an alert and for history: the brokers answer, and verdicts are of now."""
        return self.data_age_s is not None and not self.restored and not self.problem


class ConsumerHealth(Struct, frozen=True, omit_defaults=True):
    """Of an offsets topic all is told; of one outside Kafka, or before Spark is up, only a part."""

    cluster: str
    state: ConsumerState
    problem: str | None = None
    restarts: int | None = None
    records: int | None = None  # read since the start
    skipped: Mapping[str, int] = NOT_TOLD
    remaining: int | None = None
    rate: float | None = None
    seconds_left: float | UnsetType | None = UNSET
    lag: Mapping[str, int] = NOT_TOLD  # by partition of the offsets topic
    positions: Mapping[str, int] = NOT_TOLD
    behind_s: float | UnsetType | None = UNSET
    read_age_s: float | UnsetType | None = UNSET
    end_age_s: float | UnsetType | None = UNSET
    held_back: Sequence[int] = ()
    unanswered: Sequence[int] = ()
    # Of a backfill, while it runs: until then groups of these partitions cannot be judged.
    backfill_partitions_left: int | None = None
    backfill_problem: str | None = None

    @property
    def is_current(self) -> bool:
        """Enough for an alert and for history: all commits are read, or will be soon.

        One that has failed may lack some, whatever was left to read when it did.
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
    outcomes: Mapping[str, int] = NOT_TOLD


class RecentHealth(ServiceHealth, frozen=True):
    moments: int
    memory_mb: float
    since_ms: int | None


class KeeperHealth(ServiceHealth, frozen=True, omit_defaults=True):
    state: str | None = None
    directory: str | None = None
    last_moment_ms: int | UnsetType | None = UNSET
    last_rows: int | UnsetType | None = UNSET
    last_seconds: float | UnsetType | None = UNSET
    outcomes: Mapping[str, int] = NOT_TOLD


class UpkeepHealth(ServiceHealth, frozen=True, omit_defaults=True):
    state: str | None = None
    merged_ms: int | UnsetType | None = UNSET
    expired_ms: int | UnsetType | None = UNSET
    merged_older_ms: int | UnsetType | None = UNSET
    outcomes: Mapping[str, int] = NOT_TOLD


class SinkHealth(ServiceHealth, frozen=True, omit_defaults=True):
    class_name: str | None = field(default=None, name="class")
    state: str | None = None
    delivered_ms: int | UnsetType | None = UNSET
    behind_s: float | UnsetType | None = UNSET
    outcomes: Mapping[str, int] = NOT_TOLD
    rejected: Mapping[str, int] = NOT_TOLD


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
    """What is told of one that writes history or delivers it, while another instance leads."""
    outcomes = dict(health.outcomes)
    return type(health)(health.problem, health.restarts, state=STANDBY, outcomes=outcomes)


class Health(Struct, frozen=True, omit_defaults=True):
    """Of the whole; services that are not configured are left out."""

    ready: bool | None = None  # everything has been read once; None: nothing is known yet
    clusters: Mapping[str, ClusterHealth] = NOT_TOLD
    consumers: Mapping[str, ConsumerHealth] = NOT_TOLD
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
        """All is read that can be: what fails must not hold up the others."""
        if self.ready:
            return True
        failing = {name for name, each in self.clusters.items() if each.problem}
        return bool(self.consumers) and all(
            each.problem or each.state == "caught up" or each.cluster in failing
            for each in self.consumers.values()
        )

    @property
    def is_catching_up(self) -> bool:
        return any(each.state == "catching up" for each in self.consumers.values())
