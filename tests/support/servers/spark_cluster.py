"""A real Spark standalone cluster on loopback: a master and workers of one core each."""

import os
import signal
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
import pyspark
from support.servers.loopback import free_port
from support.servers.server_process import wait_for

from warren.spark.java import java_home

SPARK_HOME = Path(pyspark.__file__).parent
START_S = 90.0
DEPLOY = "org.apache.spark.deploy"


class SparkCluster:
    def __init__(self, home: Path, workers: int) -> None:
        self._home = home
        self._workers = workers
        self._processes: list[subprocess.Popen[bytes]] = []
        self._port, self._page = free_port(), free_port()
        self.master = f"spark://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        try:
            self._run("master.Master", "--port", str(self._port), "--webui-port", str(self._page))
            self._wait_for(0)
            for number in range(self._workers):
                work = ("--work-dir", str(self._home / f"work-{number}"))
                size = ("--cores", "1", "--memory", "1g", "--webui-port", "0")
                self._run("worker.Worker", *size, *work, self.master)
            self._wait_for(self._workers)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._end()

    def kill_worker(self) -> None:
        """With its executor, as when a machine is lost."""
        kill(self._processes.pop())

    def _run(self, name: str, *arguments: str) -> None:
        program = str(SPARK_HOME / "bin" / "spark-class")
        command = [program, f"{DEPLOY}.{name}", "--host", "127.0.0.1", *arguments]
        environment = {
            "HOME": str(self._home),
            "PATH": os.environ["PATH"],
            "JAVA_HOME": str(java_home()),
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
        }
        with (self._home / f"{name}-{len(self._processes)}.log").open("wb") as output:
            process = subprocess.Popen(
                command,
                env=environment,
                stdout=output,
                stderr=output,
                start_new_session=True,  # executors are in it too
            )
        self._processes.append(process)

    def _wait_for(self, workers: int) -> None:
        def are_there() -> bool:
            try:
                told = httpx.get(f"http://127.0.0.1:{self._page}/json/", timeout=5).json()
            except (httpx.TransportError, ValueError):
                return False
            return bool(told["aliveworkers"] == workers)

        wait_for(are_there, self._processes, self._home.glob("*.log"), START_S)

    def _end(self) -> None:
        while self._processes:
            kill(self._processes.pop())


def kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
