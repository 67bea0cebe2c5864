"""How far an offsets topic has been read, and which records could not be decoded.

Time is an argument, in seconds.

Verdicts belong to the moment up to which the topic has been read, and each partition has its own.
Once the end that was requested at some moment has been reached, nothing written before that moment
is missing (`read_s`).
"""

import math
from collections import Counter, deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import structlog

log = structlog.get_logger()

QUIET_S = 60.0


class Skips:
    """Counts records that could not be decoded, and logs each reason once a minute."""

    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        # By reason: when it was logged last, and the total then.
        self._logged: dict[str, tuple[float, int]] = {}

    def add(self, consumer: str, reasons: Mapping[str, int], now: float) -> None:
        self.total.update(reasons)
        for reason in reasons:
            logged_at, logged = self._logged.get(reason, (float("-inf"), 0))
            if not 0 <= now - logged_at < QUIET_S:  # the clock may go back
                self._logged[reason] = (now, self.total[reason])
                log.warning(
                    "failed to decode",
                    type="module",
                    coordinator="consumer",
                    name=consumer,
                    reason=reason,
                    records=self.total[reason] - logged,
                )


HELD_AFTER_S = 20  # a transaction of commits takes milliseconds; one open this long hangs
RATE_OVER_S = 10.0
LATE_S = 30.0  # caught up: the end of this long ago has been reached
PATIENCE_S = 30.0  # how long to wait for a partition that does not answer
ENDS_AHEAD = 512  # ends of one partition to remember until they are reached


@dataclass
class Progress:
    """Positions in the offsets topic: ours, its ends, and since when an open transaction blocks."""

    position: dict[int, int] = field(default_factory=dict)  # next record to fold
    end: dict[int, int] = field(
        default_factory=dict
    )  # next record to be written, transactions open or not
    stable: dict[int, int] = field(default_factory=dict)  # no open transaction before this
    read_s: dict[int, float] = field(default_factory=dict)  # all written before this is folded
    shortened: set[int] = field(default_factory=set)  # partitions that lost records we had read
    records: int = 0  # read since the start
    restarts: int = 0
    unanswered: list[int] = field(default_factory=list)  # partitions whose leader gave no answer
    problem: str = ""  # why reading fails; empty: it does not
    _ahead: dict[int, deque[tuple[float, int]]] = field(default_factory=dict)  # ends to reach
    _blocked_since: dict[int, float] = field(default_factory=dict)  # by an open transaction
    _counted: deque[tuple[float, int]] = field(default_factory=deque)  # moments, records by then
    _target: dict[int, float] = field(default_factory=dict)  # an end seen some time ago
    _target_s: float = 0.0  # when it was seen
    _answered_s: dict[int, float] = field(default_factory=dict)  # by partition, its last end
    _seen_s: float = -math.inf  # when any end was seen last
    is_caught_up: bool = False  # whether the end of a while ago has been reached
    has_caught_up: bool = False  # whether it ever was

    def begin(self, start: Mapping[int, int], now: float) -> None:
        """Start reading, or start again, from here."""
        self.position.update(start)
        self.problem = ""
        self._counted = deque([(now, self.records)])
        self._ahead.clear()
        self._target, self.is_caught_up = {}, False  # nothing may have been read for long
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
        """Note ends that were requested at `now`, when we had read up to `position`."""
        for partition, offset in stable.items():
            if end.get(partition, offset) == offset:  # nothing is open
                self._blocked_since.pop(partition, None)
            elif self.stable.get(partition) != offset:
                self._blocked_since[partition] = now
            else:
                since = self._blocked_since.get(partition, now)
                self._blocked_since[partition] = min(since, now)  # the clock may be set back
        self._look_ahead(end, position or {}, now)
        self.end.update(end)
        self.stable.update(stable)
        if stable:
            self._aim(stable, now)

    def forget_positions(self) -> None:
        """Forget positions and ends: the topic was deleted and created again."""
        for facts in (self.position, self.end, self.stable, self.read_s, self._ahead):
            facts.clear()
        self.shortened.clear()
        self._blocked_since.clear()
        self._target, self.is_caught_up = {}, False

    def held_back(self, now: float) -> list[int]:
        """Partitions that we cannot read further because of a hanging transaction."""
        blocked = self._blocked_since.items()
        return sorted(partition for partition, since in blocked if now - since >= HELD_AFTER_S)

    @property
    def remaining(self) -> int:
        """Records that can be read now and have not been."""
        return sum(max(end - self.position.get(p, end), 0) for p, end in self.stable.items())

    def rate(self, now: float) -> float:
        """Records a second, over the last seconds."""
        if not self._counted:
            return 0.0
        since, count = self._counted[0]
        return (self.records - count) / max(now - since, 1.0)

    def seconds_left(self, now: float) -> float | None:
        rate = self.rate(now)
        return self.remaining / rate if rate else None

    def read_age_s(self, now: float) -> float | None:
        """How long ago a record was read, or reading started."""
        return max(now - self._counted[-1][0], 0) if self._counted else None

    def end_age_s(self, now: float) -> float | None:
        """How long ago a broker answered with an end of the topic."""
        return max(now - self._seen_s, 0) if math.isfinite(self._seen_s) else None

    def read_until_s(self, partitions: Collection[int]) -> float:
        """Up to when all of these partitions have been read; minus infinity: unknown for some."""
        return min((self.read_s.get(each, -math.inf) for each in partitions), default=-math.inf)

    def behind_s(self, now: float) -> float | None:
        """How far we are behind in the slowest partition that answers; None: not known yet."""
        lately = [each for each, at in self._answered_s.items() if now - at < PATIENCE_S]
        as_of = self.read_until_s([each for each in lately if each in self.position])
        if not lately:
            as_of = self.read_until_s(self.position)
        return max(now - as_of, 0) if math.isfinite(as_of) else None

    def _look_ahead(self, ends: Mapping[int, int], position: Mapping[int, int], now: float) -> None:
        """Remember ends until they are reached; notice partitions that end before our position."""
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
        """Check whether the target was reached in time; once it is, these ends are the next one.

        A partition that has not answered for long takes no commits either: do not wait for it.
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
