"""Windows + log ends + now -> the status of every partition and every group."""

from dataclasses import dataclass

import numpy as np

from warren.evaluate import rules
from warren.evaluate.rules import Evidence, Rule
from warren.model import bounds
from warren.model.arrays import Floats, Ints, Mask
from warren.model.status import Status
from warren.model.verdicts import Edge, GroupVerdicts, PartitionVerdicts, Verdicts
from warren.model.window_arrays import WindowArrays, ranges, rows_of, span

# Windows judged at once: small enough for a processor's cache, large enough to hide Python.
CHUNK = 8192

STATUS_OF = np.full(len(Rule), Status.OK, np.uint8)
STATUS_OF[Rule.STOPPED] = STATUS_OF[Rule.QUERY_GONE] = Status.STOP
STATUS_OF[Rule.REWOUND] = Status.REWIND
STATUS_OF[Rule.STALLED] = Status.STALL
STATUS_OF[Rule.FALLING_BEHIND] = Status.WARN


@dataclass(frozen=True)
class JudgeSettings:
    """The settings in `[evaluator.*]` that the rules use."""

    minimum_complete: float = 0.0
    allowed_lag: int = 0
    says_words: bool = False  # Warren's words decide instead of Burrow's rules


def judge(
    arrays: WindowArrays, settings: JudgeSettings, now_s: int, gone: Mask | None = None
) -> Verdicts:
    """Judge every partition, then every group by its partitions.

    `gone` are the groups whose query has ended, if there are any. A group is judged as of the
    moment up to which its commits have been read, never after `now_s`: commits that we have not
    read yet must not look like silence.
    """
    row, count = arrays.rows, arrays.pair_count
    lines = np.concatenate([[0], np.cumsum(count)])
    first = np.append(lines[arrays.group_pair], lines[-1])
    as_of_ms = _as_of_ms(arrays.as_of_s, now_s)
    of_line = np.repeat(as_of_ms, np.diff(first))
    is_gone = None if gone is None else np.repeat(gone, np.diff(first))
    partitions = _judge_partitions(arrays, row, of_line, settings, is_gone)
    return Verdicts(
        now_s,
        arrays.groups,
        arrays.topics,
        arrays.owners,
        _judge_groups(partitions, first, as_of_ms, arrays.last_ms[row]),
        partitions,
    )


def _as_of_ms(as_of_s: Floats, now_s: int) -> Ints:
    """In milliseconds; 0 where nothing has been read, so that no group looks silent."""
    as_of_ms: Ints = (np.clip(as_of_s, 0, now_s) * 1000).astype(np.int64)
    return as_of_ms


def _judge_partitions(
    arrays: WindowArrays,
    row: Ints,
    as_of_ms: Ints,
    settings: JudgeSettings,
    is_gone: Mask | None,
) -> PartitionVerdicts:
    filled, count = arrays.filled[row], arrays.pair_count
    complete = filled.astype(np.float32) / np.float32(arrays.offset.shape[1])
    current_lag = _current_lag(arrays, row)
    rule = np.full(len(row), Rule.NOT_JUDGED, np.uint8)
    judged = (filled > 0) & (complete >= np.float32(settings.minimum_complete))
    caught_up = rules.is_caught_up(current_lag, settings.allowed_lag)
    rule[judged & caught_up] = Rule.CAUGHT_UP
    behind = np.flatnonzero(judged & ~caught_up)
    start, end = _edge(arrays, row, 0), _edge(arrays, row, -1)
    for chunk in range(0, len(behind), CHUNK):
        some = behind[chunk : chunk + CHUNK]
        where = span(row[some])
        evidence = Evidence(  # in memory column by column, as the rules go
            np.asfortranarray(rows_of(arrays.offset, where)),
            np.stack([start.committed_ms[some], end.committed_ms[some]], axis=1),
            np.asfortranarray(rows_of(arrays.lag, where)),
            current_lag[some],
            arrays.lowest_end[some],
            arrays.stopped[row[some]],
        )
        rule[some] = rules.decide(evidence, settings.allowed_lag, as_of_ms[some])
    if is_gone is not None:
        rule[is_gone & judged & ~caught_up] = Rule.QUERY_GONE
    return PartitionVerdicts(
        topic=np.repeat(arrays.pair_topic.astype(np.int32), count),
        partition=ranges(np.zeros_like(count), count).astype(np.int32),
        status=STATUS_OF[rule],
        rule=rule,
        filled=filled,
        complete=complete,
        current_lag=current_lag,
        start=start,
        end=end,
        owner=arrays.owner[row],
        client=arrays.client[row],
        lowest_end=arrays.lowest_end,
    )


def _current_lag(arrays: WindowArrays, row: Ints) -> Ints:
    """How far the last commit is behind the newest log end; 0 where there was no commit."""
    lag = bounds.lag(arrays.newest_end, arrays.offset[row, -1])
    return np.where(arrays.filled[row] > 0, lag, 0)


def _edge(arrays: WindowArrays, row: Ints, column: int) -> Edge:
    return Edge(
        arrays.offset[row, column],
        arrays.committed_ms[row, column],
        arrays.observed_s[row, column],
        arrays.lag[row, column],
    )


def _judge_groups(
    partitions: PartitionVerdicts, first: Ints, as_of_ms: Ints, last_ms: Ints
) -> GroupVerdicts:
    """A group is as bad as its worst partition; each of STOP, STALL and REWIND makes it ERR."""
    begin, count = first[:-1], np.diff(first)
    worst = np.maximum.reduceat(np.minimum(partitions.status, np.uint8(Status.ERR)), begin)
    full = np.add.reduceat(partitions.complete == 1, begin, dtype=np.int64)
    max_lag = np.maximum.reduceat(partitions.current_lag, begin)
    is_max = np.flatnonzero(partitions.current_lag == np.repeat(max_lag, count))
    return GroupVerdicts(
        first=first,
        as_of_ms=as_of_ms,
        status=worst,
        complete=(full / count).astype(np.float32),
        partition_count=count,
        total_lag=bounds.sums(partitions.current_lag, begin),
        max_lag_line=is_max[np.searchsorted(is_max, begin)],
        last_commit_ms=np.maximum.reduceat(last_ms, begin),
    )
