"""A real Alertmanager on loopback."""

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from servers.debian import executable

START_S, STOP_S = 30.0, 10.0
CONFIG = """
route: {receiver: nobody}
receivers: [{name: nobody}]
"""


@dataclass(frozen=True)
class Alertmanager:
    url: str

    def alerts(self) -> list[dict[str, Any]]:
        """Those that are firing, sorted by their labels; what is resolved is not among them."""
        answer = httpx.get(f"{self.url}/api/v2/alerts", timeout=10)
        found: list[dict[str, Any]] = answer.raise_for_status().json()
        return sorted(found, key=lambda alert: sorted(alert["labels"].items()))


@contextlib.contextmanager
def alertmanager(home: Path) -> Iterator[Alertmanager]:
    """`with alertmanager(tmp_path) as receiver:`; it tells nobody of what it gets."""
    (home / "alertmanager.yml").write_text(CONFIG)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        executable("prometheus-alertmanager", "prometheus-alertmanager"),
        f"--config.file={home}/alertmanager.yml",
        f"--storage.path={home}/data",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    ]
    with (home / "alertmanager.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        found = Alertmanager(f"http://127.0.0.1:{port}")
        _wait(found, process, home / "alertmanager.log")
        yield found
    finally:
        process.terminate()
        process.wait(STOP_S)


def _wait(found: Alertmanager, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(httpx.HTTPError):
            found.alerts()
            return
        time.sleep(0.05)
    raise AssertionError(f"Alertmanager does not answer: {log.read_text()[-2000:]}")
