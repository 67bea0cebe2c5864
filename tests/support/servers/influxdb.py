"""A real InfluxDB 1.x on loopback, in a directory of its own; it can be killed and come back."""

import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
from support.servers.debian import executable
from support.servers.loopback import free_port
from support.servers.server_process import end, wait_for_answer

START_S = 30.0

CONFIG = """
reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "{home}/meta"
[data]
  dir = "{home}/data"
  wal-dir = "{home}/wal"
  max-values-per-tag = {values}
[http]
  bind-address = "127.0.0.1:{port}"
  auth-enabled = {auth}
  log-enabled = false
[monitor]
  store-enabled = false
[subscriber]
  enabled = false
[logging]
  level = "error"
"""


class InfluxDB:
    """`with InfluxDB(tmp_path) as influx:`; with `user`, only who logs in is let in."""

    def __init__(self, home: Path, user: str = "", password: str = "", values: int = 0) -> None:
        self.port, self._rpc = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._home = home
        self._user = user
        self._login = (user, password) if user else None
        self._values = values
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        if self._login:
            user, password = self._login
            made = f"CREATE USER {user} WITH PASSWORD '{password}' WITH ALL PRIVILEGES"
            httpx.post(f"{self.url}/query", params={"q": made}).raise_for_status()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end(kill=False)

    def start(self) -> None:
        """Start, or come back with the data of before."""
        self._home.mkdir(parents=True, exist_ok=True)
        file = self._home / "influxdb.conf"
        file.write_text(
            CONFIG.format(
                home=self._home,
                port=self.port,
                rpc=self._rpc,
                values=self._values,
                auth=str(bool(self._user)).lower(),
            )
        )
        command = [executable("influxd", "influxdb"), "run", "-config", str(file)]
        log = (self._home / "influxd.log").open("ab")
        with log:
            environ = {**os.environ, "HOME": str(self._home)}
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=environ)
        output = self._home / "influxd.log"
        wait_for_answer(self._process, f"{self.url}/ping", output, START_S)

    def kill(self) -> None:
        """End it as a power cut does."""
        self._end(kill=True)

    def cpu_seconds(self) -> float:
        """Used so far."""
        assert self._process
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def query(self, text: str, database: str = "") -> list[dict[str, Any]]:
        """The series of a query's only statement."""
        answer = httpx.post(
            f"{self.url}/query",
            params={"q": text, "db": database, "epoch": "ms"},
            auth=self._login,
            timeout=60,
        )
        (result,) = answer.raise_for_status().json()["results"]
        assert "error" not in result, result
        series: list[dict[str, Any]] = result.get("series", [])
        return series

    def _end(self, *, kill: bool) -> None:
        if self._process is None:
            return
        if kill:
            self._process.kill()
        end(self._process)
        self._process = None
