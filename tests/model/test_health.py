"""Whether something is current is answered in one place; the rest of health is what is served."""

from pathlib import Path

import msgspec
from support.config_files import MINIMAL, load_text

from warren.model.health import (
    ClusterHealth,
    ConsumerHealth,
    Health,
    HistoryHealth,
    IncidentsHealth,
    KeeperHealth,
    LockHealth,
    NotifierHealth,
    RecentHealth,
    RoundsHealth,
    SinkHealth,
    SnapshotsHealth,
    UpkeepHealth,
    on_standby,
)
from warren.services import not_begun

READ = ConsumerHealth("c", "caught up", remaining=0, seconds_left=None)
OF_A_TOPIC = ConsumerHealth(
    "c",
    "caught up",
    problem="",
    restarts=0,
    records=7,
    skipped={},
    remaining=0,
    rate=0.0,
    seconds_left=None,
    lag={},
    positions={"0": 7},
    behind_s=None,
    read_age_s=None,
    end_age_s=1.5,
    held_back=[],
    unanswered=[],
    backfill_partitions_left=2,
    backfill_problem="no broker answers",
)
OUTSIDE = ConsumerHealth(
    "c", "failed", problem="away", restarts=1, records=0, skipped={}, remaining=0, behind_s=None
)


def test_a_consumer_is_current_when_all_is_read_or_will_be_in_seconds() -> None:
    cases = {
        "caught up": (READ, True),
        "nothing is told of what is left": (ConsumerHealth("c", "caught up"), True),
        "seconds are left": (
            ConsumerHealth("c", "caught up", remaining=9, seconds_left=30.0),
            True,
        ),
        "more than seconds are left": (
            ConsumerHealth("c", "caught up", remaining=9, seconds_left=30.1),
            False,
        ),
        "nobody knows what is left": (
            ConsumerHealth("c", "caught up", remaining=9, seconds_left=None),
            False,
        ),
        "connecting": (ConsumerHealth("c", "connecting"), False),
        "catching up": (ConsumerHealth("c", "catching up", remaining=0), False),
        # To history this one was current once, and to notifiers it was not.
        "failed with nothing left to read": (ConsumerHealth("c", "failed", remaining=0), False),
        "failed": (ConsumerHealth("c", "failed", remaining=9, seconds_left=1.0), False),
    }

    wrong = [name for name, (each, expected) in cases.items() if each.is_current != expected]

    assert wrong == []


def test_a_cluster_is_current_when_it_answers_and_is_judged_as_of_now() -> None:
    cases = {
        "judged": (ClusterHealth(data_age_s=1.0), True),
        "some brokers are silent": (ClusterHealth(data_age_s=1.0, silent_brokers=[2]), True),
        "no broker answers": (ClusterHealth(data_age_s=1.0, problem="timed out"), False),
        "as its snapshot was": (ClusterHealth(data_age_s=1.0, restored=True), False),
        # To history this one was current once.
        "not judged yet": (ClusterHealth(), False),
    }

    wrong = [name for name, (each, expected) in cases.items() if each.is_current != expected]

    assert wrong == []


def test_answers_wait_for_what_can_be_read_and_no_longer() -> None:
    failed = ConsumerHealth("c", "failed", problem="no such topic")
    reading = ConsumerHealth("c", "catching up", problem="")
    away = {"c": ClusterHealth(problem="timed out")}
    cases = {
        "nothing is known": (Health(), False),
        "ready": (Health(ready=True, consumers={"a": reading}), True),
        "caught up": (Health(ready=False, consumers={"a": READ}), True),
        "one reads": (Health(ready=False, consumers={"a": READ, "b": reading}), False),
        "one has failed": (Health(ready=False, consumers={"a": READ, "b": failed}), True),
        "its cluster is away": (Health(clusters=away, consumers={"b": reading}), True),
    }

    wrong = [
        name for name, (each, expected) in cases.items() if each.is_current_for_answers != expected
    ]

    assert wrong == []


