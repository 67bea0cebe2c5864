"""What a scrape gets."""

import contextlib
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.boards import NOW_S, Commit, add, cluster_board, windows_of
from support.http_side import CONFIG, Response, Running, ask, running

from warren.config.sections import Metrics
from warren.model.board import Board
from warren.model.granularity import Level
from warren.model.health import (
    ClusterHealth,
    ConsumerHealth,
    Health,
    IncidentsHealth,
    LockHealth,
    RoundsHealth,
    SinkHealth,
)
from warren.model.status import Status
from warren.serve.board_file import writer
from warren.serve.board_file.board_view import View
from warren.serve.board_file.change_log import ChangeLog
from warren.serve.metrics.exposition import Exposition
from warren.serve.metrics.group_metrics import burrow_metrics
from warren.serve.metrics.series import plan, series_granularity

ENDS: dict[str, list[int | None]] = {"orders": [100, None, 300], "bills": [50]}
WEEK_S = 7 * 86_400  # after which a silent group expires
HEALTH = Health(
    ready=True,
    tick_seconds=0.25,
    clusters={"local": ClusterHealth(data_age_s=1.5)},
    consumers={
        "local": ConsumerHealth(
            "local",
            "caught up",
            records=42,
            skipped={"key version": 3},
            lag={"0": 7},
            held_back=[4],
            restarts=1,
        )
    },
    incidents=IncidentsHealth(
        LockHealth("", 0, leads=True),
        RoundsHealth("", 0, leads=True, open=0, silent=["far"], silent_consumers=["old"]),
    ),
    sinks={"influxdb": SinkHealth("", 0, outcomes={"sent": 9})},
)


def full(group: str, topic: str, partition: int, last: int) -> list[Commit]:
    """Ten commits: a full window."""
    return [(group, topic, partition, last - 9 + n, (NOW_S - 10 + n) * 1000) for n in range(10)]


COMMITS = [
    *full("billing", "orders", 0, 90),
    *full("bulk-load", "orders", 0, 95),
    *full("bulk-load", "orders", 2, 290),
    *full("bulk-load", "bills", 0, 50),
    ("dev-me", "bills", 0, 10, NOW_S * 1000),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with scraped(tmp_path_factory.mktemp("metrics"), CONFIG) as started:
        yield started


def scraped(folder: Path, text: str) -> "contextlib.AbstractContextManager[Running]":
    return published(running(folder, text))


@contextlib.contextmanager
def published(context: "contextlib.AbstractContextManager[Running]") -> Iterator[Running]:
    with context as started:
        clusters = {"local": cluster_board(windows_of(ENDS, COMMITS), ENDS)}
        started.publish(Board(NOW_S * 1000, clusters, HEALTH))
        yield started


def samples(response: Response, prefix: str) -> dict[str, str]:
    lines = response.body.decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if line.startswith(prefix))


def test_a_partition_without_a_log_end_shifts_no_number(server: Running) -> None:
    found = samples(ask(server.port, "/metrics"), "burrow_kafka_topic_partition_offset")

    name = 'burrow_kafka_topic_partition_offset{cluster="local",partition="%s",topic="%s"}'
    assert found == {
        name % (0, "bills"): "50",
        name % (0, "orders"): "100",
        name % (2, "orders"): "300",
    }


def test_warren_tells_about_itself(server: Running) -> None:
    found = samples(ask(server.port, "/metrics"), "warren_")

    expected = {
        'warren_groups{cluster="local"}': "3",
        'warren_partitions{cluster="local"}': "8",
        'warren_records_read_total{consumer="local"}': "42",
        'warren_records_skipped_total{consumer="local",reason="key version"}': "3",
        'warren_offsets_partition_lag{consumer="local",partition="0"}': "7",
        'warren_offsets_partition_held_back{consumer="local",partition="4"}': "1",
        'warren_consumer_state{consumer="local",state="caught up"}': "1",
        'warren_log_ends_age_seconds{cluster="local"}': "1.5",
        'warren_sink_outcomes_total{sink="influxdb",outcome="sent"}': "9",
        'warren_notifying_silent{kind="cluster",name="far"}': "1",
        'warren_notifying_silent{kind="consumer",name="old"}': "1",
        "warren_tick_seconds": "0.25",
        "warren_ready": "1",
        "warren_series_cut": "0",
    }
    assert {name: found.get(name) for name in expected} == expected
    assert float(found["warren_board_age_seconds"]) > 0


