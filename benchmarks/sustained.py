"""Many commits a second for minutes: CPU, memory, how old answers are, and what is lost.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/sustained.py --burrow PATH --kminion PATH

Each monitor has caught up when the commits begin. They go to one after the other, each with a new
broker that was filled the same; with `--together` to all at once, on one broker. The monitors, the
broker and the process that commits share the machine: how busy it was is in the result.

How old answers are: a group commits on and on, and its windows are asked for until they show it.
Lost is a commit that should be among the last ten of a partition and is not shown, in a sample of
the groups, when the monitor had time to catch up. kminion shows only its last offsets, as sums over
partitions, and all in one answer: too large to be asked for all the time. So its age is left out.
"""

import json
import random
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import click
from commit_stream import TOPIC, Writer, offset_of
from measured import Busy, get, now_mb, wait_until, where, write
from monitors import AT_MOST_S, GIVEN, Program, Started, fill, not_given, programs, scratch

from warren.demo.broker import Broker

SENTINEL = "sentinel"
POLL_S = 0.2  # of the answer with the sentinel; Burrow loses commits if it is asked more often
PROBE_S = 5.0  # between two commits of the sentinel
AGE_AT_MOST_S = 120.0
WINDOW = 10
SAMPLE = 20
STARTS_AT = 2  # rounds: the loader's one is not among the last ten for long
HEADER = """\
| commits/s | really | | CPU, of a core | times Warren | machine | most MB | age, median s \
| worst s | caught up after s | lost |
|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|"""
OFFSET_SUM = re.compile(
    r'kminion_kafka_consumer_group_topic_offset_sum\{.*group_id="([^"]+)".*\} (\S+)'
)


class Size(NamedTuple):
    groups: int
    partitions: int
    seconds: float
    settle_s: float


class Checked(NamedTuple):
    caught_up_s: float | None  # after the last commit; None: not in time
    lost: int
    of: int


class Seen(NamedTuple):
    """Of one monitor at one rate."""

    name: str
    rate: int
    real_rate: float
    cpu: float  # of one core
    machine: float  # the same, all processes
    memory_mb: float
    ages: list[float]
    too_old: int  # sentinels that were not shown in time
    checked: Checked


@click.command()
@click.option("--burrow", type=GIVEN)
@click.option("--kminion", type=GIVEN)
@click.option("--rates", default="20000,50000", help="Commits a second, each for all monitors.")
@click.option("--seconds", default=300.0)
@click.option("--groups", default=500)
@click.option("--partitions", default=100, help="Of each group.")
@click.option("--settle", default=180.0, help="Seconds to catch up afterwards, at most.")
@click.option("--together", is_flag=True, help="All monitors at once, on one broker.")
def main(
    burrow: Path | None,
    kminion: Path | None,
    rates: str,
    seconds: float,
    groups: int,
    partitions: int,
    settle: float,
    *,
    together: bool,
) -> None:
    about, every = where(), programs(None, burrow, kminion)
    size = Size(groups, partitions, seconds, settle)
    turns = [every] if together else [[program] for program in every]
    seen = [
        each
        for rate in map(int, rates.split(","))
        for those in turns
        for each in _observe(those, rate, size)
    ]
    left_out = not_given(Burrow=burrow, kminion=kminion)
    write("sustained.md", _report(about, size, seen, left_out, together=together))


def _observe(those: list[Program], rate: int, size: Size) -> list[Seen]:
    """Commit at the rate while `those` run."""
    with ExitStack() as stack:
        broker = stack.enter_context(Broker(offsets_partitions=50, heap="1g"))
        directory = stack.enter_context(scratch())
        # Log ends that no commit reaches: a commit beyond them would be odd.
        ends = int(rate * size.seconds / (size.groups * size.partitions)) + 100
        fill(broker.bootstrap, size.groups, size.partitions, 1, lag=ends)
        watches = []
        for program in those:
            started = stack.enter_context(program.start(directory, broker.bootstrap))
            wait_until(lambda p=program, s=started: p.is_ready(s.url), 1, AT_MOST_S)  # type: ignore[misc]  # bound at once
            watches.append(Watch(program, started, Writer(broker.bootstrap)))
        with ThreadPoolExecutor(len(watches)) as pool:
            stop = threading.Event()
            watching = [pool.submit(watch.run, stop) for watch in watches]
            try:
                told = _commit(broker.bootstrap, rate, size)
            finally:
                stop.set()
            for each in watching:
                each.result()
            checks = [pool.submit(watch.check, told["written"], size) for watch in watches]
            return [
                watch.seen(rate, told["rate"], check.result())
                for watch, check in zip(watches, checks, strict=True)
            ]


def _commit(bootstrap: str, rate: int, size: Size) -> dict[str, float]:
    script = str(Path(__file__).with_name("commit_stream.py"))
    options = ["--bootstrap", bootstrap, "--rate", str(rate), "--seconds", str(size.seconds)]
    sizes = ["--groups", str(size.groups), "--partitions", str(size.partitions)]
    command = [sys.executable, script, *options, *sizes]
    limit_s = size.seconds + 120
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit_s)
    told: dict[str, float] = json.loads(done.stdout)
    return told


