"""What a sink keeps: where its stream began, Spark's checkpoint of it, and rejected points.

All of it lies with history, in `_sinks/NAME`: Delta leaves such folders alone, and whoever moves
history moves the positions in it as well.
"""

import time
import uuid
from pathlib import Path

import msgspec
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from warren.config import Config
from warren.config.sinks import EARLIEST, LATEST
from warren.config.times import moment


class Origin(msgspec.Struct, frozen=True):
    """Where a stream began; settled once, as `since = "24h"` means another time every day."""

    stream: str  # a name of its own
    since_ms: int  # moments before this are not wanted
    version: int | None = None  # of the table, to begin with; None: with all the table has


class Place:
    def __init__(self, spark: SparkSession, history: str, sink: str) -> None:
        self._spark = spark
        self._history = history
        self._folder = f"{history}/_sinks/{sink}"

    def checkpoint(self, origin: Origin) -> str:
        return f"{self._folder}/checkpoint-{origin.stream}"

    def has_table(self) -> bool:
        try:
            self._spark.read.format("delta").load(self._history)
        except AnalysisException:
            return False
        return True

    def origin(self, since: str) -> Origin:
        """Where the stream began, or begins now."""
        try:
            (row,) = self._spark.read.text(f"{self._folder}/origin", wholetext=True).collect()
        except AnalysisException:
            return self._begin(since)
        return msgspec.json.decode(row[0], type=Origin)

    def _begin(self, since: str) -> Origin:
        now_ms = int(time.time() * 1000)
        version = self._version() if since == LATEST else None
        since_ms = {EARLIEST: 0, LATEST: now_ms}.get(since)
        return self.keep(
            Origin(_name(), moment(since, now_ms) if since_ms is None else since_ms, version)
        )

    def begin_anew(self, origin: Origin) -> Origin:
        """Another stream for the same moments, that begins with all the table has."""
        return self.keep(Origin(_name(), origin.since_ms))

    def keep(self, origin: Origin) -> Origin:
        text = self._spark.createDataFrame([(msgspec.json.encode(origin).decode(),)], "text string")
        text.coalesce(1).write.mode("overwrite").text(f"{self._folder}/origin")
        return origin

    def _version(self) -> int:
        escaped = self._history.replace("`", "``")
        (newest,) = self._spark.sql(f"DESCRIBE HISTORY delta.`{escaped}` LIMIT 1").collect()
        version: int = newest["version"]
        return version


def rejected_file(config: Config, sink: str) -> Path:
    """On this machine, wherever history is."""
    history = config.history_directory
    if "://" in history:
        return Path(config.general.state_dir or "").absolute() / f"warren-{sink}.rejected.jsonl"
    return Path(history) / "_sinks" / f"{sink}.rejected.jsonl"


def _name() -> str:
    return uuid.uuid4().hex[:12]
