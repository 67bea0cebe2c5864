"""How a batch goes to a server: a few requests at a time, and moment after moment."""

import threading
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from support import sink_streams

from warren.sinks import store_http
from warren.sinks.points import chunks
from warren.sinks.store_delivery import (
    DeliveryStopped,
    PointBatch,
    Rejected,
    StoreAnswer,
    StoreDelivery,
)
from warren.sinks.store_http import REQUESTS, HttpTarget

WAIT_S = 20.0


@dataclass
class Store:
    """The far end: answers when as many requests are there as may be at a time."""

    delivery: StoreDelivery
    together: threading.Barrier = field(default_factory=lambda: threading.Barrier(REQUESTS))
    held: list[str] = field(default_factory=list)
    reached: list[int] = field(default_factory=list)  # what was told when each request came
    stop_after: int = 10**6

    def prepare(self) -> None: ...
    def close(self) -> None: ...

    def texts(self, history: DataFrame) -> DataFrame:
        return history.where("kind = 'partition'").selectExpr(
            "concat(moment_ms, ' ', partition, '\\n') AS text"
        )

    def post(self, lines: pa.Array) -> StoreAnswer:
        self.reached.append(self.delivery.delivered_ms)
        self.together.wait(WAIT_S)
        self.held += lines.to_pylist()
        if len(self.reached) >= self.stop_after:
            self.delivery.stop.set()
        return StoreAnswer()


@pytest.fixture
def delivery(tmp_path: Path) -> StoreDelivery:
    return StoreDelivery("x", Rejected("x", tmp_path / "x.jsonl"))


@pytest.fixture
def batch(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> DataFrame:
    """Two moments, each of them too large to be sent with the other."""
    monkeypatch.setattr(store_http, "chunks", partial(chunks, limit=50))
    rows = pa.concat_tables([sink_streams.moment(0), sink_streams.moment(1)])
    return spark.createDataFrame(rows)


def test_requests_of_a_moment_are_sent_together_and_the_next_moment_after_them(
    batch: DataFrame, delivery: StoreDelivery
) -> None:
    store = Store(delivery)

    HttpTarget(store, size=10).deliver(batch, PointBatch("stream", 0), delivery)

    first, second = (sink_streams.FIRST_MS + number * sink_streams.MINUTE_MS for number in range(2))
    assert sorted(store.held) == sorted(
        f"{moment_ms} {partition}\n" for moment_ms in (first, second) for partition in range(20)
    )
    assert store.reached == [0] * 2 + [first] * 2
    assert delivery.delivered_ms == second
    assert delivery.outcomes["sent"] == 40


def test_a_stop_ends_what_waits_to_be_sent(batch: DataFrame, delivery: StoreDelivery) -> None:
    store = Store(delivery, stop_after=2)

    with pytest.raises(DeliveryStopped):
        HttpTarget(store, size=10).deliver(batch, PointBatch("stream", 0), delivery)

    assert len(store.held) == 20
