"""What a catch-up costs more when Warren is asked all the while.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/request_load.py

Asked as a large installation does: 200 statuses a second on 8 connections (by `wrk`), and a scrape
of /metrics every 15 s; with `--per-second 0` as often as 8 connections can. Quiet and asked runs
take turns in one Spark session.
"""

import shutil
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path

import click
from catch_up import is_ready
from measured import wait_until, where, write
from monitors import AT_MOST_S, configure, fill, scratch
from pyspark.sql import SparkSession

from warren.app import monitoring, spark_session
from warren.config import Config, load
from warren.demo.broker import Broker

NOBODY = nullcontext()
CONNECTIONS = 8
SCRAPE_S = 15
STORM = ("asked_without_pause.md", "statuses without a pause")
SCRIPT = """
local asked = 0
function delay() return {pause_ms} end
function request()
  asked = asked + 1
  return wrk.format("GET", "/v3/kafka/local/consumer/group-" .. (asked % {groups}) .. "/status")
end
"""


@click.command()
@click.option("--groups", default=500)
@click.option("--partitions", default=1_000)
@click.option("--rounds", default=6)
@click.option("--repeat", default=4, help="Runs of each kind; the median counts.")
@click.option("--per-second", default=200, help="Statuses asked for; 0: without a pause.")
def main(groups: int, partitions: int, rounds: int, repeat: int, per_second: int) -> None:
    for tool in ("wrk", "curl"):
        if shutil.which(tool) is None:
            raise click.ClickException(f"{tool} is not installed; on Debian: apt install {tool}")
    about = where()
    quiet, asked = [], []
    with Broker(offsets_partitions=50, heap="1g") as broker, scratch() as directory:
        fill(broker.bootstrap, groups, partitions, rounds)
        place, url = configure(directory, "warren", broker.bootstrap)
        config = load(place, {}).config
        script = directory / "asked.lua"
        pause_ms = CONNECTIONS * 1000 // per_second if per_second else 0
        script.write_text(SCRIPT.format(pause_ms=pause_ms, groups=groups))
        with spark_session(config) as spark:
            catch_up_s(config, spark)  # warms up
            for _ in range(repeat):
                quiet.append(catch_up_s(config, spark))
                asked.append(catch_up_s(config, spark, _asking(url, script)))
    name, told = ("request_load.md", f"{per_second} statuses a second") if per_second else STORM
    write(name, _report(quiet, asked, told, groups * partitions * rounds, about))


def catch_up_s(
    config: Config, spark: SparkSession, asking: AbstractContextManager[None] = NOBODY
) -> float:
    stop = threading.Event()
    with monitoring(config) as monitor, asking:
        began = time.monotonic()
        worker = threading.Thread(target=monitor.run, args=(spark, stop))
        worker.start()
        wait_until(partial(is_ready, monitor), 0.02, AT_MOST_S)
        seconds = time.monotonic() - began
        stop.set()
        worker.join()
    return seconds


@contextmanager
def _asking(url: str, script: Path) -> Iterator[None]:
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{AT_MOST_S}", "-s", str(script), url]
    stop = threading.Event()
    scraper = threading.Thread(target=_scrape, args=(f"{url}/metrics", stop))
    scraper.start()
    asker = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        asker.terminate()
        asker.wait()
        stop.set()
        scraper.join()


def _scrape(url: str, stop: threading.Event) -> None:
    """In a process of its own: this one is Warren's, and its threads take turns."""
    while not stop.wait(SCRAPE_S):
        subprocess.run(["curl", "-s", "-o", "/dev/null", url], check=False)


def _report(quiet: list[float], asked: list[float], told: str, commits: int, about: str) -> str:
    alone, together = statistics.median(quiet), statistics.median(asked)
    return (
        f"# Catching up on {commits:,} commits while being asked\n\n{about}\n\n"
        f"| | median s | all runs |\n|---|---|---|\n"
        f"| nobody asks | {alone:.1f} | {_listed(quiet)} |\n"
        f"| {told}, and scrapes | {together:.1f} | {_listed(asked)} |\n\n"
        f"Being asked made it {together / alone - 1:+.1%} longer.\n"
    )


def _listed(seconds: list[float]) -> str:
    return ", ".join(f"{each:.1f}" for each in seconds)


if __name__ == "__main__":
    main()
