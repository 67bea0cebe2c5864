"""What Burrow's API does not tell."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from support.boards import NOW_S, add, cluster_board, log_ends, windows_of
from support.http_side import CONFIG, Running, ask, running

from warren.evaluate.rules import Rule
from warren.model.board import Board
from warren.model.health import ConsumerHealth, Health
from warren.model.status import Status
from warren.serve.board_file.commits_file import layout
from warren.serve.v4.burrow_reasons import CAUSE, WHY, why
from warren.serve.v4.groups import NOT_KNOWN, statuses
from warren.serve.v4.measured import MeasuredColumns, MeasuredGroup, MeasuredTopic
from warren.serve.v4.operations import OPERATIONS
from warren.serve.v4.verdict_change import CHANGE, duration, of_group
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

ENDS: dict[str, list[int | None]] = {"orders": [1000, 2000], "a/b": [50]}
POSITIONS = {"local": ConsumerHealth("local", "caught up", positions={"0": 17}, behind_s=2.5)}


def test_what_is_not_known_of_one_consumer_does_not_hide_that_another_is_behind(
    tmp_path: Path,
) -> None:
    cases = {(): None, (2.5, None): None, (600.0, None): 600.0, (2.5, 3.5): 3.5, (None,): None}

    found = {}
    with running(tmp_path) as started:
        for moment_ms, behind in enumerate(cases, start=1):
            consumers = {
                str(at): ConsumerHealth("local", "caught up", behind_s=behind_s)
                for at, behind_s in enumerate(behind)
            }
            started.publish(Board(moment_ms, {}, Health(ready=True, consumers=consumers)))
            found[behind] = ask(started.port, "/v4/overview").json["board"]["behind_s"]

    assert found == cases


def commits(group: str, offsets: list[int], every_s: int, ago_s: int) -> list[Any]:
    last = NOW_S - ago_s
    times = [last - every_s * (len(offsets) - 1 - n) for n in range(len(offsets))]
    pairs = zip(offsets, times, strict=True)
    return [(group, "orders", 0, offset, at * 1000) for offset, at in pairs]


COMMITS = [
    *commits("caught up", [*range(910, 1001, 10)], 10, 5),
    *commits("stopped", [*range(10, 101, 10)], 1, 600),
    *commits("stalled", [500] * 10, 10, 5),
    *commits("rewound", [*range(100, 900, 100), 300, 310], 10, 5),
    *commits("moving", [*range(10, 101, 10)], 10, 5),
    ("sl/ash", "a/b", 0, 50, NOW_S * 1000),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("v4"), CONFIG) as started:
        judged = cluster_board(windows_of(ENDS, COMMITS), ENDS)
        started.publish(Board(NOW_S * 1000, {"local": judged}, Health(consumers=POSITIONS)))
        yield started


def get(server: Running, path: str, **query: object) -> Any:
    answer = ask(server.port, f"{path}?{urlencode(query)}")
    assert answer.status == 200, answer
    return answer.json


def without_numbers(line: dict[str, Any]) -> dict[str, Any]:
    """Without those that `test_measured` is about."""
    kinds = (MeasuredGroup, MeasuredTopic, MeasuredColumns)
    measured = {name for kind in kinds for name in kind.__struct_fields__}
    return {name: value for name, value in line.items() if name not in measured}


def test_all_groups_in_one_call(server: Running) -> None:
    answer = get(server, "/v4/groups")

    names = [line["group"] for line in answer["groups"]]
    assert names == ["caught up", "moving", "rewound", "sl/ash", "stalled", "stopped"]
    assert answer["total"] == 6
    assert without_numbers(answer["groups"][5]) == {
        "cluster": "local",
        "group": "stopped",
        "status": "ERR",
        "complete": 0.5,
        "partition_count": 2,
        "total_lag": 900,
        "max_lag": {"topic": "orders", "partition": 0, "lag": 900},
        "last_commit_ms": (NOW_S - 600) * 1000,
        "as_of_ms": NOW_S * 1000,
    }


def test_every_answer_says_what_it_is_valid_for(server: Running) -> None:
    group = {"cluster": "local", "group": "stopped"}
    every: dict[str, object] = {**group, "topic": "orders", "partition": 0}
    boards: dict[object, object] = {}
    for operation in OPERATIONS:
        wanted = {name: every[name] for name in every if hasattr(operation.query, name)}
        for case in (wanted, {**wanted, "cluster": "nope"}, {"nonsense": 1}):
            answer = ask(server.port, f"{operation.path}?{urlencode(case)}")
            boards[operation.path, answer.status, *case] = answer.json["board"]
    boards["/v4/health"] = ask(server.port, "/v4/health").json["board"]
    for path in ("/v4/config", "/v4/groups?format=ndjson"):
        boards[path] = json.loads(ask(server.port, path).headers["x-warren-board"])

    moment = {"moment_ms": NOW_S * 1000, "positions": {"local": {"0": 17}}, "behind_s": 2.5}
    assert {case: board for case, board in boards.items() if board != moment} == {}


def test_groups_are_filtered_sorted_and_paged(server: Running) -> None:
    cases: list[tuple[dict[str, object], list[str], int]] = [
        ({"status": "ERR"}, ["rewound", "stalled", "stopped"], 3),
        ({"match": "ST"}, ["stalled", "stopped"], 2),
        ({"search": "ST"}, ["stalled", "stopped"], 2),
        ({"search": "A/B"}, ["sl/ash"], 1),
        ({"search": " orders  st "}, ["stalled", "stopped"], 2),
        ({"search": "orders a/b"}, [], 0),
        ({"min_lag": 600}, ["moving", "rewound", "stopped"], 3),
        ({"sort": "-lag", "limit": 3}, ["moving", "stopped", "rewound"], 6),
        ({"sort": "lag", "limit": 2, "offset": 1}, ["sl/ash", "stalled"], 6),
        ({"sort": "last_commit", "limit": 1}, ["stopped"], 6),
        ({"cluster": "nope"}, [], 0),
        ({"offset": 6}, [], 6),
    ]
    wrong = []
    for query, expected, total in cases:
        answer = get(server, "/v4/groups", **query)
        got = [line["group"] for line in answer["groups"]]
        if (got, answer["total"]) != (expected, total):
            wrong.append((query, got, answer["total"]))

    assert wrong == []


def test_groups_as_lines(server: Running) -> None:
    answer = ask(server.port, "/v4/groups?format=ndjson&status=ERR")

    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert "positions" in json.loads(answer.headers["x-warren-board"])
    assert [line["group"] for line in lines] == ["rewound", "stalled", "stopped"]


def test_a_group_in_full(server: Running) -> None:
    answer = get(server, "/v4/group", cluster="local", group="moving")

    first = answer["partitions"][0]
    assert answer["summary"]["group"] == "moving"
    assert answer["generation"] is None
    assert len(answer["partitions"]) == 2
    assert (first["commit_rate"], first["lag_trend"], first["last_commit_age_s"]) == (1, -0.947, 5)
    assert answer["partitions"][1]["start"] is None


def test_a_group_has_members(tmp_path: Path) -> None:
    windows = windows_of(ENDS, COMMITS)
    ann, bob = ("/10.0.0.1", "ann"), ("/10.0.0.2", "bob")
    windows.set_owners("moving", {("orders", 0): ann, ("orders", 1): bob, ("a/b", 0): ann})
    judged = replace(cluster_board(windows, ENDS), generations={"moving": 7})
    with running(tmp_path) as started:
        started.publish(Board(1, {"local": judged}))
        answer = get(started, "/v4/group", cluster="local", group="moving")

    assert answer["generation"] == 7
    assert answer["members"] == [
        {"owner": "/10.0.0.1", "client_id": "ann", "partitions": 2},
        {"owner": "/10.0.0.2", "client_id": "bob", "partitions": 1},
    ]
    owners = {(each["topic"], each["partition"]): each["owner"] for each in answer["partitions"]}
    assert owners["orders", 1] == "/10.0.0.2"


def test_a_partition_with_its_window(server: Running) -> None:
    where = {"cluster": "local", "group": "stopped", "topic": "orders", "partition": 0}
    answer = get(server, "/v4/partition", **where)

    assert [commit["offset"] for commit in answer["window"]] == [*range(10, 101, 10)]
    assert answer["summary"]["status"] == "STOP"


def test_any_name_can_be_asked_for(server: Running) -> None:
    group = get(server, "/v4/group", cluster="local", group="sl/ash")
    topic = get(server, "/v4/topic", cluster="local", topic="a/b")

    assert group["partitions"][0]["topic"] == "a/b"
    (only,) = topic["groups"]
    assert without_numbers(only) == {
        "group": "sl/ash",
        "status": "OK",
        "total_lag": 0,
        "lags": [0],
    }


def test_a_topic_with_its_groups(server: Running) -> None:
    answer = get(server, "/v4/topic", cluster="local", topic="orders")

    lags = {each["group"]: each["total_lag"] for each in answer["groups"]}
    assert answer["log_ends"] == [1000, 2000]
    assert lags == {"caught up": 0, "moving": 900, "rewound": 690, "stalled": 500, "stopped": 900}
    listed = get(server, "/v4/topics", cluster="local")
    line = listed["lines"][listed["topics"].index("orders")]
    named = ("cluster", "topic", "partitions", "groups", "worst", "max_lag")
    assert [line[name] for name in named] == ["local", "orders", 2, 5, "REWIND", 900]
    assert get(server, "/v4/topics") == listed
    assert get(server, "/v4/topics", match="ORD")["topics"] == ["orders"]


def test_why_a_group_is_what_it_is(server: Running) -> None:
    expected = {
        "stopped": "Nothing was committed for 10 minutes, longer than the 9 s that its last 10 "
        "commits span, and 900 messages wait.",
        "stalled": "It commits, but always offset 500: in 10 commits over 90 s it has not moved, "
        "and 500 messages wait.",
        "rewound": "It went back from offset 800, is at 310 and has not come back to where it "
        "was; 690 messages wait.",
    }

    answers = {
        group: get(server, "/v4/explain", cluster="local", group=group) for group in expected
    }

    assert {group: each["reasons"][0]["why"] for group, each in answers.items()} == expected
    where = "That is orders:0; its other partition is OK."
    assert {group: each["why"] for group, each in answers.items()} == {
        "stopped": f"Silent at offset 100 for 10 minutes; 900 messages wait. {where}",
        "stalled": f"Stuck at offset 500 for at least 95 s; 500 messages wait. {where}",
        "rewound": f"Went back from offset 800 to 310; 690 messages wait. {where}",
    }
    assert "at most 0" not in " ".join(each["reasons"][0]["change"] for each in answers.values())
    assert answers["stopped"]["reasons"][0]["numbers"]["silent_s"] == 600


def test_one_that_was_at_the_end_has_not_stopped_and_is_told_so(tmp_path: Path) -> None:
    """It had read everything when data came, a moment ago; then the old ends are forgotten."""
    windows = windows_of({"orders": [500]}, [("idle", "orders", 0, 500, (NOW_S - 600) * 1000)])
    grown = {"orders": [700]}
    windows.set_log_ends(log_ends(grown), {"orders": 1})
    asked = {"cluster": "local", "group": "idle", "all": "true"}
    with running(tmp_path) as started:
        started.publish(Board(1, {"local": cluster_board(windows, grown)}))
        (kept,) = get(started, "/v4/explain", **asked)["reasons"]
        for _ in range(10):
            windows.set_log_ends(log_ends(grown), {"orders": 1})
        started.publish(Board(2, {"local": cluster_board(windows, grown)}))
        (stopped,) = get(started, "/v4/explain", **asked)["reasons"]

    assert (kept["status"], kept["numbers"]["lowest_end"]) == ("OK", 500)
    assert kept["why"] == (
        "Nothing was committed for 10 minutes, but its last commit, offset 500, reached a log end "
        "that is still remembered, 500: it had nothing to do until lately and has not stopped; 200 "
        "messages wait, and in its only commit the lag was down to 0."
    )
    assert kept["change"].endswith(
        "without a commit it becomes STOP when every log end that is still remembered is beyond "
        "offset 500."
    )
    assert (stopped["status"], stopped["numbers"]["lowest_end"]) == ("STOP", 700)


def test_every_rule_after_stop_has_words_for_one_that_was_at_the_end() -> None:
    numbers: dict[str, float | None] = {
        **dict.fromkeys(("last_offset", "lowest_end", "highest_offset"), 500.0),
        **dict.fromkeys(("commits", "current_lag", "lowest_lag", "first_lag", "last_lag"), 5.0),
        "window_s": 10.0,
        "silent_s": 20.0,
    }

    judged = Rule.NOT_JUDGED, Rule.CAUGHT_UP, Rule.STOPPED, Rule.QUERY_GONE
    after_stop = [rule for rule in Rule if rule not in judged]
    begins = "Nothing was committed for 20 s, but its last commit, offset 500, reached a log end"

    told = {why(rule, numbers) for rule in after_stop}

    assert len(told) == 5
    assert all(text.startswith(begins) for text in told)
    for name, value in (("lowest_end", 501.0), ("silent_s", 9.0)):
        others = {**numbers, name: value}
        assert why(Rule.STALLED, others) == WHY[Rule.STALLED](others)


def test_good_partitions_are_explained_on_request(server: Running) -> None:
    query = {"cluster": "local", "group": "moving"}
    brief = get(server, "/v4/explain", **query)
    full = get(server, "/v4/explain", **query, all="true")

    assert brief["reasons"] == []
    assert (brief["why"], brief["change"]) == ("Reads on; 900 messages wait.", "")
    assert [reason["rule"] for reason in full["reasons"]] == ["catching_up", "not_judged"]


def test_long_times_are_told_in_great_units() -> None:
    told = [duration(seconds) for seconds in (0, 119, 120, 7_199, 7_200, 172_800, 10**9)]

    assert told == ["0 s", "119 s", "2 minutes", "120 minutes", "2 hours", "2 days", "11,574 days"]


def test_every_rule_can_be_explained() -> None:
    assert set(WHY) == set(CAUSE) == set(Rule)
    assert set(CHANGE) == set(Rule)


def test_what_would_change_a_verdict_does(server: Running) -> None:
    """The commit that each sentence speaks of, and the partition's status after it."""
    cases = {
        "stopped": ("The next commit ends STOP.", 101, "OK"),
        "stalled": ("A commit beyond offset 500 ends STALL.", 501, "WARN"),
        "rewound": ("A commit at offset 800 or beyond ends REWIND", 800, "OK"),
    }
    told = {
        group: get(server, "/v4/explain", cluster="local", group=group)["reasons"][0]["change"]
        for group in cases
    }
    windows = windows_of(ENDS, COMMITS)
    moved = [(group, "orders", 0, offset, NOW_S * 1000) for group, (_, offset, _) in cases.items()]
    # The log goes on, so that none of these commits finds less waiting than the one before.
    ends = {"orders": [1200, 2000]}
    windows.set_log_ends(log_ends(ends), {"orders": 2})

    add(windows, moved, first_order=1000)

    verdicts = cluster_board(windows, ends).verdicts
    after = {
        group: Status(int(verdicts.partitions.status[verdicts.groups.first[verdicts.line(group)]]))
        for group in cases
    }
    assert {group for group, (words, *_) in cases.items() if words not in told[group]} == set()
    assert {group: status.name for group, status in after.items()} == {
        group: status for group, (*_, status) in cases.items()
    }


