"""What Warren's evaluator is told of the lines that it judges, and what it says of them."""

from typing import NamedTuple

import numpy as np

from warren.model import bounds
from warren.model.arrays import Bytes, Counts, Ints, Mask, Singles, UInts
from warren.model.grounds import LineSettings
from warren.model.memory import Past

MS = 1000


class Evidence(NamedTuple):
    """What is known now; a line for each partition. `as_of` is when its commits were read up to."""

    row: Ints  # of its window, and of its past
    as_of_ms: Ints
    filled: Counts  # 0: nothing was ever committed
    offset: Ints  # of the last commit
    last_ms: Ints  # when that was written, by our own clock
    clock_ms: Ints  # how far the clock of the commits is ahead of ours
    gap_s: Singles  # usual, between the commits of the window; 0: not known
    lag_at_commit: Ints  # negative: not known
    end: Ints
    end_s: UInts  # when the end was read
    start: Ints
    stable: Ints  # the last stable offset, or the end
    lag: Ints  # what its readers could read now
    age_s: Singles
    age_low_s: Singles  # NaN: not known
    age_high_s: Singles  # infinite: no reading of the ends goes back so far
    produced: Singles  # records a second
    is_expected: Mask  # a member holds it, or a policy names its group and topic
    has_left: Mask  # no member of its group subscribes to the topic
    generations: Singles  # a minute, of its group
    settings: LineSettings
    is_gone: Mask | None = None  # its query has ended; None: no query has


class Commits(NamedTuple):
    """The windows, by row: looked at only where something has changed.

    Their moments are by another clock, which is ahead of ours by `clock_ms`.
    """

    offset: Ints
    committed_ms: Ints
    lag: Ints

    def reached_ms(self, rows: Ints, clock_ms: Ints) -> Ints:
        """When the last offset was committed first, as far as the window goes back."""
        width = self.offset.shape[1]
        reached: Ints = self.committed_ms[rows, -1]
        again = np.flatnonzero(self.offset[rows, max(width - 2, 0)] == self.offset[rows, -1])
        if len(again):
            offsets = self.offset[rows[again]]
            differs = offsets[:, ::-1] != offsets[:, -1:]
            run = np.where(differs.any(axis=1), differs.argmax(axis=1), width)
            reached[again] = self.committed_ms[rows[again], width - run]
        return bounds.minus(reached, clock_ms)

    def first_after_ms(self, rows: Ints, clock_ms: Ints, moment_ms: Ints) -> Ints:
        """When the first commit after a moment was made."""
        committed_ms = bounds.minus(self.committed_ms[rows], clock_ms[:, None])
        place = (committed_ms > moment_ms[:, None]).argmax(axis=1)
        first: Ints = committed_ms[np.arange(len(rows)), place]
        return first

    def below(self, rows: Ints, height: Ints) -> Ints:
        """How many of the last commits, without a break, are below an offset."""
        reaches = self.offset[rows][:, ::-1] >= height[:, None]
        width = reaches.shape[1]
        count: Ints = np.where(reaches.any(axis=1), reaches.argmax(axis=1), width)
        return count

    def second_gap_s(self, rows: Ints) -> Singles:
        """The second longest gap between two commits after which records waited."""
        took = np.diff(self.committed_ms[rows], axis=1)
        if took.shape[1] < 2:
            return np.zeros(len(rows), np.float32)
        gaps = np.where(self.lag[rows][:, :-1] > 0, np.maximum(took, 0), 0) / MS
        second: Singles = np.partition(gaps, -2, axis=1)[:, -2].astype(np.float32)
        return second

    def unevenness_s(self, rows: Ints) -> Singles:
        """Between the longest and the shortest gap between two commits."""
        took = np.diff(self.committed_ms[rows], axis=1) / MS
        there = self.committed_ms[rows][:, :-1] > 0
        longest = np.where(there, took, 0).max(axis=1, initial=0)
        shortest = np.where(there, took, longest[:, None]).min(axis=1, initial=np.inf)
        uneven_s: Singles = np.maximum(longest - shortest, 0).astype(np.float32)
        return uneven_s


class Clock(NamedTuple):
    now_s: int
    between_readings_s: float  # usually, of the log ends


class Decided(NamedTuple):
    word: Bytes
    silent_s: Singles
    held_s: Singles
    limit_s: Singles


class Cluster(NamedTuple):
    """What belongs to the cluster as a whole."""

    commits: Commits
    past: Past
    clock: Clock
