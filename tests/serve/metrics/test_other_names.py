"""The metrics of other exporters, and the queries that their dashboards make."""

import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from deploy.story import CLUSTER, Story
from support.boards import Commit, board, cluster_board, windows_of
from support.http_side import CONFIG, Running, ask, running
from support.servers.prometheus import Prometheus, prometheus
from support.waiting import eventually

from warren import config
from warren.errors import ConfigError
from warren.model.board import NO_END, Board, ClusterBoard
from warren.serve.metrics.other_names import OTHER_NAMES

ALSO = '[metrics]\nalso = ["kafka-lag-exporter", "Kafka_Exporter"]\n'
ENOUGH_S = 60

OF_LINE = {"cluster_name", "group", "topic", "partition", "member_host", "consumer_id", "client_id"}
LABELS = {
    "kafka_consumergroup_group_offset": OF_LINE,
    "kafka_consumergroup_group_lag": OF_LINE,
    "kafka_consumergroup_group_lag_seconds": OF_LINE,
    "kafka_consumergroup_group_max_lag": {"cluster_name", "group"},
    "kafka_consumergroup_group_max_lag_seconds": {"cluster_name", "group"},
    "kafka_consumergroup_group_sum_lag": {"cluster_name", "group"},
    "kafka_consumergroup_group_topic_sum_lag": {"cluster_name", "group", "topic"},
    "kafka_partition_latest_offset": {"cluster_name", "topic", "partition"},
    "kafka_partition_earliest_offset": {"cluster_name", "topic", "partition"},
    # Theirs, and the cluster.
    "kafka_consumergroup_current_offset": {"cluster", "consumergroup", "topic", "partition"},
    "kafka_consumergroup_current_offset_sum": {"cluster", "consumergroup", "topic"},
    "kafka_consumergroup_lag": {"cluster", "consumergroup", "topic", "partition"},
    "kafka_consumergroup_lag_sum": {"cluster", "consumergroup", "topic"},
    "kafka_consumergroup_members": {"cluster", "consumergroup"},
    "kafka_topic_partition_current_offset": {"cluster", "topic", "partition"},
    "kafka_topic_partition_oldest_offset": {"cluster", "topic", "partition"},
    "kafka_topic_partitions": {"cluster", "topic"},
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Warren whose story goes on second by second."""
    story, stop = Story(), threading.Event()
    with running(tmp_path_factory.mktemp("told"), CONFIG + ALSO) as started:
        for ago in range(20, 0, -1):
            last = story.go_on(int(time.time()) - 10 * ago)
        started.publish(with_starts(last))

        def live() -> None:
            while not stop.wait(1):
                started.publish(with_starts(story.go_on(int(time.time()))))

        telling = threading.Thread(target=live)
        telling.start()
        try:
            yield started
        finally:
            stop.set()
            telling.join()


def with_starts(told: Board) -> Board:
    judged = told.clusters[CLUSTER]
    ends = replace(judged.ends, start=np.zeros_like(judged.ends.end))
    return replace(told, clusters={CLUSTER: replace(judged, ends=ends)})


@pytest.fixture(scope="module")
def store(told: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    with prometheus(tmp_path_factory.mktemp("store"), told.port) as started:
        yield started


def test_every_name_is_there_with_its_labels_and_one_type(told: Running) -> None:
    lines = ask(told.port, "/metrics").body.decode().splitlines()

    found = dict[str, set[str]]()
    for line in lines:
        if line.startswith("kafka_"):
            name, _, labels = line.partition("{")
            found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    types = [line for line in lines if line.startswith("# TYPE kafka_")]
    assert found == LABELS
    assert sorted(types) == sorted(f"# TYPE {name} gauge" for name in LABELS)


def ask_for(metric: str, of: str, labels: str = "") -> str:
    return f'{metric}{{namespace="",cluster_name="{CLUSTER}",group=~"{of}",group!=""{labels}}}'


# What the dashboards ask, by what the legends show. The namespace comes from the Prometheus server;
# ours knows none. The other panels are about the exporter's own Java process.
GROUP_S = "kafka_consumergroup_group_max_lag_seconds"
LINE_S, LINE = "kafka_consumergroup_group_lag_seconds", "kafka_consumergroup_group_lag"
OFFSET, END = "kafka_consumergroup_group_offset", "kafka_partition_latest_offset"
JOINED = f"({ask_for(OFFSET, 'billing')} * 0) + on(namespace,cluster_name,topic,partition)"
THEIRS = 'instance="127.0.0.1:{port}",topic=~"orders|bills"'
QUERIES = {
    f"topk(50, {ask_for(GROUP_S, '.*')})": {"group"},
    f"topk(25, {ask_for(LINE_S, '.*')})": {"group", "topic", "partition"},
    f"topk(50, {ask_for('kafka_consumergroup_group_max_lag', '.*')})": {"group"},
    f"topk(25, {ask_for(LINE, '.*')})": {"group", "topic", "partition"},
    ask_for(GROUP_S, "falls behind"): {"group"},
    ask_for("kafka_consumergroup_group_max_lag", "billing|silent"): {"group"},
    f"max({ask_for(LINE_S, 'stands still')}) by (group)": {"group"},
    f"sum({ask_for(OFFSET, 'billing')})": set[str](),
    f'sum({JOINED} group_left() {END}{{namespace="",cluster_name="{CLUSTER}"}})': set[str](),
    f"sum(rate(kafka_topic_partition_current_offset{{{THEIRS}}}[1m])) by (topic)": {"topic"},
    f"sum(kafka_consumergroup_lag{{{THEIRS}}}) by (consumergroup, topic)": {
        "consumergroup",
        "topic",
    },
    f"sum(delta(kafka_topic_partition_current_offset{{{THEIRS}}}[5m])/5) by (topic)": {"topic"},
    f"sum(delta(kafka_consumergroup_current_offset{{{THEIRS}}}[5m])/5) by (consumergroup, topic)": {
        "consumergroup",
        "topic",
    },
    f"sum by(topic) (kafka_topic_partitions{{{THEIRS}}})": {"topic"},
}


def test_every_query_of_their_dashboards_finds_series(told: Running, store: Prometheus) -> None:
    unanswered = {query.replace("{port}", str(told.port)): QUERIES[query] for query in QUERIES}

    def left() -> list[str]:
        for query, labels in list(unanswered.items()):
            found = store.now(query)
            if found and all(each["metric"].keys() >= labels for each in found):
                del unanswered[query]
        return list(unanswered)

    eventually(left, [], ENOUGH_S)


def test_variables_of_their_dashboards_offer_what_there_is(
    told: Running, store: Prometheus
) -> None:
    groups = {"billing", "bulk-load", "falls behind", "stands still", "silent", "with.dots"}
    instance = f"127.0.0.1:{told.port}"
    current, offset = "kafka_consumergroup_current_offset", "kafka_topic_partition_current_offset"
    cases = {
        ("cluster_name", LINE): {CLUSTER},
        ("group", f'{LINE}{{namespace="",cluster_name="{CLUSTER}"}}'): groups,
        ("job", current): {"warren"},
        ("instance", f'{current}{{job=~"warren"}}'): {instance},
        ("topic", f"{offset}{{instance='{instance}',topic!='__consumer_offsets'}}"): {
            "orders",
            "bills",
        },
    }

    eventually(lambda: {case: store.label_values(*case) for case in cases}, cases, ENOUGH_S)


ENDS: dict[str, list[int | None]] = {"bills": [50], "orders": [1000, 2000]}
COMMITS: list[Commit] = [
    ("a", "orders", 0, 990, 1_700_000_000_000),
    ("a", "orders", 1, 1960, 1_700_000_000_000),
]


def two_members() -> ClusterBoard:
    windows = windows_of(ENDS, COMMITS)
    ann, bob = ("/10.0.0.1", 'a"nn'), ("/10.0.0.2", "bob")
    windows.set_owners("a", {("orders", 0): ann, ("orders", 1): bob})
    judged = cluster_board(windows, ENDS)
    starts = np.array([NO_END, 7, NO_END])  # of bills/0 and orders/0..1
    return replace(judged, ends=replace(judged.ends, start=starts))


def test_their_values_are_ours(tmp_path: Path) -> None:
    with running(tmp_path, CONFIG + ALSO) as started:
        started.publish(board(local=two_members(), far=two_members()))
        lines = ask(started.port, "/metrics").body.decode().splitlines()

    found = dict(line.rsplit(" ", 1) for line in lines)
    where = 'cluster="local",consumergroup="a"'
    theirs = 'cluster_name="local",group="a"'
    ann = 'member_host="/10.0.0.1",consumer_id="",client_id="a\\"nn"'
    expected = {
        f'kafka_consumergroup_lag{{{where},partition="1",topic="orders"}}': "40",
        f'kafka_consumergroup_lag_sum{{{where},topic="orders"}}': "50",
        f'kafka_consumergroup_current_offset_sum{{{where},topic="orders"}}': "2950",
        f"kafka_consumergroup_members{{{where}}}": "2",
        'kafka_topic_partitions{cluster="local",topic="orders"}': "2",
        'kafka_topic_partition_current_offset{cluster="far",topic="orders",partition="1"}': "2000",
        f'kafka_consumergroup_group_lag{{{theirs},partition="0",topic="orders",{ann}}}': "10",
        f"kafka_consumergroup_group_max_lag{{{theirs}}}": "40",
        f"kafka_consumergroup_group_sum_lag{{{theirs}}}": "50",
        f'kafka_consumergroup_group_topic_sum_lag{{{theirs},topic="orders"}}': "50",
    }
    assert {name: found.get(name) for name in expected} == expected
    starts = {name: found[name] for name in found if re.match("kafka_.*_(earliest|oldest)_", name)}
    assert starts == {
        'kafka_partition_earliest_offset{cluster_name="local",topic="orders",partition="0"}': "7",
        'kafka_partition_earliest_offset{cluster_name="far",topic="orders",partition="0"}': "7",
        'kafka_topic_partition_oldest_offset{cluster="local",topic="orders",partition="0"}': "7",
        'kafka_topic_partition_oldest_offset{cluster="far",topic="orders",partition="0"}': "7",
    }


def test_without_the_setting_there_are_none(tmp_path: Path) -> None:
    with running(tmp_path, CONFIG) as started:
        started.publish(board(local=two_members()))
        assert b"\nkafka_" not in ask(started.port, "/metrics").body


def test_an_exporter_that_is_not_known_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "burrow.toml"
    file.write_text(CONFIG + '[metrics]\nalso = ["kminion"]\n')

    with pytest.raises(ConfigError, match="kafka-lag-exporter, kafka_exporter"):
        config.load(file, {})


def test_every_exporter_of_the_configuration_has_its_names(tmp_path: Path) -> None:
    file = tmp_path / "burrow.toml"
    file.write_text(CONFIG + f"[metrics]\nalso = {sorted(OTHER_NAMES)}\n")

    assert set(config.load(file, {}).config.metrics.also) == set(OTHER_NAMES)
