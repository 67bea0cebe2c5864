"""Words + memory + evidence -> the numbers that decided, of the lines that are not OK."""

import numpy as np

from warren.evaluate import trend
from warren.evaluate.evidence import Evidence
from warren.model.arrays import Bytes, Ints, Mask, Singles, UInts
from warren.model.figures import NO_COMMIT, Figures
from warren.model.judgement import Word
from warren.model.memory import Memory, Past


def figures(word: Bytes, memory: Memory, now: Evidence, past: Past, first: int) -> Figures | None:
    """Of some lines, the first of which has this number; None: all of them are OK."""
    at = np.flatnonzero(word != Word.OK)
    if not len(at):
        return None
    said, limit_s = word[at], now.settings.max_time_lag_s[at].astype(np.float32)
    warned = said == Word.WARN
    least = trend.least(past, now.row[at])
    rises = warned & np.isnan(limit_s) & (least.ended_s > 0)
    return Figures(
        line=first + at,
        commit=np.where(now.filled[at] > 0, now.offset[at], NO_COMMIT),
        start=now.start[at],
        end=now.end[at],
        records=_records(said, memory, now, at),
        late_s=_only(warned, now.age_s[at]),
        was_late_s=_only(rises, least.late_s),
        limit_s=_only(warned, limit_s),
        rate=_only(said == Word.STORM, now.generations[at]),
        since_s=_since_s(said, memory, at, np.where(rises, least.ended_s, 0)),
    )


def _records(said: Bytes, memory: Memory, now: Evidence, at: Ints) -> Ints:
    commit, end = now.offset[at], now.end[at]
    records = now.lag[at].copy()
    for word, counted in (
        (Word.LOST, now.start[at] - np.maximum(commit, memory.read_to[at])),
        (Word.AHEAD, commit - end),
        (Word.BLOCKED, end - now.stable[at]),
    ):
        records = np.where(said == word, counted, records)
    return np.maximum(records, 0)


def _only(mask: Mask, numbers: Singles) -> Singles:
    return np.where(mask, numbers, np.float32(np.nan))


def _since_s(said: Bytes, memory: Memory, at: Ints, was_least_s: UInts) -> UInts:
    since_s = np.where(said == Word.BLOCKED, memory.stable_s[at], was_least_s)
    since_s = np.where(said == Word.STALE, memory.end_s[at], since_s)
    return since_s.astype(np.uint32)
