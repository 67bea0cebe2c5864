"""The numbers beside the verdicts: lag and age with their bounds, and what will be."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf, nan
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np
import pytest
from support.boards import NOW_S, board, cluster_board, windows_of
from support.http_side import CONFIG, Running, ask, running
from support.numbers import numbers_of

from warren.model.board import NO_END, Board, ClusterBoard, TopicEnds
from warren.model.health import ClusterHealth, ConsumerHealth, Health
from warren.model.numbers import IN_WORDS, UNKNOWN, Lack, Method, reasons
from warren.model.topic_facts import ClusterFacts, TopicFacts
from warren.serve.board_file import writer
from warren.serve.v4.measured import MeasuredColumns, MeasuredGroup

ENDS: dict[str, list[int | None]] = {"bills": [50], "orders": [1000, 2000, 3000]}
COMMITS = [
    *((group, "orders", partition, 10, NOW_S * 1000) for group in "abc" for partition in range(3)),
    ("a", "bills", 0, 50, NOW_S * 1000),
]
# Group a reads bills/0 and orders/0..2, b and c orders/0..2.
PARTITIONS: dict[str, list[float]] = {
    "lag": [0, 5, 7, UNKNOWN, 1, 2, 3, 2**40, 0, 0],
    "lag_low": [0, 5, 0, UNKNOWN, 1, 2, 3, 2**40, 0, 0],
    "lag_high": [0, 5, 9, UNKNOWN, 1, 2, 3, 2**62, 0, 0],
    "age_s": [0, 20, 30.5, nan, 5, 6, 7, 9, 0, 0],
    "age_low_s": [0, 15.0004, 0, nan, 5, 6, 7, 9, 0, 0],
    "age_high_s": [0, 25.0004, inf, nan, 5, 6, 7, 9, 0, 0],
    "age_method": [
        Method.NOTHING_UNREAD,
        Method.BY_ENDS,
        Method.BY_CLOCK,
        Method.UNKNOWN,
        *[Method.BY_ENDS] * 4,
        *[Method.NOTHING_UNREAD] * 2,
    ],
    "produced": [1, 2.5, nan, nan, 1, 1, 1, 1, 1, 1],
    "consumed": [1, 0, nan, nan, 1, 1, 1, 1, 1, 1],
    "drain_low_s": [0, 10, nan, nan, 1, 1, 1, 1, 0, 0],
    "drain_high_s": [0, inf, nan, nan, 1, 1, 1, 1, 0, 0],
    "margin_s": [inf, 3600.5, nan, nan, 1, 1, 1, 1, inf, inf],
    "lost": [0, 12, 0, UNKNOWN, 0, 0, 0, 0, 0, 0],
    "lack": [0, 0, Lack.NO_RECORDS | Lack.NO_HISTORY, Lack.NO_END, *[0] * 6],
}
GROUPS: dict[str, list[float]] = {
    "lag": [12, 6, 2**40],
    "lag_low": [5, 6, 2**40],
    "lag_high": [14, 6, 2**62],
    "age_s": [30.5, 7, 9],
    "age_low_s": [15.0004, 7, 9],
    "age_high_s": [inf, 7, 9],
    "age_method": [Method.BY_CLOCK, Method.BY_ENDS, Method.UNKNOWN],
    "age_line": [2, 6, 7],
    "produced": [3.5, 3, nan],
    "consumed": [1, 3, nan],
    "drain_low_s": [10, 1, inf],
    "drain_high_s": [inf, 1, inf],
    "margin_s": [3600.5, inf, nan],
    "lost": [12, 0, UNKNOWN],
    "scalable_lag": [5, 0, UNKNOWN],
    "expires_s": [inf, 86400, nan],
}


def measured(**changes: object) -> ClusterBoard:
    judged = cluster_board(windows_of(ENDS, COMMITS), ENDS)
    return replace(judged, numbers=numbers_of(judged.verdicts, PARTITIONS, GROUPS), **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("measured"), CONFIG) as started:
        started.publish(board(local=measured()))
        yield started


def get(server: Running, path: str, **query: object) -> Any:
    answer = ask(server.port, f"{path}?{urlencode(query)}")
    assert answer.status == 200, answer
    return answer.json


def test_a_group_has_its_numbers_with_bounds_and_method(server: Running) -> None:
    summary = get(server, "/v4/group", cluster="local", group="a")["summary"]

    assert {name: summary[name] for name in MeasuredGroup.__struct_fields__} == {
        "lag": {"now": 12, "low": 5, "high": 14},
        "age": {"seconds": 30.5, "low": 15, "high": None, "method": "by_clock"},
        "oldest": {"topic": "orders", "partition": 1},
        "produced": 3.5,
        "consumed": 1,
        "drain": {"low": 10, "high": "never"},
        "margin_s": 3600.5,
        "lost": 12,
        "scalable_lag": 5,
        "offsets_expire_s": "never",
        "lacks": reasons(Lack.NO_RECORDS | Lack.NO_HISTORY | Lack.NO_END),
    }


def test_what_is_not_known_is_null(server: Running) -> None:
    summary = get(server, "/v4/group", cluster="local", group="c")["summary"]

    unknown = ("oldest", "produced", "consumed", "margin_s", "lost", "scalable_lag")
    assert {summary[name] for name in (*unknown, "offsets_expire_s")} == {None}
    assert summary["drain"] == {"low": "never", "high": "never"}


def test_the_bounds_of_an_age_are_rounded_outwards(server: Running) -> None:
    where = {"cluster": "local", "group": "a", "topic": "orders", "partition": 0}
    age = get(server, "/v4/partition", **where)["summary"]["age"]

    assert age == {"seconds": 20, "low": 15, "high": 25.001, "method": "by_ends"}


def test_each_partition_has_its_numbers(server: Running) -> None:
    partitions = get(server, "/v4/group", cluster="local", group="a")["partitions"]

    assert [each["age"]["method"] for each in partitions] == [
        "nothing_unread",
        "by_ends",
        "by_clock",
        "unknown",
    ]
    assert [each["lag"]["high"] for each in partitions] == [0, 5, 9, None]
    assert [each["margin_s"] for each in partitions] == ["never", 3600.5, None, None]
    assert [each["lost"] for each in partitions] == [0, 12, 0, None]
    assert partitions[1]["drain"] == {"low": 10, "high": "never"}
    assert partitions[2]["lacks"] == reasons(Lack.NO_RECORDS | Lack.NO_HISTORY)
    assert (partitions[1]["produced"], partitions[1]["consumed"]) == (2.5, 0)


def test_large_numbers_stay_exact(server: Running) -> None:
    partitions = get(server, "/v4/group", cluster="local", group="c")["partitions"]

    assert partitions[0]["lag"] == {"now": 2**40, "low": 2**40, "high": 2**62}


def test_the_overview_has_the_same_numbers_in_columns(server: Running) -> None:
    (cluster,) = get(server, "/v4/overview")["clusters"]
    lines = get(server, "/v4/groups")["groups"]

    columns = {name: cluster[name] for name in MeasuredColumns.__struct_fields__}
    same = {
        "lag": [line["lag"]["now"] for line in lines],
        "lag_low": [line["lag"]["low"] for line in lines],
        "lag_high": [line["lag"]["high"] for line in lines],
        "age_s": [line["age"]["seconds"] for line in lines],
        "age_low_s": [line["age"]["low"] for line in lines],
        "age_high_s": [line["age"]["high"] for line in lines],
        "age_method": [line["age"]["method"] for line in lines],
        "drain_low_s": [line["drain"]["low"] for line in lines],
        "drain_high_s": [line["drain"]["high"] for line in lines],
    }
    plain = columns.keys() - same.keys()
    assert columns == same | {name: [line[name] for line in lines] for name in plain}
    assert columns["offsets_expire_s"] == ["never", 86400, None]


def test_a_topic_has_the_numbers_of_each_group(server: Running) -> None:
    first, second, third = get(server, "/v4/topic", cluster="local", topic="orders")["groups"]

    assert first["lag"] == {"now": 12, "low": 5, "high": 14}
    assert first["age"] == {"seconds": 30.5, "low": 0, "high": None, "method": "by_clock"}
    assert (first["ages"], first["lost"]) == ([20, 30.5, None], 12)
    assert second["age"] == {"seconds": 7, "low": 7, "high": 7, "method": "by_ends"}
    assert third["lag"] == {"now": 2**40, "low": 2**40, "high": 2**62}


def test_the_oldest_of_a_topic_is_told_with_its_bounds(server: Running) -> None:
    lines = {line["topic"]: line for line in get(server, "/v4/topics")["lines"]}

    assert lines["orders"]["age"] == {"seconds": 30.5, "low": 0, "high": None, "method": "by_clock"}
    assert lines["bills"]["age"] == {"seconds": 0, "low": 0, "high": 0, "method": "nothing_unread"}


def test_a_topic_says_what_its_brokers_keep(server: Running) -> None:
    facts = ClusterFacts(
        topics={
            "bills": TopicFacts(60_500, 2**40, is_compacted=True, is_deleted=True),
            "orders": TopicFacts(60_500, 2**40, is_compacted=True, is_deleted=False),
        },
        problems={"secret": "not authorized"},
    )
    judged = measured(facts=facts)
    known = TopicEnds(
        ("bills", "new", "orders", "secret"),
        np.array([0, 1, 1, 4, 4]),
        np.array([50, 1000, 2000, 3000]),
        np.ones(4, np.float32),
        np.array([0, 2**40, NO_END, 7]),
    )
    server.publish(board(local=replace(judged, ends=known)))

    found = [get(server, "/v4/topic", cluster="local", topic=name) for name in known.topics]

    server.publish(board(local=measured()))
    names = ("log_starts", "retention_s", "retention_bytes", "compacted")
    assert [tuple(each[name] for name in names) for each in found] == [
        ([0], 60.5, 2**40, True),
        ([], None, None, None),
        ([2**40, None, 7], "never", None, True),
        ([], None, None, None),
    ]
    assert [each["lacks"] for each in found] == [
        [],
        ["the topic's configuration is not known: it has not been read"],
        [],
        ["the topic's configuration is not known: not authorized"],
    ]


def test_groups_are_sorted_and_filtered_by_age(server: Running) -> None:
    cases = {
        ("sort", "age"): ["b", "c", "a"],
        ("sort", "-age"): ["a", "c", "b"],
        ("min_age", 7.5): ["a", "c"],
        ("min_age", 100): [],
    }

    found = {
        (name, value): [
            line["group"] for line in get(server, "/v4/groups", **{name: value})["groups"]
        ]
        for name, value in cases
    }

    assert found == cases


def test_an_unknown_age_comes_last_in_both_directions(server: Running) -> None:
    judged = measured()
    groups = replace(judged.numbers.groups, age_s=np.array([nan, 1, 2], np.float32))
    server.publish(board(local=replace(judged, numbers=replace(judged.numbers, groups=groups))))

    found = [
        [line["group"] for line in get(server, "/v4/groups", sort=sort)["groups"]]
        for sort in ("age", "-age")
    ]

    server.publish(board(local=measured()))
    assert found == [["b", "c", "a"], ["c", "b", "a"]]


def test_an_autoscaler_gets_one_number(server: Running) -> None:
    answers = [
        ask(server.port, f"/v4/scale/local/{name}").json
        | ask(server.port, f"/v4/scale?cluster=local&group={name}").json
        for name in ("a", "b")
    ]

    assert [(each["value"], each["partitions"]) for each in answers] == [(5, 4), (0, 3)]
    assert answers[0]["lag"] == {"now": 12, "low": 5, "high": 14}
    assert (answers[0]["cluster"], answers[0]["group"]) == ("local", "a")


def test_an_autoscaler_gets_no_number_when_there_is_none(server: Running) -> None:
    codes = {
        name: ask(server.port, f"/v4/scale/{name}").status
        for name in ("local/c", "local/nope", "nope/a", f"local/{quote('ü/x', safe='')}")
    }

    assert codes == {"local/c": 503, "local/nope": 404, "nope/a": 404, "local/%C3%BC%2Fx": 404}


def test_an_autoscaler_gets_no_number_while_it_would_be_wrong(server: Running) -> None:
    current = ClusterHealth(data_age_s=1)
    read = ConsumerHealth("local", "caught up", remaining=0)
    cases = {
        "fine": (Health(ready=True, clusters={"local": current}, consumers={"c": read}), 200),
        "brokers away": (Health(clusters={"local": ClusterHealth("no broker", data_age_s=1)}), 503),
        "restored": (Health(clusters={"local": ClusterHealth(data_age_s=1, restored=True)}), 503),
        "catching up": (Health(consumers={"c": ConsumerHealth("local", "catching up")}), 503),
        "another catches up": (Health(consumers={"c": ConsumerHealth("far", "catching up")}), 200),
    }

    found = {}
    for name, (health, _) in cases.items():
        server.publish(Board(NOW_S * 1000, {"local": measured()}, health))
        found[name] = ask(server.port, "/v4/scale/local/a").status

    server.publish(board(local=measured()))
    assert found == {name: code for name, (_, code) in cases.items()}


def test_every_lack_has_words() -> None:
    assert set(IN_WORDS) == set(Lack) - {Lack.NOTHING}
    assert reasons(Lack.NOTHING) == []
    assert len(set(reasons(sum(Lack)))) == len(Lack) - 1


def test_the_board_holds_counts_in_as_few_bytes_as_they_need() -> None:
    cases = [
        ([0, 0], np.int8),
        ([-1, 127], np.int8),
        ([-1, 128], np.int16),
        ([0, 2**31 - 1], np.int32),
        ([0, 2**31], np.int64),
        ([-(2**63), 2**63 - 1], np.int64),
        ([], np.int64),
    ]
    for numbers, kind in cases:
        narrow = writer.narrow(np.array(numbers, np.int64))

        assert narrow.dtype == kind
        assert narrow.tolist() == numbers
