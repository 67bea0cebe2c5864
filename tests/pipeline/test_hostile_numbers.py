"""Offsets that no honest client or broker sends: every number stays in order, and none is wrong."""

from dataclasses import fields
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from support.batches import COMMITS

from warren.evaluate.judge import JudgeSettings
from warren.model.board import ClusterBoard, SharedFile, StoredWindows
from warren.model.numbers import GroupNumbers, PartitionNumbers
from warren.model.tables import LOG_ENDS
from warren.pipeline.cluster import ClusterState
from warren.pipeline.consumers import Sources
from warren.pipeline.steps import judge_cluster
from warren.windows.windows import Windows

MOST = 2**63 - 1
EXTREMES = (-(2**63), -(2**62), -2, -1, 0, 1, 7, 100, 2**31, 2**32, 2**62, MOST - 1, MOST)
BEGIN_S, ROUNDS, PARTITIONS = 2_000_000_000, 60, 8
NOWHERE = StoredWindows(SharedFile(), 3, np.zeros(0, np.int32))
SPANS = (("lag_low", "lag", "lag_high"), ("age_low_s", "age_s", "age_high_s"))


def answers(chance: Random) -> pa.Table:
    """Of some partitions only; any of them may go back. A negative answer counts as none."""
    some = chance.sample(range(PARTITIONS), chance.randint(0, PARTITIONS))
    known = [each for each in EXTREMES if each >= 0]
    rows = [{"topic": "t", "partition": each, "offset": chance.choice(known)} for each in some]
    return pa.Table.from_pylist(rows, LOG_ENDS)


def commits(chance: Random, turn: int, now_s: int) -> pa.Table:
    lines = [
        {
            "group": chance.choice([b"g", b"h"]),
            "topic": b"t",
            "partition": chance.randrange(PARTITIONS),
            "offset": chance.choice(EXTREMES),
            "committed_ms": chance.choice([now_s * 1000, (now_s + 86_400) * 1000, MOST]),
            "order": turn * 10 + number,
        }
        for number in range(chance.randint(0, 9))
    ]
    table = pa.Table.from_pylist(lines, COMMITS)
    return table.append_column("written_ms", pa.array([now_s * 1000] * len(lines), pa.int64()))


def out_of_order(numbers: PartitionNumbers | GroupNumbers) -> list[str]:
    """What is negative, or not between its bounds."""
    names = [each.name for each in fields(numbers) if each.name not in ("age_method", "lack")]
    wrong = [name for name in names if (getattr(numbers, name) < -1).any()]
    for span in SPANS:
        low, guess, high = (getattr(numbers, name).astype(np.float64) for name in span)
        high[high == -1] = np.inf  # not known: it may be anything
        known = (guess >= 0) & ~np.isnan(high)
        if not ((low <= guess) & (guess <= high))[known].all():
            wrong.append(span[1])
    drains = ~np.isnan(numbers.drain_low_s) & ~np.isnan(numbers.drain_high_s)
    if not (numbers.drain_low_s <= numbers.drain_high_s)[drains].all():
        wrong.append("drain")
    return wrong


def judged(cluster: ClusterState, now_s: int) -> ClusterBoard:
    return judge_cluster(cluster, Sources(), JudgeSettings(), now_s, lambda *_: NOWHERE)


@pytest.mark.parametrize("seed", range(6))
def test_no_offset_puts_a_number_out_of_order(seed: int) -> None:
    chance, windows = Random(seed), Windows(3)  # noqa: S311  the same each time
    cluster, wrong = ClusterState("c", windows), []

    for turn in range(ROUNDS):
        now_s = BEGIN_S + 10 * turn
        counts, asked_s = {"t": PARTITIONS}, now_s - 1
        windows.set_log_ends(answers(chance), counts, now_s=now_s, asked_s=asked_s)
        windows.ends.refresh_edges(answers(chance), answers(chance))
        windows.fold(commits(chance, turn, now_s), now_s)
        numbers = judged(cluster, now_s + 1).numbers
        for each in (numbers.partitions, numbers.groups):
            wrong += [(turn, type(each).__name__, name) for name in out_of_order(each)]

    assert len(numbers.partitions.lag) > 0
    assert wrong == []
