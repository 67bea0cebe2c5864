"""Java's compilers for a small cluster, for a catch-up of millions, and for idling.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/compilers.py

Options of `[spark.conf]` come after Warren's own and win.
"""

import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click
from measured import Busy, cpu_seconds, wait_until, where, write
from monitors import fill, scratch, warren

from warren.demo.broker import Broker

USUAL = (
    "-XX:Tier4InvocationThreshold=5000 -XX:Tier4MinInvocationThreshold=600 "
    "-XX:Tier4CompileThreshold=15000 -XX:Tier4BackEdgeThreshold=40000"
)
CHOICES = {
    "the second one late (Warren's)": "",
    "both, as is usual": USUAL,
    "the first one only": "-XX:TieredStopAtLevel=1",
    "both, collector G1": f"{USUAL} -XX:+UseG1GC",
}
AT_MOST_S = 300
SETTLE_S = IDLE_S = 20.0


class Run(NamedTuple):
    ready_s: float
    cpu_s: float
    idle: float  # of one core


@click.command()
@click.option("--groups", default=500, help="Of the large cluster.")
@click.option("--partitions", default=1_000)
@click.option("--rounds", default=6)
@click.option("--repeat", default=3, help="Starts of each; the median counts.")
def main(groups: int, partitions: int, rounds: int, repeat: int) -> None:
    about = where()
    runs: dict[str, list[tuple[Run, Run]]] = defaultdict(list)
    with (
        scratch() as place,
        Broker(offsets_partitions=50) as small,
        Broker(offsets_partitions=50, heap="1g") as large,
    ):
        fill(small.bootstrap, 60, 7, 10)
        fill(large.bootstrap, groups, partitions, rounds)
        for _ in range(repeat):
            for name, options in CHOICES.items():
                both = [_run(place, each.bootstrap, options) for each in (small, large)]
                runs[name].append((both[0], both[1]))
    write("compilers.md", _report(about, groups * partitions * rounds, repeat, runs))


def _run(place: Path, bootstrap: str, options: str) -> Run:
    general = f'\n[spark.conf]\n"spark.driver.extraJavaOptions" = "{options}"\n'
    program = warren()
    with program.start(place, bootstrap, general) as started:
        ready_s = wait_until(lambda: program.is_ready(started.url), 0.05, AT_MOST_S)
        ready_cpu_s = cpu_seconds(started.pid)
        time.sleep(SETTLE_S)
        busy = Busy(started.pid)
        time.sleep(IDLE_S)
        return Run(ready_s, ready_cpu_s, busy.so_far()[0])


def _report(about: str, commits: int, repeat: int, runs: dict[str, list[tuple[Run, Run]]]) -> str:
    lines = [
        "# Java's compilers",
        "",
        f"{about}. Medians of {repeat}, taking turns.",
        "",
        "Seconds from the start of the process until ready, CPU seconds until then, and the share",
        f"of a core afterwards: with 4,200 commits of 60 groups, and with {commits:,}.",
        "",
        "| | ready | CPU s | idle | ready | CPU s | idle |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, pairs in runs.items():
        cells = []
        for of_size in zip(*pairs, strict=True):
            ready, cpu, idle = (median(column) for column in zip(*of_size, strict=True))
            cells.append(f"{ready:.1f} | {cpu:.1f} | {idle:.1%}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
