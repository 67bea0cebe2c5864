"""A real Prometheus on loopback that scrapes one address every second."""

import contextlib
import subprocess
import time
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
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: warren
    static_configs:
      - targets: ["127.0.0.1:{target}"]
"""

Series = dict[str, Any]


@dataclass(frozen=True)
class Prometheus:
    url: str

    def now(self, expr: str) -> list[Series]:
        found: list[Series] = self._ask("query", {"query": expr})["result"]
        return found

    def over_time(self, expr: str, seconds: int) -> list[Series]:
        end = time.time()
        asked = {"query": expr, "start": end - seconds, "end": end, "step": 1}
        found: list[Series] = self._ask("query_range", asked)["result"]
        return found

    def label_values(self, label: str, series: str) -> set[str]:
        """What Grafana's `label_values(series, label)` gets."""
        return set(self._ask(f"label/{label}/values", {"match[]": series}))

    def _ask(self, path: str, asked: dict[str, Any]) -> Any:
        answer = httpx.get(f"{self.url}/api/v1/{path}", params=asked, timeout=20)
        body = answer.json()
        assert body["status"] == "success", (body, asked)
        return body["data"]


@contextlib.contextmanager
def prometheus(home: Path, target: int) -> Iterator[Prometheus]:
    """`with prometheus(tmp_path, port) as store:`; it scrapes /metrics of that port as "warren"."""
    (home / "prometheus.yml").write_text(CONFIG.format(target=target))
    port = free_port()
    command = [
        executable("prometheus", "prometheus"),
        f"--config.file={home}/prometheus.yml",
        f"--storage.tsdb.path={home}/data",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    ]
    with (home / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for_answer(process, f"{url}/-/ready", home / "prometheus.log", START_S)
        yield Prometheus(url)
    finally:
        end(process)
