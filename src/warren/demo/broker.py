"""A real Kafka broker from jars: one KRaft node on loopback, in a directory of its own."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from support.certificates import make_certificates

from warren.errors import StartError
from warren.spark import jars
from warren.spark.java import java_home


@dataclass(frozen=True)
class Ports:
    plain: int
    controller: int
    secure: int
    mutual: int

    @classmethod
    def free(cls) -> Self:
        sockets = [socket.socket() for _ in range(4)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in sockets]
        for each in sockets:
            each.close()
        return cls(*ports)


@dataclass(frozen=True)
class KraftNode:
    """One node of a cluster; nodes are numbered from 1."""

    cluster: str  # its id
    number: int
    nodes: tuple[Ports, ...]  # of all, in order

    @classmethod
    def of_cluster(cls, size: int) -> list[Self]:
        cluster = "W" + secrets.token_urlsafe(16)[1:]  # a leading dash would pass for an option
        nodes = tuple(Ports.free() for _ in range(size))
        return [cls(cluster, number + 1, nodes) for number in range(size)]

    @classmethod
    def alone(cls) -> Self:
        (member,) = cls.of_cluster(1)
        return member

    @property
    def ports(self) -> Ports:
        return self.nodes[self.number - 1]

    @property
    def voters(self) -> str:
        controllers = enumerate((node.controller for node in self.nodes), start=1)
        return ",".join(f"{number}@127.0.0.1:{port}" for number, port in controllers)


def plain_settings(member: KraftNode, data: Path, offsets_partitions: int) -> dict[str, str]:
    ports = member.ports
    plain, controller = f"127.0.0.1:{ports.plain}", f"127.0.0.1:{ports.controller}"
    return {
        "process.roles": "broker,controller",
        "node.id": str(member.number),
        "controller.quorum.voters": member.voters,
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listeners": f"PLAINTEXT://{plain},CONTROLLER://{controller}",
        "advertised.listeners": f"PLAINTEXT://{plain}",
        "log.dirs": str(data),
        "offsets.topic.num.partitions": str(offsets_partitions),
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        # A topic asked for by mistake must not come into being.
        "auto.create.topics.enable": "false",
    }


def with_sasl_ssl(settings: Mapping[str, str], ports: Ports, key: Path) -> dict[str, str]:
    """Add a listener for users with a password (SCRAM) over TLS, and one for certificates."""
    secure, mutual = f"SASL_SSL://localhost:{ports.secure}", f"SSL://localhost:{ports.mutual}"
    listeners = f"{secure},{mutual}"
    protocols = ("PLAINTEXT:PLAINTEXT", "CONTROLLER:PLAINTEXT", "SASL_SSL:SASL_SSL", "SSL:SSL")
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    return {
        **settings,
        "listeners": f"{settings['listeners']},{listeners}",
        "advertised.listeners": f"{settings['advertised.listeners']},{listeners}",
        "listener.security.protocol.map": ",".join(protocols),
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": f"{module} required;",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(key),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(key.with_name("ca.pem")),
        "listener.name.ssl.ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/,DEFAULT",
    }


START_SECONDS = 120
STOP_SECONDS = 20
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

    user = "warren"

    def __init__(  # noqa: PLR0913  each is chosen by somebody, and none by all
        self,
        *,
        offsets_partitions: int = 50,
        secure: bool = False,
        properties: Mapping[str, str] | None = None,
        heap: str = "512m",
        java_options: Sequence[str] = (),
        directory: Path | None = None,
        member: KraftNode | None = None,
    ) -> None:
        """With `secure`, listeners for passwords and certificates join the plain one.

        A given directory is kept.

        A `member` is one of several: see `BrokerCluster`.
        """
        self._jars = jars.resolve(jars.BROKER)
        self._java = java_home() / "bin" / "java"
        self._heap = heap
        self._java_options = java_options
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None

        self._is_temporary = directory is None
        self.directory = (directory or Path(tempfile.mkdtemp(prefix="warren-broker-"))).absolute()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.log = self.directory / "broker.log"

        self._member = member or KraftNode.alone()
        ports = self._member.ports
        settings = plain_settings(self._member, self.directory / "data", offsets_partitions)
        self.bootstrap = f"127.0.0.1:{ports.plain}"
        self.secure_bootstrap = f"localhost:{ports.secure}" if secure else None
        self.mutual_bootstrap = f"localhost:{ports.mutual}" if secure else None
        self.password = secrets.token_urlsafe(12)
        self.ca = self.directory / "ca.pem"
        if secure:
            settings = with_sasl_ssl(settings, ports, make_certificates(self.ca, client=self.user))
        settings |= properties or {}
        lines = [f"{key}={value}\n" for key, value in settings.items()]
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

    def secure_client(self, password: str | None = None) -> dict[str, str]:
        """What a confluent-kafka client needs for the SASL_SSL listener."""
        return {
            "bootstrap.servers": str(self.secure_bootstrap),
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": self.user,
            "sasl.password": password or self.password,
            "ssl.ca.location": str(self.ca),
        }

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

    def freeze(self) -> None:
        """Stop every thread of the broker where it stands; its connections stay open."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, which: signal.Signals) -> None:
        if self.pid is not None:
            os.killpg(self.pid, which)

    def close(self) -> None:
        # Nobody reads the data again: no need to let the broker write it out.
        if self._is_temporary:
            self.kill()
            shutil.rmtree(self.directory, ignore_errors=True)
        else:
            self.stop()

    def _java_command(self, heap: str, *main: str) -> list[str]:
        class_path = os.pathsep.join(str(jar) for jar in self._jars)
        quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        options = (f"-Xmx{heap}", quiet, *self._java_options)
        return [str(self._java), *options, "-cp", class_path, *main]

    def _format(self) -> None:
        user = f"SCRAM-SHA-512=[name={self.user},password={self.password}]"
        arguments = ["-t", self._member.cluster, "-c", str(self.directory / "server.properties")]
        if self.secure_bootstrap:
            arguments += ["--add-scram", user]
        command = self._java_command("256m", "kafka.tools.StorageTool", "format", *arguments)
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  our own command
        if done.returncode:
            raise StartError(
                f"the broker's storage cannot be made: {_tail(done.stdout + done.stderr)}"
            )

    def _spawn(self) -> "subprocess.Popen[bytes]":
        properties = str(self.directory / "server.properties")
        with self.log.open("ab") as output:
            return subprocess.Popen(  # noqa: S603  our own command
                self._java_command(self._heap, "kafka.Kafka", properties),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.directory,
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
            has_ended = self._process is not None and self._process.poll() is not None
            if has_ended or time.monotonic() > deadline:
                raise StartError(f"the broker does not start: {_tail(self.log.read_text())}")
            time.sleep(0.1)

    def _end(self, how: signal.Signals) -> None:
        # The watchdog first: once the broker is gone its pid may be somebody else's.
        if self._watchdog is not None:
            self._watchdog.kill()
            self._watchdog.communicate()
        if self._process is not None:
            _end_group(self._process, how)
        self._process = self._watchdog = None


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