class Watch:
    """One monitor while commits arrive, and afterwards."""

    def __init__(self, program: Program, started: Started, writer: Writer) -> None:
        self._program, self._url, self._pid = program, started.url, started.pid
        self._group = f"{SENTINEL}-{program.kind}"
        self._writer = writer
        self._ages: list[float] = []
        self._too_old = 0
        self._memory_mb = 0.0
        self._shares = (0.0, 0.0)

    def run(self, stop: threading.Event) -> None:
        busy, offset = Busy(self._pid), 0
        while not stop.is_set():
            self._memory_mb = max(self._memory_mb, now_mb(self._pid))
            self._shares = busy.so_far() if not stop.is_set() else self._shares
            if self._program.kind != "kminion":
                offset += 1
                self._probe(offset, stop)
            stop.wait(PROBE_S * random.uniform(0.8, 1.2))  # noqa: S311  # no secret

    def _probe(self, offset: int, stop: threading.Event) -> None:
        self._writer.write(self._group, TOPIC, [offset])
        self._writer.flush()
        began = time.monotonic()
        while (passed_s := time.monotonic() - began) < AGE_AT_MOST_S:
            if newest_offset(self._url, self._group) >= offset:
                self._ages.append(time.monotonic() - began)
                return
            if stop.wait(POLL_S):
                if passed_s > min(self._ages, default=PROBE_S):  # it was not just written
                    self._ages.append(passed_s)  # at least
                return
            self._memory_mb = max(self._memory_mb, now_mb(self._pid))
        self._too_old += 1

    def check(self, written: float, size: Size) -> Checked:
        """Seconds until all is shown; how many commits are not after all, and of how many."""
        step = max(size.groups // SAMPLE, 1)
        last = {f"group-{n}": offset_of(int(written), size.groups, n) for n in range(size.groups)}
        wanted = {group: last[group] for group in list(last)[::step]}
        missing = self._missing_sums if self._program.kind == "kminion" else self._missing
        began = time.monotonic()
        while True:
            lost, checked = missing(wanted, size.partitions)
            passed_s = time.monotonic() - began
            if not lost or passed_s > size.settle_s:
                return Checked(None if lost else passed_s, lost, checked)
            time.sleep(1)

    def _missing(self, wanted: dict[str, int], partitions: int) -> tuple[int, int]:
        """Of the last ten commits of every partition."""
        lost = checked = 0
        for group, last in wanted.items():
            shown = shown_offsets(self._url, group)
            for n in range(partitions):
                expected = {
                    last - back + n % 10 for back in range(WINDOW) if last - back >= STARTS_AT
                }
                lost += len(expected - (shown[n] if n < len(shown) else set()))
                checked += len(expected)
        return lost, checked

    def _missing_sums(self, wanted: dict[str, int], partitions: int) -> tuple[int, int]:
        """Of the last commits: at least one of a group is, if their sum is another."""
        _, text = get(f"{self._url}/metrics")
        sums = {match[1]: float(match[2]) for match in OFFSET_SUM.finditer(text)}
        lost = 0
        for group, last in wanted.items():
            expected = sum(last + n % 10 for n in range(partitions))
            lost += min(int(abs(expected - sums.get(group, 0))), partitions)
        return lost, len(wanted) * partitions

    def seen(self, rate: int, real_rate: float, checked: Checked) -> Seen:
        return Seen(
            self._program.name,
            rate,
            real_rate,
            *self._shares,
            self._memory_mb,
            sorted(self._ages),
            self._too_old,
            checked,
        )


def newest_offset(url: str, group: str, cluster: str = "local", topic: str = TOPIC) -> int:
    """Of partition 0, as far as the monitor shows it; -1 if it shows none."""
    shown = shown_offsets(url, group, cluster, topic)
    return max(shown[0], default=-1) if shown else -1


def shown_offsets(
    url: str, group: str, cluster: str = "local", topic: str = TOPIC
) -> list[set[int]]:
    """The commits that the monitor shows of each partition."""
    code, answer = get(f"{url}/v3/kafka/{cluster}/consumer/{group}")
    if code != 200 or topic not in answer["topics"]:
        return []
    return [
        {each["offset"] for each in partition["offsets"] if each}
        for partition in answer["topics"][topic]
    ]


def _report(about: str, size: Size, seen: list[Seen], left_out: str, *, together: bool) -> str:
    how = "All at once, on one broker." if together else "Each with a broker of its own."
    lines = [
        f"# {size.seconds:g} s of many commits a second",
        "",
        f"{about}. {size.groups:,} groups of {size.partitions} partitions. {how}",
        "",
        HEADER,
    ]
    for each in seen:
        ours = next(other for other in seen if other.rate == each.rate)
        late = "" if each.checked.caught_up_s is None else f"{each.checked.caught_up_s:.1f}"
        worst = f"over {AGE_AT_MOST_S:.0f}" if each.too_old else _last(each.ages, 1.0)
        lines.append(
            f"| {each.rate:,} | {each.real_rate:,.0f} | {each.name} | {each.cpu:.0%} "
            f"| {each.cpu / ours.cpu if ours.cpu else 0:.2f} | {each.machine:.0%} "
            f"| {each.memory_mb:,.0f} | {_last(each.ages, 0.5)} | {worst} "
            f"| {late or 'never'} | {each.checked.lost:,} of {each.checked.of:,} |"
        )
    lines += ["", "kminion's age is not measured; of its commits only the last ones are checked."]
    return "\n".join([*lines, *(["", left_out] if left_out else [])]) + "\n"


def _last(ages: list[float], share: float) -> str:
    return f"{ages[min(int(len(ages) * share), len(ages) - 1)]:.2f}" if ages else ""


if __name__ == "__main__":
    main()
