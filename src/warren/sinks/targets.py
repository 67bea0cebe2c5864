"""From a section of the configuration to what delivers."""

from typing import Protocol

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
from warren.sinks.console import Console
from warren.sinks.delivery import Batch, Delivery
from warren.sinks.elasticsearch import Elasticsearch
from warren.sinks.files import Files
from warren.sinks.influxdb import InfluxDB
from warren.sinks.over_http import OverHttp


class Target(Protocol):
    def deliver(self, rows: DataFrame, batch: Batch, delivery: Delivery) -> None:
        """Bring every row of a batch to where it belongs; raises only when there is no hope."""
        ...

    def close(self) -> None: ...


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
