"""Policies: what an operator says about some groups and topics, and who has to know.

`windows.policy_lines` finds the policy of each pair of group and topic: the first that matches, in
the order of the file. What a policy does not say is None, and the defaults hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from warren.model.arrays import Codes, Mask
from warren.model.schedules import Schedule

NO_POLICY = -1
COMMITTED, UNCOMMITTED = "read-committed", "read-uncommitted"

# The verdicts' names, as a policy's `pages` and the answers of `/v4` have them.
WORDS = (
    "OK", "WARN", "STOP", "STALL", "REWIND", "NEVER",
    "LOST", "AHEAD", "LEFT", "BLOCKED", "STORM", "STALE",
)  # fmt: skip


class Policy(NamedTuple):
    """One `[policy.NAME]` section."""

    name: str
    clusters: tuple[str, ...] = ()  # names and regular expressions; all if there are none
    groups: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    allowed_lag: int | None = None  # messages
    max_time_lag_s: float | None = None
    grace_s: float | None = None  # how long a bad verdict has to last before it pages
    schedule: Schedule | None = None  # when the group is expected to work
    pages: frozenset[str] | None = None  # of WORDS
    owner: str = ""
    ignore: bool = False  # never a page, whatever the verdict
    notify: tuple[str, ...] | None = None  # notifiers; None: all
    isolation: str = ""  # COMMITTED or UNCOMMITTED; empty: not known

    def paging(self, verdicts: Sequence[str], default: Mask, now_s: float) -> Mask:
        """Which of these verdicts page now; `default`, if the policy does not say which."""
        is_time = self.schedule is None or self.schedule.expects_work(now_s)
        if self.ignore or not is_time:
            return np.zeros_like(default)
        if self.pages is None:
            return default
        return np.array([verdict in self.pages for verdict in verdicts])


@dataclass(frozen=True)
class LinePolicies:
    """The policies, and which of them holds for each of `Verdicts.partitions`."""

    policies: tuple[Policy, ...]  # in the order of the file
    of_line: Codes  # place in `policies`; NO_POLICY: none

    def reads(self, isolation: str) -> Mask:
        """The lines whose policy says that their group reads so."""
        says_so: Mask = np.array([*(each.isolation == isolation for each in self.policies), False])
        return np.asarray(says_so[self.of_line])
