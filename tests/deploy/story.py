"""Half an hour in the life of six groups, made by the real windows and the real rules.

Each does the same from step to step: three keep up, one falls behind, one stands still and one
has gone silent. Their ages, and what will be, are the story's own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from support.boards import Commit, add, cluster_board
from support.some_numbers import NEVER, some_numbers

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
from warren.model.numbers import Method, Numbers
from warren.model.tables import LOG_ENDS
from warren.model.verdicts import Verdicts
from warren.serve.board_file.commits_file import CommitsFile
from warren.windows.windows import Windows

CLUSTER = "local"
PARTITIONS = {"orders": 2, "bills": 1}
PRODUCED = 20  # messages of a partition in a step
SILENT_AFTER = 12  # steps


class Late(NamedTuple):
    """Seconds; nothing is late unless it is said."""

    age: float = 0
    drain: float = 0
    margin: float = 86_400
    loses: int = 0  # a step
    expires: float = 604_800


LATE = {
    "bulk-load": Late(expires=NEVER),
    "falls behind": Late(7200, NEVER, 18_000),
    "stands still": Late(7200, NEVER, 0, loses=7),
    "silent": Late(600, NEVER, 36_000, expires=20_000),
}


def numbers_of(verdicts: Verdicts, step: int) -> Numbers:
    """Of a group, and the same of each of its partitions."""
    late = [LATE.get(name, Late()) for name in verdicts.names]
    age = np.array([each.age for each in late])
    drain = [each.drain for each in late]
    groups = {
        "lag": verdicts.groups.total_lag,
        "age_s": age,
        "age_low_s": np.maximum(age - 5, 0),
        "age_high_s": np.where(age > 0, age + 5, 0),
        "age_method": np.where(age > 0, Method.BY_ENDS, Method.NOTHING_UNREAD),
        "drain_low_s": drain,
        "drain_high_s": drain,
        "margin_s": [each.margin for each in late],
        "lost": [each.loses * step for each in late],
    }
    count = np.diff(verdicts.groups.first)
    partitions = {name: np.repeat(values, count) for name, values in groups.items()}
    groups |= {
        "scalable_lag": verdicts.groups.total_lag,
        "expires_s": [each.expires for each in late],
    }
    return some_numbers(verdicts, partitions, groups)  # type: ignore[arg-type]  # arrays


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
        judged = replace(judged, numbers=numbers_of(judged.verdicts, self._step))
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
