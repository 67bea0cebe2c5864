"""What a tick costs: a commit of every partition folded, every partition judged and measured.

    PYTHONPATH=src .venv/bin/python benchmarks/tick.py [--baseline DIR] [PARTITIONS ...]

Each size runs in a process of its own, on one thread. Every group reads a topic of its own, which
is the most memory a partition can take, and every partition is behind, so that every rule is asked:
each by another age of the last week, of which all rounds of log ends are remembered. The logs grow,
and a new round comes with every other tick. *rules* are Burrow's alone; *all* is the whole of
`judge_cluster`: rules, *numbers* with their bounds, the *words* of the second evaluator, the life
of groups.

`--baseline DIR` is a checkout of an older commit, which may know the rules alone: it runs with this
interpreter, on the same commits. The two take turns, and the better turn's medians count, in CPU
seconds, because other programs may use the machine too. Bytes are those of a partition.
"""

import gc
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
from measured import commit, peak_mb, where, write

from warren.windows.windows import Windows

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
INTERVALS = 10
WIDTH = 1000  # partitions of a topic
BATCH = 1_000_000  # commits of a micro-batch
NOW = 2_000_000_000
REFRESH_S, TICK_S, WEEK_S = 10, 5, 7 * 86_400
END, FASTEST = 10**9, 1000  # where logs end now, and records a second of the fastest
TICKS, WARM = 8, 3  # the first ones are not timed: memory is taken and rhythms are learned then
TURNS = 2
GIVEN = click.Path(exists=True, path_type=Path)
# Windows at most this large, a week of log ends, verdicts, and room for one batch.
BYTES_NEEDED = 2_000

HEADER = """\
| partitions | | fold | rules | numbers | words | all | tick, CPU s | ratio | no words | round \
| week MB | windows B | peak MB |
|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""

Line = dict[str, float]


class Logs:
    """The logs of all topics: each grows at its own pace, and each group is behind by its own."""

    def __init__(self, partitions: int) -> None:
        chance = np.random.default_rng(1)
        self.pace = chance.integers(1, FASTEST + 1, partitions)
        self.behind = (self.pace * chance.uniform(REFRESH_S, WEEK_S, partitions)).astype(np.int64)
        self.number = np.arange(partitions)
        names = [f"topic-{n}" for n in range(partitions // WIDTH)]
        self.counts = dict.fromkeys(names, WIDTH)
        self._topics = pa.array(names).take(pa.array(self.number // WIDTH))

    def end(self, at_s: float) -> Any:
        return (END + (at_s - NOW) * self.pace).astype(np.int64)

    def ends(self, at_s: float) -> pa.Table:
        partition = (self.number % WIDTH).astype(np.int32)
        return pa.table({"topic": self._topics, "partition": partition, "offset": self.end(at_s)})

    def commits(self, turn: int) -> Iterator[pa.Table]:
        """One commit of every partition, in batches, in no particular order."""
        chance, at_s = np.random.default_rng(turn), NOW + TICK_S * turn - 2
        offset = self.end(at_s) - self.behind
        for first in range(0, len(self.number), BATCH):
            number = first + chance.permutation(min(BATCH, len(self.number) - first))
            names = range(first // WIDTH, (first + len(number)) // WIDTH)
            which = pa.array(number // WIDTH - first // WIDTH)
            at_ms = pa.array(np.full(len(number), at_s * 1000))
            yield pa.table(
                {
                    "group": pa.array([f"group-{n}-of-some-service" for n in names]).take(which),
                    "topic": pa.array([f"topic-{n}" for n in names]).take(which),
                    "partition": pa.array((number % WIDTH).astype(np.int32)),
                    "offset": pa.array(offset[number]),
                    "committed_ms": at_ms,
                    "written_ms": at_ms,
                    "order": pa.array(turn * len(self.number) + first + np.arange(len(number))),
                }
            )


class Clock:
    """The CPU seconds that each part of a tick takes."""

    def __init__(self) -> None:
        self.taken: dict[str, list[float]] = {}
        self.is_warm = False

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        began = time.process_time()
        yield
        took = time.process_time() - began
        if self.is_warm:
            self.taken.setdefault(part, []).append(took)

    def timed(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed_work(*given: Any, **named: Any) -> Any:
            with self.timing(part):
                return work(*given, **named)

        return timed_work

    def medians(self) -> Line:
        return {part: statistics.median(taken) for part, taken in self.taken.items()}


def measure(partitions: int) -> Line:
    """The CPU seconds of each part of a tick, and the memory it takes."""
    logs, windows, clock = Logs(partitions), Windows(INTERVALS), Clock()
    windows.set_log_ends(logs.ends(NOW - REFRESH_S), logs.counts, now_s=NOW - REFRESH_S)
    remember_a_week(windows, logs)
    rules, tick = judges(windows, clock)
    for turn in range(INTERVALS):
        for batch in logs.commits(turn):
            windows.fold(batch, NOW)
    for turn in range(INTERVALS, INTERVALS + WARM + TICKS):
        now_s, clock.is_warm = NOW + TICK_S * turn, turn >= INTERVALS + WARM
        if turn % (REFRESH_S // TICK_S) == 0:
            ends = logs.ends(now_s - TICK_S)
            with clock.timing("round"):
                windows.set_log_ends(ends, logs.counts, now_s=now_s - TICK_S)
        batches = [*logs.commits(turn)]
        gc.collect()
        with clock.timing("fold"):
            for batch in batches:
                windows.fold(batch, now_s)
        with clock.timing("rules"):
            rules(now_s)
        with clock.timing("all"):
            assert len(tick(now_s).partitions.status) == partitions
    past = getattr(windows.ends.rows, "past", None)
    return {
        **clock.medians(),
        "windows": (windows.nbytes() - (past.nbytes if past else 0)) / partitions,
        "week": past.nbytes / 1e6 if past else 0,
        "peak": peak_mb(os.getpid()),
    }


def remember_a_week(windows: Windows, logs: Logs) -> None:
    """Rounds of log ends every ten seconds, thinned as they would be."""
    if not importlib.util.find_spec("warren.windows.end_columns"):
        return
    columns = importlib.import_module("warren.windows.end_columns").EndColumns
    thinned, row = columns(), np.array([END])
    for number in range(WEEK_S // REFRESH_S):
        asked_s = float(NOW - WEEK_S + number * REFRESH_S)
        thinned.add(asked_s, asked_s + 1, row, np.array([True]))
        thinned.thin(asked_s, asked_s + 1)
    rows = windows.ends.rows
    rows.past, every = columns(), np.ones(len(logs.number), np.bool_)
    for asked_s in thinned.asked_s.tolist():
        rows.past.add(asked_s, asked_s + 1, logs.end(asked_s), every)
    rows.asked_s = rows.past.asked_s


def judges(windows: Windows, clock: Clock) -> tuple[Callable[[int], Any], Callable[[int], Any]]:
    """Burrow's rules alone, and all that a tick does; once these were the same."""
    module = importlib.import_module
    if importlib.util.find_spec("warren.evaluate.verdicts"):
        old, histories = module("warren.evaluate.verdicts"), module("warren.windows.view").histories
        rules = lambda now_s: old.judge(histories(windows), old.Settings(), now_s)  # noqa: E731
        return rules, rules
    judged, board = module("warren.evaluate.judge"), module("warren.model.board")
    cluster = module("warren.pipeline.cluster").ClusterState("local", windows)
    sources, settings = module("warren.pipeline.consumers").Sources(), judged.JudgeSettings()
    steps: Any = module("warren.pipeline.steps")
    view_of = module("warren.windows.window_reader")
    steps.measure = clock.timed("numbers", steps.measure)
    steps.judge_words = clock.timed("words", steps.judge_words)
    # Storing the changed windows for HTTP is another matter.
    stored = board.StoredWindows(board.SharedFile(), INTERVALS, np.zeros(0, np.int32))

    def tick(now_s: int) -> Any:
        made = steps.judge_cluster(cluster, sources, settings, now_s, lambda *_: stored)
        assert len(made.numbers.partitions.lag) == len(made.verdicts.partitions.status)
        return made.verdicts

    return lambda now_s: judged.judge(view_of.window_arrays(windows), settings, now_s), tick


