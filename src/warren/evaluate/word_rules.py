"""Memory + evidence -> words: what people mean when they ask whether a group is all right.

Arrays in, arrays out, a line for each partition; `docs/judgement.md` says it for operators. Each
word has a mask in `decide`, and the docstring of its function is the rule. A word stays until what
ends it has happened, so that one true change makes one change of words.
"""

from collections.abc import Mapping

import numpy as np

from warren.evaluate import rhythm, trend
from warren.evaluate.evidence import Clock, Cluster, Commits, Decided, Evidence
from warren.evaluate.remember import BLIND_READINGS, BLIND_S, Known, began_ms, remember
from warren.model import bounds
from warren.model.arrays import Ints, Mask, Singles
from warren.model.grounds import Grounds, LineSettings, Sign, Signs
from warren.model.judgement import Word
from warren.model.memory import Memory, Past

MS = 1000
CONFIRMED_S = 15.0  # of a commit that went back, and that no later one makes good
READINGS_AHEAD = 3  # readings of the log end in a row that a commit lies beyond
OPEN_S = 120.0  # a transaction that holds the end that readers see where it is
UNCOMMITTED_S = 60.0  # before a new member's partition is said to have no commit
GONE_S = 60.0  # without a commit, before a topic counts as left, or records as lost
STORM_S = 180.0  # without progress, or as long as its policy's schedule allows
STORM_RATE, STORM_OVER = 3.0, 1.5  # generations a minute that begin it, and fewer that end it
LATE_S = 600.0  # our reading of commits is this far behind


