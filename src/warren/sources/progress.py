"""How far the reading of an offsets topic has come. Time is an argument, in seconds."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

HELD_AFTER_S = 20  # commits of a transaction take milliseconds; one that stands this long hangs
RATE_OVER_S = 10.0


@dataclass
class Progress:
    """Positions in the offsets topic: where we are, where its end is, since when it stands."""

    position: dict[int, int] = field(default_factory=dict)  # next record to fold
    end: dict[int, int] = field(
        default_factory=dict
    )  # next record to be written, transactions open or not
    stable: dict[int, int] = field(default_factory=dict)  # up to here nothing is open
    records: int = 0  # read since the start
    restarts: int = 0
    unanswered: list[int] = field(default_factory=list)  # partitions whose leader gave no answer
    problem: str = ""  # why nothing is being read, if so
    _standing_since: dict[int, float] = field(default_factory=dict)  # before something open
    _counted: deque[tuple[float, int]] = field(default_factory=deque)  # moments, records by then
    _target: dict[int, int] = field(default_factory=dict)  # the end, when it was first seen
    _caught_up: bool = False

    def begin(self, start: Mapping[int, int], now: float) -> None:
        """Reading begins, or begins anew, from here."""
        self.position.update(start)
        self.problem = ""
        self._counted = deque([(now, self.records)])
        self._settle()

    def advance(self, until: Mapping[int, int], records: int, now: float) -> None:
        self.position.update(until)
        self.records += records
        self._counted.append((now, self.records))
        while len(self._counted) > 2 and now - self._counted[1][0] >= RATE_OVER_S:
            self._counted.popleft()
        self._settle()

    def see_ends(self, end: Mapping[int, int], stable: Mapping[int, int], now: float) -> None:
        for partition, offset in stable.items():
            if end.get(partition, offset) == offset:  # nothing is open
                self._standing_since.pop(partition, None)
            elif self.stable.get(partition) != offset:
                self._standing_since[partition] = now
            else:
                self._standing_since.setdefault(partition, now)
        self.end.update(end)
        self.stable.update(stable)
        self._target = self._target or dict(stable)
        self._settle()

    def forget_positions(self) -> None:
        """The topic was made anew: where it was read to, and its ends, are no more."""
        self.position.clear()
        self.end.clear()
        self.stable.clear()
        self._standing_since.clear()
        self._target.clear()
        self._caught_up = False

    def held_back(self, now: float) -> list[int]:
        """Partitions that a hanging transaction keeps from being read further."""
        standing = self._standing_since.items()
        return sorted(partition for partition, since in standing if now - since >= HELD_AFTER_S)

    @property
    def remaining(self) -> int:
        """Records between here and what can be read now."""
        return sum(max(end - self.position.get(p, end), 0) for p, end in self.stable.items())

    @property
    def is_caught_up(self) -> bool:
        """Whether the end, as it was at the start, has been reached."""
        return self._caught_up

    def rate(self, now: float) -> float:
        """Records a second, lately."""
        if not self._counted:
            return 0.0
        since, count = self._counted[0]
        return (self.records - count) / max(now - since, 1.0)

    def seconds_left(self, now: float) -> float | None:
        rate = self.rate(now)
        return self.remaining / rate if rate else None

    def _settle(self) -> None:
        reached = self._target.keys() <= self.position.keys() and all(
            self.position[partition] >= offset for partition, offset in self._target.items()
        )
        self._caught_up = self._caught_up or (bool(self._target) and reached)