def run(build: Path, size: int) -> Line:
    here = Path(__file__).parent
    path = os.pathsep.join([str(build / "src"), str(here)])
    env = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--one", str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    line: Line = json.loads(done.stdout)
    return line


def lines(builds: dict[str, Path], size: int) -> Iterator[str]:
    taken: dict[str, list[Line]] = {name: [] for name in builds}
    for _ in range(TURNS):
        for name, build in builds.items():
            taken[name].append(run(build, size))
    least = {
        name: {part: min(line[part] for line in each) for part in each[0]}
        for name, each in taken.items()
    }
    ticks = {name: line["fold"] + line["all"] for name, line in least.items()}
    base = [*ticks.values()][-1]
    for name, of in least.items():
        ratio = without = numbers = words = ""
        if len(builds) > 1:
            ratio = f"{ticks[name] / base:.2f}"
        if "words" in of:
            numbers, words = f"{of['numbers']:.3f}", f"{of['words']:.3f}"
            without = f"{(ticks[name] - of['words']) / base:.2f}"
        yield (
            f"| {size:,} | {name} | {of['fold']:.3f} | {of['rules']:.3f} | {numbers} | {words} "
            f"| {of['all']:.3f} | {ticks[name]:.3f} | {ratio} | {without} | {of['round']:.3f} "
            f"| {of['week']:.0f} | {of['windows']:.0f} | {of['peak']:.0f} |"
        )


def available_bytes() -> int:
    text = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in text if line.startswith("MemAvailable"))


@click.command()
@click.argument("sizes", type=int, nargs=-1)
@click.option(
    "--baseline",
    type=click.Path(exists=True, path_type=Path),
    help="A checkout of an older commit.",
)
@click.option("--one", type=int, hidden=True)
def main(sizes: tuple[int, ...], baseline: Path | None, one: int | None) -> None:
    if one:
        print(json.dumps(measure(one)))
        return
    builds = {"this build": Path(__file__).parent.parent}
    if baseline:
        builds[commit(baseline)] = baseline
    about, table = where(), []
    for size in sizes or SIZES:
        if available_bytes() < BYTES_NEEDED * size:
            table.append(f"| {size:,} | not run: memory is short |")
            continue
        table += lines(builds, size)
    title = "# A tick: one commit of every partition folded, every partition judged and measured"
    text = "\n".join([HEADER, *table])
    write("tick.md", f"{title}\n\n{about}; {INTERVALS} intervals, one thread.\n\n{text}\n")


if __name__ == "__main__":
    main()
