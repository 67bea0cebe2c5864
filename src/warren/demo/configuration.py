"""The configuration that the demo runs with."""

import socket
from pathlib import Path

from warren.config import Config, load

USUAL_PORT = 8000
CONFIGURATION = """
[logging]
filename = "{directory}/warren.log"
[spark]
master = "local[2]"
driver-memory = "1g"
[spark.conf]
"spark.driver.extraJavaOptions" = "{java_options}"
[cluster.demo]
class-name = "kafka"
servers = ["{bootstrap}"]
offset-refresh = 1
topic-refresh = 5
[consumer.demo]
class-name = "kafka"
cluster = "demo"
servers = ["{bootstrap}"]
[storage.default]
class-name = "inmemory"
group-denylist = "^burrow-"  # its own reading is none of the stories
[httpserver.default]
address = "127.0.0.1:{port}"
[history]
directory = "{directory}/history"
history-interval = 10
"""


def configure(home: Path, bootstrap: str, port: int | None, java_options: list[str]) -> Config:
    file = home / "burrow.toml"
    text = CONFIGURATION.format(
        directory=home,
        bootstrap=bootstrap,
        port=(USUAL_PORT if _is_free(USUAL_PORT) else 0) if port is None else port,
        java_options=" ".join(java_options),
    )
    file.write_text(text)
    return load(file, {}).config


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
