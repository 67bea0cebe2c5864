"""Verdicts and boards as tests want them, without commits that would lead to them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from support.numbers import plain_numbers

from warren.model.board import Board, ClusterBoard, SharedFile, StoredWindows, TopicEnds
from warren.model.health import ClusterHealth, ConsumerHealth, ConsumerState, Health
from warren.model.status import Status
from warren.model.verdicts import Edge, GroupVerdicts, PartitionVerdicts, Verdicts

NOW_MS = 1_700_000_000_000


class Part(NamedTuple):
    status: Status = Status.OK
    lag: int = 0
    topic: str = "orders"


# What makes a group's verdict: a single partition.
PARTITION_OF = {Status.OK: Status.OK, Status.WARN: Status.WARN, Status.ERR: Status.STOP}


def verdicts_of(groups: Mapping[str, Sequence[Part]]) -> Verdicts:
    names = tuple(sorted(groups))
    parts = [part for name in names for part in groups[name]]
    topics = tuple(sorted({part.topic for part in parts}))
    counts = np.array([len(groups[name]) for name in names], np.int64)
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    lag = np.array([part.lag for part in parts], np.int64)
    spans = list(zip(first[:-1].tolist(), first[1:].tolist(), strict=True))
    worst = [min(max(p.status for p in groups[name]), Status.ERR) for name in names]
    edge = Edge(lag * 0 + 7, lag * 0 + NOW_MS, (lag * 0 + NOW_MS // 1000).astype(np.uint32), lag)
    return Verdicts(
        NOW_MS // 1000,
        names,
        topics,
        ("", "host-1", "client-1"),
        GroupVerdicts(
            first=first,
            as_of_ms=np.full(len(names), NOW_MS),
            status=np.array(worst, np.uint8),
            complete=np.ones(len(names), np.float32),
            partition_count=counts,
            total_lag=np.array([lag[a:b].sum() for a, b in spans], np.int64),
            max_lag_line=np.array([a + int(lag[a:b].argmax()) for a, b in spans], np.int64),
            last_commit_ms=np.full(len(names), NOW_MS),
        ),
        PartitionVerdicts(
            topic=np.array([topics.index(part.topic) for part in parts], np.int32),
            partition=np.array([n for a, b in spans for n in range(b - a)], np.int32),
            status=np.array([part.status for part in parts], np.uint8),
            rule=np.zeros(len(parts), np.uint8),
            filled=np.ones(len(parts), np.uint16),
            complete=np.full(len(parts), 0.1, np.float32),
            current_lag=lag,
            start=edge,
            end=edge,
            owner=np.ones(len(parts), np.int32),
            client=np.full(len(parts), 2, np.int32),
            lowest_end=np.zeros(len(parts), np.int64),
        ),
    )


def statuses(groups: Mapping[str, Status]) -> Verdicts:
    return verdicts_of(
        {name: [Part(PARTITION_OF[status], 10 * status)] for name, status in groups.items()}
    )


def _as_of(verdicts: Verdicts, moment_ms: int) -> Verdicts:
    groups = replace(verdicts.groups, as_of_ms=np.full(len(verdicts.names), moment_ms))
    return replace(verdicts, groups=groups)


def board_of(
    clusters: Mapping[str, Verdicts],
    moment_ms: int,
    *,
    state: ConsumerState = "caught up",
    outside: Mapping[str, tuple[str, ...]] | None = None,
    outside_state: ConsumerState = "caught up",
    read_until_ms: int | None = None,
) -> Board:
    """A board whose clusters can all be judged, unless `state` says otherwise.

    `outside`: groups whose commits are in ZooKeeper, by consumer. `read_until_ms`: up to when all
    commits are read, if not up to the board's moment.
    """
    as_of_ms = moment_ms if read_until_ms is None else read_until_ms
    clusters = {name: _as_of(each, as_of_ms) for name, each in clusters.items()}
    nothing = StoredWindows(SharedFile(), 1, np.zeros(0, np.int32))
    groups = {name: frozenset(each) for name, each in (outside or {}).items()}
    consumers = {
        name: ConsumerHealth(name, state, remaining=0, seconds_left=None) for name in clusters
    }
    for name in groups:
        consumers[name] = ConsumerHealth(next(iter(clusters)), outside_state, remaining=0)
    health = Health(
        clusters={name: ClusterHealth(data_age_s=1.0) for name in clusters}, consumers=consumers
    )
    none = np.zeros(0, np.int64)
    ends = TopicEnds((), np.zeros(1, np.int64), none, np.zeros(0, np.float32), none)
    return Board(
        moment_ms,
        {
            name: ClusterBoard(each, nothing, ends, plain_numbers(each), outside=groups)
            for name, each in clusters.items()
        },
        health,
    )
