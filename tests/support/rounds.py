"""Rounds of readings of one partition that a group reads: commits, log ends and log starts."""

from collections.abc import Sequence
from typing import NamedTuple

from support.batches import NOW, Record, batch, log_ends

from warren.windows.losses import note_losses
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

ROUND_S = 10
LEAST, MOST = -(2**63), 2**63 - 1


class Round(NamedTuple):
    """What came since the round before, and what this one shows."""

    commits: Sequence[int | None] = ()  # evenly over the time between the rounds; None: a tombstone
    end: int = 1000
    start: int | None = None  # None: not read in this round


def windows_after(rounds: Sequence[Round]) -> Windows:
    windows, order = Windows(), 0
    windows.set_log_ends(log_ends(rounds[0].end, 1), {"t": 2}, now_s=NOW, asked_s=NOW)
    windows.fold(batch(Record(0, partition=1)), NOW)  # so the group reads the topic in any case
    for number, each in enumerate(rounds):
        for at, offset in enumerate(each.commits, start=1):
            order += 1
            after_s = ROUND_S * (number + at / (len(each.commits) + 1))
            windows.fold(batch(Record(order, offset, int(after_s * 1000))), NOW)
        if each.start is not None:
            windows.ends.refresh_edges(log_ends(each.start), log_ends())
        now_s = NOW + ROUND_S * (number + 1)
        windows.set_log_ends(log_ends(each.end), {}, now_s=now_s, asked_s=now_s)
        note_losses(windows, window_arrays(windows))
    return windows
