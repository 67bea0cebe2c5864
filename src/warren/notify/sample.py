"""A sample incident: templates are tried with it, and `notify-test` sends it."""

import msgspec

from warren.model.status import Status
from warren.notify.due_message import missing_result
from warren.notify.message import (
    NOT_KNOWN,
    DigestLine,
    Event,
    GroupResult,
    Measures,
    Message,
    Offset,
    PartitionResult,
)

CLUSTER, GROUP = "sample-cluster", "sample-group"
LASTED_MS = 600_000
NOW_MS = 1_700_000_000_000  # for messages that are written and discarded


def sample(event: Event, now_ms: int) -> Message:
    """A group with two bad partitions out of three opens an incident, or closes it."""
    result = _bad(now_ms) if event == "open" else _good(now_ms)
    start_ms = now_ms if event == "open" else now_ms - LASTED_MS
    return Message(event, CLUSTER, GROUP, "sample-incident", start_ms, now_ms, result)


def sample_gone(now_ms: int) -> Message:
    """The close of a group that is gone."""
    result = missing_result(CLUSTER, GROUP)
    return msgspec.structs.replace(sample("close", now_ms), result=result)


def sample_digest(event: Event, now_ms: int) -> Message:
    """Two groups in one message."""
    one = sample(event, now_ms)
    status, lag = one.result.status, one.result.total_lag
    line = DigestLine(CLUSTER, GROUP, status, lag, one.id, one.start_ms)
    result = GroupResult("", "", status, 1.0, (), 0, None, 2 * lag)
    return Message(event, "", "", "", one.start_ms, now_ms, result, digest=(line, line))


def _bad(now_ms: int) -> GroupResult:
    stopped = _partition(1, Status.STOP, 4_200, now_ms)
    slow = _partition(2, Status.WARN, 1_300, now_ms)
    return GroupResult(
        CLUSTER, GROUP, Status.ERR, 1.0, (stopped, slow), 3, stopped, 5_500, _numbers(5_500)
    )


def _good(now_ms: int) -> GroupResult:
    return GroupResult(
        CLUSTER, GROUP, Status.OK, 1.0, (), 3, _partition(1, Status.OK, 0, now_ms), 0
    )


def _numbers(lag: int) -> Measures:
    """Some ten minutes old; nothing is lost yet."""
    return Measures(
        lag=lag,
        lag_low=lag - 100,
        lag_high=lag,
        age_s=625.0,
        age_low_s=620.0,
        age_high_s=630.0,
        age_method="by_ends",
        drain_low_s=float("inf"),
        drain_high_s=float("inf"),
        margin_s=36_000.0,
        lost=0,
    )


def _partition(number: int, status: Status, lag: int, now_ms: int) -> PartitionResult:
    start = Offset(1_000, now_ms - LASTED_MS, now_ms - LASTED_MS, 100)
    end = Offset(9_000, now_ms, now_ms, lag)
    return PartitionResult(
        "sample-topic",
        number,
        "/192.0.2.1",
        "sample-client",
        status,
        start,
        end,
        lag,
        1.0,
        _numbers(lag) if lag else NOT_KNOWN,
    )
