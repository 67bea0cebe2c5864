"""Many messages in one, when each by itself would be a flood."""

from collections.abc import Callable, Iterator
from itertools import islice

from warren import bounds
from warren.model import Status
from warren.notify.message import Event, GroupResult, Message
from warren.notify.wanted import Wanted

KEPT_BACK = 2  # of a minute's messages: for a digest of openings and one of closes


def next_batch(
    queue: Iterator[Wanted], left: int, digests: Callable[[Event], bool]
) -> list[Wanted]:
    """Take the first of the queue; when it is too long for the messages left, all of its kind.

    What cannot be told in a digest comes one by one, at the rate there is.
    """
    first = list(islice(queue, 1))
    if not first or left > KEPT_BACK:
        return first
    rest, event = list(queue), first[0].notice.event
    if len(rest) < left or not digests(event):
        return first
    return first + [each for each in rest if each.notice.event == event]


def compose(batch: list[Wanted]) -> Message:
    """The message about one group, or the digest of several."""
    if len(batch) == 1:
        return batch[0].message()
    lines = tuple(each.line() for each in batch)
    total = GroupResult(
        cluster="",
        group="",
        status=Status(max(line.status for line in lines)),
        complete=1.0,
        partitions=(),
        total_partitions=0,
        maxlag=None,
        total_lag=bounds.total(line.total_lag for line in lines),
    )
    notices = [each.notice for each in batch]
    return Message(
        event=notices[0].event,
        cluster="",
        group="",
        id="",
        start_ms=min(notice.start_ms for notice in notices),
        now_ms=max(notice.now_ms for notice in notices),
        result=total,
        digest=lines,
    )