def test_what_would_change_a_group() -> None:
    cases: dict[str, tuple[dict[str, int], int]] = {
        "": ({}, 3),
        "It is OK again when its only partition is.": ({"STOP": 1}, 1),
        "It is OK again when that partition is.": ({"STOP": 1}, 4),
        "It is OK again when these 3 partitions are. If only those that are WARN were left, it "
        "would be WARN.": ({"STOP": 2, "WARN": 1}, 4),
    }

    told = {text: of_group(Counter(bad), count) for text, (bad, count) in cases.items()}

    assert {text: got for text, got in told.items() if got != text} == {}


def test_the_overview_is_in_columns(server: Running) -> None:
    answer = get(server, "/v4/overview")

    (cluster,) = answer["clusters"]
    single = {"name", "problem", "topic_names", "owner_names"}
    lines = {name: cluster[name][5] for name in cluster if name not in single}
    assert (cluster["name"], cluster["problem"], answer["ready"]) == ("local", "", False)
    assert without_numbers(lines) == {
        "group": "stopped",
        "status": "ERR",
        "worst": "STOP",
        "total_lag": 900,
        "partition_count": 2,
        "max_lag_topic": "orders",
        "max_lag_partition": 0,
        "max_lag": 900,
        "last_commit_ms": (NOW_S - 600) * 1000,
        "owner": "",
        "trend": "zvrnjgc8400",
        "topics": [cluster["topic_names"].index("orders")],
        "owners": [0],
    }
    assert {len(cluster[name]) for name in lines} == {6}