def test_health_is_the_same_after_its_way_to_the_workers() -> None:
    keeper = KeeperHealth("", 0, directory="d", last_moment_ms=None, last_rows=None, outcomes={})
    health = Health(
        ready=True,
        clusters={"c": ClusterHealth(data_age_s=1.0, dropped={"late": 2})},
        consumers={"a": OF_A_TOPIC, "b": OUTSIDE, "new": ConsumerHealth("c", "connecting")},
        tick_seconds=0.5,
        spark="up",
        incidents=IncidentsHealth(
            LockHealth("", 0, leads=True),
            RoundsHealth("", 0, leads=True, open=1, silent=["c"], silent_consumers=[]),
        ),
        notifiers={"pager": NotifierHealth("503", 2, queued=1, outcomes={"sent": 3})},
        history=HistoryHealth(
            LockHealth("", 0, leads=False),
            RecentHealth("", 0, moments=1, memory_mb=0.5, since_ms=None),
            on_standby(keeper),
            UpkeepHealth("", 0, merged_ms=None, expired_ms=5, merged_older_ms=None),
        ),
        snapshots={"state": SnapshotsHealth("", 0, {"c": 1.5})},
        sinks={"influx": SinkHealth("", 0, "influxdb", "running", None, None, {}, {})},
    )

    encoded = msgspec.json.encode(health)
    there = msgspec.json.decode(encoded, type=Health)

    assert there == health
    assert msgspec.json.encode(there) == encoded


def test_what_is_not_told_is_left_out_and_null_is_not() -> None:
    standby = on_standby(UpkeepHealth("", 0, merged_ms=5))
    cases = {
        "nothing is known": (Health(), []),
        "nothing is configured": (
            Health(ready=True, clusters={}, consumers={}),
            ["ready", "clusters", "consumers"],
        ),
        "reads a topic": (OF_A_TOPIC, [*OF_A_TOPIC.__struct_fields__[:-1]]),
        "reads checkpoints": (
            msgspec.structs.replace(OUTSIDE, not_read={"file:/x": "cut short"}),
            [*OF_A_TOPIC.__struct_fields__[:7], "behind_s", "not_read"],
        ),
        "reads elsewhere": (
            OUTSIDE,
            [*OF_A_TOPIC.__struct_fields__[:7], "behind_s"],
        ),
        "not begun": (ConsumerHealth("c", "connecting"), ["cluster", "state"]),
        "on standby": (standby, ["problem", "restarts", "state", "outcomes"]),
        "a cluster": (ClusterHealth(), [*ClusterHealth.__struct_fields__]),
    }

    found = {name: [*msgspec.to_builtins(each)] for name, (each, _) in cases.items()}

    assert found == {name: keys for name, (_, keys) in cases.items()}


def test_before_spark_is_up_services_wait(tmp_path: Path) -> None:
    config = load_text(tmp_path, MINIMAL + "[history]\n").config
    restored = Health(ready=True, clusters={"local": ClusterHealth()}, tick_seconds=0.1)
    waiting = {"problem": "", "restarts": 0, "state": "begins when Spark is up"}

    first, after = not_begun(config), not_begun(config, restored)

    assert msgspec.to_builtins(first) == {
        "ready": False,
        "consumers": {"local": {"cluster": "local", "state": "connecting"}},
        "spark": "starting",
        "history": {"keeper": waiting},
    }
    assert (after.ready, after.clusters, after.tick_seconds) == (False, restored.clusters, 0.1)


def test_requests_take_turns_only_while_something_is_read_that_has_piled_up() -> None:
    consumers = {"first": ConsumerHealth("a", "catching up"), "second": READ}
    died = {"a": ClusterHealth("no answer in time"), "c": ClusterHealth()}

    told = [Health(clusters=each, consumers=consumers).is_catching_up for each in ({}, died)]

    assert told == [True, False]
