"""What a decoded batch holds: the commits that count, what happened to groups, our own progress."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warren.decode.group_records import parse_group_record
from warren.model.arrays import Ints
from warren.model.group_events import ClassicGroup, Event, Malformed
from warren.model.tables import LOGGED_MS
from warren.pipeline.cluster import Accepts
from warren.pipeline.consumers import TopicConsumer

MS = 1000


class GroupEvents(NamedTuple):
    """The records about groups, in log order, and when the brokers wrote them."""

    events: list[Event]
    logged_ms: list[int | None]

    def written_s(self, now: float) -> Iterator[float]:
        """None was written after now; 0 where it is not known."""
        return (min(max(each or 0, 0) / MS, now) for each in self.logged_ms)


def group_events(
    decoded: pa.Table, topic_consumer: TopicConsumer
) -> tuple[GroupEvents, Counter[str]]:
    """Parse the records about groups; count those that cannot be, by reason."""
    raw = decoded.filter(decoded["key"].is_valid())
    found = GroupEvents([], [])
    malformed: Counter[str] = Counter()
    for partition, logged_ms, event in _parse(raw):
        if isinstance(event, Malformed):
            malformed[event.reason] += 1
            continue
        if isinstance(event, ClassicGroup) and event.wrong:
            malformed[event.wrong] += 1
        is_accepted = topic_consumer.accepts_event(event, partition)
        told = event if is_accepted else topic_consumer.past_generation(event)
        if told is not None:
            found.events.append(told)
            found.logged_ms.append(logged_ms)
    return found, malformed


def _parse(raw: pa.Table) -> Iterator[tuple[int, int | None, Event]]:
    names = ("log_partition", "key", "value")
    partitions, keys, values = (raw[name].to_pylist() for name in names)
    has_time = LOGGED_MS in raw.column_names
    logged_ms = raw[LOGGED_MS].to_pylist() if has_time else [None] * len(raw)
    for partition, at_ms, key, value in zip(partitions, logged_ms, keys, values, strict=True):
        yield partition, at_ms, parse_group_record(key, value)


def keep_accepted(decoded: pa.Table, accepts: Accepts) -> pa.Table:
    """Keep the commits of groups that pass the allow and deny lists."""
    if accepts.everything:
        return decoded
    names = decoded["group"].unique().drop_null().to_pylist()
    wanted = pa.array([name for name in names if accepts(name)], pa.string())
    return decoded.filter(pc.is_in(decoded["group"].cast(pa.string()), wanted))


def own_commits(topic_consumer: TopicConsumer, decoded: pa.Table, now_s: int) -> pa.Table:
    """Our own progress as Burrow reports it: a commit for each of the last records read."""
    kept = topic_consumer.cluster.windows.intervals
    partition, order = (decoded[name].to_numpy() for name in ("log_partition", "order"))
    by_partition = np.argsort(partition, kind="stable")  # keeps the order within a partition
    partition, order = partition[by_partition], order[by_partition]
    last = len(order) - 1 - np.searchsorted(-partition[::-1], -partition, side="left")
    recent = np.arange(len(order)) > last - kept
    partition, order = partition[recent], order[recent]
    return pa.table(
        {
            "group": pa.array([topic_consumer.own_group] * len(order), pa.string()),
            "topic": pa.array([topic_consumer.settings.offsets_topic] * len(order), pa.string()),
            "partition": partition,
            "offset": order + 1,
            "committed_ms": np.full(len(order), now_s * MS),
            "order": order,
        }
    )


def with_written_ms(commits: pa.Table, read_before_ms: Ints, now: float) -> pa.Table:
    """Add when each commit was written, by our own clock.

    That is after the moment up to which its partition had been read, and before now. Within these
    bounds we take the commit's own timestamp, which comes from another clock.
    """
    committed_ms = commits["committed_ms"].fill_null(0).to_numpy()
    written_ms = np.clip(committed_ms, read_before_ms, max(int(now * MS), 0))
    return commits.append_column("written_ms", pa.array(written_ms))
