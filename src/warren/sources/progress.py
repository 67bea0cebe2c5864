"""How far the reading of an offsets topic has come, and what of it could not be read.

Time is an argument, in seconds.
"""

import math
from collections import Counter, deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import structlog

log = structlog.get_logger()

QUIET_S = 60.0


class Skips:
    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        self._told: dict[
            str, tuple[float, int]
        ] = {}  # when a reason was logged, and the total then

    def add(self, consumer: str, reasons: Mapping[str, int], now: float) -> None:
        self.total.update(reasons)
        for reason in reasons:
            told_at, told = self._told.get(reason, (float("-inf"), 0))
            if not 0 <= now - told_at < QUIET_S:  # it may be set back
                self._told[reason] = (now, self.total[reason])
                log.warning(
                    "failed to decode",
                    type="module",
                    coordinator="consumer",
                    name=consumer,
                    reason=reason,
                    records=self.total[reason] - told,
                )


HELD_AFTER_S = 20  # commits of a transaction take milliseconds; one that stands this long hangs
RATE_OVER_S = 10.0
LATE_S = 30.0  # who has not reached by now the end of so long ago is not caught up
PATIENCE_S = 30.0  # how long a partition that gives no answer is waited for
ENDS_AHEAD = 512  # ends of one partition that are remembered until they are reached


