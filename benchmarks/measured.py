"""What every benchmark needs: a process tree's CPU and memory, and where a result was had."""

import json
import os
import platform
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
RESULTS = Path(__file__).parent / "results"


def tree(pid: int) -> list[int]:
    """The process and all below it."""
    pids = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            for child in task.read_text().split():
                pids += tree(int(child))
    return pids


def cpu_seconds(pid: int) -> float:
    """Used so far by the process and all below it, ended children included."""
    total = 0
    for each in tree(pid):
        # One that has ended meanwhile is counted by its parent.
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            total += sum(int(field) for field in fields[11:15])
    return total / TICKS


def peak_mb(pid: int) -> float:
    """The most memory the processes ever held, added up."""
    return _memory_mb(pid, "VmHWM")


def now_mb(pid: int) -> float:
    """The memory the processes hold, added up."""
    return _memory_mb(pid, "VmRSS")


def _memory_mb(pid: int, field: str) -> float:
    total = 0
    for each in tree(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            for line in Path(f"/proc/{each}/status").read_text().splitlines():
                total += int(line.split()[1]) if line.startswith(field) else 0
    return total / 1024


class Memory(NamedTuple):
    """Megabytes; `shared` counts a page of several processes once (PSS), the others each time."""

    python: float
    java: float
    shared_python: float
    shared_java: float


def memory(pid: int) -> Memory:
    """What the processes hold now, Java apart from the rest."""
    kilobytes = {"Rss": [0, 0], "Pss": [0, 0]}
    for each in tree(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            at = int(is_java(each))
            for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
                field, _, amount = line.partition(":")
                if field in kilobytes:
                    kilobytes[field][at] += int(amount.split()[0])
    return Memory(*(amount / 1024 for amount in kilobytes["Rss"] + kilobytes["Pss"]))


def threads(pid: int) -> tuple[int, int]:
    """Of the Python processes and of Java."""
    counts = [0, 0]
    for each in tree(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            for line in Path(f"/proc/{each}/status").read_text().splitlines():
                if line.startswith("Threads:"):
                    counts[is_java(each)] += int(line.split()[1])
    return counts[0], counts[1]


def is_java(pid: int) -> bool:
    return Path(f"/proc/{pid}/exe").readlink().name == "java"


class Busy:
    """The share of a core that a process tree uses, and that the whole machine does."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._began = time.monotonic()
        self._cpu_s, self._machine_s = cpu_seconds(pid), machine_seconds()

    def so_far(self) -> tuple[float, float]:
        passed_s = time.monotonic() - self._began
        of_tree = cpu_seconds(self._pid) - self._cpu_s
        return of_tree / passed_s, (machine_seconds() - self._machine_s) / passed_s


def machine_seconds() -> float:
    """CPU seconds that all processes of the machine have used."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICKS  # but idle, and waiting for a disk


def get(url: str) -> tuple[int, Any]:
    """Status and body, as JSON where it is; 0 while nobody listens."""
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310  our own address
            return answer.status, _body(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, _body(error.read())
    except OSError:
        return 0, ""


def _body(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw.decode(errors="replace")


def wait_until(condition: Callable[[], bool], pause_s: float, at_most_s: float) -> float:
    """Seconds until `condition` held."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > at_most_s:
            raise TimeoutError(f"not within {at_most_s:.0f} s")
        time.sleep(pause_s)
    return time.monotonic() - began


def where() -> str:
    """The machine and the commit, without which a number means nothing."""
    model = next(
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores ({model}), {memory:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}, commit {commit()}, "
        f"load {os.getloadavg()[0]:.1f} before the run"
    )


def commit(checkout: Path = RESULTS.parent) -> str:
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def write(name: str, text: str) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(text)
    print(text)
