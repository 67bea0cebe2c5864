"""From the command to the first answers, beside an older commit, Burrow and kminion.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/start.py --demo \
        --baseline DIR --burrow PATH --kminion PATH

`--baseline DIR` is a checkout of an older commit; it runs with this interpreter. The programs take
turns, and the medians count. Ready are: Warren when `/burrow/admin/ready` is 200, which it is when
all is read and judged; Burrow when it lists all groups, of which it may have read one commit each;
kminion when `/ready` is 200. What is not given is left out, and the result says so.

With a snapshot Warren has run before, and answers what it knew then. The demo starts a broker and
Spark; its jars were downloaded before.
"""

import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import click
from measured import cpu_seconds, get, wait_until, where, write
from monitors import GIVEN, Program, fill, not_given, programs, running, scratch

from warren.demo.broker import Broker, free_ports

AT_MOST_S = 300
PAUSE_S = 0.05
EXPLAINED = """\
Seconds from the start of the process, and CPU seconds of all its processes until the last moment
shown. *times* is the last moment, in Warren's."""
PAGE = re.compile(r"The page: +http://")

Moments = dict[str, float]  # what happened, and how many seconds after the start
Taken = dict[str, list[Moments]]  # by program


@click.command()
@click.option("--baseline", type=GIVEN, help="A checkout of an older commit.")
@click.option("--burrow", type=GIVEN)
@click.option("--kminion", type=GIVEN)
@click.option("--demo", is_flag=True, help="Time the demo too.")
@click.option("--groups", default=60)
@click.option("--partitions", default=7)
@click.option("--rounds", default=10)
@click.option("--repeat", default=3, help="Starts of each; the median counts.")
def main(
    baseline: Path | None,
    burrow: Path | None,
    kminion: Path | None,
    groups: int,
    partitions: int,
    rounds: int,
    repeat: int,
    *,
    demo: bool,
) -> None:
    about, every = where(), programs(baseline, burrow, kminion)
    warrens = [program for program in every if program.kind == "warren"]
    cold, restored, shown = defaultdict(list), defaultdict(list), defaultdict(list)
    with Broker(offsets_partitions=50) as broker, scratch() as directory:
        fill(broker.bootstrap, groups, partitions, rounds)
        for _ in range(repeat):
            for program in every:
                cold[program.name].append(_cold(program, directory, broker.bootstrap, groups))
        states = {program: Path(tempfile.mkdtemp(dir=directory)) for program in warrens}
        for program, state in states.items():
            _save(program, directory, broker.bootstrap, state)
        for _ in range(repeat):
            for program, state in states.items():
                took = _restored(program, directory, broker.bootstrap, state, partitions)
                restored[program.name].append(took)
    for _ in range(repeat if demo else 0):
        for program in warrens:
            shown[program.name].append(_demo(program))
    size = f"{groups} groups of {partitions} partitions, {rounds} commits each"
    left_out = not_given(baseline=baseline, Burrow=burrow, kminion=kminion)
    write("start.md", _report(about, size, repeat, (cold, restored, shown), left_out))


def _cold(program: Program, directory: Path, bootstrap: str, groups: int) -> Moments:
    began = time.monotonic()
    with program.start(directory, bootstrap) as (pid, url):
        moments = _until_up(began, url) if program.kind == "warren" else {}

        def is_ready() -> bool:
            if program.kind != "burrow":
                return program.is_ready(url)
            return _listed(url) >= groups

        wait_until(is_ready, PAUSE_S, AT_MOST_S)
        moments["ready"] = time.monotonic() - began
        moments["CPU"] = cpu_seconds(pid)
    return moments


def _until_up(began: float, url: str) -> Moments:
    """When Warren's port answers, and when it has Spark; older ones do not tell that."""
    wait_until(lambda: get(f"{url}/v4/health")[0] == 200, PAUSE_S, AT_MOST_S)
    moments = {"port answers": time.monotonic() - began}
    if "spark" in get(f"{url}/v4/health")[1]:
        wait_until(lambda: get(f"{url}/v4/health")[1].get("spark") == "up", PAUSE_S, AT_MOST_S)
        moments["Spark is up"] = time.monotonic() - began
    return moments


def _listed(url: str) -> int:
    """How many of the groups that were written Burrow lists."""
    code, answer = get(f"{url}/v3/kafka/local/consumer")
    names = answer["consumers"] if code == 200 else []
    return sum(name.startswith("group-") for name in names)


def _save(program: Program, directory: Path, bootstrap: str, state: Path) -> None:
    """Run once; a snapshot is taken at the end."""
    with program.start(directory, bootstrap, f'state-dir = "{state}"') as (_, url):
        wait_until(lambda: program.is_ready(url), PAUSE_S, AT_MOST_S)


def _restored(
    program: Program, directory: Path, bootstrap: str, state: Path, partitions: int
) -> Moments:
    began, moments = time.monotonic(), {}
    with program.start(directory, bootstrap, f'state-dir = "{state}"') as (pid, url):

        def is_answered() -> bool:
            code, answer = get(f"{url}/v3/kafka/local/consumer/group-0/lag")
            return code == 200 and len(answer["status"]["partitions"]) == partitions

        wait_until(is_answered, PAUSE_S, AT_MOST_S)
        moments["first answer"] = time.monotonic() - began
        wait_until(lambda: program.is_ready(url), PAUSE_S, AT_MOST_S)
        moments["ready"] = time.monotonic() - began
        moments["CPU"] = cpu_seconds(pid)
    return moments


def _demo(program: Program) -> Moments:
    """Until the page answers, and until it is announced, when groups are judged."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "warren", "demo", "--for", "1", "--port", str(port)]
    began, moments = time.monotonic(), {}
    with (
        tempfile.TemporaryFile("w+") as output,
        running(command, program.environment, output) as pid,
    ):
        wait_until(lambda: get(f"http://127.0.0.1:{port}/")[0] == 200, PAUSE_S, AT_MOST_S)
        moments["page answers"] = time.monotonic() - began

        def is_announced() -> bool:
            output.seek(0)
            return bool(PAGE.search(output.read()))

        wait_until(is_announced, PAUSE_S, AT_MOST_S)
        moments["page announced"] = time.monotonic() - began
        moments["CPU"] = cpu_seconds(pid)
    return moments


def _report(
    about: str, size: str, repeat: int, parts: tuple[Taken, Taken, Taken], left_out: str
) -> str:
    cold, restored, shown = parts
    lines = [
        f"# Start with {size}",
        "",
        f"{about}. Offsets topic of 50 partitions. Medians of {repeat}, taking turns.",
        "",
        EXPLAINED,
        "",
        *_table(cold, ["port answers", "Spark is up", "ready"]),
        "",
        "## With a snapshot",
        "",
        *_table(restored, ["first answer", "ready"]),
    ]
    if shown:
        lines += ["", "## The demo", "", *_table(shown, ["page answers", "page announced"])]
    return "\n".join([*lines, *(["", left_out] if left_out else [])]) + "\n"


def _table(taken: Taken, columns: list[str]) -> list[str]:
    medians = {
        name: {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        for name, runs in taken.items()
    }
    ours, last = next(iter(medians.values())), columns[-1]
    lines = [f"| | {' | '.join(columns)} | times | CPU s |", "|---" * (len(columns) + 3) + "|"]
    for name, moments in medians.items():
        cells = [f"{moments[column]:.2f}" if column in moments else "" for column in columns]
        times = moments[last] / ours[last]
        lines.append(f"| {name} | {' | '.join(cells)} | {times:.2f} | {moments['CPU']:.1f} |")
    return lines


if __name__ == "__main__":
    main()
