"""Java's compilers for a small cluster, for a catch-up of millions, and when little happens.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/compilers.py

Options of `[spark.conf]` come after Warren's own and win.
"""

from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click
from commit_stream import TOPIC
from measured import cpu_seconds, wait_until, where, write
from monitors import fill, scratch, warren
from steady import Committer, cost

from warren.demo.broker import Broker

USUAL = (
    "-XX:Tier4InvocationThreshold=5000 -XX:Tier4MinInvocationThreshold=600 "
    "-XX:Tier4CompileThreshold=15000 -XX:Tier4BackEdgeThreshold=40000"
)
CHOICES = {
    "the second one late (Warren's)": "",
    "both, as is usual": USUAL,
    "the first one only": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
    "both, collector G1": f"{USUAL} -XX:+UseG1GC",
}
AT_MOST_S = 300


class Run(NamedTuple):
    ready_s: float
    cpu_s: float


@click.command()
@click.option("--groups", default=500, help="Of the large cluster.")
@click.option("--partitions", default=1_000)
@click.option("--rounds", default=6)
@click.option("--repeat", default=3, help="Starts of each; the median counts.")
@click.option("--warm-up", default=300, help="Seconds before little is measured.")
@click.option("--seconds", default=60)
def main(
    groups: int, partitions: int, rounds: int, repeat: int, warm_up: int, seconds: int
) -> None:
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
        little = {
            name: _little(place, small.bootstrap, options, warm_up, seconds)
            for name, options in CHOICES.items()
        }
    commits = groups * partitions * rounds
    write("compilers.md", _report(about, commits, repeat, runs, little, warm_up))


def _general(options: str) -> str:
    return f'\n[spark.conf]\n"spark.driver.extraJavaOptions" = "{options}"\n'


def _run(place: Path, bootstrap: str, options: str) -> Run:
    program = warren()
    with program.start(place, bootstrap, _general(options)) as started:
        ready_s = wait_until(lambda: program.is_ready(started.url), 0.05, AT_MOST_S)
        return Run(ready_s, cpu_seconds(started.pid))


def _little(place: Path, bootstrap: str, options: str, warm_up: int, seconds: int) -> float:
    """The share of a core at ten commits a second."""
    program = warren()
    committer = Committer(bootstrap, TOPIC)
    with program.start(place, bootstrap, _general(options)) as started:
        wait_until(lambda: program.is_ready(started.url), 0.5, AT_MOST_S)
        share, _ = cost(started.pid, committer, warm_up, seconds)
    committer.close()
    return share


def _report(
    about: str,
    commits: int,
    repeat: int,
    runs: dict[str, list[tuple[Run, Run]]],
    little: dict[str, float],
    warm_up: int,
) -> str:
    lines = [
        "# Java's compilers",
        "",
        f"{about}. Medians of {repeat}, taking turns.",
        "",
        "Seconds from the start of the process until ready, and CPU seconds until then: with 4,200",
        f"commits of 60 groups, and with {commits:,}. The last column is the share of a core at",
        f"ten commits a second, {warm_up} s after the start.",
        "",
        "| | ready | CPU s | ready | CPU s | little to do |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, pairs in runs.items():
        cells = []
        for of_size in zip(*pairs, strict=True):
            ready, cpu = (median(column) for column in zip(*of_size, strict=True))
            cells.append(f"{ready:.1f} | {cpu:.1f}")
        lines.append(f"| {name} | {' | '.join(cells)} | {little[name]:.1%} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
