"""A real Kafka broker from jars: one KRaft node on loopback, in a directory of its own.

`with Broker() as broker: ...` and clients connect to `broker.bootstrap`.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from warren.errors import StartError
from warren.sources.group_offsets import OFFSETS_TOPIC, partition_of
from warren.spark import class_archive, jars
from warren.spark.class_archive import Recording
from warren.spark.java import java_home

SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # A topic asked for by mistake must not come into being.
    "auto.create.topics.enable": "false",
}
START_SECONDS = 120
STOP_SECONDS = 20
COORDINATOR_SECONDS = 60
# Ends the broker when we end, however we end: our side of the pipe then closes. A death signal
# (prctl) would not do, it follows the thread that started the broker.
WATCHDOG = """
read -r _
kill -KILL -"$1"
for _ in $(seq 50); do kill -0 -"$1" 2>/dev/null || break; sleep 0.1; done
[ -z "$2" ] || rm -rf -- "$2"
"""


class Broker:
    """Ports and data outlast `stop` and `start`; leaving the `with` block removes the data."""

    def __init__(
        self,
        *,
        offsets_partitions: int = 50,
        heap: str = "512m",
        java_options: Sequence[str] = (),
        directory: Path | None = None,
    ) -> None:
        """A given directory is kept."""
        self._jars = jars.resolve(jars.BROKER)
        home = java_home()
        self._java = home / "bin" / "java"
        self._archive = class_archive.find("broker", home, self._jars)
        self._heap = heap
        self._java_options = java_options
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None

        self._is_temporary = directory is None
        self.directory = (directory or Path(tempfile.mkdtemp(prefix="warren-broker-"))).absolute()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.log = self.directory / "broker.log"

        self.cluster_id = "W" + secrets.token_urlsafe(16)[1:]  # a dash would pass for an option
        self.format_arguments: list[str] = []  # more for the tool that makes the storage
        self.settings: dict[str, str] = {}
        plain, controller = free_ports(2)
        self.bootstrap = f"127.0.0.1:{plain}"
        self.controller = f"127.0.0.1:{controller}"
        self.configure(
            {
                **SETTINGS,
                "controller.quorum.voters": f"1@{self.controller}",
                "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://{self.controller}",
                "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
                "log.dirs": str(self.directory / "data"),
                "offsets.topic.num.partitions": str(offsets_partitions),
            }
        )

    def configure(self, settings: Mapping[str, str]) -> None:
        """Add to the settings, or change them; they count from the next start."""
        self.settings |= settings
        lines = [f"{key}={value}\n" for key, value in self.settings.items()]
        (self.directory / "server.properties").write_text("".join(lines))

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Return when the broker answers a metadata request."""
        if not (self.directory / "data" / "meta.properties").exists():
            self._format()
        self._process = self._spawn()
        self._watchdog = self._watch(self._process.pid)
        try:
            self._wait_for_answer()
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Let the broker write what it holds, then end."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End the broker as a power cut would."""
        self._end(signal.SIGKILL)

    def close(self) -> None:
        # Nobody reads the data again: no need to let the broker write it out.
        if self._is_temporary:
            self.kill()
            shutil.rmtree(self.directory, ignore_errors=True)
        else:
            self.stop()

    @property
    def recordings(self) -> list[Recording]:
        """What to make a class archive from; nothing if there is one."""
        if self._archive.is_made or not self._class_list.exists():
            return []
        return [Recording(self._archive, self._class_list, self._class_path)]

    @property
    def _class_list(self) -> Path:
        return self.directory / "classes"

    @property
    def _class_path(self) -> str:
        return os.pathsep.join(str(jar) for jar in self._jars)

    def _java_command(self, heap: str, *main: str) -> list[str]:
        quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        archive = self._archive.options(self._class_list)
        options = (f"-Xmx{heap}", quiet, *archive, *self._java_options)
        return [str(self._java), *options, "-cp", self._class_path, *main]

    def _format(self) -> None:
        arguments = ["-t", self.cluster_id, "-c", str(self.directory / "server.properties")]
        tool = ("kafka.tools.StorageTool", "format", *arguments, *self.format_arguments)
        command = self._java_command("256m", *tool)
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  our own command
        if done.returncode:
            problem = _tail(done.stdout + done.stderr)
            raise StartError(
                f"the broker's storage cannot be made: {self._explained(problem, done.returncode)}"
            )

    def _explained(self, problem: str, exit_code: int | None) -> str:
        if not self._archive.remove_after(exit_code):
            return problem
        return "Java crashed over its class archive, which is removed now: try again"

    def _spawn(self) -> "subprocess.Popen[bytes]":
        properties = str(self.directory / "server.properties")
        with self.log.open("ab") as output:
            return subprocess.Popen(  # noqa: S603  our own command
                self._java_command(self._heap, "kafka.Kafka", properties),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.directory,
                env=dict(os.environ),  # a copy: Spark may be set up in another thread
                start_new_session=True,  # Ctrl-C is for us, not for the broker
            )

    def _watch(self, pid: int) -> "subprocess.Popen[bytes]":
        temporary = str(self.directory) if self._is_temporary else ""
        return subprocess.Popen(  # noqa: S603  our own command
            ["/bin/sh", "-c", WATCHDOG, "sh", str(pid), temporary],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def _wait_for_answer(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(self.bootstrap):
            exit_code = self._process.poll() if self._process is not None else None
            if exit_code is not None or time.monotonic() > deadline:
                problem = self._explained(_tail(self.log.read_text()), exit_code)
                raise StartError(f"the broker does not start: {problem}")
            time.sleep(0.1)

    def _end(self, how: signal.Signals) -> None:
        # The watchdog first: once the broker is gone its pid may be somebody else's.
        if self._watchdog is not None:
            self._watchdog.kill()
            self._watchdog.communicate()
        if self._process is not None:
            _end_group(self._process, how)
        self._process = self._watchdog = None


def free_ports(number: int) -> list[int]:
    """Find ports of loopback that nobody listens at, no two the same."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _end_group(process: "subprocess.Popen[bytes]", how: signal.Signals) -> None:
    if process.poll() is None:
        os.killpg(process.pid, how)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _answers(bootstrap: str) -> bool:
    host, port = bootstrap.split(":")
    try:
        # First the bare port: a Kafka client would complain on the terminal until it is open.
        socket.create_connection((host, int(port)), timeout=1).close()
        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        return bool(admin.list_topics(timeout=5).brokers)
    except (OSError, KafkaException):
        return False


def _tail(text: str) -> str:
    return "\n".join(text.splitlines()[-20:]) or "it said nothing"


LOADING = (
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError._TIMED_OUT,  # noqa: SLF001  librdkafka's own name
)


def make_offsets_topic(bootstrap: str) -> int:
    """Count the topic's partitions; if it is new, wait until commits to each would be taken."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    partitions = _partitions(admin)
    if partitions:
        return partitions
    deadline = time.monotonic() + COORDINATOR_SECONDS
    while time.monotonic() < deadline:
        # Clients do not retry a commit that meets a coordinator which is still loading.
        if _all_take_commits(admin, partitions or 1) and partitions:
            return partitions
        time.sleep(0.1)
        partitions = _partitions(admin)
    raise StartError(f"{OFFSETS_TOPIC} does not come into being at {bootstrap}")


def _partitions(admin: AdminClient) -> int:
    topic = admin.list_topics(timeout=10).topics.get(OFFSETS_TOPIC)
    return len(topic.partitions) if topic else 0


def _all_take_commits(admin: AdminClient, partitions: int) -> bool:
    groups = [_group_of(partition, partitions) for partition in range(partitions)]
    answers = admin.describe_consumer_groups(groups, request_timeout=5).values()
    wait(answers)
    return not any(_is_loading(answer.exception()) for answer in answers)


def _is_loading(error: BaseException | None) -> bool:
    # Any other error is a loaded coordinator's answer that there is no such group.
    return isinstance(error, KafkaException) and error.args[0].code() in LOADING


def _group_of(partition: int, partitions: int) -> str:
    """A name that hashes to the partition."""
    names = (f"nobody-{number}" for number in count())
    return next(name for name in names if partition_of(name, partitions) == partition)
