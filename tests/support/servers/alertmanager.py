"""A real Alertmanager on loopback."""

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from support.servers.debian import executable
from support.servers.loopback import free_port
from support.servers.server_process import end, wait_for_answer

START_S = 30.0
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
    port = free_port()
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
        url = f"http://127.0.0.1:{port}"
        wait_for_answer(process, f"{url}/api/v2/alerts", home / "alertmanager.log", START_S)
        yield Alertmanager(url)
    finally:
        end(process)