def decide(
    memory: Memory, evidence: Evidence, regular_s: Singles, of: Cluster
) -> tuple[Decided, Grounds]:
    """Say a word of each line, and bring the memory up to date, in place.

    `regular_s` is the longest regular pause of each line, its group's while it has none.
    """
    now, settings = evidence, evidence.settings
    stale = is_stale(now, of.clock)
    was_held = memory.held_ms > 0  # before retention took what waited
    waits = (now.filled > 0) & (now.lag > settings.allowed_lag)
    changed = remember(memory, now, Known(waits, ~stale, regular_s), of)
    signs = _signs(
        {
            Sign.COMMITTED: now.filled > 0,
            Sign.NEVER: is_never(memory, now),
            Sign.LEFT: has_left(now),
            Sign.BLOCKED: is_blocked(memory, now, of.past),
            Sign.RISES: rises(memory, now, waits, changed, of),
            Sign.WARNED: memory.word == Word.WARN,
            Sign.REWOUND: has_rewound(memory, now, of.commits),
            Sign.REJOINS: rejoins(memory, now),
            Sign.LOST: is_lost(memory, now, was_held),
            Sign.AHEAD: memory.ahead >= READINGS_AHEAD,
            Sign.STALE: stale,
            **({} if now.is_gone is None else {Sign.GONE: now.is_gone}),
        }
    )
    grounds = Grounds(
        as_of_ms=now.as_of_ms,
        last_ms=now.last_ms,
        held_ms=_held_ms(memory, now, waits),
        unread=now.lag,
        age_low_s=now.age_low_s,
        learned_s=_learned_s(memory, now, waits, regular_s, of.commits),
        signs=signs,
    )
    decided = say(grounds, settings)
    changes = np.flatnonzero(~stale & (decided.word != memory.word))
    memory.since_s[changes] = (now.as_of_ms[changes] // MS).astype(np.uint32)
    memory.word[changes] = decided.word[changes]
    return decided, grounds


def say(grounds: Grounds, settings: LineSettings) -> Decided:
    """The word of each line, from what is known of it and what its policy says.

    Nothing else is asked, so that a back-test can say it again under other policies.
    """
    has = {sign: (grounds.signs & sign) != 0 for sign in Sign}
    has_commit = has[Sign.COMMITTED]
    waits = has_commit & (grounds.unread > settings.allowed_lag)
    silent_s = _seconds(waits, grounds.as_of_ms, np.maximum(grounds.last_ms, grounds.held_ms))
    held_s = _seconds(waits, grounds.as_of_ms, grounds.held_ms)
    stuck_s = _seconds(waits, grounds.last_ms, grounds.held_ms)
    limit_s = rhythm.limits(grounds.learned_s, settings.period_s)
    word = np.zeros(len(waits), np.uint8)  # OK
    for each, holds in (
        (Word.BLOCKED, has[Sign.BLOCKED]),
        (Word.WARN, falls_behind(grounds, settings, waits, has)),
        (Word.STALL, stuck_s > limit_s),
        (Word.REWIND, has[Sign.REWOUND]),
        (Word.STOP, (silent_s > limit_s) | (waits & has[Sign.GONE])),
        (Word.STORM, (held_s > np.minimum(STORM_S, limit_s)) & has[Sign.REJOINS]),
        (Word.LOST, has[Sign.LOST]),
        (Word.AHEAD, has[Sign.AHEAD]),
        (Word.LEFT, has[Sign.LEFT]),
    ):
        word[holds & has_commit] = each
    word[has[Sign.NEVER]] = Word.NEVER
    word[has[Sign.STALE]] = Word.STALE
    return Decided(word, silent_s, held_s, limit_s)


def _signs(holds: Mapping[Sign, Mask]) -> Signs:
    signs = np.zeros(len(holds[Sign.COMMITTED]), np.int16)
    for sign, mask in holds.items():
        signs |= mask * np.int16(sign)
    return signs


def _held_ms(memory: Memory, now: Evidence, waits: Mask) -> Ints:
    """Since when records wait, also where that is no fault because so many are allowed to."""
    held_ms = memory.held_ms.copy()
    allowed = np.flatnonzero(~waits & (now.filled > 0) & (now.lag > 0))
    held_ms[allowed] = began_ms(memory, now, allowed)
    return held_ms


def _learned_s(
    memory: Memory, now: Evidence, waits: Mask, regular_s: Singles, commits: Commits
) -> Singles:
    """How long its rhythm explains silence; a window may tell of pauses before our time."""
    silent_s = _seconds(waits, now.as_of_ms, np.maximum(now.last_ms, memory.held_ms))
    quiet = np.flatnonzero(silent_s > rhythm.PATIENCE_S)
    if len(quiet):
        regular_s = regular_s.copy()
        regular_s[quiet] = np.maximum(regular_s[quiet], commits.second_gap_s(now.row[quiet]))
    return rhythm.learned(regular_s, memory.commits >= rhythm.FEW_COMMITS)


def _seconds(waits: Mask, until_ms: Ints, since_ms: Ints) -> Singles:
    """From one moment to the other, of those for whom records wait."""
    passed = np.zeros(len(waits), np.float32)
    some = np.flatnonzero(waits)
    passed[some] = np.maximum(bounds.minus(until_ms[some], since_ms[some]), 0) / MS
    return passed


def is_stale(now: Evidence, clock: Clock) -> Mask:
    """Nobody has told us the log end for some minutes, or commits have not been read for longer."""
    oldest_s = max(BLIND_S, BLIND_READINGS * clock.between_readings_s)
    blind = (now.end_s > 0) & (clock.now_s - now.end_s.astype(np.int64) > oldest_s)
    late = (now.as_of_ms > 0) & (clock.now_s - now.as_of_ms / MS > LATE_S)
    mask: Mask = blind | late
    return mask


def is_never(memory: Memory, now: Evidence) -> Mask:
    """It has been expected to be read for a minute, and nothing was ever committed."""
    mask: Mask = (
        (now.filled == 0) & now.is_expected & (now.as_of_ms - memory.moved_ms >= UNCOMMITTED_S * MS)
    )
    return mask


def rejoins(memory: Memory, now: Evidence) -> Mask:
    """Generation follows generation; a storm ends only when few come."""
    rate = np.where(memory.word == Word.STORM, STORM_OVER, STORM_RATE)
    mask: Mask = now.generations >= rate
    return mask


def is_lost(memory: Memory, now: Evidence, was_held: Mask) -> Mask:
    """The log begins beyond all that it had read, and there had been something to read.

    What nobody can read is no loss: a marker, or a log that was empty before it came.
    """
    taken = now.start > np.maximum(now.offset, memory.read_to)
    passed = taken & (now.as_of_ms - now.last_ms > GONE_S * MS)
    mask: Mask = passed & (was_held | (memory.word == Word.LOST) | (now.end > now.start))
    return mask


def is_blocked(memory: Memory, now: Evidence, past: Past) -> Mask:
    """All is read that readers of committed data may see; the end is held back for too long.

    That is clearly longer than by the transactions before.
    """
    mask: Mask = (now.stable < now.end) & (now.offset <= now.stable) & (now.lag == 0)
    some = np.flatnonzero(mask)
    if len(some):
        since_ms = memory.stable_s[some].astype(np.int64) * MS
        limit_s = np.maximum(OPEN_S, rhythm.held(past.holds[now.row[some]]))
        mask[some] = now.as_of_ms[some] - since_ms >= limit_s * MS
    return mask


def has_left(now: Evidence) -> Mask:
    """No member subscribes to the topic, and nobody commits to it either."""
    mask: Mask = now.has_left & (now.as_of_ms - now.last_ms > GONE_S * MS)
    return mask


def has_rewound(memory: Memory, now: Evidence, commits: Commits) -> Mask:
    """It went back, and neither the next commit nor any later one got back to where it was."""
    back: Mask = (now.offset < memory.high) & (now.offset < now.end)
    some = np.flatnonzero(back)
    if len(some):
        again = commits.below(now.row[some], memory.high[some]) >= 2
        patience_s = np.maximum(CONFIRMED_S, 2 * now.gap_s[some])
        back[some] = again | (now.as_of_ms[some] - now.last_ms[some] > patience_s * MS)
    return back


def falls_behind(
    grounds: Grounds, settings: LineSettings, waits: Mask, has: Mapping[Sign, Mask]
) -> Mask:
    """Later than its policy allows; without one, its lag has risen for minutes and still does."""
    has_policy = ~np.isnan(settings.max_time_lag_s)
    limit_s = np.where(has[Sign.WARNED], 0.9, 1.0) * settings.max_time_lag_s
    mask: Mask = waits & np.where(has_policy, grounds.age_low_s > limit_s, has[Sign.RISES])
    return mask


def rises(memory: Memory, now: Evidence, waits: Mask, changed: Ints, of: Cluster) -> Mask:
    """It has been later and later for minutes and still is; of those without a max-time-lag.

    A trend changes only where a bucket has ended, at the places `changed`.
    """
    late = waits & np.isnan(now.settings.max_time_lag_s)
    said = memory.word == Word.WARN
    late &= now.age_s > np.where(said, trend.OVER_S, trend.MATTERS_S)
    mask: Mask = late & said
    at = changed[late[changed]]
    as_of_s, between_s = (now.as_of_ms[at] // MS).astype(np.uint32), of.clock.between_readings_s
    paused = trend.has_paused(memory, at, as_of_s, between_s)
    uneven_s = of.commits.unevenness_s(now.row[at])
    doubts = trend.Doubts(_unsure_s(now, at, between_s), now.gap_s[at], uneven_s)
    is_rising = said[at] | trend.is_rising(of.past, now.row[at], doubts)
    mask[at] = is_rising & ~trend.is_over(of.past, now.row[at], paused)
    return mask


def _unsure_s(now: Evidence, at: Ints, between_s: float) -> Singles:
    """By how much ages may be wrong; where nothing bounds them, their paces are as sure as ends."""
    unsure_s = now.age_high_s[at] - now.age_low_s[at]
    return np.where(np.isfinite(unsure_s), unsure_s, np.float32(between_s / 2))
