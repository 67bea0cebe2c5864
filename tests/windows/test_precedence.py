"""A group that commits to Kafka and to ZooKeeper: neither drowns the other."""

import numpy as np
import pyarrow as pa

from warren.windows.precedence import PATIENCE_MS, Precedence, groups_outside, outside_order
from warren.windows.windows import Windows

NOW_S = 1_700_000_000
NOW_MS = NOW_S * 1000
KEY = ("billing", "orders", 0)
ZXID = 2**36  # far beyond any position in an offsets topic of a test


class Both:
    """One partition, committed to in two places; times are seconds from the start."""

    def __init__(self) -> None:
        self.windows = Windows(intervals=5)
        ends = {"topic": ["orders"], "partition": [0], "offset": [1_000_000]}
        self.windows.set_log_ends(pa.table(ends), {"orders": 1})
        self._precedence = Precedence()
        self._record = 0
        self._zxid = ZXID

    def kafka(self, at_s: int, offset: int | None) -> None:
        self._record += 1
        self._fold(at_s, offset, self._record)

    def zookeeper(self, at_s: int, offset: int) -> None:
        self._zxid += 1
        order = outside_order(self._zxid)
        if self._precedence.admits(self.windows, KEY, NOW_MS + at_s * 1000, order):
            self._fold(at_s, offset, order)

    def zookeeper_ends(self) -> None:
        if self._precedence.admits_removal(self.windows, KEY):
            self._fold(0, None, outside_order(0))

    def _fold(self, at_s: int, offset: int | None, order: int) -> None:
        commit = {
            "group": ["billing"],
            "topic": ["orders"],
            "partition": pa.array([0], pa.int32()),
            "offset": pa.array([offset], pa.int64()),
            "committed_ms": [NOW_MS + at_s * 1000],
            "order": [order],
        }
        self.windows.fold(pa.table(commit), NOW_S)

    @property
    def window(self) -> list[int]:
        if not len(self.windows.grid.filled) or not self.windows.grid.filled[0]:
            return []
        held = int(self.windows.grid.filled[0])
        assert (np.diff(self.windows.grid.order[0, -held:]) > 0).all()
        offsets: list[int] = self.windows.grid.offset[0, -held:].tolist()
        return offsets


def test_a_group_in_zookeeper_alone_is_followed() -> None:
    both = Both()
    for n in range(7):
        both.zookeeper(n * 10, 100 + n)

    assert both.window == [102, 103, 104, 105, 106]


def test_a_group_that_commits_to_both_is_seen_as_kafka_has_it() -> None:
    both = Both()
    both.zookeeper(-3600, 1)  # what was found at the start
    for n in range(6):
        both.zookeeper(n * 3600, 200 + n)  # now before, now after Kafka's
        both.kafka(n * 3600 + 1, 100 + n)
        both.zookeeper(n * 3600 + 2, 200 + n)

    assert both.window == [101, 102, 103, 104, 105]


def test_a_group_that_moves_to_kafka_is_followed_at_once() -> None:
    both = Both()
    for n in range(3):
        both.zookeeper(n * 10, 100 + n)
    both.kafka(40, 103)
    both.kafka(50, 104)

    assert both.window == [100, 101, 102, 103, 104]


def test_a_group_that_moves_to_zookeeper_is_followed_when_kafka_stays_silent() -> None:
    both = Both()
    for n in range(3):
        both.kafka(n * 60, 100 + n)
    silent = PATIENCE_MS // 1000
    both.zookeeper(120 + silent, 103)
    both.zookeeper(121 + silent, 103)
    both.zookeeper(120 + 2 * silent, 104)
    before = both.window
    both.zookeeper(121 + 2 * silent, 105)
    both.zookeeper(122 + 2 * silent, 106)

    assert before == [100, 101, 102]
    assert both.window == [100, 101, 102, 105, 106]


def test_what_ends_in_zookeeper_ends_unless_kafka_has_it() -> None:
    alone, both = Both(), Both()
    alone.zookeeper(0, 100)
    both.zookeeper(0, 100)
    both.kafka(10, 101)

    alone.zookeeper_ends()
    both.zookeeper_ends()

    assert alone.window == []
    assert both.window == [100, 101]


def test_a_group_is_outside_until_kafka_has_something_of_it() -> None:
    both = Both()
    nothing = groups_outside(both.windows)
    both.zookeeper(0, 100)
    alone = groups_outside(both.windows)
    both.kafka(10, 101)

    assert (nothing, alone, groups_outside(both.windows)) == (set(), {"billing"}, set())
