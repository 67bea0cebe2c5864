"""A made-up cluster that lives: topics grow, groups commit in telling ways, boards follow.

What decides is real: the windows, the rules and the board. Only Kafka is missing.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa
from msgspec import structs
from support.batches import COMMITS
from support.boards import Commit, cluster_board, log_ends

from warren.model.board import Board
from warren.model.health import ClusterHealth, ConsumerHealth, Health, NotifierHealth, SinkHealth
from warren.serve.board_file.commits_file import CommitsFile
from warren.windows.windows import Windows

STEP_S = 6
TOPICS = {"orders": (8, 50), "payments": (4, 20), "clicks": (16, 200), "emails": (3, 2)}
HOSTILE = [
    "<script>document.title='owned'</script>",
    "\u202edrow eht sdrawkcab\u202c \u0623\u0648\u0627\u0645\u0631",
    "long-" + "x" * 195,
    "party \U0001f389\U0001f469\u200d\U0001f467 &amp; \"quotes\" 'n' / slash % ?",
]

# How far a group is at a step, given the log end then; None: it does not commit.
Way = Callable[[int, int, int], int | None]


class Group(NamedTuple):
    name: str
    topic: str
    way: Way
    owners: int = 1


def keeps_up(_step: int, _partition: int, end: int) -> int:
    return end


def catches_up(step: int, partition: int, end: int) -> int:
    return max(end - max(6000 - 260 * step, 40) - 17 * partition, 0)


def falls_behind(step: int, partition: int, _end: int) -> int:
    return 400 + (90 + 5 * partition) * step


def stops(step: int, _partition: int, end: int) -> int | None:
    return end - 90 - step if step < 14 else None


def stalls(_step: int, partition: int, _end: int) -> int:
    return 512 + partition


def rewinds(step: int, partition: int, end: int) -> int:
    return end - 300 if step < 24 else 100 + step + partition


def fails_on_one(step: int, partition: int, end: int) -> int | None:
    return stops(step, partition, end) if partition == 5 else end


GROUPS = [
    Group("checkout", "orders", keeps_up, 4),
    Group("billing", "orders", falls_behind, 2),
    Group("warehouse-sync", "orders", fails_on_one, 3),
    Group("ledger", "payments", keeps_up, 2),
    Group("fraud-scoring", "payments", stops),
    Group("clickstream-to-lake", "clicks", catches_up, 8),
    Group("sessionizer", "clicks", rewinds, 4),
    Group("newsletter", "emails", stalls),
    *(Group(f"reader-{number:02}", "emails", keeps_up) for number in range(24)),
]


class Town:
    def __init__(self, now_s: int, groups: list[Group] = GROUPS, steps: int = 30) -> None:
        self.groups = groups
        self.windows = Windows(intervals=10)
        self.file = CommitsFile()
        self.step, self.now_s = 0, now_s - steps * STEP_S
        self.deleted: set[str] = set()
        for _ in range(steps):
            self.live()
        for group in groups:
            self.windows.set_owners(group.name, _owners(group))

    def live(self) -> None:
        """Let a step of time go by."""
        self.step += 1
        self.now_s += STEP_S
        counts = {topic: partitions for topic, (partitions, _) in TOPICS.items()}
        self.windows.set_log_ends(log_ends(self.ends()), counts, now_s=self.now_s)
        rows = [commit for group in self.groups for commit in self._commits(group)]
        columns = [list(column) for column in zip(*rows, strict=True)]
        orders = [self.step * 1_000_000 + number for number in range(len(rows))]
        table = pa.table([*columns, orders], names=[*COMMITS.names[:5], "order"])
        self.windows.fold(table.select(COMMITS.names).cast(COMMITS), self.now_s)

    def ends(self) -> dict[str, list[int | None]]:
        return {
            topic: [1000 + self.step * STEP_S * rate + 3 * partition for partition in range(count)]
            for topic, (count, rate) in TOPICS.items()
        }

    def _commits(self, group: Group) -> Iterator[Commit]:
        at_ms = self.now_s * 1000 - 700
        for partition, end in enumerate(self.ends()[group.topic]):
            offset = group.way(self.step, partition, end or 0)
            if offset is not None:
                yield group.name, group.topic, partition, offset, at_ms

    def board(self, behind_s: float = 3.2) -> Board:
        judged = cluster_board(self.windows, self.ends(), self.file, self.now_s)
        judged = replace(judged, ends=self.windows.ends.of_topics())
        reading = {"local": structs.replace(CONSUMER, behind_s=behind_s)}
        health = structs.replace(HEALTH, consumers=reading)
        return Board(self.now_s * 1000, {"local": judged}, health)


def _owners(group: Group) -> dict[tuple[str, int], tuple[str, str]]:
    count, _ = TOPICS[group.topic]
    return {
        (group.topic, partition): (
            f"/10.0.3.{10 + partition % group.owners}",
            f"{group.name}-{partition % group.owners}",
        )
        for partition in range(count)
    }


CONSUMER = ConsumerHealth(
    "local",
    "caught up",
    problem="",
    restarts=0,
    records=48_213,
    skipped={"unknown key version": 2},
    remaining=0,
    rate=212.5,
    seconds_left=None,
    lag={"0": 0, "1": 0},
    positions={"0": 24_101, "1": 24_112},
    read_age_s=1.8,
    end_age_s=4.1,
    held_back=[0, 7],
    unanswered=[3],
)
HEALTH = Health(
    ready=True,
    tick_seconds=0.0173,
    clusters={"local": ClusterHealth(data_age_s=3.2, leaderless=0)},
    sinks={"influx": SinkHealth("", 0, outcomes={"sent": 40_120, "failed": 0})},
    notifiers={"pager": NotifierHealth("503 from the pager", 1, outcomes={"sent": 3})},
)