def test_the_windows_of_a_group_in_columns(server: Running) -> None:
    answer = get(server, "/v4/windows", cluster="local", group="stopped")

    first, second = answer["partitions"]
    assert (first["topic"], first["partition"], answer["now_ms"]) == ("orders", 0, NOW_S * 1000)
    assert first["offset"] == [*range(10, 101, 10)]
    assert first["lag"] == [*range(990, 899, -10)]
    assert second["committed_ms"] == []


def test_a_window_tells_what_was_judged_as_far_as_its_commits_go() -> None:
    """Commits that had no more lag than allowed, and the last; all of a window that is not full."""
    ends = {"orders": [1000, 1000]}
    full = [("full", "orders", 0, 10 * n, (NOW_S - 100 + n) * 1000) for n in range(1, 10)]
    short = [("short", "orders", 1, 500, (NOW_S - 100 + n) * 1000) for n in range(3)]
    windows = windows_of(ends, [("full", "orders", 0, 1000, (NOW_S - 200) * 1000), *full, *short])
    view = window_arrays(windows)
    rows = view.rows
    stored = np.zeros(len(rows), layout(10))
    for name in stored.dtype.names or ():
        stored[name] = getattr(view, name)[rows]

    told = statuses(stored, view.filled[rows], 0.0, 0)

    unknown, ok = [NOT_KNOWN], [int(Status.OK)]
    assert told[0].tolist() == ok + unknown * 8 + [int(Status.REWIND)]
    assert told[3].tolist() == unknown * 7 + [int(Status.STALL)] * 3


