"""Memory while catching up on many millions of commits: it does not grow with what is read.

PYTHONPATH=src:tests .venv/bin/python benchmarks/memory.py
"""

import sys
import time

import click
from measured import get, now_mb, where, write
from monitors import AT_MOST_S, configure, fill, running, scratch

from warren.demo.broker import Broker


@click.command()
@click.option("--groups", default=500)
@click.option("--partitions", default=1_000)
@click.option("--rounds", default=40)
def main(groups: int, partitions: int, rounds: int) -> None:
    about = where()
    with Broker(offsets_partitions=50, heap="1g") as broker, scratch() as directory:
        fill(broker.bootstrap, groups, partitions, rounds)
        place, url = configure(directory, "warren", broker.bootstrap)
        command = [sys.executable, "-m", "warren", "serve", "--config-dir", str(place)]
        with running(command) as pid:
            samples = _sample(url, pid)
    write("memory.md", _report(about, groups * partitions * rounds, samples))


def _sample(url: str, pid: int) -> list[tuple[int, float]]:
    """Records read and memory held, each second until all is read."""
    samples = []
    until = time.monotonic() + AT_MOST_S
    while time.monotonic() < until:
        _, health = get(f"{url}/v4/health")
        if isinstance(health, dict) and "local" in health.get("consumers", {}):
            samples.append((health["consumers"]["local"]["records"], now_mb(pid)))
            if health["ready"]:
                return samples
        time.sleep(1)
    raise TimeoutError(f"not within {AT_MOST_S} s")


def _report(about: str, commits: int, samples: list[tuple[int, float]]) -> str:
    lines = [
        f"# Memory while reading {commits:,} commits",
        "",
        f"{about}. Java and Python together; Spark's Java heap may take 2 GB.",
        "",
        "| records read | memory, MB |",
        "|---|---|",
    ]
    for tenth in range(11):
        after = [sample for sample in samples if sample[0] >= commits * tenth / 10]
        records, memory = after[0]
        lines.append(f"| {records:,} | {memory:,.0f} |")
    lines += ["", f"Most at any time: {max(memory for _, memory in samples):,.0f} MB."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
