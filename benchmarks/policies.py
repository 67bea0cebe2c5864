"""What 500 policies cost a tick over 20,000 groups: nothing, once every pair has been matched.

    PYTHONPATH=src:benchmarks:tests .venv/bin/python benchmarks/policies.py

Prints the rows of `results/policies.md`.
"""

import statistics
import time
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from warren.config import Storage
from warren.evaluate.judge import JudgeSettings
from warren.model.board import SharedFile, StoredWindows
from warren.model.policies import Policy
from warren.model.tables import LOG_ENDS
from warren.model.window_arrays import WindowArrays
from warren.pipeline.cluster import ClusterState, new_cluster
from warren.pipeline.consumers import Sources
from warren.pipeline.steps import judge_cluster

GROUPS, TOPICS_OF_A_GROUP, PARTITIONS, TOPICS, POLICIES = 20_000, 2, 10, 500, 500
COMMITS, TICKS = 3, 15
NOW_S = 1_800_000_000
FILE = SharedFile()


def policies() -> list[Policy]:
    """Two of three with a regular expression, most of them for a few groups."""
    return [
        Policy(
            f"policy-{n}",
            groups=(f"team-{n}-.*",) if n % 3 else tuple(f"team-{n}-{m}" for m in range(5)),
            topics=(f"topic-{n % 7}.*",) if n % 2 else (),
            max_time_lag_s=300.0,
        )
        for n in range(POLICIES)
    ]


def cluster(some: Sequence[Policy]) -> ClusterState:
    made = new_cluster("c", Storage(name="default"), some)
    names = [f"topic-{n}" for n in range(TOPICS)]
    ends = pa.table(
        [np.repeat(names, PARTITIONS), np.tile(np.arange(PARTITIONS), TOPICS),
         np.full(TOPICS * PARTITIONS, 1_000)],
        names=LOG_ENDS.names,
    ).cast(LOG_ENDS)  # fmt: skip
    made.windows.set_log_ends(ends, dict.fromkeys(names, PARTITIONS), now_s=NOW_S - 60)
    group = np.arange(GROUPS).repeat(TOPICS_OF_A_GROUP)
    topic = (group * 7 + np.tile(np.arange(TOPICS_OF_A_GROUP), GROUPS)) % TOPICS
    group, topic = group.repeat(PARTITIONS), topic.repeat(PARTITIONS)
    columns = {
        "group": pa.array([f"team-{n % 600}-{n // 600}" for n in group.tolist()]),
        "topic": pa.array([names[n] for n in topic.tolist()]),
        "partition": np.tile(np.arange(PARTITIONS, dtype=np.int32), GROUPS * TOPICS_OF_A_GROUP),
    }
    for step in range(COMMITS):
        more = {
            "offset": np.full(len(group), 100 + step),
            "committed_ms": np.full(len(group), (NOW_S - 30 + step) * 1000),
            "order": np.arange(len(group)) + step * len(group),
        }
        made.windows.fold(pa.table(columns | more), NOW_S - 30 + step)
    return made


def tick(of: ClusterState, at_s: int) -> float:
    began = time.perf_counter()
    judge_cluster(of, Sources(), JudgeSettings(), at_s, store)
    return time.perf_counter() - began


def store(_cluster: str, _view: WindowArrays) -> StoredWindows:
    return StoredWindows(FILE, 10, np.zeros(0, np.int32))


def main() -> None:
    without, with_ = cluster(()), cluster(policies())
    first = [tick(each, NOW_S) for each in (without, with_)]
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(TICKS):  # in turns, so that a busy machine slows both
        for each, own in ((without, times[0]), (with_, times[1])):
            own.append(tick(each, NOW_S + number))
    lines = GROUPS * TOPICS_OF_A_GROUP * PARTITIONS
    print(f"{GROUPS:,} groups, {lines:,} partitions, {POLICIES} policies, median of {TICKS} ticks")
    print("| | first tick | later ticks |")
    print("|---|---|---|")
    for name, one, own in zip(("none", "all"), first, times, strict=True):
        print(
            f"| policies: {name} | {one * 1000:.0f} ms | {statistics.median(own) * 1000:.1f} ms |"
        )
    ratio = statistics.median(times[1]) / statistics.median(times[0])
    print(f"\nLater ticks with policies take {ratio:.3f} of the time without.")


if __name__ == "__main__":
    main()
