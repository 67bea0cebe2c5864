"""What a tick costs: a commit of every partition folded, every partition judged.

    PYTHONPATH=src .venv/bin/python benchmarks/tick.py [PARTITIONS ...]

Each size runs in a process of its own, on one thread. Every group reads a topic of its own, which
is the most memory a partition can take, and every partition is behind, so that every rule is asked.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from measured import peak_mb, where, write

from warren.evaluate.judge import JudgeSettings, judge
from warren.model.verdicts import Verdicts
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
INTERVALS = 10
WIDTH = 1000  # partitions of a topic
BATCH = 1_000_000  # commits of a micro-batch
NOW = 2_000_000_000
# Windows at most this large, verdicts, and room for one batch.
BYTES_NEEDED = 900

HEADER = """\
| partitions | fold s | judge s | tick s | CPU s | windows B/part. | verdicts B/part. | peak MB |
|---:|---:|---:|---:|---:|---:|---:|---:|"""


def log_ends(partitions: int) -> pa.Table:
    number = np.arange(partitions)
    topics = pa.array([f"topic-{n}" for n in range(partitions // WIDTH)])
    return pa.table(
        {
            "topic": topics.take(pa.array(number // WIDTH)),
            "partition": pa.array((number % WIDTH).astype(np.int32)),
            "offset": pa.array(np.full(partitions, 10**9)),
        }
    )


def commits(partitions: int, turn: int) -> Iterator[pa.Table]:
    """One commit of every partition, in batches, in no particular order."""
    chance = np.random.default_rng(turn)
    for first in range(0, partitions, BATCH):
        count = min(BATCH, partitions - first)
        number = first + chance.permutation(count)
        names = range(first // WIDTH, (first + count) // WIDTH)
        which = pa.array(number // WIDTH - first // WIDTH)
        yield pa.table(
            {
                "group": pa.array([f"group-{n}-of-some-service" for n in names]).take(which),
                "topic": pa.array([f"topic-{n}" for n in names]).take(which),
                "partition": pa.array((number % WIDTH).astype(np.int32)),
                "offset": pa.array(1000 * turn + number % 97),
                "committed_ms": pa.array(np.full(count, (NOW + 5 * turn) * 1000)),
                "order": pa.array(turn * partitions + first + np.arange(count)),
            }
        )


def measure(partitions: int) -> str:
    """A line of the table."""
    windows = Windows(INTERVALS)
    counts = {f"topic-{n}": WIDTH for n in range(partitions // WIDTH)}
    windows.set_log_ends(log_ends(partitions), counts)
    for turn in range(INTERVALS + 1):
        for batch in commits(partitions, turn):
            windows.fold(batch, NOW)
    fold_s = cpu_s = 0.0
    for batch in commits(partitions, INTERVALS + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        windows.fold(batch, NOW)
        fold_s += time.perf_counter() - wall
        cpu_s += time.process_time() - cpu
    wall, cpu = time.perf_counter(), time.process_time()
    verdicts = judge(window_arrays(windows), JudgeSettings(), NOW + 5 * (INTERVALS + 1))
    judge_s = time.perf_counter() - wall
    cpu_s += time.process_time() - cpu
    assert len(verdicts.partitions.status) == partitions
    return (
        f"| {partitions:,} | {fold_s:.3f} | {judge_s:.3f} | {fold_s + judge_s:.3f} | {cpu_s:.3f} "
        f"| {windows.nbytes() / partitions:.0f} | {verdict_bytes(verdicts) / partitions:.0f} "
        f"| {peak_mb(os.getpid()):.0f} |"
    )


def verdict_bytes(verdicts: Verdicts) -> int:
    """Memory of the arrays, those of the groups and of the windows' edges included."""
    parts = verdicts.partitions
    owners = (verdicts.groups, parts, parts.start, parts.end)
    arrays = [value for owner in owners for value in vars(owner).values()]
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


def available_bytes() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def main(sizes: list[int]) -> None:
    lines = []
    for size in sizes:
        if available_bytes() < BYTES_NEEDED * size:
            lines.append(f"| {size:,} | not run: memory is short |")
            continue
        one = [sys.executable, __file__, "--one", str(size)]
        lines.append(subprocess.run(one, capture_output=True, text=True, check=True).stdout.strip())
    title = "# A tick: one commit of every partition folded, every partition judged"
    table = "\n".join([HEADER, *lines])
    write("tick.md", f"{title}\n\n{where()}; {INTERVALS} intervals, one thread.\n\n{table}\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(measure(int(sys.argv[2])))
    else:
        main([int(size) for size in sys.argv[1:]] or [*SIZES])
