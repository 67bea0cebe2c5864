"""What the broker of a scenario holds at any moment of its simulated clock.

A scenario is a file of events in order of time; `tests/judgement` says what they mean. The records
of the offsets topic are real bytes, in the order they were written.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
from support.records import (
    ClassicMember,
    commit_key,
    commit_value,
    group_key,
    group_value,
)

from warren.model.tables import LOGGED_MS, RECORDS
from warren.sources.tail_reader import Tail

BEGIN_S = 1_700_000_000
ROUNDING = 1e-6  # 0.1 s of 10 records a second is one record, whatever binary fractions make of it

OF_A_LOG = ("end", "grow", "start", "stable", "markers", "leader")

Where = tuple[str, int]  # topic and partition


class Written(NamedTuple):
    """A record of the offsets topic."""

    at_s: float
    key: bytes
    value: bytes | None


@dataclass
class Log:
    """One partition's log: where it begins and ends, and what its readers may see of it."""

    start: int
    offset: int  # its end at `since_s`
    since_s: float = 0.0
    rate: float = 0.0
    stable: int | None = None  # the last stable offset; None: the end
    markers: int = 0  # so many of the last offsets are transaction markers
    marked_end: int = 0  # the end they were at
    is_away: bool = False  # it has no leader

    def end(self, at_s: float) -> int:
        return self.offset + math.floor(self.rate * (at_s - self.since_s) + ROUNDING)

    def stable_end(self, at_s: float) -> int:
        end = self.end(at_s)
        return end if self.stable is None else min(self.stable, end)

    def tail_markers(self, at_s: float) -> int:
        return self.markers if self.end(at_s) == self.marked_end else 0

    def tail(self, at_s: float, first: int) -> Tail:
        """What a reader of committed data finds from an offset on."""
        readable = min(self.stable_end(at_s), self.end(at_s) - self.tail_markers(at_s))
        first = max(first, self.start)
        if first < readable:
            return Tail(first, is_record=True)
        return Tail(max(self.stable_end(at_s), first))

    def move(self, at_s: float, end: int, rate: float) -> None:
        self.offset, self.since_s, self.rate = end, at_s, rate


@dataclass
class ScenarioLog:
    """The topics of one scenario, and the records it writes to the offsets topic.

    Several scenarios share one clock and one cluster: each has a prefix for its groups and topics.
    """

    prefix: str = ""

    logs: dict[Where, Log] = field(default_factory=dict)
    retention_s: dict[str, float] = field(default_factory=dict)
    is_away: bool = False
    clock_s: float = 0.0  # how far the clock that commits are stamped by is ahead
    _generation: dict[str, int] = field(default_factory=dict)
    _committed: dict[str, set[Where]] = field(default_factory=dict)  # what a deletion has to clear
    fresh: list[Written] = field(default_factory=list)  # records of the offsets topic

    @classmethod
    def of(cls, topics: Mapping[str, Mapping[str, Any]], prefix: str = "") -> "ScenarioLog":
        logs = {
            (prefix + topic, partition): Log(each.get("start", 0), each.get("end", 0))
            for topic, each in topics.items()
            for partition in range(each["partitions"])
        }
        retention = {
            prefix + topic: float(each["retention_s"])
            for topic, each in topics.items()
            if each.get("retention_s")
        }
        return cls(prefix, logs, retention)

    @property
    def partition_counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for topic, partition in self.logs:
            counts[topic] = max(counts.get(topic, 0), partition + 1)
        return counts

    def apply(self, event: Sequence[Any]) -> None:
        at_s, what, *rest = event
        if what in OF_A_LOG:
            log = self.logs[self.prefix + rest[0], rest[1]]
            self._change(log, at_s, what, rest[2])
        elif what == "broker":
            self.is_away = rest == ["away"]
        else:
            self._write(at_s, what, self.prefix + rest[0], rest[1:])

    @staticmethod
    def _change(log: Log, at_s: float, what: str, value: Any) -> None:
        match what:
            case "end":
                log.move(at_s, value, 0.0)
            case "grow":
                log.move(at_s, log.end(at_s), value)
            case "start":
                log.start = value
            case "stable":
                log.stable = value
            case "leader":  # "away" or "back"; only our own scenarios have it
                log.is_away = value == "away"
            case "markers":
                log.markers, log.marked_end = value, log.end(at_s)

    def _write(self, at_s: float, what: str, group: str, rest: Sequence[Any]) -> None:
        """Events that are records of the offsets topic."""
        match what, rest:
            case "commit", [topic, partition, offset]:
                where = (self.prefix + topic, partition)
                self._committed.setdefault(group, set()).add(where)
                value = commit_value(offset, int((BEGIN_S + at_s + self.clock_s) * 1000))
                self._append(at_s, commit_key(group, *where), value)
            case "forget", [topic, partition]:
                where = (self.prefix + topic, partition)
                self._committed.get(group, set()).discard(where)
                self._append(at_s, commit_key(group, *where), None)
            case "members", [members]:
                generation = self._generation[group] = self._generation.get(group, 0) + 1
                listed = [self._member(*each) for each in members.items()]
                self._append(at_s, group_key(group), group_value(listed, generation=generation))
            case "delete", []:
                for where in sorted(self._committed.pop(group, set())):
                    self._append(at_s, commit_key(group, *where), None)
                self._append(at_s, group_key(group), None)
            case _:
                raise ValueError(f"no such event: {what} {rest}")

    def _member(self, member_id: str, about: Mapping[str, Any]) -> ClassicMember:
        assigned = about.get("assigned", {}).items()
        return ClassicMember(
            member_id,
            about.get("client", "client"),
            about.get("host", "/10.0.0.1"),
            {self.prefix + topic: partitions for topic, partitions in assigned},
            subscribed=[self.prefix + topic for topic in about.get("subscribed", ())],
        )

    def _append(self, at_s: float, key: bytes, value: bytes | None) -> None:
        self.fresh.append(Written(at_s, key, value))


def records_table(records: Sequence[Written], first: int) -> pa.Table:
    """As Spark's source gives them: the first has this offset."""
    columns = [
        pa.array([each.key for each in records], pa.binary()),
        pa.array([each.value for each in records], pa.binary()),
        pa.array([0] * len(records), pa.int32()),
        pa.array(range(first, first + len(records)), pa.int64()),
    ]
    logged_ms = pa.array([int((BEGIN_S + each.at_s) * 1000) for each in records], pa.int64())
    return pa.table(columns, schema=RECORDS).append_column(LOGGED_MS, logged_ms)
