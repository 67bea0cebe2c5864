"""The windows of a cluster told plainly: one commit at a time, in lists and dictionaries.

What the arrays must come to. It also says what had to wait for a log end, which Burrow drops.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Slot(NamedTuple):
    offset: int
    order: int
    ts: int
    lag: int | None = None


@dataclass
class Window:
    slots: list[Slot] = field(default_factory=list)
    last_ts: int = 0
    waits: bool = False  # lags are not known before the first log end


@dataclass
class Model:
    intervals: int = 10
    min_distance_ms: int = 0
    ends: dict[str, list[list[int]]] = field(default_factory=dict)
    windows: dict[tuple[str, str, int], Window] = field(default_factory=dict)
    partitions: dict[tuple[str, str], int] = field(default_factory=dict)
    owners: dict[tuple[str, str, int], tuple[str, str]] = field(default_factory=dict)
    waited: set[tuple[str, str, int]] = field(default_factory=set)  # now or before

    def log_end(self, topic: str, partition: int, count: int, offset: int) -> None:
        rings = self.ends.setdefault(topic, [])
        rings += [[] for _ in range(count - len(rings))]
        rings[partition] = [*rings[partition], offset][-self.intervals :]
        for (group, of_topic, number), window in self.windows.items():
            if window.waits and (of_topic, number) == (topic, partition):
                window.waits = False
                self._touch(group, topic)
                window.slots = [
                    s if s.lag is None else s._replace(lag=max(offset - s.offset, 0))
                    for s in window.slots
                ]

    def _end(self, topic: str, partition: int) -> int | None:
        rings = self.ends.get(topic, [])
        return rings[partition][-1] if partition < len(rings) and rings[partition] else None

    def _touch(self, group: str, topic: str) -> None:
        self.partitions[group, topic] = len(self.ends[topic])

    def commit(self, group: str, topic: str, partition: int, new: Slot) -> None:
        """Take a commit, which has no lag yet."""
        if partition < 0:
            return
        end = self._end(topic, partition)
        if end is None:
            self.waited.add((group, topic, partition))
        else:
            self._touch(group, topic)
        window = self.windows.setdefault((group, topic, partition), Window(waits=end is None))
        if not window.slots or new.order > window.slots[-1].order:
            new = new._replace(lag=max((end or 0) - new.offset, 0))
            window.last_ts = max(window.last_ts, new.ts)
        window.slots = self._placed(window.slots, new)

    def _placed(self, slots: list[Slot], new: Slot) -> list[Slot]:
        full = len(slots) == self.intervals
        if any(slot.order == new.order for slot in slots):
            return slots
        older = [slot for slot in slots if slot.order < new.order]
        younger = slots[len(older) :]
        if full and not older:
            return slots
        replaces_oldest = full and len(older) == 1
        if younger and (not older or replaces_oldest):
            return [new, *younger]
        if older and new.ts - older[-1].ts < self.min_distance_ms:
            return [*older[:-1], new._replace(ts=older[-1].ts), *younger]
        return [*older, new, *younger][-self.intervals :]

    def tombstone(self, group: str, topic: str, partition: int) -> None:
        self.windows.pop((group, topic, partition), None)
        self._forget_unused()

    def own(self, group: str, topic: str, partition: int, owner: tuple[str, str]) -> None:
        self.owners[group, topic, partition] = owner
        if self._end(topic, partition) is None:
            self.waited.add((group, topic, partition))
        else:
            self._touch(group, topic)

    def clear_owners(self, group: str) -> None:
        self.owners = {key: owner for key, owner in self.owners.items() if key[0] != group}
        self._forget_unused()

    def delete_group(self, group: str, topic: str | None) -> None:
        def goes(key: tuple[Any, ...]) -> bool:
            return key[0] == group and topic in (None, key[1])

        self.windows = {key: window for key, window in self.windows.items() if not goes(key)}
        self.owners = {key: owner for key, owner in self.owners.items() if not goes(key)}
        self._forget_unused()

    def delete_topic(self, topic: str) -> None:
        if topic not in self.ends:
            return
        del self.ends[topic]
        for key in [key for key, window in self.windows.items() if key[1] == topic]:
            if not self.windows[key].waits:
                del self.windows[key]
        self.owners = {key: owner for key, owner in self.owners.items() if key[1] != topic}
        self._forget_unused()

    def _forget_unused(self) -> None:
        placed = {key[:2] for key, window in self.windows.items() if not window.waits}
        used = placed | {key[:2] for key in self.owners}
        self.partitions = {key: count for key, count in self.partitions.items() if key in used}

    def groups(self) -> list[str]:
        """Groups with a window in place."""
        return sorted({key[0] for key, window in self.windows.items() if not window.waits})

    def topic(self, topic: str) -> list[int | None]:
        """The newest end of each partition."""
        return [ends[-1] if ends else None for ends in self.ends[topic]]

    def last_ts(self, group: str) -> int:
        return max(w.last_ts for key, w in self.windows.items() if key[0] == group and not w.waits)

    def fetch(self, group: str) -> dict[str, list[dict[str, Any]]]:
        return {
            topic: [self._shape(group, topic, number) for number in range(count)]
            for (of_group, topic), count in self.partitions.items()
            if of_group == group
        }

    def _shape(self, group: str, topic: str, partition: int) -> dict[str, Any]:
        window = self.windows.get((group, topic, partition), Window())
        slots = [] if window.waits else [slot._asdict() for slot in window.slots]
        owner, client = self.owners.get((group, topic, partition), ("", ""))
        free = self.intervals - len(slots) if slots or owner or client else 0
        ends = self.ends[topic][partition]
        return {
            "slots": [None] * free + slots,
            "owner": owner,
            "client_id": client,
            "current_lag": max(ends[-1] - slots[-1]["offset"], 0) if slots and ends else 0,
            "broker_offsets": ends,
        }
