"""The monitors that are compared, as processes: Warren of this tree or another, Burrow, kminion."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, NamedTuple

import click
from measured import commit, get

from warren.demo.broker import free_ports

AT_MOST_S = 900
STOP_S = 60
GIVEN = click.Path(exists=True, path_type=Path)
TREE = Path(__file__).parents[1]
CONFIGURATION = """
[general]
pidfile = "{place}/monitor.pid"
{general}
[logging]
level = "error"
[client-profile.p]
kafka-version = "2.8.0"
[cluster.local]
class-name = "kafka"
servers = ["{bootstrap}"]
client-profile = "p"
[consumer.local]
class-name = "kafka"
cluster = "local"
servers = ["{bootstrap}"]
client-profile = "p"
[httpserver.default]
address = "127.0.0.1:{port}"
"""
# Burrow judges a group anew when its verdict is so old, 10 s by default: it would seem to be later
# than it is. To Warren it is the longest pause between two boards.
BURROWS = """
[evaluator.default]
class-name = "caching"
expire-cache = 1
"""


class Started(NamedTuple):
    pid: int
    url: str


@dataclass(frozen=True)
class Program:
    """A monitor that can be started on a broker."""

    name: str
    kind: Literal["warren", "burrow", "kminion"]
    path: Path  # a checkout of Warren, or a peer's binary

    @property
    def version(self) -> str:
        return commit(self.path) if self.kind == "warren" else _go_version(self.path)

    @contextmanager
    def start(self, directory: Path, bootstrap: str, general: str = "") -> Iterator[Started]:
        """`general` are more lines of that section; kminion has none."""
        if self.kind == "kminion":
            (port,) = free_ports(1)
            url, command = f"http://127.0.0.1:{port}", [str(self.path)]
            environment = _kminion_settings(bootstrap, port)
        else:
            place, url = configure(directory, self.kind, bootstrap, general)
            command = self.command("--config-dir", str(place))
            environment = self.environment
        with running(command, environment) as pid:
            yield Started(pid, url)

    def command(self, *arguments: str) -> list[str]:
        if self.kind == "warren":
            return [sys.executable, "-m", "warren", "serve", *arguments]
        return [str(self.path), *arguments]

    @property
    def environment(self) -> dict[str, str]:
        return {"PYTHONPATH": str(self.path / "src")} if self.kind == "warren" else {}

    def is_ready(self, url: str) -> bool:
        """All commits are read, as far as the monitor tells; ask Burrow once a second at most."""
        if self.kind == "burrow":
            # Asking more often makes it lose commits; its own group tells how far it is.
            code, answer = get(f"{url}/v3/kafka/local/consumer/burrow-local/lag")
            return code == 200 and bool(answer["status"]["totallag"] == 0)
        path = "/burrow/admin/ready" if self.kind == "warren" else "/ready"
        return get(url + path)[0] == 200


def warren() -> Program:
    return Program("Warren", "warren", TREE)


def programs(
    baseline: Path | None = None, burrow: Path | None = None, kminion: Path | None = None
) -> list[Program]:
    """Warren of this tree first, then what was given."""
    every = [warren()]
    if baseline:
        every.append(Program(f"Warren at {commit(baseline)}", "warren", baseline.absolute()))
    if burrow:
        every.append(Program("Burrow", "burrow", burrow.absolute()))
    if kminion:
        every.append(Program("kminion", "kminion", kminion.absolute()))
    return every


def not_given(**paths: Path | None) -> str:
    """A line of the result, or nothing."""
    absent = [name for name, path in paths.items() if path is None]
    return f"Not run, because it was not given: {', '.join(absent)}." if absent else ""


@contextmanager
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="warren-benchmark-") as directory:
        yield Path(directory)


def fill(bootstrap: str, groups: int, partitions: int, rounds: int, lag: int = 0) -> None:
    sizes = {"--groups": groups, "--partitions": partitions, "--rounds": rounds, "--lag": lag}
    arguments = [text for option in sizes.items() for text in map(str, option)]
    command = [sys.executable, "-m", "support.loader", "--bootstrap", bootstrap]
    subprocess.run([*command, *arguments], check=True)


def configure(directory: Path, name: str, bootstrap: str, general: str = "") -> tuple[Path, str]:
    """Burrow's configuration file, which is ours, and the address it will answer on."""
    (port,) = free_ports(1)
    place = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=directory))
    text = CONFIGURATION.format(place=place, bootstrap=bootstrap, port=port, general=general)
    (place / "burrow.toml").write_text(text + (BURROWS if name == "burrow" else ""))
    return place, f"http://127.0.0.1:{port}"


@contextmanager
def running(
    command: list[str],
    environment: dict[str, str] | None = None,
    output: IO[str] | None = None,
) -> Iterator[int]:
    process = subprocess.Popen(
        command,
        env={**os.environ, **(environment or {})},
        stdout=output or subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(STOP_S)


def _kminion_settings(bootstrap: str, port: int) -> dict[str, str]:
    return {
        "KAFKA_BROKERS": bootstrap,
        "MINION_CONSUMERGROUPS_SCRAPEMODE": "offsetsTopic",
        "EXPORTER_HOST": "127.0.0.1",
        "EXPORTER_PORT": str(port),
        "LOGGER_LEVEL": "error",
    }


def _go_version(binary: Path) -> str:
    if shutil.which("go") is None:
        return ""
    shown = subprocess.run(["go", "version", "-m", str(binary)], capture_output=True, check=False)
    modules = [line.split() for line in shown.stdout.decode().splitlines() if "\tmod\t" in line]
    return modules[0][2] if modules else ""
