"""Makes single commits from the arrays that hold many of them."""

from collections.abc import Callable
from typing import TypeVar

from warren.model.arrays import Ints, UInts

C = TypeVar("C")
# Takes the offset, when it was committed and when it was read, in ms, and the lag or None.
MakeCommit = Callable[[int, int, int, int | None], C]

COLUMNS = ("offset", "committed_ms", "observed_s", "lag")  # as `make_commits` takes them
MS = 1000


def make_commits(
    make: MakeCommit[C], offset: Ints, committed_ms: Ints, observed_s: UInts, lag: Ints
) -> list[C]:
    """A commit for each place of the arrays; a negative lag is unknown and becomes None."""
    columns = (column.tolist() for column in (offset, committed_ms, observed_s, lag))
    return [
        make(offset, committed_ms, observed_s * MS, lag if lag >= 0 else None)
        for offset, committed_ms, observed_s, lag in zip(*columns, strict=True)
    ]