def test_how_fast_a_topic_grows_whoever_reads_it(tmp_path: Path) -> None:
    """A minute later it is longer by 600; of the other partition one reading is known."""
    ends: dict[str, list[int | None]] = {"orders": [1000, None]}
    windows = Windows()
    windows.set_log_ends(log_ends(ends), {"orders": 2}, now_s=NOW_S)
    ends = {"orders": [1600, 2000]}
    windows.set_log_ends(log_ends(ends), {"orders": 2}, now_s=NOW_S + 60)
    with running(tmp_path) as started:
        board = replace(cluster_board(windows, ends), ends=windows.ends.of_topics())
        started.publish(Board(1, {"local": board}))
        answer = get(started, "/v4/topic", cluster="local", topic="orders")

    assert answer["rates"] == [10, None]
    assert answer["groups"] == []


def test_who_is_silent_reads_ever_slower(tmp_path: Path) -> None:
    """Ten commits of ten messages, one a second; the log goes on by ten a second."""
    past = [("billing", "orders", 0, 10 * n, (NOW_S + n) * 1000) for n in range(10)]
    windows = windows_of({"orders": [90]}, past)
    rates = {}
    with running(tmp_path) as started:
        for silent_s in (0, 1, 91):
            ends = {"orders": [90 + 10 * silent_s]}
            windows.set_log_ends(log_ends(ends), {"orders": 1})
            judged = cluster_board(windows, ends, now_s=NOW_S + 9 + silent_s)
            started.publish(Board(silent_s, {"local": judged}))
            (line,) = get(started, "/v4/group", cluster="local", group="billing")["partitions"]
            rates[silent_s] = (line["commit_rate"], line["lag_trend"])

    assert rates == {0: (10, -10), 1: (10, -8), 91: (0.909, 8.2)}


