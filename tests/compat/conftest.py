from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from compat import replay as replaying
from compat.replay import Replay
from pyspark.sql import SparkSession

from warren.serve.http.listeners import bind
from warren.serve.http.workers import start


@pytest.fixture(params=["list", "broker"])
def replay(request: Any, spark: SparkSession, tmp_path: Path) -> Iterator[Replay]:
    """The recorded cluster behind a real server, before anything was folded."""
    if request.param == "list":
        decoded = replaying.from_list(spark)
    else:
        broker = request.getfixturevalue("broker")
        decoded = replaying.from_broker(spark, broker.bootstrap, tmp_path / "scratch")
    config = replaying.settings(tmp_path)
    server = msgspec.structs.replace(config.httpservers["default"], address="127.0.0.1:0")
    listeners = bind({"default": server})
    replay = Replay(decoded, config)
    replay.serving = start(config, listeners, replay)
    replay.port = listeners[0].port
    yield replay
    replay.serving.stop()
