"""Stores filled with what Warren makes of the story, for the dashboards to ask."""

import threading
import time
from collections.abc import Iterator

import httpx
import pyarrow as pa
import pytest
from deploy.story import CLUSTER, Story
from pyspark.sql import DataFrame, SparkSession
from support.http_side import CONFIG, running
from support.servers.influxdb import InfluxDB
from support.servers.opensearch import OpenSearch
from support.servers.prometheus import Prometheus, prometheus

from warren.config.sections import HistorySettings
from warren.history.board_rows import row_granularity, rows
from warren.model.board import Board
from warren.sinks.elasticsearch import entries, index_template
from warren.sinks.influxdb import lines
from warren.sinks.points import points

MINUTES = 30
DATABASE = "warren"
INDEX = "telegraf-%Y.%m.%d"


@pytest.fixture(scope="package")
def past(spark: SparkSession, opensearch: OpenSearch) -> list[Board]:  # noqa: ARG001  see below
    """A board for each of the last minutes: made when all is ready that takes long to start."""
    story, now_s = Story(), int(time.time())
    return [story.go_on(now_s - 60 * ago) for ago in reversed(range(MINUTES))]


@pytest.fixture(scope="package")
def past_points(past: list[Board], spark: SparkSession) -> DataFrame:
    fine = row_granularity(HistorySettings())
    # In one piece: Spark takes an empty one in between for the end.
    history = pa.concat_tables([rows(each, [CLUSTER], fine) for each in past]).combine_chunks()
    return points(spark.createDataFrame(history))


@pytest.fixture(scope="package")
def store_of_points(
    past_points: DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InfluxDB]:
    text = lines(past_points).toArrow()["text"].to_pylist()
    with InfluxDB(tmp_path_factory.mktemp("influxdb")) as influx:
        influx.query(f"CREATE DATABASE {DATABASE}")
        written = httpx.post(f"{influx.url}/write", params={"db": DATABASE}, content="".join(text))
        assert written.status_code == 204, written.text
        yield influx


@pytest.fixture(scope="package")
def store_of_documents(past_points: DataFrame, opensearch: OpenSearch) -> Iterator[str]:
    """The address of a server; the documents leave it with the last test."""
    text = entries(past_points, INDEX).toArrow()["text"].to_pylist()
    url, head = opensearch.url, {"content-type": "application/x-ndjson"}
    httpx.put(f"{url}/_index_template/dashboards", json=index_template(INDEX)).raise_for_status()
    try:
        written = httpx.post(
            f"{url}/_bulk?refresh=true", content="".join(text), headers=head, timeout=60
        )
        assert written.json()["errors"] is False
        yield url
    finally:
        httpx.delete(f"{url}/{INDEX.split('%', maxsplit=1)[0]}*").raise_for_status()
        httpx.delete(f"{url}/_index_template/dashboards").raise_for_status()


@pytest.fixture(scope="package")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that scrapes a Warren whose story goes on second by second."""
    home = tmp_path_factory.mktemp("scraped")
    story, stop = Story(), threading.Event()
    for ago in reversed(range(1, MINUTES)):
        board = story.go_on(int(time.time()) - 60 * ago)
    with running(home, CONFIG + '[metrics]\nby-topic = "^bulk-"\n') as warren:
        warren.publish(board)

        def live() -> None:
            while not stop.wait(1):
                warren.publish(story.go_on(int(time.time())))

        telling = threading.Thread(target=live)
        telling.start()
        try:
            with prometheus(home, warren.port) as store:
                yield store
        finally:
            stop.set()
            telling.join()
