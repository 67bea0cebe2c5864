"""A sink's files next to history: where its stream starts, Spark's checkpoint, its progress.

All of it lies with history, in `_sinks/NAME`: Delta leaves such folders alone, and whoever moves
history moves the positions with it. A file is there whole or as it was before, whatever ends the
process: the new one is written beside the old one and takes its place.
"""

import time
import uuid
from pathlib import Path
from typing import Any

import msgspec
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from warren.config import Config
from warren.config.sinks import EARLIEST, LATEST
from warren.errors import NotKept
from warren.model.times import moment

END = "\n"  # of a text that was written completely


class AtomicFiles:
    """Small text files, in any file system Hadoop knows; each is replaced whole."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        context: Any = spark.sparkContext
        self._jvm = context._jvm  # noqa: SLF001  Hadoop has no Python API
        self._folder = folder
        files = self._path("").getFileSystem(context._jsc.hadoopConfiguration())  # noqa: SLF001  see above
        # Without checksum files: a text and its checksum could not be replaced in one step.
        self._files = files.getRaw() if files.getUri().getScheme() == "file" else files

    def read(self, name: str) -> str | None:
        """The text; None if there is none."""
        if self._files.exists(self._path(name)):
            return self._text(self._path(name)).removesuffix(END)
        if not self._files.exists(self._beside(name)):
            return None
        text = self._text(self._beside(name))  # complete, or not
        return text.removesuffix(END) if text.endswith(END) else None

    def write(self, name: str, text: str) -> None:
        path, beside = self._path(name), self._beside(name)
        stream = self._files.create(beside, True)  # noqa: FBT003  Java: overwrite
        try:
            stream.write(bytearray(text + END, "utf-8"))
        finally:
            stream.close()
        if not self._files.rename(beside, path):  # some file systems do not replace a file
            self.drop(name)
            self._files.rename(beside, path)

    def _text(self, path: Any) -> str:
        stream = self._files.open(path)
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def _beside(self, name: str) -> Any:
        return self._path(f"{name}.new")

    def names(self) -> list[str]:
        """The names of everything in the folder."""
        return [status.getPath().getName() for status in self._files.listStatus(self._path(""))]

    def drop(self, name: str) -> None:
        """Delete a text, or a folder with everything in it."""
        self._files.delete(self._path(name), True)  # noqa: FBT003  Java: recursively

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self._folder}/{name}")


ORIGIN, DELIVERED, CHECKPOINT = "origin.json", "delivered", "checkpoint-"


class Origin(msgspec.Struct, frozen=True):
    """Where a stream starts; decided once, as `since = "24h"` is another time every day."""

    stream: str  # a unique name
    since_ms: int  # earlier moments are not delivered
    version: int | None = None  # the table's version to start from; None: all of the table


class SinkFolder:
    def __init__(self, spark: SparkSession, history: str, sink: str) -> None:
        self._spark = spark
        self._history = history
        self._folder = f"{history}/_sinks/{sink}"
        self._files = AtomicFiles(spark, self._folder)

    def checkpoint(self, origin: Origin) -> str:
        return f"{self._folder}/{_checkpoint(origin)}"

    def has_table(self) -> bool:
        try:
            self._spark.read.format("delta").load(self._history)
        except AnalysisException:
            return False
        return True

    def origin(self, since: str) -> Origin:
        """Where the stream started, or starts now."""
        text = self._files.read(ORIGIN)
        if text is None:
            return self._begin(since)
        try:
            return msgspec.json.decode(text, type=Origin)
        except msgspec.DecodeError as error:
            # A new start could skip moments, or deliver them twice: a person has to decide.
            raise NotKept(f"{self._folder}/{ORIGIN} is damaged", str(error)) from error

    def _begin(self, since: str) -> Origin:
        now_ms = int(time.time() * 1000)
        version = self._version() if since == LATEST else None
        since_ms = {EARLIEST: 0, LATEST: now_ms}.get(since)
        return self._save(
            Origin(_name(), moment(since, now_ms) if since_ms is None else since_ms, version)
        )

    def restart(self, origin: Origin) -> Origin:
        """Start another stream for the same moments, from all of the table."""
        new = self._save(Origin(_name(), origin.since_ms))
        for name in self._files.names():
            if name.startswith(CHECKPOINT) and name != _checkpoint(new):
                self._files.drop(name)
        return new

    def _save(self, origin: Origin) -> Origin:
        self._files.write(ORIGIN, msgspec.json.encode(origin).decode())
        return origin

    def delivered_ms(self) -> int:
        """The newest delivered moment, by any instance; 0: none yet."""
        return int(self._files.read(DELIVERED) or 0)

    def save_delivered(self, moment_ms: int) -> None:
        self._files.write(DELIVERED, str(moment_ms))

    def first_ms(self, origin: Origin) -> int:
        """The first moment to deliver."""
        table = self._spark.read.format("delta").load(self._history)
        oldest = table.agg(
            {"moment_ms": "min"}
        ).first()  # from Delta's statistics, without reading rows
        began_ms = (oldest[0] if oldest else None) or int(time.time() * 1000)
        return max(origin.since_ms, began_ms)

    def _version(self) -> int:
        escaped = self._history.replace("`", "``")
        (newest,) = self._spark.sql(f"DESCRIBE HISTORY delta.`{escaped}` LIMIT 1").collect()
        version: int = newest["version"]
        return version


def rejected_file(config: Config, sink: str) -> Path:
    """The file for rejected points; on this machine even if history is elsewhere."""
    history = config.history_directory
    if "://" in history:
        return Path(config.general.state_dir or "").absolute() / f"warren-{sink}.rejected.jsonl"
    return Path(history) / "_sinks" / f"{sink}.rejected.jsonl"


def _checkpoint(origin: Origin) -> str:
    return f"{CHECKPOINT}{origin.stream}"


def _name() -> str:
    return uuid.uuid4().hex[:12]
