"""What consumers keep in ZooKeeper, beside what is known from Kafka."""

import time
from collections import Counter

import msgspec
import pyarrow as pa

from warren.config import Consumer
from warren.model.group_events import ClassicGroup, ClassicMember
from warren.pipeline.cluster import Accepts, ClusterState
from warren.pipeline.consumers import Sources
from warren.pipeline.outside_consumer import OutsideConsumer, forget_vanished, groups_by_consumer
from warren.pipeline.steps import fold_outside_changes
from warren.sources.outside_changes import OutsideChanges, OutsideCommit, OutsideKey
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

NOW = time.time()
FIRST, SECOND = OutsideKey("first", "orders", 0), OutsideKey("second", "orders", 1)


def outside_consumer() -> OutsideConsumer:
    windows = Windows()
    ends = {"topic": ["orders"] * 2, "partition": [0, 1], "offset": [100, 100]}
    windows.set_log_ends(pa.table(ends), {"orders": 2})
    settings = Consumer(name="old", class_name="kafka_zk", cluster="c", servers=("zk:2181",))
    return OutsideConsumer(settings, ClusterState("c", windows), Accepts())


def told(*commits: OutsideCommit, owners: dict[str, str] | None = None) -> OutsideChanges:
    of_group = {group: {("orders", 0): (owner, "")} for group, owner in (owners or {}).items()}
    return OutsideChanges([*commits], of_group, Counter())


def committed(key: OutsideKey, offset: int | None, order: int = 1) -> OutsideCommit:
    return OutsideCommit(key, offset, int(NOW * 1000), order)


def groups(of: OutsideConsumer) -> list[str]:
    return [*window_arrays(of.cluster.windows).groups]


def owner(of: OutsideConsumer, key: OutsideKey) -> str:
    windows = of.cluster.windows
    return windows.owners.names[int(windows.grid.owner[windows.owners.row(*key)])]


def test_a_commit_comes_and_goes() -> None:
    old = outside_consumer()

    fold_outside_changes(old, told(committed(FIRST, 10), committed(SECOND, 20)), NOW)
    before = groups(old)
    fold_outside_changes(old, told(committed(FIRST, None)), NOW)

    assert (before, groups(old), old.records) == (["first", "second"], ["second"], 3)


def test_what_ended_while_nobody_watched_goes_once_all_have_told_what_there_is() -> None:
    old = outside_consumer()
    fold_outside_changes(old, told(committed(FIRST, 10), committed(SECOND, 20)), NOW)

    old.cluster.outside_groups = {"old": {"second"}, "slow": None}
    forget_vanished(old.cluster)
    too_early = groups(old)
    old.cluster.outside_groups["slow"] = set()
    forget_vanished(old.cluster)

    assert (too_early, groups(old)) == (["first", "second"], ["second"])


def test_owners_in_zookeeper_count_where_kafka_knows_no_members() -> None:
    old = outside_consumer()
    member = ClassicMember("id", "", "client", "/kafka-host", {"orders": (0,)})
    events = [ClassicGroup("first", 1, (member,))]
    for group, owners in old.cluster.membership.fold(events).owners.items():
        old.cluster.windows.set_owners(group, owners)
    both = OutsideKey("second", "orders", 0)

    fold_outside_changes(old, told(committed(FIRST, 10), committed(both, 20)), NOW)
    fold_outside_changes(old, told(owners={"first": "zk-host", "second": "zk-host"}), NOW)

    assert (owner(old, FIRST), owner(old, both)) == ("/kafka-host", "zk-host")


def test_groups_outside_kafka_are_known_by_who_tells_of_them() -> None:
    old = outside_consumer()
    fold_outside_changes(old, told(committed(FIRST, 10), committed(SECOND, 20)), NOW)

    old.cluster.outside_groups = {"old": {"first"}, "storm": set()}
    told_by_all = groups_by_consumer(old.cluster)
    old.cluster.outside_groups = {"old": {"first"}, "storm": None}  # what it has, nobody knows yet
    unclaimed = groups_by_consumer(old.cluster)

    assert told_by_all == {"old": {"first"}, "storm": set()}
    assert unclaimed == {"old": {"first"}, "storm": {"second"}}


def test_a_source_that_is_away_is_not_vouched_for_by_another() -> None:
    away, there = outside_consumer(), outside_consumer()
    there.settings = msgspec.structs.replace(there.settings, name="new")
    there.cluster = away.cluster
    away.cluster.outside_groups = {"old": {"first"}, "new": {"second"}}
    away.read_s, there.read_s = NOW - 600, NOW

    moments = Sources(outside_consumers=[away, there]).read_until_s(
        away.cluster.windows, ["first", "second"]
    )

    assert moments.tolist() == [NOW - 600, NOW]
