"""Lag and age with their bounds as metrics, and what there is room for."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
from support.boards import NOW_S, board, cluster_board, windows_of
from support.http_side import CONFIG, Running, ask, running
from support.numbers import numbers_of

from warren.config.sections import Metrics
from warren.model.board import Board, ClusterBoard
from warren.model.numbers import UNKNOWN, Method
from warren.model.status import Status
from warren.serve.board_file import writer
from warren.serve.board_file.board_view import View
from warren.serve.board_file.change_log import ChangeLog
from warren.serve.metrics.exposition import Exposition
from warren.serve.metrics.group_metrics import burrow_metrics
from warren.serve.metrics.scrape import further_families, further_metrics
from warren.serve.metrics.series import plan, rest, series_granularity

ENDS: dict[str, list[int | None]] = {"bills": [50], "orders": [1000, 2000]}
COMMITS = [
    *((group, "orders", partition, 10, NOW_S * 1000) for group in "ab" for partition in range(2)),
    ("a", "bills", 0, 50, NOW_S * 1000),
]
# Group a reads bills/0 and orders/0..1, b reads orders/0..1.
PARTITIONS: dict[str, list[float]] = {
    "lag": [0, 5, 7, 3, UNKNOWN],
    "age_s": [0, 20.25, 30.5, 3600, nan],
    "age_low_s": [0, 15, 0, 3600, nan],
    "age_high_s": [0, 25, inf, 3600, nan],
    "age_method": [Method.NOTHING_UNREAD, *[Method.BY_ENDS] * 3, Method.UNKNOWN],
    "margin_s": [inf, 3600.5, nan, 60, inf],
    "lost": [0, 12, 0, 0, UNKNOWN],
}
GROUPS: dict[str, list[float]] = {
    "lag": [12, 2**53],
    "lag_low": [5, 2**53],
    "lag_high": [14, 2**53],
    "age_s": [30.5, nan],
    "age_low_s": [15, nan],
    "age_high_s": [inf, nan],
    "drain_low_s": [10.125, nan],
    "drain_high_s": [inf, nan],
    "margin_s": [3600.5, inf],
    "lost": [12, UNKNOWN],
    "scalable_lag": [5, 0],
    "expires_s": [inf, 86400],
}
EVERYTHING = ["kafka-lag-exporter", "kafka_exporter"]


def measured() -> ClusterBoard:
    judged = cluster_board(windows_of(ENDS, COMMITS), ENDS)
    return replace(judged, numbers=numbers_of(judged.verdicts, PARTITIONS, GROUPS))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("numbers"), CONFIG) as started:
        started.publish(board(local=measured()))
        yield started


def scraped(port: int, prefix: str) -> dict[str, str]:
    lines = ask(port, "/metrics").body.decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if line.startswith(prefix))


def of_group(group: str, **values: str) -> dict[str, str]:
    labels = f'{{cluster="local",consumer_group="{group}"}}'
    return {f"warren_group_{name}{labels}": value for name, value in values.items()}


def test_groups_have_lag_and_age_with_their_bounds(server: Running) -> None:
    """What is not known has no series, as has a bound that does not exist; never is +Inf."""
    assert scraped(server.port, "warren_group_") == {
        **of_group(
            "a",
            lag="12",
            lag_low="5",
            lag_high="14",
            time_lag_seconds="30.5",
            time_lag_seconds_low="15",
            drain_seconds_low="10.125",
            drain_seconds_high="+Inf",
            loss_margin_seconds="3600.5",
            lost_records="12",
            scalable_lag="5",
        ),
        **of_group(
            "b",
            lag="9007199254740992",
            lag_low="9007199254740992",
            lag_high="9007199254740992",
            loss_margin_seconds="+Inf",
            scalable_lag="0",
            offsets_expire_seconds="86400",
        ),
    }


def test_partitions_have_their_ages_and_what_they_lose(server: Running) -> None:
    found = scraped(server.port, "warren_partition_")

    def of(name: str, group: str, topic: str, partition: int) -> str | None:
        labels = f'cluster="local",consumer_group="{group}",partition="{partition}",topic="{topic}"'
        return found.pop(f"warren_partition_{name}{{{labels}}}", None)

    ages = [
        [
            of(f"time_lag_seconds{bound}", *place)
            for place in (
                ("a", "bills", 0),
                ("a", "orders", 0),
                ("a", "orders", 1),
                ("b", "orders", 0),
            )
        ]
        for bound in ("", "_low", "_high")
    ]
    assert ages == [
        ["0", "20.25", "30.5", "3600"],
        ["0", "15", "0", "3600"],
        ["0", "25", None, "3600"],
    ]
    assert of("loss_margin_seconds", "a", "orders", 0) == "3600.5"
    assert of("loss_margin_seconds", "b", "orders", 0) == "60"
    assert of("lost_records", "a", "orders", 0) == "12"
    assert found == {}


def test_a_topic_is_as_old_as_its_oldest_partition(tmp_path: Path) -> None:
    with running(tmp_path, CONFIG + '[metrics]\nby-topic = "a"\nby-group = "b"\n') as started:
        started.publish(board(local=measured()))
        topics = scraped(started.port, "warren_topic_")
        partitions = scraped(started.port, "warren_partition_")

    labels = 'cluster="local",consumer_group="a",topic='
    assert topics == {
        f'warren_topic_time_lag_seconds{{{labels}"bills"}}': "0",
        f'warren_topic_time_lag_seconds{{{labels}"orders"}}': "30.5",
        f'warren_topic_time_lag_seconds_low{{{labels}"bills"}}': "0",
        f'warren_topic_time_lag_seconds_low{{{labels}"orders"}}': "15",
        f'warren_topic_time_lag_seconds_high{{{labels}"bills"}}': "0",
    }
    assert partitions == {}


@pytest.mark.parametrize("also", [[], EVERYTHING], ids=["numbers", "numbers and other names"])
@pytest.mark.parametrize("settings", [Metrics(), Metrics(by_topic="a"), Metrics(by_group="a")])
def test_the_limit_holds_for_everything(also: list[str], settings: Metrics) -> None:
    view, families = viewed(settings), further_families(also)
    everything = sum(len(each) for each in series(view, 0, also))
    for limit in range(1, everything + 2):
        own, further = series(view, limit, also)
        base = plan(view, limit)

        assert len(own) + len(further) <= limit
        cut = base.cut + rest(view, base, families, limit).cut
        assert len(own) + len(further) + cut == everything


def test_the_worst_groups_are_the_last_to_lose_their_numbers() -> None:
    view = viewed(Metrics())
    view.clusters["local"].arrays["group_status"] = np.array([Status.OK, Status.ERR], np.uint8)
    burrows = len(series(view, 0, [])[0])

    _, further = series(view, burrows + 6, [])

    assert [line.split('"')[3] for line in further] == ["b"] * 6


def series(view: View, limit: int, also: list[str]) -> tuple[list[str], list[str]]:
    """The samples of Burrow's families, and all the others."""
    base, families = plan(view, limit), further_families(also)
    further = rest(view, base, families, limit)
    texts = (
        burrow_metrics(view, base, Exposition()),
        further_metrics(view, base, further, families, Exposition()),
    )
    own, others = ("".join(each).splitlines() for each in texts)
    return [line for line in own if line[0] != "#"], [line for line in others if line[0] != "#"]


def viewed(settings: Metrics) -> View:
    judged = measured()
    file = writer.write(
        Board(NOW_S * 1000, {"local": judged}), series_granularity(settings), {}, ChangeLog()
    )
    return View.open([file.fd, judged.windows.file.fd], View.empty())
