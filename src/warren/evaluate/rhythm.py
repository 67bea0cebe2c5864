"""The rhythm of a partition: how long it may be silent, or stand still, without a fault.

Groups commit after every message, every five seconds, at checkpoints ten minutes apart, or in a run
once an hour. A pause is a time in which records wait and the offset does not move; what is read to
the end has no pauses. A pause that came at least twice is regular: an outage is not.
"""

from typing import NamedTuple

import numpy as np

from warren.model.arrays import Floats, Ints, Mask, Singles, UInts
from warren.model.memory import Memory, Past, regular

SHORTEST_S = 30.0  # of a pause worth remembering; the limits are far above
# A pause is forgotten after so many times its length, and not before a day.
KEPT_TIMES, KEPT_S = 20, 86_400
ALIKE = 0.8  # a pause of this part of another is the same kind of pause

PATIENCE_S = 240.0  # nobody is late before this
STRANGER_S = 600.0  # of a partition that has hardly been seen
FEW_COMMITS = 4  # below, it has hardly been seen
MOST_OF = 0.5  # of the time since the one before, that an unexplained pause took: a job's sleep
FADES = 0.97  # a long transaction is forgotten after some dozens of shorter ones
TIMES, MARGIN_S = 2.0, 60.0  # how much longer than its longest regular pause is too long
PERIODS = 1.5  # the same of a period that a policy names


class Pauses(NamedTuple):
    """Pauses that have just ended."""

    at: Ints  # places in the memory
    rows: Ints  # and in the past
    took_s: Singles
    now_s: UInts
    regular_s: Singles  # the longest regular one before

    def where(self, mask: Mask) -> "Pauses":
        return Pauses._make(column[mask] for column in self)


def learn_pauses(memory: Memory, past: Past, ended: Pauses) -> None:
    """Remember the longest that belong to the rhythm; in place."""
    if not len(ended.at):
        return
    pauses, paused_s = past.pauses[ended.rows], past.paused_s[ended.rows]
    kept_s = np.maximum(pauses * KEPT_TIMES, KEPT_S)
    pauses[ended.now_s[:, None] - paused_s.astype(np.int64) > kept_s] = 0
    is_alike = (pauses >= ALIKE * ended.took_s[:, None]) & (pauses > 0)
    last_s = np.where(is_alike, paused_s, 0).max(axis=1)
    learns = _is_rhythm(memory, ended, last_s)
    _learn_period(memory, ended.where(learns), last_s[learns], regular(pauses[learns]))
    shortest = pauses.argmin(axis=1)
    learns &= ended.took_s >= ALIKE * pauses.min(axis=1)
    lines = np.flatnonzero(learns)
    pauses[lines, shortest[lines]] = ended.took_s[lines]
    paused_s[lines, shortest[lines]] = ended.now_s[lines]
    past.pauses[ended.rows], past.paused_s[ended.rows] = pauses, paused_s


def _is_rhythm(memory: Memory, ended: Pauses, last_s: UInts) -> Mask:
    """Whether they belong to the rhythm; `last_s` is when one like it ended before.

    A pause that the rhythm so far does not explain was a fault, which is over. But if it took most
    of the time since the one before, the group sleeps more than it works, as jobs do; and what
    comes again and again after the same time is no chance.
    """
    limit_s = learned(ended.regular_s, memory.commits[ended.at] >= FEW_COMMITS)
    strange = ended.took_s > limit_s
    since_s = np.maximum(memory.woke_s[ended.at], last_s).astype(np.int64)
    sleeps = ended.took_s >= MOST_OF * (ended.now_s - since_s)
    at, now_s = ended.at[strange], ended.now_s[strange]
    apart_s = (now_s.astype(np.int64) - memory.woke_s[at]).astype(np.float32)
    before_s, comes_again = memory.apart_s[at], np.zeros(len(sleeps), np.bool_)
    comes_again[strange] = (apart_s >= ALIKE * before_s) & (ALIKE * apart_s <= before_s)
    memory.apart_s[at] = np.where(before_s > 0, apart_s, np.inf)
    memory.woke_s[at] = now_s
    mask: Mask = ~strange | sleeps | comes_again
    return mask


def _learn_period(memory: Memory, ended: Pauses, last_s: UInts, regular_s: Singles) -> None:
    """From the end of one regular pause to the end of the next."""
    ends = (last_s > 0) & (ended.took_s >= ALIKE * regular_s)
    at, took_s = ended.at[ends], (ended.now_s[ends] - last_s[ends]).astype(np.float32)
    before = memory.period_s[at]
    memory.period_s[at] = np.where(before > 0, (3 * before + took_s) / 4, took_s)


def learn_holds(past: Past, rows: Ints, held_s: Singles) -> None:
    """Remember the longest times for which a transaction held back the end; in place."""
    holds = FADES * past.holds[rows]
    lines, shortest = np.arange(len(rows)), holds.argmin(axis=1)
    holds[lines, shortest] = np.maximum(holds[lines, shortest], held_s)
    past.holds[rows] = holds


def held(holds: Singles) -> Singles:
    """How long transactions explain that the end is held back; 0: not known."""
    regular_s = regular(holds)
    held_s: Singles = np.where(regular_s > 0, TIMES * regular_s + MARGIN_S, 0).astype(np.float32)
    return held_s


def learned(regular_s: Singles, has_been_seen: Mask) -> Singles:
    """How long silence, or standing still, is explained by what was seen."""
    patience = np.where(has_been_seen, np.float32(PATIENCE_S), np.float32(STRANGER_S))
    margin = np.where(regular_s > 0, np.float32(MARGIN_S), np.float32(0))
    learned_s: Singles = np.maximum(patience, np.float32(TIMES) * regular_s + margin)
    return learned_s


def limits(learned_s: Singles, period_s: Floats) -> Singles:
    """The same, by policy if that names a period; NaN: it does not."""
    return np.where(np.isnan(period_s), learned_s, PERIODS * period_s).astype(np.float32)
