"""What both evaluators said, and what the words stand on, as columns of history and back again.

Moments are written as differences from others of the same row: nearly all of them are the same, so
they take hardly any room. Rows that stand for several partitions have none of these.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from warren.model import bounds
from warren.model.arrays import AnyArray, Bytes, Ints, Mask, UInts
from warren.model.board import ClusterBoard
from warren.model.grounds import Grounds, LineSettings
from warren.model.judgement import Judgement, Word
from warren.model.tables import HISTORY, WORDS

READ = ("moment_ms", "status", "lag", "committed_ms", "age_low_s", *WORDS)


def word_columns(
    moment_ms: int, cluster: ClusterBoard, kept: Ints, is_folded: Mask
) -> dict[str, pa.Array]:
    """Of the kept lines; nothing if nobody judged with words."""
    judgement, partitions = cluster.judgement, cluster.verdicts.partitions
    if judgement is None or judgement.grounds is None or judgement.settings is None:
        return {}
    grounds, settings = judgement.grounds.of(kept), judgement.settings.of(kept)
    committed_ms = np.where(partitions.filled[kept] > 0, partitions.end.committed_ms[kept], 0)
    values = {
        **_said(judgement, kept),
        "signs": (grounds.signs, is_folded),
        "behind_ms": (bounds.minus(moment_ms, grounds.as_of_ms), is_folded),
        "held_ms": (bounds.minus(grounds.held_ms, grounds.last_ms), grounds.held_ms == 0),
        "merged_ms": (bounds.minus(grounds.last_ms, committed_ms), is_folded),
        "unreadable": (bounds.minus(partitions.current_lag[kept], grounds.unread), is_folded),
        "learned_s": (grounds.learned_s, is_folded),
        "allowed_lag": (settings.allowed_lag, is_folded),
        "max_time_lag_s": (settings.max_time_lag_s, np.isnan(settings.max_time_lag_s)),
        "period_s": (settings.period_s, np.isnan(settings.period_s)),
    }
    return {
        name: pa.array(column, HISTORY.field(name).type, mask=is_null | is_folded)
        for name, (column, is_null) in values.items()
    }


def _said(judgement: Judgement, kept: Ints) -> dict[str, tuple[AnyArray, Mask]]:
    word = judgement.word[kept]
    nowhere = np.zeros(len(kept), np.bool_)
    return {
        "burrow": (judgement.burrow[kept].astype(np.int8), nowhere),
        "word": (word.astype(np.int8), nowhere),
        "since_s": (judgement.since_s[kept].astype(np.int64), word == Word.OK),
    }


class Recorded(NamedTuple):
    """Rows of history as they were judged."""

    burrow: Bytes
    word: Bytes
    since_s: UInts
    grounds: Grounds
    settings: LineSettings  # in force then


def has_words(rows: pa.Table) -> Mask:
    """The rows that were written with words: not by an older Warren, not of several partitions."""
    mask: Mask = rows["word"].is_valid().to_numpy()
    return mask


def recorded(rows: pa.Table) -> Recorded:
    """Read rows that have words; their columns are at least `READ`."""
    moment_ms, committed_ms = _ints(rows, "moment_ms"), _ints(rows, "committed_ms")
    last_ms = committed_ms + _ints(rows, "merged_ms")
    is_held = rows["held_ms"].is_valid().to_numpy()
    grounds = Grounds(
        as_of_ms=moment_ms - _ints(rows, "behind_ms"),
        last_ms=last_ms,
        held_ms=np.where(is_held, last_ms + _ints(rows, "held_ms"), 0),
        unread=_ints(rows, "lag") - _ints(rows, "unreadable"),
        age_low_s=_numbers(rows, "age_low_s").astype(np.float32),
        learned_s=_numbers(rows, "learned_s").astype(np.float32),
        signs=_ints(rows, "signs").astype(np.int16),
    )
    settings = LineSettings(
        _ints(rows, "allowed_lag"), _numbers(rows, "max_time_lag_s"), _numbers(rows, "period_s")
    )
    return Recorded(
        _ints(rows, "burrow").astype(np.uint8),
        _ints(rows, "word").astype(np.uint8),
        _ints(rows, "since_s").astype(np.uint32),
        grounds,
        settings,
    )


def _ints(rows: pa.Table, name: str) -> Ints:
    """Nulls become 0."""
    return np.asarray(rows[name].fill_null(0).to_numpy()).astype(np.int64)


def _numbers(rows: pa.Table, name: str) -> AnyArray:
    """Nulls become NaN."""
    return np.asarray(rows[name].fill_null(float("nan")).to_numpy())
