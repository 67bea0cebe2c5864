"""Whether groups read what transactions have not committed yet: as a policy says, or as was seen.

`evaluate.remember` sees it: who has committed an offset beyond the stable end reads uncommitted
data, and who commits the stable end itself again, while the log goes on, reads committed data.
"""

from typing import NamedTuple

import numpy as np

from warren.model.arrays import Ints, Mask
from warren.model.memory import READS_COMMITTED, READS_UNCOMMITTED
from warren.model.policies import COMMITTED, UNCOMMITTED, LinePolicies
from warren.windows.grid import Grid


class Isolation(NamedTuple):
    """By line; where neither holds, it is not known."""

    committed: Mask
    uncommitted: Mask

    def of(self, where: slice) -> "Isolation":
        return Isolation(self.committed[where], self.uncommitted[where])


def isolation_of(grid: Grid, rows: Ints, policies: LinePolicies | None) -> Isolation | None:
    """Of all lines, whose rows these are; None: of none of them is it known."""
    seen = grid.memory.isolation[rows]
    says = policies is not None and any(each.isolation for each in policies.policies)
    if not says and not seen.any():
        return None
    committed, uncommitted = seen == READS_COMMITTED, seen == READS_UNCOMMITTED
    if policies is not None and says:
        by_policy = Isolation(policies.reads(COMMITTED), policies.reads(UNCOMMITTED))
        is_said = by_policy.committed | by_policy.uncommitted
        committed = np.where(is_said, by_policy.committed, committed)
        uncommitted = np.where(is_said, by_policy.uncommitted, uncommitted)
    return Isolation(committed, uncommitted)