def test_the_process_is_measured(server: Running) -> None:
    found = samples(ask(server.port, "/metrics"), "process_")

    assert float(found["process_resident_memory_bytes"]) > 1e6
    assert float(found["process_cpu_seconds_total"]) > 0


def test_gzip_on_request_only(server: Running) -> None:
    plain = ask(server.port, "/metrics")
    packed = ask(server.port, "/metrics", headers={"accept-encoding": "deflate, gzip"})

    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert steady(gzip.decompress(packed.body)) == steady(plain.body)


def steady(body: bytes) -> list[str]:
    """Without what changes from scrape to scrape."""
    return [line for line in body.decode().splitlines() if not re.search("_age_|^process_", line)]


def test_openmetrics_on_request(server: Running) -> None:
    asked = {"accept": "application/openmetrics-text;version=1.0.0,text/plain;q=0.3"}
    answer = ask(server.port, "/metrics", headers=asked)

    text = answer.body.decode()
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert text.endswith("\n# EOF\n")
    assert "# TYPE warren_records_read counter\nwarren_records_read_total{" in text
    assert "# TYPE burrow_kafka_consumer_status gauge" in text


def test_openmetrics_is_valid(server: Running) -> None:
    asked = {"accept": "application/openmetrics-text"}
    *lines, end = ask(server.port, "/metrics", headers=asked).body.decode().splitlines()

    assert end == "# EOF"
    assert list(mistakes(lines)) == []


# What samples of a type are called after their family. A gauge may end in anything.
SUFFIXES = {"counter": "_total", "gauge": ""}
NUMBER = r"-?[0-9.e+-]+|\+Inf"
SAMPLE = re.compile(rf'([a-z_]+)(\{{[a-z_]+="[^"\\]*"(?:,[a-z_]+="[^"\\]*")*\}})? ({NUMBER})')


def mistakes(lines: list[str]) -> Iterator[str]:
    """Lines that OpenMetrics 1.0 forbids: wrong names, families in parts, series twice."""
    family, kind, families, series = "", "", set[str](), set[str]()
    for line in lines:
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
            if family in families:
                yield line
            families.add(family)
        elif line.startswith("# TYPE "):
            kind = line.split(" ")[3]
            if line.split(" ")[2] != family or (kind == "counter" and family.endswith("_total")):
                yield line
        else:
            sample = SAMPLE.fullmatch(line)
            name = family + SUFFIXES[kind]
            if not sample or sample[1] != name or name + (sample[2] or "") in series:
                yield line
            series.add(name + (sample[2] or "" if sample else ""))


def test_groups_have_series_as_fine_as_configured(tmp_path: Path) -> None:
    settings = '[metrics]\nby-topic = "^bulk-"\nby-group = "^dev-"\n'
    with scraped(tmp_path, CONFIG + settings) as started:
        answer = ask(started.port, "/metrics")

    by_partition = groups_of(samples(answer, "burrow_kafka_consumer_partition_lag"))
    statuses = groups_of(samples(answer, "burrow_kafka_consumer_status"))
    assert by_partition == {"billing"}
    assert statuses == {"billing", "bulk-load", "dev-me"}
    assert samples(answer, "warren_consumer_topic_") == {
        topic_series("lag", "bills"): "0",
        topic_series("lag", "orders"): "15",
        topic_series("status", "bills"): "1",
        topic_series("status", "orders"): "1",
    }