def test_members_without_partitions_are_told_too(tmp_path: Path) -> None:
    windows = windows_of(ENDS, COMMITS[:10])
    windows.set_owners("caught up", {("orders", 0): ("/10.0.0.1", "one")})
    idle = {"caught up": [("/10.0.0.2", "two")]}
    with running(tmp_path) as started:
        judged = replace(cluster_board(windows, ENDS), idle=idle)
        started.publish(Board(1, {"local": judged}))
        answer = get(started, "/v4/group", cluster="local", group="caught up")

    assert [(each["client_id"], each["partitions"]) for each in answer["members"]] == [
        ("one", 1),
        ("two", 0),
    ]


def test_the_configuration_is_shown_without_secrets(tmp_path: Path) -> None:
    secret = 'read-token = "hush-hush"\n[cluster.local]'
    with running(tmp_path, CONFIG.replace("[cluster.local]", secret)) as started:
        token = {"authorization": "Bearer hush-hush"}
        answer = ask(started.port, "/v4/config", headers=token)

    assert answer.json["cluster.local"]["servers"] == '["localhost:9092"]'
    assert answer.json["httpserver.default"]["read-token"] not in {"", '""'}
    assert b"hush-hush" not in answer.body


def test_every_board_is_told_on_request(tmp_path: Path) -> None:
    windows = windows_of(ENDS, COMMITS[:10])
    with running(tmp_path) as started:
        started.publish(Board(1, {"local": cluster_board(windows, ENDS)}))
        connection = HTTPConnection("127.0.0.1", started.port, timeout=20)
        connection.request("GET", "/v4/events?boards=true")
        stream = connection.getresponse()
        told = [event(stream)]
        started.publish(Board(2, {"local": cluster_board(windows, ENDS)}))
        told.append(event(stream))
        connection.close()
        refused = ask(started.port, "/v4/events?boards=maybe")

    assert [(kind, data["moment_ms"]) for kind, data in told] == [("board", 1), ("board", 2)]
    assert refused.status == 400


