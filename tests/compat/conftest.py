from collections.abc import Iterator

import msgspec
import pytest
from compat.replay import Replay, settings
from pyspark.sql import SparkSession

from warren.serve.listeners import bind
from warren.serve.serving import start


@pytest.fixture
def replay(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    """The recorded cluster behind a real server, before anything was read."""
    config = settings(tmp_path_factory.mktemp("recorded"))
    server = msgspec.structs.replace(config.httpservers["default"], address="127.0.0.1:0")
    listeners = bind({"default": server})
    replay = Replay(spark, config)
    replay.serving = start(config, listeners, replay)
    replay.port = listeners[0].port
    yield replay
    replay.serving.stop()
