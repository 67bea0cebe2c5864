"""Memory + evidence -> memory: what happened since the last tick, in place.

What is stale stays as it was. The words that `word_rules` says stand on this.
"""

from typing import NamedTuple

import numpy as np

from warren.evaluate import rhythm, trend
from warren.evaluate.evidence import Clock, Cluster, Commits, Evidence
from warren.model import bounds
from warren.model.arrays import Ints, Mask, Singles, UInts
from warren.model.memory import READS_COMMITTED, READS_UNCOMMITTED, Memory, Past

MS = 1000
BLIND_S = 120.0  # the log end is this old: we do not know
BLIND_READINGS = 3.0  # or so many times the usual time between two readings
HOLDS_S = 30.0  # most transactions hold back the end for less
BEYOND = 3  # readings in a row that prove that a commit is beyond the stable end
STANDS_S = 10.0  # a commit of the stable end so long after the log went on is no chance
MOST_COMMITS, MOST_AHEAD = 60_000, 200  # that are counted


class Known(NamedTuple):
    """What a tick knows of all lines before it remembers anything."""

    waits: Mask  # records wait, more than it may have
    fresh: Mask  # our data are not too old
    regular_s: Singles  # the longest regular pause


def remember(memory: Memory, now: Evidence, known: Known, of: Cluster) -> Ints:
    """Take in what happened; returns the places whose trend may have changed."""
    waits, fresh, _ = known
    can = fresh & (now.filled > 0)
    is_new = can & (memory.known_ms == 0)
    moved = can & (is_new | (now.offset != memory.known_offset))
    came = moved | (can & (now.last_ms != memory.known_ms))
    as_of_s = (now.as_of_ms // MS).astype(np.uint32)
    memory.woke_s[is_new] = as_of_s[is_new]
    _count_ahead(memory, now, fresh)
    _skip_blind(memory, now, fresh, of.clock)
    woke = _end_pauses(memory, now, moved & ~is_new, known.regular_s, of)
    some = np.flatnonzero(moved)
    memory.moved_ms[some] = of.commits.reached_ms(now.row[some], now.clock_ms[some])
    begins = np.flatnonzero(fresh & waits & (moved | (memory.held_ms == 0)))
    memory.held_ms[begins] = began_ms(memory, now, begins)
    memory.held_ms[fresh & ~waits] = 0
    _note_high(memory, now, is_new, came, of.commits)
    _note_ends(memory, of.past, now, fresh, as_of_s)
    changed = _note_trend(memory, now, (moved, woke), as_of_s, of)
    unread = np.flatnonzero(fresh & (now.filled == 0) & (memory.moved_ms == 0))
    memory.moved_ms[unread] = now.as_of_ms[unread]
    memory.commits[:] = np.minimum(memory.commits + came, MOST_COMMITS)
    np.copyto(memory.known_offset, now.offset, where=came)
    np.copyto(memory.known_ms, now.last_ms, where=came)
    np.copyto(memory.end_s, now.end_s, where=fresh)
    return changed


def began_ms(memory: Memory, now: Evidence, lines: Ints) -> Ints:
    """When the offset moved last, or there was something to read, whichever was later."""
    began: Ints = np.maximum(memory.moved_ms[lines], _readable_ms(memory, now, lines))
    return began


def _readable_ms(memory: Memory, now: Evidence, some: Ints) -> Ints:
    """Since when there has been something to read, at the least.

    An old record may just have become readable: a transaction held it back until now.
    """
    appeared_ms = (np.nan_to_num(now.age_low_s[some]) * MS).astype(np.int64)
    had_all = (memory.end_s[some] > 0) & (memory.stable[some] <= now.offset[some])
    until_ms = np.where(had_all, memory.end_s[some].astype(np.int64) * MS, 0)
    since_ms: Ints = np.maximum(now.as_of_ms[some] - appeared_ms, until_ms)
    return since_ms


def _end_pauses(
    memory: Memory, now: Evidence, moved: Mask, regular_s: Singles, of: Cluster
) -> Ints:
    """Learn from the pauses that a commit has ended, and return where; short ones teach nothing."""
    longest_ms = bounds.minus(now.as_of_ms, memory.held_ms)
    at = np.flatnonzero(moved & (memory.held_ms > 0) & (longest_ms >= rhythm.SHORTEST_S * MS))
    if not len(at):
        return at
    ended_ms = of.commits.first_after_ms(now.row[at], now.clock_ms[at], memory.known_ms[at])
    took_s = (bounds.minus(ended_ms, memory.held_ms[at]) / MS).astype(np.float32)
    as_of_s = (now.as_of_ms[at] // MS).astype(np.uint32)
    ended = rhythm.Pauses(at, now.row[at], took_s, as_of_s, regular_s[at])
    ended = ended.where(took_s >= rhythm.SHORTEST_S)
    rhythm.learn_pauses(memory, of.past, ended)
    return ended.at


def _note_high(memory: Memory, now: Evidence, is_new: Mask, came: Mask, commits: Commits) -> None:
    """The highest offset it has been at: that is where a group that went back has to come to."""
    np.maximum(memory.high, now.offset, out=memory.high, where=came & ~is_new)
    some = np.flatnonzero(is_new)
    memory.high[some] = np.maximum(memory.high[some], commits.offset[now.row[some]].max(axis=1))
    # Data loss, or a topic made anew: there is nothing to come back to beyond the end.
    gone = np.flatnonzero((memory.high > now.end) & (memory.ahead == 0) & (now.filled > 0))
    memory.high[gone] = np.maximum(now.end[gone], now.offset[gone])


def _note_ends(memory: Memory, past: Past, now: Evidence, fresh: Mask, as_of_s: UInts) -> None:
    """Up to where it has read everything, and since when a transaction holds back the end."""
    has_read_all = fresh & (now.filled > 0) & (now.lag == 0)
    np.copyto(memory.read_to, now.end, where=has_read_all & (now.offset > now.stable))
    np.copyto(memory.read_to, now.stable, where=has_read_all & (now.offset <= now.stable))
    is_held = fresh & (now.stable < now.end)
    ended = fresh & (memory.stable_s > 0) & ~(is_held & (now.stable == memory.stable))
    if ended.any():
        at = np.flatnonzero(ended)
        held_s = (as_of_s[at] - memory.stable_s[at]).astype(np.float32)
        rhythm.learn_holds(past, now.row[at[held_s >= HOLDS_S]], held_s[held_s >= HOLDS_S])
        memory.stable_s[at] = 0
    held = np.flatnonzero(is_held)
    if len(held):
        _learn_isolation(memory, now, held)
    np.copyto(memory.stable, now.stable, where=fresh)
    np.copyto(memory.stable_s, as_of_s, where=is_held & (memory.stable_s == 0))


def _learn_isolation(memory: Memory, now: Evidence, held: Ints) -> None:
    """Who commits the stable end again, while the log goes on, reads committed data.

    Who was beyond it before it was read reads uncommitted data.
    """
    stable, offset, known = now.stable[held], now.offset[held], memory.known_offset[held]
    is_beyond = (memory.known_ms[held] > 0) & (np.minimum(offset, known) > stable)
    read_anew = (now.end_s[held] > memory.end_s[held]).astype(np.uint8)
    count = np.minimum(memory.beyond[held] + read_anew, MOST_AHEAD)
    memory.beyond[held] = np.where(is_beyond, count, 0)
    memory.isolation[held[memory.beyond[held] >= BEYOND]] = READS_UNCOMMITTED
    stands = (offset == stable) & (stable == memory.stable[held]) & (memory.stable_s[held] > 0)
    held_ms = now.last_ms[held] - memory.stable_s[held].astype(np.int64) * MS
    memory.isolation[held[stands & (held_ms >= STANDS_S * MS)]] = READS_COMMITTED


def _note_trend(
    memory: Memory, now: Evidence, moves: tuple[Mask, Ints], as_of_s: UInts, of: Cluster
) -> Ints:
    """While the offset stands still the lag is no trend: that is STALL, or a pause."""
    moved, woke = moves
    memory.rested_s[woke] = as_of_s[woke]
    silent_s = np.maximum(now.as_of_ms - now.last_ms, 0).astype(np.float32) / np.float32(MS)
    late_s = np.maximum(now.age_s - silent_s, 0)
    seen = trend.Seen(now.row, now.lag_at_commit.astype(np.float32), late_s, as_of_s, woke)
    least_s = trend.length_s(of.clock.between_readings_s)
    return trend.note(memory, of.past, moved & (now.lag_at_commit >= 0), seen, least_s)


def _count_ahead(memory: Memory, now: Evidence, fresh: Mask) -> None:
    """A commit that was known before the end was read, and lies beyond it.

    A commit that is younger than the reading proves nothing.
    """
    beyond = (
        (memory.known_ms > 0)
        & (now.filled > 0)
        & (np.minimum(now.offset, memory.known_offset) > now.end)
    )
    read_anew = (now.end_s > memory.end_s).astype(np.uint8)
    ahead = np.where(beyond, np.minimum(memory.ahead + read_anew, MOST_AHEAD), 0)
    memory.ahead[fresh] = ahead[fresh]


def _skip_blind(memory: Memory, now: Evidence, fresh: Mask, clock: Clock) -> None:
    """While no log end could be read, groups could not commit either: that time does not count."""
    unseen_s = now.end_s.astype(np.int64) - memory.end_s
    longest_s = max(BLIND_S / 2, BLIND_READINGS * clock.between_readings_s)
    blind = fresh & (memory.held_ms > 0) & (memory.end_s > 0) & (unseen_s > longest_s)
    until_ms = now.as_of_ms[blind] - MS
    memory.held_ms[blind] = np.minimum(memory.held_ms[blind] + unseen_s[blind] * MS, until_ms)
