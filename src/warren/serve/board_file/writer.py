"""Write a board as a file for the workers; `board_view` reads it."""

from dataclasses import fields

import msgspec
import numpy as np

from warren.model.arrays import AnyArray
from warren.model.board import Board, ClusterBoard, SharedFile
from warren.model.granularity import Granularity
from warren.model.kafka_names import readable
from warren.serve.board_file import opinions, packed_arrays
from warren.serve.board_file.change_log import ChangeLog
from warren.serve.board_file.packed_arrays import BoardFacts, ClusterFacts


def write(
    board: Board, granularity: Granularity, process: dict[str, float], log: ChangeLog
) -> SharedFile:
    noted = log.note(board)
    facts = BoardFacts(
        board.moment_ms,
        [
            ClusterFacts(
                name,
                cluster.verdicts.now_s,
                cluster.windows.intervals,
                _idle(cluster),
                others=dict(cluster.others),
                queries={readable(name): each for name, each in cluster.queries.items()},
                words_decide=cluster.judgement is not None and cluster.judgement.decides,
            )
            for name, cluster in board.clusters.items()
        ],
        board.health,
        process,
        log.listed(),
    )
    arrays: dict[str, AnyArray] = {}
    for number, (name, cluster) in enumerate(board.clusters.items()):
        own = _arrays(cluster) | noted[name]
        own |= _numbers(cluster) | _life(cluster) | _opinions(cluster)
        own["group_level"] = granularity.levels(cluster.verdicts.names)
        arrays |= {f"{number}.{column}": array for column, array in own.items()}
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
        "starts": narrow(ends.start),
        "topic_facts": np.frombuffer(cluster.facts.encoded, np.uint8),
    }


def _numbers(cluster: ClusterBoard) -> dict[str, AnyArray]:
    """By their names; those of groups begin with `group_`."""
    partitions, groups = cluster.numbers.partitions, cluster.numbers.groups
    return {
        **{each.name: narrow(getattr(partitions, each.name)) for each in fields(partitions)},
        **{f"group_{each.name}": getattr(groups, each.name) for each in fields(groups)},
    }


def _life(cluster: ClusterBoard) -> dict[str, AnyArray]:
    life = cluster.life
    if life is None:
        return {}
    return {f"life_{each.name}": narrow(getattr(life, each.name)) for each in fields(life)}


def _opinions(cluster: ClusterBoard) -> dict[str, AnyArray]:
    return {name: narrow(each) for name, each in opinions.columns(cluster.judgement).items()}


def narrow(numbers: AnyArray) -> AnyArray:
    """In as few bytes as they need: most lags fit into four, and most losses into one."""
    if numbers.dtype != np.int64 or not len(numbers):
        return numbers
    least, most = numbers.min(), numbers.max()
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max:
            return numbers.astype(kind)
    return numbers


def _idle(cluster: ClusterBoard) -> dict[str, list[tuple[str, str]]]:
    return {
        readable(group): [(readable(owner), readable(client)) for owner, client in members]
        for group, members in cluster.idle.items()
    }


def _names(names: tuple[str, ...]) -> AnyArray:
    """As JSON: names seldom change, so a worker decodes them once and then compares the bytes."""
    try:
        encoded = msgspec.json.encode(names)
    except UnicodeEncodeError:  # names that are not UTF-8 hold lone surrogates
        encoded = msgspec.json.encode([readable(name) for name in names])
    return np.frombuffer(encoded, np.uint8)
