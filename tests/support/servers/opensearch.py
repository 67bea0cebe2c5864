"""A real OpenSearch on loopback. It refuses root, who runs it as nobody."""

import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
from support.servers.loopback import free_port
from support.servers.maven import zip_file
from support.servers.server_process import end, wait_for_answer

from warren.spark.java import java_home

COORDINATE = "org.opensearch.distribution.integ-test-zip:opensearch:2.19.6"
START_S = 120.0
NOBODY = 65534
SETTINGS = {
    "discovery.type": "single-node",
    "network.host": "127.0.0.1",
    "cluster.routing.allocation.disk.threshold_enabled": "false",
}


class OpenSearch:
    """`with OpenSearch() as search:`; `search.url` answers when it is entered."""

    def __init__(self) -> None:
        self._port, self._transport = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._home = Path(tempfile.mkdtemp(prefix="warren-opensearch-"))
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with zipfile.ZipFile(zip_file(COORDINATE)) as zipped:
            zipped.extractall(self._home)
        (unpacked,) = self._home.glob("opensearch-*")
        script = unpacked / "bin" / "opensearch"
        for file in script.parent.iterdir():
            file.chmod(0o755)
        settings = SETTINGS | {
            "http.port": str(self._port),
            "transport.port": str(self._transport),
        }
        options = [part for name, value in settings.items() for part in ("-E", f"{name}={value}")]
        environ = {
            **os.environ,
            "OPENSEARCH_JAVA_HOME": str(java_home()),
            "OPENSEARCH_JAVA_OPTS": "-Xms512m -Xmx512m",
            "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1",  # it chooses a collector itself
            "HOME": str(self._home),
        }
        with (self._home / "output.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*self._as_nobody(), str(script), *options],
                stdout=log,
                stderr=log,
                env=environ,
                cwd=self._home,
            )
        health, output = f"{self.url}/_cluster/health", self._home / "output.log"
        wait_for_answer(self._process, health, output, START_S)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process:
            end(self._process)
        shutil.rmtree(self._home, ignore_errors=True)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = httpx.request(method, f"{self.url}{path}", json=body, timeout=60)
        return answer.raise_for_status().json()

    def documents(self, pattern: str) -> list[dict[str, Any]]:
        """All there are, up to ten thousand, as soon as they can be found."""
        self.ask("POST", f"/{pattern}/_refresh")
        found = self.ask("POST", f"/{pattern}/_search", {"size": 10_000})
        hits: list[dict[str, Any]] = found["hits"]["hits"]
        return hits

    def _as_nobody(self) -> list[str]:
        if os.geteuid() != 0:
            return []
        for folder, _, files in os.walk(self._home):
            for path in (folder, *(f"{folder}/{name}" for name in files)):
                os.chown(path, NOBODY, NOBODY)
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
