"""A group in a message is what `/status` answers."""

from support.boards import NOW_S, cluster_board, windows_of

from warren.model.status import Status
from warren.notify.due_message import group_result, missing_result
from warren.notify.message import GroupResult, Offset, PartitionResult


def test_a_group_with_its_bad_partitions_and_the_one_that_lags_most() -> None:
    ends = {"orders": [100, 100, 100]}
    old = (NOW_S - 3600) * 1000
    commits = [("billing", "orders", 0, 100, old), ("billing", "orders", 2, 40, old)]
    board = cluster_board(windows_of(ends, commits), ends)

    result = group_result("local", board.verdicts, 0)

    at = Offset(offset=40, timestamp=old, observed_at=NOW_S * 1000, lag=60)
    stopped = PartitionResult("orders", 2, "", "", Status.STOP, at, at, 60, 0.1)
    assert result == GroupResult("local", "billing", Status.ERR, 0.0, (stopped,), 3, stopped, 60)


def test_a_partition_without_commits_has_no_start_and_no_end() -> None:
    ends = {"orders": [100, 100]}
    board = cluster_board(windows_of(ends, [("billing", "orders", 1, 100, NOW_S * 1000)]), ends)

    result = group_result("local", board.verdicts, 0)

    never = PartitionResult("orders", 0, "", "", Status.OK, None, None, 0, 0.0)
    assert result == GroupResult("local", "billing", Status.OK, 0.0, (), 2, never, 0)


def test_a_group_that_is_gone_is_not_found() -> None:
    gone = missing_result("local", "billing")

    assert gone == GroupResult("local", "billing", Status.NOTFOUND, 1.0, (), 0, None, 0)
