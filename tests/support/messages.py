"""Messages to send, and notifiers to send them with."""

from typing import Any

from warren.config import Config
from warren.model.status import Status
from warren.notify.message import DigestLine, Event, GroupResult, Message, Offset, PartitionResult
from warren.notify.senders.choose import Writer, make_sender

CONFIG = Config()
START_MS, NOW_MS = 1_700_000_000_000, 1_700_000_600_000
GROUP = 'a&b "c"'


def partition(  # noqa: PLR0917  as a row of a table
    topic: str,
    number: int,
    status: Status,
    lag: int,
    complete: float = 1.0,
    at_start: int | None = 7,
) -> PartitionResult:
    start = Offset(100, 1_700_000_000_123, 1_700_000_001_000, at_start)
    end = Offset(100, 1_700_000_540_123, 1_700_000_541_000, lag)
    return PartitionResult(topic, number, "", "", status, start, end, lag, complete)


def message(
    event: Event = "open",
    group: str = GROUP,
    status: Status | None = None,
    reason: str = "",
    partitions: tuple[PartitionResult, ...] | None = None,
) -> Message:
    """A group with a stopped and a slow partition; a good one in a close."""
    if status is None:
        status = Status.ERR if event == "open" else Status.OK
    if partitions is None:
        bad = (partition("orders", 3, Status.STOP, 12_345), partition("bills", 0, Status.WARN, 9))
        partitions = bad if event == "open" else ()
    lag = sum(each.current_lag for each in partitions)
    worst = partitions[0] if partitions else None
    result = GroupResult("local", group, status, 1.0, partitions, 3, worst, lag)
    return Message(event, "local", group, "id-1", START_MS, NOW_MS, result, reason)


def digest(event: Event = "open", count: int = 3) -> Message:
    lines = tuple(
        DigestLine("local", f"group-{n}", Status.ERR, n, f"id-{n}", START_MS) for n in range(count)
    )
    total = GroupResult("", "", Status.ERR, 1.0, (), 0, None, sum(range(count)))
    return Message(event, "", "", "", START_MS, NOW_MS, total, digest=lines)


def made(notifier: Any, config: Config = CONFIG) -> Writer:
    return make_sender(notifier, config)
