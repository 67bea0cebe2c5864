"""Boards of any size, as a busy cluster would have them."""

import numpy as np

from warren.model.board import Board, ClusterBoard, SharedFile, StoredWindows, TopicEnds
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
    ends = TopicEnds(topics, first.astype(np.int64), written, grows)
    return Board(moment_ms, {"local": ClusterBoard(verdicts, nothing, ends)})


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
