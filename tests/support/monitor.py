"""A monitor at work in a thread, asked as its users ask it: over HTTP, and by its log."""

import contextlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from pyspark.sql import SparkSession
from support.config_files import load_text

from warren.app import Monitor, monitoring
from warren.process import logs

STOP_S = 30.0


class Site:
    """The HTTP side of a Warren, wherever it runs."""

    def __init__(self, url: str) -> None:
        self.port = urlsplit(url).port

    def ask(self, path: str, method: str = "GET") -> tuple[int, bytes]:
        with contextlib.closing(HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, quote(path, safe="/?&="))
            response = connection.getresponse()
            return response.status, response.read()

    def json(self, path: str) -> Any:
        return json.loads(self.ask(path)[1])

    def group(self, cluster: str, group: str) -> Any:
        """What `/lag` tells of a group: all its partitions."""
        return self.json(f"/v3/kafka/{cluster}/consumer/{group}/lag")["status"]

    def groups(self, cluster: str) -> list[str]:
        found: list[str] = self.json(f"/v3/kafka/{cluster}/consumer")["consumers"]
        return found

    def committed(self, cluster: str, group: str) -> dict[str, list[int | None]]:
        """The newest commit of each partition of each topic a group has; {} if there is none."""
        found: dict[str, list[int | None]] = {}
        for part in self.group(cluster, group)["partitions"]:
            newest = part["end"] and part["end"]["offset"]
            found.setdefault(part["topic"], []).append(newest)
        return found

    def ends(self, cluster: str, topic: str) -> list[int]:
        """The log ends of a topic; [] if there is none."""
        found: list[int] = self.json(f"/v3/kafka/{cluster}/topic/{topic}").get("offsets", [])
        return found

    def health(self) -> Any:
        return self.json("/v4/health")

    def is_ready(self) -> bool:
        return self.ask("/burrow/admin/ready")[0] == 200

    def metric(self, sample: str) -> float | None:
        """The value of one sample, `name{label="value"}`."""
        for line in self.ask("/metrics")[1].decode().splitlines():
            if line.startswith(f"{sample} "):
                return float(line.rpartition(" ")[2])
        return None


class Watching(Site):
    """A monitor of this process."""

    def __init__(self, monitor: Monitor, log: Path) -> None:
        self.monitor = monitor
        self._log = log
        (listening,) = self.logged("listening for HTTP")
        super().__init__(listening["url"])

    def logged(self, message: str) -> list[dict[str, Any]]:
        """All log lines with this message."""
        lines = (json.loads(line) for line in self._log.read_text().splitlines())
        return [line for line in lines if line["msg"] == message]


@contextmanager
def watching(spark: SparkSession, directory: Path, config: str) -> Iterator[Watching]:
    """Run a monitor with this configuration; it has ended when this has."""
    log = directory / "warren.log"
    head = f'[logging]\nfilename = "{log}"\n[httpserver.default]\naddress = "127.0.0.1:0"\n'
    settings = load_text(directory, head + config).config
    stop = threading.Event()
    with logs.configured(settings.logging), monitoring(settings) as monitor:
        thread = threading.Thread(target=monitor.run, args=(spark, stop), name="monitor")
        thread.start()
        try:
            yield Watching(monitor, log)
        finally:
            stop.set()
            thread.join(STOP_S)
            assert not thread.is_alive()


def source(cluster: str, bootstrap: str, *settings: str, on_cluster: tuple[str, ...] = ()) -> str:
    """The sections of a cluster and its consumer, both of this name; `settings`: the consumer's."""
    servers = f'class-name = "kafka"\nservers = ["{bootstrap}"]\n'
    refresh = "offset-refresh = 1\ntopic-refresh = 2\n"
    return (
        f"[cluster.{cluster}]\n{servers}{refresh}"
        + "".join(f"{line}\n" for line in on_cluster)
        + f'[consumer.{cluster}]\n{servers}cluster = "{cluster}"\n'
        + "".join(f"{line}\n" for line in settings)
    )


def storage(intervals: int, *settings: str) -> str:
    lines = [f"intervals = {intervals}", *settings]
    return '[storage.default]\nclass-name = "inmemory"\n' + "".join(f"{line}\n" for line in lines)
