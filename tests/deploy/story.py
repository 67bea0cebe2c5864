"""Half an hour in the life of six groups, made by the real windows and the real rules.

Each does the same from step to step: three keep up, one falls behind, one stands still and one
has gone silent.
"""

from collections.abc import Iterator, Mapping

import pyarrow as pa
from support.boards import Commit, add, cluster_board

from warren.model.board import Board
from warren.model.health import (
    ClusterHealth,
    ConsumerHealth,
    Health,
    HistoryHealth,
    KeeperHealth,
    NotifierHealth,
    SinkHealth,
)
from warren.model.tables import LOG_ENDS
from warren.serve.board_file.commits_file import CommitsFile
from warren.windows.windows import Windows

CLUSTER = "local"
PARTITIONS = {"orders": 2, "bills": 1}
PRODUCED = 20  # messages of a partition in a step
SILENT_AFTER = 12  # steps


class Story:
    def __init__(self) -> None:
        self._windows = Windows(intervals=10)
        self._file = CommitsFile()
        self._step = 0

    def go_on(self, now_s: int) -> Board:
        """One step further: everybody produces, consumes and commits; then all is judged."""
        self._step += 1
        ends = {topic: [self._end(topic)] * count for topic, count in PARTITIONS.items()}
        rows = [
            {"topic": topic, "partition": partition, "offset": end}
            for topic, values in ends.items()
            for partition, end in enumerate(values)
        ]
        counts = {topic: len(values) for topic, values in ends.items()}
        self._windows.set_log_ends(pa.Table.from_pylist(rows, LOG_ENDS), counts)
        add(self._windows, self._commits(now_s), first_order=self._step * 100)
        judged = cluster_board(self._windows, ends, self._file, now_s)
        return Board(now_s * 1000, {CLUSTER: judged}, health(self._step))

    def _end(self, topic: str) -> int:
        return 1000 + self._step * PRODUCED * (2 if topic == "orders" else 1)

    def _commits(self, now_s: int) -> Iterator[Commit]:
        for topic, count in PARTITIONS.items():
            for group, offset in self._offsets(self._end(topic)).items():
                for partition in range(count):
                    yield group, topic, partition, offset, now_s * 1000 - 500

    def _offsets(self, end: int) -> Mapping[str, int]:
        everybody = {
            "billing": end,
            "bulk-load": end,
            "falls behind": 1000 + self._step,
            "stands still": 900,
            "with.dots": end,
        }
        return everybody if self._step > SILENT_AFTER else {**everybody, "silent": end}


def health(step: int) -> Health:
    """What a monitor that has seen everything tells; counters grow."""
    sent = {"sent": 10 * step, "failed": step}
    return Health(
        ready=True,
        tick_seconds=0.01,
        clusters={CLUSTER: ClusterHealth(data_age_s=1.5)},
        consumers={
            CLUSTER: ConsumerHealth(
                CLUSTER,
                "caught up",
                records=100 * step,
                remaining=2,
                skipped={"key version": step},
                lag={"0": 1, "1": 1},
                held_back=[4],
                restarts=1,
            )
        },
        sinks={"influx": SinkHealth("", 0, outcomes=sent, behind_s=3.5)},
        history=HistoryHealth(keeper=KeeperHealth("", 0, outcomes={"kept": step, "failed": 1})),
        notifiers={"slack": NotifierHealth("", 0, outcomes={"sent": step, "failed": 1})},
    )
