"""Boards of any size, as a busy cluster would have them."""

import numpy as np

from warren.model.arrays import Ints
from warren.model.board import Board, ClusterBoard, SharedFile, StoredWindows, TopicEnds
from warren.model.numbers import GroupNumbers, Method, Numbers, PartitionNumbers
from warren.model.verdicts import Edge, GroupVerdicts, PartitionVerdicts, Verdicts

OWNERS = 100
MINUTE_MS = 60_000


def board(groups: int, width: int, moment_ms: int) -> Board:
    """Each group reads a topic of its own; one partition in five lags, one in a thousand stands."""
    lines, chance = groups * width, np.random.default_rng(moment_ms)
    line = np.arange(lines)
    rate = chance.permutation(lines) % 5000 + 1  # messages a minute
    written = rate * (moment_ms // MINUTE_MS % 1_000_000)
    lag = np.where(line % 5 == 0, chance.integers(0, 1000, lines), 0)
    committed_ms = moment_ms - chance.integers(0, MINUTE_MS, lines)
    edge = Edge(written - lag, committed_ms, (committed_ms // 1000).astype(np.uint32), lag)
    status = np.where(line % 1000 == 0, 4, 1).astype(np.uint8)
    first = np.arange(groups + 1) * width
    partitions = PartitionVerdicts(
        topic=(line // width).astype(np.int32),
        partition=(line % width).astype(np.int32),
        status=status,
        rule=np.zeros(lines, np.uint8),
        filled=np.full(lines, 10, np.uint16),
        complete=np.ones(lines, np.float32),
        current_lag=lag,
        start=edge,
        end=edge,
        owner=(line % OWNERS + 1).astype(np.int32),
        client=(line % OWNERS + 1).astype(np.int32),
        lowest_end=written,
    )
    topics = tuple(f"topic-{number:06}" for number in range(groups))
    verdicts = Verdicts(
        moment_ms // 1000,
        tuple(f"group-{number:06}-of-some-service" for number in range(groups)),
        topics,
        ("", *(f"/10.0.0.{number}" for number in range(OWNERS))),
        _groups(partitions, first, moment_ms),
        partitions,
    )
    nothing = StoredWindows(SharedFile(), 10, np.zeros(0, np.int32))
    grows = np.ones(len(written), np.float32)
    ends = TopicEnds(topics, first.astype(np.int64), written, grows, np.zeros_like(written))
    return Board(moment_ms, {"local": ClusterBoard(verdicts, nothing, ends, _numbers(verdicts))})


def _numbers(verdicts: Verdicts) -> Numbers:
    """As if every record came a second after the one before, and everybody kept the pace."""
    lag, begin = verdicts.partitions.current_lag, verdicts.groups.first[:-1]
    partitions = _partition_numbers(lag)
    total = np.add.reduceat(lag, begin)
    line = verdicts.groups.max_lag_line
    groups = GroupNumbers(
        lag=total,
        lag_low=total,
        lag_high=total,
        age_s=partitions.age_s[line],
        age_low_s=partitions.age_low_s[line],
        age_high_s=partitions.age_high_s[line],
        age_method=partitions.age_method[line],
        age_line=line,
        produced=np.add.reduceat(partitions.produced, begin),
        consumed=np.add.reduceat(partitions.consumed, begin),
        drain_low_s=np.maximum.reduceat(partitions.drain_low_s, begin),
        drain_high_s=np.maximum.reduceat(partitions.drain_high_s, begin),
        margin_s=np.minimum.reduceat(partitions.margin_s, begin),
        lost=np.zeros(len(begin), np.int64),
        scalable_lag=total,
        expires_s=np.full(len(begin), np.inf, np.float32),
    )
    return Numbers(partitions, groups)


def _partition_numbers(lag: Ints) -> PartitionNumbers:
    age, one = lag.astype(np.float32), np.ones(len(lag), np.float32)
    behind = lag > 0
    return PartitionNumbers(
        lag=lag,
        lag_low=lag,
        lag_high=lag + behind * 10,
        age_s=age,
        age_low_s=age,
        age_high_s=age + 10 * behind,
        age_method=np.where(behind, np.uint8(Method.BY_ENDS), np.uint8(Method.NOTHING_UNREAD)),
        produced=one,
        consumed=one,
        drain_low_s=np.where(behind, np.float32(np.inf), np.float32(0)),
        drain_high_s=np.where(behind, np.float32(np.inf), np.float32(0)),
        margin_s=np.full(len(lag), np.inf, np.float32),
        lost=np.zeros(len(lag), np.int64),
        lack=np.zeros(len(lag), np.uint8),
    )


def _groups(partitions: PartitionVerdicts, first: np.ndarray, moment_ms: int) -> GroupVerdicts:
    begin, count = first[:-1], np.diff(first)
    most = np.maximum.reduceat(partitions.current_lag, begin)
    is_most = np.flatnonzero(partitions.current_lag == np.repeat(most, count))
    return GroupVerdicts(
        first=first,
        as_of_ms=np.full(len(count), moment_ms),
        status=np.minimum(np.maximum.reduceat(partitions.status, begin), np.uint8(3)),
        complete=np.ones(len(count), np.float32),
        partition_count=count,
        total_lag=np.add.reduceat(partitions.current_lag, begin),
        max_lag_line=is_most[np.searchsorted(is_most, begin)],
        last_commit_ms=np.full(len(count), moment_ms),
    )
