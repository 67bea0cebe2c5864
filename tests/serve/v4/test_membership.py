"""What /v4 tells of the life of groups, and of groups that have no verdict."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.boards import NOW_S, board, cluster_board, windows_of
from support.http_side import Running, ask, running

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
    with running(tmp_path_factory.mktemp("life")) as server:
        server.publish(board(local=judged, old=cluster_board(windows, ENDS)))
        yield server


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