def test_one_pattern_makes_exceptions_from_the_others(tmp_path: Path) -> None:
    settings = '[metrics]\nby-topic = "bulk"\nby-group = "."\nby-partition = "^b"\n'
    with scraped(tmp_path, CONFIG + settings) as started:
        answer = ask(started.port, "/metrics")

    by_partition = groups_of(samples(answer, "burrow_kafka_consumer_partition_lag"))
    assert by_partition == {"billing", "bulk-load"}


def topic_series(what: str, topic: str) -> str:
    labels = f'cluster="local",consumer_group="bulk-load",topic="{topic}"'
    return f"warren_consumer_topic_{what}{{{labels}}}"


def groups_of(found: dict[str, str]) -> set[str]:
    return {re.findall('consumer_group="([^"]*)"', name)[0] for name in found}


def test_a_limit_cuts_the_largest_groups_and_says_how_much(server: Running, tmp_path: Path) -> None:
    # Series of groups 6, of topics 3, and by partition: billing 5, bulk-load 10, dev-me 1. There is
    # no room for the numbers, which come last.
    unlimited = ask(server.port, "/metrics")
    numbers = samples(unlimited, "warren_group_") | samples(unlimited, "warren_partition_")
    with scraped(tmp_path, CONFIG + "[metrics]\nmax-series = 15\n") as started:
        answer = ask(started.port, "/metrics")

    assert groups_of(samples(answer, "burrow_kafka_consumer_partition_lag")) == {
        "billing",
        "dev-me",
    }
    assert samples(answer, "warren_series_cut") == {"warren_series_cut": str(10 + len(numbers))}
    assert len(numbers) > 10
    assert len(samples(answer, "burrow_")) == 15


def test_the_limit_is_never_exceeded() -> None:
    everything = 25
    for limit in range(1, everything + 2):
        chosen = plan(viewed(), limit)
        lines = "".join(burrow_metrics(viewed(), chosen, Exposition())).splitlines()
        count = len([line for line in lines if not line.startswith("#")])

        assert count <= limit
        assert count + chosen.cut == everything


def test_the_worst_groups_are_the_last_to_lose_their_series() -> None:
    view = viewed()
    worst = view.clusters["local"].arrays["group_status"].copy()
    worst[1] = Status.ERR
    view.clusters["local"].arrays["group_status"] = worst

    chosen = plan(view, 3)

    assert chosen.levels["local"].tolist() == [
        Level.NOTHING,
        Level.GROUP,
        Level.NOTHING,
    ]


def viewed() -> View:
    """What a worker has of the board, without a worker."""
    judged = cluster_board(windows_of(ENDS, COMMITS), ENDS)
    board = Board(NOW_S * 1000, {"local": judged}, HEALTH)
    file = writer.write(board, series_granularity(Metrics()), {}, ChangeLog())
    return View.open([file.fd, judged.windows.file.fd], View.empty())


def test_series_go_with_what_they_are_of(tmp_path: Path) -> None:
    """A group that expired, one whose commits were deleted, a topic that is no more."""
    silent: list[Commit] = [("silent", "orders", 0, 10, NOW_S * 1000)]
    windows = windows_of(ENDS, [*COMMITS, *silent])
    with running(tmp_path) as started:
        started.publish(Board(1, {"local": cluster_board(windows, ENDS)}))
        before = samples(ask(started.port, "/metrics"), "burrow_")
        later = (NOW_S + WEEK_S + 60) * 1000
        add(windows, [("billing", "orders", 0, 95, later)], first_order=1000)
        tombstones = [("bulk-load", "orders", partition, None, later) for partition in (0, 2)]
        add(windows, tombstones, first_order=2000)
        windows.delete_topic("bills")
        windows.expire(later // 1000)
        left: dict[str, list[int | None]] = {"orders": ENDS["orders"]}
        started.publish(Board(2, {"local": cluster_board(windows, left)}))
        after = samples(ask(started.port, "/metrics"), "burrow_")

    gone = ("dev-me", "bills", "bulk-load", "silent")
    assert all(any(word in name for name in before) for word in gone)
    assert [name for name in after if any(word in name for word in gone)] == []
    assert groups_of({name: "" for name in after if "consumer_group" in name}) == {"billing"}
