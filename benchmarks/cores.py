"""How reading grows with cores: one and two of this machine, and of a Spark cluster on it.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/cores.py

The broker, the folding and the executors share the machine: on two cores the second one is not
Spark's alone. The first run of each session warms it up and does not count.
"""

import statistics
from pathlib import Path

import click
from measured import where, write
from monitors import configure, fill, scratch
from request_load import catch_up_s
from support.servers.spark_cluster import SparkCluster

from warren.app import spark_session
from warren.config import Config, load
from warren.demo.broker import Broker

ON_LOOPBACK = """
[spark.conf]
"spark.driver.host" = "127.0.0.1"
"spark.executor.memory" = "768m"
"""
HEADER = """\
| Spark runs on | seconds | commits/s | times one core |
|---|---:|---:|---:|"""


@click.command()
@click.option("--groups", default=500)
@click.option("--partitions", default=1_000)
@click.option("--rounds", default=4)
@click.option("--repeat", default=3, help="Runs that count; their median does.")
def main(groups: int, partitions: int, rounds: int, repeat: int) -> None:
    about, commits = where(), groups * partitions * rounds
    seconds: dict[str, float] = {}
    with Broker(offsets_partitions=50, heap="1g") as broker, scratch() as directory:
        fill(broker.bootstrap, groups, partitions, rounds)
        place, _ = configure(directory, "warren", broker.bootstrap)
        with (place / "burrow.toml").open("a") as file:
            file.write(ON_LOOPBACK)
        config = load(place, {}).config
        for cores in (1, 2):
            seconds[f"{cores} core(s) of this process"] = _median(config, f"local[{cores}]", repeat)
        for workers in (1, 2):
            home = Path(directory, f"cluster-{workers}")
            home.mkdir()
            with SparkCluster(home, workers) as cluster:
                name = f"a cluster of {workers} worker(s) with a core each"
                seconds[name] = _median(config, cluster.master, repeat)
    write("cores.md", _report(seconds, commits, about))


def _median(config: Config, master: str, repeat: int) -> float:
    with spark_session(config, master) as spark:
        runs = [catch_up_s(config, spark) for _ in range(repeat + 1)]
    return statistics.median(runs[1:])


def _report(seconds: dict[str, float], commits: int, about: str) -> str:
    one = next(iter(seconds.values()))
    lines = [
        f"| {name} | {took:.1f} | {commits / took:,.0f} | {one / took:.2f} |"
        for name, took in seconds.items()
    ]
    title = f"# Reading {commits:,} commits to verdicts, by cores"
    return "\n".join([title, "", f"{about}.", "", HEADER, *lines, ""])


if __name__ == "__main__":
    main()
