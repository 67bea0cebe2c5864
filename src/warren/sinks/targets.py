"""From a section of the configuration to what delivers."""

from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame

from warren.config import (
    Config,
    ConsoleSink,
    ElasticsearchSink,
    FilesSink,
    HttpSink,
    InfluxdbSink,
    Sink,
    Tls,
)
from warren.sinks.chunks import chunks, slices
from warren.sinks.console import Console
from warren.sinks.delivery import Answer, Batch, Delivery
from warren.sinks.elasticsearch import Elasticsearch
from warren.sinks.files import Files
from warren.sinks.influxdb import InfluxDB


class Target(Protocol):
    def deliver(self, rows: DataFrame, batch: Batch, delivery: Delivery) -> None:
        """Bring every row of a batch to where it belongs; raises only when there is no hope."""
        ...

    def close(self) -> None: ...


class Store(Protocol):
    """A server that takes texts, some thousand in a request."""

    def prepare(self) -> None: ...
    def texts(self, history: DataFrame) -> DataFrame: ...
    def post(self, lines: pa.Array) -> Answer: ...
    def close(self) -> None: ...


class OverHttp:
    """Delivers to a store: Spark makes the texts, this thread sends them."""

    def __init__(self, store: Store, size: int) -> None:
        self._store = store
        self._size = size
        self._is_prepared = False

    def deliver(self, rows: DataFrame, batch: Batch, delivery: Delivery) -> None:  # noqa: ARG002  points know their place themselves
        if not self._is_prepared:
            delivery.patiently(self._store.prepare, 0)
            self._is_prepared = True
        for reached_ms, some in chunks(rows):
            for lines in slices(self._store.texts(some).toArrow()["text"], self._size):
                delivery.send(lines, self._store.post)
            delivery.reached(reached_ms)

    def close(self) -> None:
        self._store.close()


def target(config: Config, sink: Sink) -> Target:
    match sink:
        case InfluxdbSink():
            return OverHttp(InfluxDB(sink, _tls(config, sink)), sink.batch)
        case ElasticsearchSink():
            return OverHttp(Elasticsearch(sink, _tls(config, sink)), sink.batch)
        case FilesSink():
            return Files(sink)
        case ConsoleSink():
            return Console(sink)
    raise AssertionError(sink.class_name)  # every class of SINKS is above


def _tls(config: Config, sink: HttpSink) -> Tls | None:
    return config.tls.get(sink.tls)
