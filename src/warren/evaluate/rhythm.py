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
TIMES, MARGIN_S = 2.0, 60.0  # how much longer than its longest regular pause is too long
PERIODS = 1.5  # the same of a period that a policy names


class Pauses(NamedTuple):
    """Pauses that have just ended."""

    at: Ints  # places in the memory
    rows: Ints  # and in the past
    took_s: Singles
    now_s: UInts


def learn_pauses(memory: Memory, past: Past, ended: Pauses) -> None:
    """Remember the longest; in place."""
    long = ended.took_s >= SHORTEST_S
    at, rows = ended.at[long], ended.rows[long]
    pause_s, now_s = ended.took_s[long], ended.now_s[long]
    if not len(at):
        return
    pauses, paused_s = past.pauses[rows], past.paused_s[rows]
    kept_s = np.maximum(pauses * KEPT_TIMES, KEPT_S)
    pauses[now_s[:, None] - paused_s.astype(np.int64) > kept_s] = 0
    shortest = pauses.argmin(axis=1)
    lines = np.arange(len(at))
    counts = pause_s >= ALIKE * pauses[lines, shortest]
    pauses[lines[counts], shortest[counts]] = pause_s[counts]
    paused_s[lines[counts], shortest[counts]] = now_s[counts]
    past.pauses[rows], past.paused_s[rows] = pauses, paused_s
    _learn_period(memory, at, pause_s, now_s, regular(pauses))


def _learn_period(
    memory: Memory, at: Ints, pause_s: Singles, now_s: UInts, regular_s: Singles
) -> None:
    """From the end of one long pause to the end of the next."""
    ends = (regular_s > 0) & (pause_s >= ALIKE * regular_s)
    at, now_s = at[ends], now_s[ends]
    woke_s = memory.woke_s[at]
    took_s = (now_s.astype(np.int64) - woke_s).astype(np.float32)
    before = memory.period_s[at]
    mean = np.where(before > 0, (3 * before + took_s) / 4, took_s)
    memory.period_s[at] = np.where(woke_s > 0, mean, 0)
    memory.woke_s[at] = now_s


def learned(regular_s: Singles, has_been_seen: Mask) -> Singles:
    """How long silence, or standing still, is explained by what was seen."""
    patience = np.where(has_been_seen, np.float32(PATIENCE_S), np.float32(STRANGER_S))
    margin = np.where(regular_s > 0, np.float32(MARGIN_S), np.float32(0))
    learned_s: Singles = np.maximum(patience, np.float32(TIMES) * regular_s + margin)
    return learned_s


def limits(learned_s: Singles, period_s: Floats) -> Singles:
    """The same, by policy if that names a period; NaN: it does not."""
    return np.where(np.isnan(period_s), learned_s, PERIODS * period_s).astype(np.float32)
