"""Checkpoints of streaming queries, written as Spark writes them."""

import json
import os
from pathlib import Path
from typing import Self

SECOND_MS = 1_000
BEGAN_MS = 1_700_000_000_000


def facts(number: int) -> str:
    conf = {"spark.sql.shuffle.partitions": "200"}
    began_ms = BEGAN_MS + number * SECOND_MS
    return json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": began_ms, "conf": conf})


def offsets_log(number: int, *sources: object, version: int = 1) -> str:
    """A file of `offsets`; None is a source without an offset, a text is taken as it is."""
    shown = ["-" if each is None else each for each in sources]
    texts = [each if isinstance(each, str) else json.dumps(each) for each in shown]
    return "\n".join([f"v{version}", facts(number), *texts])


class CheckpointFiles:
    """Each batch takes half a second, and the next begins half a second later."""

    def __init__(
        self, directory: Path, query_id: str = "0b5a9e0e-1f5c-4f3e-8a55-0123456789ab"
    ) -> None:
        self.directory = directory
        for log in ("offsets", "commits"):
            (directory / log).mkdir(parents=True)
        (directory / "metadata").write_text(json.dumps({"id": query_id}))

    @classmethod
    def resume(cls, directory: Path) -> Self:
        """A checkpoint that is there already."""
        query = cls.__new__(cls)
        query.directory = directory
        return query

    def begin(self, number: int, *sources: object) -> None:
        """A batch that is being worked on."""
        (self.directory / "offsets" / str(number)).write_text(offsets_log(number, *sources))

    def commit(self, number: int, *sources: object) -> None:
        self.begin(number, *sources)
        self.finish(number)

    def finish(self, number: int) -> None:
        done = self.directory / "commits" / str(number)
        done.write_text('v1\n{"nextBatchWatermarkMs":0}')
        os.utime(done, ns=(self.committed_ms(number) * 1_000_000,) * 2)

    @staticmethod
    def committed_ms(number: int) -> int:
        return BEGAN_MS + number * SECOND_MS + SECOND_MS // 2
