"""What /v4 tells of the life of groups, and of groups that have no verdict."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.boards import NOW_S, board, cluster_board, windows_of
from support.http_side import Running, ask, running

from warren.model.board import ClusterBoard
from warren.model.group_events import (
    ClassicGroup,
    ClassicMember,
    Epoch,
    Event,
    MemberSeen,
    Protocol,
    Subscription,
)
from warren.windows.group_lives import GroupLives
from warren.windows.group_members import Membership
from warren.windows.window_reader import window_arrays

ENDS = {"bills": [9], "orders": [9, 9]}
COMMITS = [
    (group, topic, partition, 5, NOW_S * 1000)
    for group in ("assigns", "billing")
    for topic, ends in ENDS.items()
    for partition in range(len(ends))
]


def generation(number: int, *members: ClassicMember) -> ClassicGroup:
    return ClassicGroup("billing", number, members)


ONE = ClassicMember("m", "i", "c", "/one", {"orders": (0, 1)}, Subscription(("orders", "bills")))
TWO = ClassicMember("n", "", "c", "/two", {"bills": (0,)}, Subscription(("bills",)))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    windows, membership = windows_of(ENDS, COMMITS), Membership()
    share = MemberSeen("share", "m", "", "c", "/h", Subscription(("orders",)), Protocol.SHARE)
    events: list[Event] = [
        generation(1, ONE),
        generation(2, TWO),
        Epoch("share", 4, Protocol.SHARE),
        share,
    ]
    changes = membership.fold(events, [NOW_S - 60, NOW_S, NOW_S, NOW_S])
    windows.set_owners("billing", {("orders", 0): ("/one", "c"), ("orders", 1): ("/one", "c")})
    windows.set_owners("billing", changes.owners["billing"])
    lives, view = GroupLives(), window_arrays(windows)
    life = lives.read(windows, membership, view, NOW_S)
    judged = replace(cluster_board(windows, ENDS), life=life, others=lives.others())
    clusters = {"local": judged, "old": cluster_board(windows, ENDS), "empty": stopped()}
    with running(tmp_path_factory.mktemp("life")) as server:
        server.publish(board(**clusters))
        yield server


def stopped() -> ClusterBoard:
    """It has committed nothing for minutes, and its members are gone."""
    commits = [("billing", "orders", 0, at, (NOW_S - 200 + at) * 1000) for at in range(5)]
    windows, membership = windows_of(ENDS, commits), Membership()
    membership.fold([generation(1, ONE), generation(2)], [NOW_S - 600, NOW_S - 180])
    life = GroupLives().read(windows, membership, window_arrays(windows), NOW_S)
    return replace(cluster_board(windows, ENDS), life=life)


def test_a_group_tells_of_its_life(server: Running) -> None:
    life = ask(server.port, "/v4/group?cluster=local&group=billing").json["life"]

    assert life == {
        "kind": "classic",
        "members": 1,
        "static_members": 0,
        "generations_per_minute": 0.333,
        "churn_per_minute": 0.667,
        "empty_since_ms": None,
        "rebalanced_ms": NOW_S * 1000,
        "topics": [
            {"topic": "bills", "is_subscribed": True, "last_owners": ["/two"]},
            {"topic": "orders", "is_subscribed": False, "last_owners": ["/one", "/one"]},
        ],
    }


def test_lists_partitions_and_reasons_tell_of_it_too(server: Running) -> None:
    group = ask(server.port, "/v4/group?cluster=local&group=billing").json
    lines = ask(server.port, "/v4/groups?cluster=local").json["groups"]
    explained = ask(server.port, "/v4/explain?cluster=local&group=billing&all=true").json

    brief = {name: each for name, each in group["life"].items() if name != "topics"}
    assert explained["life"] == brief
    assert [each["life"]["kind"] for each in lines] == ["none", "classic"]
    assert lines[1]["life"] == group["summary"]["life"] == brief
    for parts in (group["partitions"], explained["reasons"]):
        assert [each.get("last_owner") for each in parts] == [None, "/one", "/one"]


def test_a_bad_group_without_members_says_since_when_it_has_none(server: Running) -> None:
    explained = ask(server.port, "/v4/explain?cluster=empty&group=billing").json

    assert explained["why"].endswith("It has had no members since 2023-11-14T22:10:20Z.")
    assert explained["life"]["empty_since_ms"] == (NOW_S - 180) * 1000


def test_a_group_without_records_says_so(server: Running) -> None:
    life = ask(server.port, "/v4/group?cluster=local&group=assigns").json["life"]
    of_old = ask(server.port, "/v4/group?cluster=old&group=billing").json["life"]

    assert (life["kind"], life["members"], life["rebalanced_ms"]) == ("none", 0, None)
    assert [each["is_subscribed"] for each in life["topics"]] == [None, None]
    assert of_old is None


def test_groups_without_a_verdict_are_listed(server: Running) -> None:
    found = ask(server.port, "/v4/others?cluster=local")

    assert found.json["groups"] == [
        {
            "group": "share",
            "kind": "share",
            "members": 1,
            "static_members": 0,
            "generation": 4,
            "empty_since_ms": None,
            "topics": ["orders"],
        }
    ]
    assert ask(server.port, "/v4/others?cluster=nowhere").status == 404