def test_wrong_parameters_are_named(server: Running) -> None:
    cases = {
        "/v4/groups?limit=0": (400, "limit"),
        "/v4/groups?limit=x": (400, "limit"),
        "/v4/groups?sort=colour": (400, "sort"),
        "/v4/groups?nonsense=1": (400, "nonsense"),
        "/v4/group?cluster=local": (400, "group"),
        "/v4/group?cluster=local&group=nope": (404, "group"),
        "/v4/group?cluster=nope&group=moving": (404, "cluster"),
        "/v4/partition?cluster=local&group=moving&topic=orders&partition=9": (404, "partition"),
        "/v4/topic?cluster=local&topic=nope": (404, "topic"),
    }
    wrong = {}
    for path, (status, word) in cases.items():
        answer = ask(server.port, path)
        if answer.status != status or word not in answer.json["message"]:
            wrong[path] = answer

    assert wrong == {}


def test_the_documentation_needs_nothing_else(server: Running) -> None:
    page = ask(server.port, "/v4/docs")
    document = ask(server.port, "/v4/openapi.json").json

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert b"src=" not in page.body
    assert b"http" not in page.body.replace(b"http-equiv", b"")
    assert {"/v4/groups", "/v4/events", "/v4/health"} <= document["paths"].keys()
    assert all(path.encode() in page.body for path in document["paths"])


def test_status_changes_are_told_as_they_happen(tmp_path: Path) -> None:
    windows = windows_of(ENDS, COMMITS[:10])
    with running(tmp_path) as started:
        started.publish(Board(1, {"local": cluster_board(windows, ENDS)}))
        connection = HTTPConnection("127.0.0.1", started.port, timeout=20)
        connection.request("GET", "/v4/events")
        stream = connection.getresponse()
        first = event(stream)
        add(windows, COMMITS[10:20], first_order=100)

        started.publish(Board(2, {"local": cluster_board(windows, ENDS)}))
        appeared = event(stream), event(stream)
        started.publish(Board(3, {"local": cluster_board(windows, ENDS, now_s=NOW_S - 599)}))
        changed = event(stream), event(stream)
        windows.delete_group("stopped")
        started.publish(Board(4, {"local": cluster_board(windows, ENDS, now_s=NOW_S - 599)}))
        gone = event(stream)
        connection.close()

    stopped = {"cluster": "local", "group": "stopped"}
    assert stream.headers["content-type"] == "text/event-stream"
    boards: list[tuple[str, Any]] = [
        ("board", {"moment_ms": number, "positions": {}, "behind_s": None}) for number in (1, 2, 3)
    ]
    assert first == boards[0]
    became = {**stopped, "before": None, "after": "ERR", "moment_ms": 2}
    assert appeared == (("status", became), boards[1])
    became = {**stopped, "before": "ERR", "after": "OK", "moment_ms": 3}
    assert changed == (("status", became), boards[2])
    assert gone == ("status", {**stopped, "before": "OK", "after": None, "moment_ms": 4})


def event(stream: Any) -> tuple[str, Any]:
    lines = dict[str, str]()
    while line := stream.readline().decode().rstrip("\n"):
        name, _, value = line.partition(": ")
        lines[name] = value
    return lines["event"], json.loads(lines["data"])
