"""A real ZooKeeper server on loopback, gone with its process and directory.

`with Zookeeper() as zookeeper: ...` and clients connect to `zookeeper.address`.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from kazoo.client import KazooClient
from support.certificates import make_certificates
from support.servers.loopback import free_port
from support.servers.server_process import wait_for

from warren.spark import jars
from warren.spark.java import java_home

START_SECONDS = 60
TICK_MS = 500  # sessions may be as short as two of these


class Zookeeper:
    """Port and data outlast `stop` and `start`; leaving the `with` block removes the data."""

    def __init__(self, *, secure: bool = False) -> None:
        self._jars = os.pathsep.join(map(str, jars.resolve(jars.ZOOKEEPER)))
        self._process: subprocess.Popen[bytes] | None = None
        self.directory = Path(tempfile.mkdtemp(prefix="warren-zookeeper-"))
        self.ca = self.directory / "ca.pem"
        host = "localhost" if secure else "127.0.0.1"
        self._port = free_port()
        self.address = f"{host}:{self._port}"
        settings: dict[str, object] = {
            "tickTime": TICK_MS,
            "dataDir": self.directory / "data",
            "admin.enableServer": "false",
            "maxClientCnxns": 0,
        }
        settings |= self._secured() if secure else self._plain()
        lines = [f"{key}={value}\n" for key, value in settings.items()]
        (self.directory / "zoo.cfg").write_text("".join(lines))
        (self.directory / "logback.xml").write_text(
            "<configuration><appender name='A' class='ch.qos.logback.core.ConsoleAppender'>"
            "<encoder><pattern>%d %m%n</pattern></encoder></appender>"
            "<root level='WARN'><appender-ref ref='A'/></root></configuration>"
        )

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

    def start(self) -> None:
        log = self.directory / "server.log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command(), stdout=output, stderr=output, cwd=self.directory
            )
        wait_for(partial(_is_open, self._port), [self._process], [log], START_SECONDS)

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()  # what a transaction wrote is on disk: that is its promise
            self._process.wait()
        self._process = None

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def freeze(self) -> None:
        """Let it hold its connections and answer nobody."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    @contextmanager
    def client(self) -> Iterator[KazooClient]:
        client = KazooClient(self.address, timeout=10)
        client.start(30)
        try:
            yield client
        finally:
            client.stop()
            client.close()

    def _command(self) -> list[str]:
        java = str(java_home() / "bin" / "java")
        main = "org.apache.zookeeper.server.ZooKeeperServerMain"
        logback = f"-Dlogback.configurationFile={self.directory / 'logback.xml'}"
        options = ["-Xmx256m", "-Dzookeeper.4lw.commands.whitelist=*", logback]
        return [java, *options, "-cp", self._jars, main, str(self.directory / "zoo.cfg")]

    def _plain(self) -> dict[str, object]:
        return {"clientPort": self._port, "clientPortAddress": "127.0.0.1"}

    def _secured(self) -> dict[str, object]:
        key = make_certificates(self.ca)
        return {
            "secureClientPort": self._port,
            "secureClientPortAddress": "127.0.0.1",
            "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
            "ssl.keyStore.location": key,
            "ssl.keyStore.type": "PEM",
            "ssl.trustStore.location": self.ca,
            "ssl.trustStore.type": "PEM",
            "ssl.clientAuth": "none",
        }


def _is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