@dataclass
class Progress:
    """Positions in the offsets topic: where we are, where its end is, since when it stands."""

    position: dict[int, int] = field(default_factory=dict)  # next record to fold
    end: dict[int, int] = field(
        default_factory=dict
    )  # next record to be written, transactions open or not
    stable: dict[int, int] = field(default_factory=dict)  # up to here nothing is open
    read_s: dict[int, float] = field(default_factory=dict)  # all written before this is folded
    shortened: set[int] = field(default_factory=set)  # lost records that were read: read anew
    records: int = 0  # read since the start
    restarts: int = 0
    unanswered: list[int] = field(default_factory=list)  # partitions whose leader gave no answer
    problem: str = ""  # why nothing is being read, if so
    _ahead: dict[int, deque[tuple[float, int]]] = field(default_factory=dict)  # not reached yet
    _standing_since: dict[int, float] = field(default_factory=dict)  # before something open
    _counted: deque[tuple[float, int]] = field(default_factory=deque)  # moments, records by then
    _target: dict[int, float] = field(default_factory=dict)  # an end seen some time ago
    _target_s: float = 0.0  # when it was seen
    _answered_s: dict[int, float] = field(default_factory=dict)  # by partition, an end of it
    _seen_s: float = -math.inf  # when any end was seen last
    is_caught_up: bool = False  # whether the end of a while ago has been reached
    has_caught_up: bool = False  # whether it ever was

    def begin(self, start: Mapping[int, int], now: float) -> None:
        """Reading begins, or begins anew, from here."""
        self.position.update(start)
        self.problem = ""
        self._counted = deque([(now, self.records)])
        self._ahead.clear()
        self._target, self.is_caught_up = {}, False  # who knows how long nothing was read
        self._answered_s = dict.fromkeys(start, now)

    def advance(self, until: Mapping[int, int], records: int, now: float) -> None:
        self.position.update(until)
        self.records += records
        if self._counted and now < self._counted[-1][0]:  # the clock was set back
            self._counted.clear()
        self._counted.append((now, self.records))
        while len(self._counted) > 2 and now - self._counted[1][0] >= RATE_OVER_S:
            self._counted.popleft()
        for partition in until:
            self._note_reached(partition)
        self._settle()

    def see_ends(
        self,
        end: Mapping[int, int],
        stable: Mapping[int, int],
        now: float,
        position: Mapping[int, int] | None = None,
    ) -> None:
        """Take in ends that were asked for at `now`, when reading stood at `position`."""
        for partition, offset in stable.items():
            if end.get(partition, offset) == offset:  # nothing is open
                self._standing_since.pop(partition, None)
            elif self.stable.get(partition) != offset:
                self._standing_since[partition] = now
            else:
                since = self._standing_since.get(partition, now)
                self._standing_since[partition] = min(since, now)  # the clock may be set back
        self._look_ahead(end, position or {}, now)
        self.end.update(end)
        self.stable.update(stable)
        if stable:
            self._aim(stable, now)

    def forget_positions(self) -> None:
        """The topic was made anew: where it was read to, and its ends, are no more."""
        for facts in (self.position, self.end, self.stable, self.read_s, self._ahead):
            facts.clear()
        self.shortened.clear()
        self._standing_since.clear()
        self._target, self.is_caught_up = {}, False

    def held_back(self, now: float) -> list[int]:
        """Partitions that a hanging transaction keeps from being read further."""
        standing = self._standing_since.items()
        return sorted(partition for partition, since in standing if now - since >= HELD_AFTER_S)

    @property
    def remaining(self) -> int:
        """Records between here and what can be read now."""
        return sum(max(end - self.position.get(p, end), 0) for p, end in self.stable.items())

    def rate(self, now: float) -> float:
        """Records a second, lately."""
        if not self._counted:
            return 0.0
        since, count = self._counted[0]
        return (self.records - count) / max(now - since, 1.0)

    def seconds_left(self, now: float) -> float | None:
        rate = self.rate(now)
        return self.remaining / rate if rate else None

    def read_age_s(self, now: float) -> float | None:
        """How long ago something was read, or reading began."""
        return max(now - self._counted[-1][0], 0) if self._counted else None

    def end_age_s(self, now: float) -> float | None:
        """How long ago the brokers said where the topic ends."""
        return max(now - self._seen_s, 0) if math.isfinite(self._seen_s) else None

    def read_until_s(self, partitions: Collection[int]) -> float:
        """Up to when all of these partitions are read; minus infinity: not known of some."""
        return min((self.read_s.get(each, -math.inf) for each in partitions), default=-math.inf)

    def behind_s(self, now: float) -> float | None:
        """How old the least read of the partitions is that can be read; None: not known yet."""
        lately = [each for each, at in self._answered_s.items() if now - at < PATIENCE_S]
        as_of = self.read_until_s([each for each in lately if each in self.position])
        if not lately:
            as_of = self.read_until_s(self.position)
        return max(now - as_of, 0) if math.isfinite(as_of) else None

    def _look_ahead(self, ends: Mapping[int, int], position: Mapping[int, int], now: float) -> None:
        """Remember ends until they are reached; notice those before what was read."""
        for partition, end in ends.items():
            if end < position.get(partition, end):
                self.shortened.add(partition)
            ahead = self._ahead.setdefault(partition, deque())
            while ahead and ahead[-1][0] > now:  # the clock was set back
                ahead.pop()
            if len(ahead) == ENDS_AHEAD:
                self._ahead[partition] = ahead = deque([*ahead][::2])
            ahead.append((now, end))
            if self.read_s.get(partition, now) > now:
                self.read_s[partition] = now
            self._note_reached(partition)

    def _note_reached(self, partition: int) -> None:
        ahead, position = self._ahead.get(partition), self.position.get(partition, -1)
        while ahead and ahead[0][1] <= position:
            self.read_s[partition] = ahead.popleft()[0]

    def _aim(self, stable: Mapping[int, int], now: float) -> None:
        """See whether the end aimed at was reached in time; if it was reached, aim at this one.

        Partitions that give no answer for long take no commits either: they are not waited for.
        """
        self._answered_s |= dict.fromkeys(stable, now)
        waited_for = {each for each, at in self._answered_s.items() if now - at < PATIENCE_S}
        self._target = {
            each: stable.get(each, at) if at == math.inf else at
            for each, at in self._target.items()
            if each in waited_for
        }
        if self._is_reached():
            in_time_since, self._target_s = self._seen_s, now
            self._target = {each: stable.get(each, math.inf) for each in waited_for}
        else:
            in_time_since = self._target_s
        self._seen_s = now
        if not 0 <= now - in_time_since < LATE_S:
            self.is_caught_up = False
        self._settle()

    def _is_reached(self) -> bool:
        return all(self.position.get(each, -1) >= at for each, at in self._target.items())

    def _settle(self) -> None:
        if self._target and self._is_reached():
            self.is_caught_up = self.has_caught_up = True
