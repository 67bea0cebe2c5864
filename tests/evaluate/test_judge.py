"""Verdicts over several groups, as the windows show them."""

import pytest
from support.batches import NOW, Record, batch, log_ends

from warren.evaluate.judge import JudgeSettings, judge
from warren.evaluate.rules import Rule
from warren.model.status import Status
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows


@pytest.fixture
def windows() -> Windows:
    """Group `zebra` reads t and a, group `ant` reads t; t has three partitions."""
    windows = Windows(intervals=2)
    windows.set_log_ends(log_ends(100, 100, 100), {"t": 3})
    windows.set_log_ends(log_ends(50, topic="a"), {"a": 1})
    windows.fold(
        batch(
            Record(1, offset=40, after_ms=-3000, group="zebra", partition=1),
            Record(2, offset=40, after_ms=-2000, group="zebra", partition=1),
            Record(3, offset=50, after_ms=-3000, group="zebra", topic="a"),
            Record(4, offset=99, after_ms=-2000, group="ant"),
        ),
        NOW,
    )
    windows.set_owners("zebra", {("t", 1): ("/host", "client")})
    return windows


def test_groups_and_their_partitions_come_sorted(windows: Windows) -> None:
    verdicts = judge(window_arrays(windows), JudgeSettings(), NOW - 1)

    lines = [
        (verdicts.topics[topic], number)
        for topic, number in zip(
            verdicts.partitions.topic.tolist(), verdicts.partitions.partition.tolist(), strict=True
        )
    ]
    assert verdicts.names == ("ant", "zebra")
    assert verdicts.groups.first.tolist() == [0, 3, 7]
    assert lines == [("t", 0), ("t", 1), ("t", 2), ("a", 0), ("t", 0), ("t", 1), ("t", 2)]
    assert verdicts.line("zebra") == 1
    assert verdicts.line("bear") is None


def test_a_group_is_as_bad_as_its_worst_partition(windows: Windows) -> None:
    verdicts = judge(window_arrays(windows), JudgeSettings(), NOW - 1)

    partitions, groups = verdicts.partitions, verdicts.groups
    assert partitions.rule.tolist() == [
        Rule.STOPPED,
        Rule.NOT_JUDGED,
        Rule.NOT_JUDGED,
        Rule.CAUGHT_UP,
        Rule.NOT_JUDGED,
        Rule.STALLED,
        Rule.NOT_JUDGED,
    ]
    assert partitions.status[[0, 3, 5]].tolist() == [Status.STOP, Status.OK, Status.STALL]
    assert groups.status.tolist() == [Status.ERR, Status.ERR]
    assert groups.total_lag.tolist() == [1, 60]
    assert groups.max_lag_line.tolist() == [0, 5]
    assert groups.complete.tolist() == [0, 0.25]
    assert groups.last_commit_ms.tolist() == [NOW * 1000 - 2000, NOW * 1000 - 2000]
    assert verdicts.owners[partitions.owner[5]] == "/host"
    assert verdicts.owners[partitions.client[5]] == "client"


def test_settings_bound_what_is_judged(windows: Windows) -> None:
    half_is_not_enough = judge(window_arrays(windows), JudgeSettings(minimum_complete=0.6), NOW - 1)
    some_lag_is_fine = judge(window_arrays(windows), JudgeSettings(allowed_lag=60), NOW - 1)

    assert half_is_not_enough.groups.status.tolist() == [Status.OK, Status.ERR]
    assert some_lag_is_fine.groups.status.tolist() == [Status.OK, Status.OK]


def test_later_commits_do_not_change_a_verdict_that_is_out(windows: Windows) -> None:
    verdicts = judge(window_arrays(windows), JudgeSettings(), NOW - 1)

    windows.fold(batch(Record(5, offset=100, group="ant"), Record(6, offset=7, group="new")), NOW)
    windows.set_owners("zebra", {("t", 1): ("/other", "other")})
    windows.delete_group("zebra")

    assert verdicts.names == ("ant", "zebra")
    assert verdicts.partitions.end.offset[[0, 5]].tolist() == [99, 40]
    assert verdicts.partitions.current_lag[[0, 5]].tolist() == [1, 60]
    assert verdicts.owners[verdicts.partitions.owner[5]] == "/host"


def test_no_groups_give_empty_verdicts() -> None:
    verdicts = judge(window_arrays(Windows()), JudgeSettings(), NOW)

    assert verdicts.names == ()
    assert len(verdicts.groups.status) == len(verdicts.partitions.status) == 0


def test_an_absurd_commit_makes_an_absurd_lag_and_wraps_nothing() -> None:
    windows = Windows(intervals=2)
    absurd = [-(2**62), -(2**62), -(2**62), -(2**63)]
    commits = [Record(at, offset, partition=at) for at, offset in enumerate(absurd)]
    windows.fold(batch(*commits[:2]), NOW)  # these wait for their log ends
    windows.set_log_ends(log_ends(*[100] * 4), {"t": 4})
    windows.fold(batch(*commits[2:]), NOW)
    windows.fold(batch(Record(4, offset=2**63 - 1, group="beyond")), NOW)
    windows.fold(batch(Record(5, offset=90, group="other")), NOW)

    verdicts = judge(window_arrays(windows), JudgeSettings(), NOW)

    lags = [2**62 + 100, 2**62 + 100, 2**62 + 100, 2**63 - 1]
    assert verdicts.names == ("beyond", "g", "other")
    assert verdicts.partitions.current_lag.tolist() == [0, 0, 0, 0, *lags, 10, 0, 0, 0]
    assert verdicts.partitions.end.lag[4:8].tolist() == lags
    assert verdicts.groups.total_lag.tolist() == [0, 2**63 - 1, 10]
    assert verdicts.groups.status.tolist() == [Status.OK, Status.ERR, Status.ERR]
