"""Write a board as a file for the workers; `board_view` reads it."""

import msgspec
import numpy as np

from warren.model.arrays import AnyArray
from warren.model.board import Board, ClusterBoard, SharedFile
from warren.model.granularity import Granularity
from warren.model.kafka_names import readable
from warren.serve.board_file import packed_arrays
from warren.serve.board_file.packed_arrays import BoardFacts, ClusterFacts


def write(board: Board, granularity: Granularity, process: dict[str, float]) -> SharedFile:
    facts = BoardFacts(
        board.moment_ms,
        [
            ClusterFacts(name, cluster.verdicts.now_s, cluster.windows.intervals, _idle(cluster))
            for name, cluster in board.clusters.items()
        ],
        board.health,
        process,
    )
    arrays: dict[str, AnyArray] = {}
    for number, cluster in enumerate(board.clusters.values()):
        own = _arrays(cluster)
        own["group_level"] = granularity.levels(cluster.verdicts.names)
        arrays |= {f"{number}.{name}": array for name, array in own.items()}
    return packed_arrays.write(facts, arrays)


def _arrays(cluster: ClusterBoard) -> dict[str, AnyArray]:
    verdicts, ends = cluster.verdicts, cluster.ends
    groups, partitions = verdicts.groups, verdicts.partitions
    return {
        "group_names": _names(verdicts.names),
        "topic_names": _names(verdicts.topics),
        "owner_names": _names(verdicts.owners),
        "end_names": _names(ends.topics),
        "group_first": groups.first,
        "group_as_of_ms": groups.as_of_ms,
        "group_status": groups.status,
        "group_complete": groups.complete,
        "group_total_lag": groups.total_lag,
        "group_max_lag_line": groups.max_lag_line,
        "group_last_commit_ms": groups.last_commit_ms,
        "group_generation": _generations(cluster),
        "topic": partitions.topic,
        "partition": partitions.partition,
        "status": partitions.status,
        "rule": partitions.rule,
        "filled": partitions.filled,
        "complete": partitions.complete,
        "current_lag": partitions.current_lag,
        "end_offset": partitions.end.offset,
        "lowest_end": partitions.lowest_end,
        "owner": partitions.owner,
        "client": partitions.client,
        "window": cluster.windows.place,
        "end_first": ends.first,
        "ends": ends.end,
        "end_rates": ends.rate,
    }


def _idle(cluster: ClusterBoard) -> dict[str, list[tuple[str, str]]]:
    return {
        readable(group): [(readable(owner), readable(client)) for owner, client in members]
        for group, members in cluster.idle.items()
    }


def _generations(cluster: ClusterBoard) -> AnyArray:
    names, known = cluster.verdicts.names, cluster.generations
    if not known:
        return np.full(len(names), -1, np.int64)
    return np.fromiter((known.get(name, -1) for name in names), np.int64, len(names))


def _names(names: tuple[str, ...]) -> AnyArray:
    """As JSON: names seldom change, so a worker decodes them once and then compares the bytes."""
    try:
        encoded = msgspec.json.encode(names)
    except UnicodeEncodeError:  # names that are not UTF-8 hold lone surrogates
        encoded = msgspec.json.encode([readable(name) for name in names])
    return np.frombuffer(encoded, np.uint8)
