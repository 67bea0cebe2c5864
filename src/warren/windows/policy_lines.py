"""Which policy holds for each pair of group and topic: the first that matches both.

A pair is matched once, when it is new. A tick only copies the result to the lines.
"""

from collections.abc import Iterable

import numpy as np

from warren.model.name_patterns import NamePatterns
from warren.model.policies import NO_POLICY, LinePolicies, Policy
from warren.model.window_arrays import WindowArrays
from warren.windows.pairs import TO_FIND_POLICY
from warren.windows.windows import Windows

MOST_REMEMBERED = 100_000  # topics


class PolicyBook:
    """The policies that hold in one cluster, in their order."""

    def __init__(self, policies: Iterable[Policy], cluster: str) -> None:
        every = tuple(policies)
        matching = NamePatterns([each.clusters for each in every]).matching(cluster)
        self.policies = tuple(every[at] for at in sorted(matching))
        self._groups = NamePatterns([each.groups for each in self.policies])
        self._topics = NamePatterns([each.topics for each in self.policies])
        self._of_topic: dict[str, frozenset[int]] = {}

    def of(self, group: str, topic: str) -> int:
        """The place of the policy of a group and a topic, or NO_POLICY."""
        return _first(self._groups.matching(group), self._matching_topic(topic))

    def of_lines(self, windows: Windows, view: WindowArrays) -> LinePolicies | None:
        """The policy of each line of `view`, which is of these windows; None: there are none."""
        if not self.policies:
            return None
        self._find_new(windows)
        of_pair = windows.pairs.policy[view.pair]
        return LinePolicies(self.policies, np.repeat(of_pair, view.pair_count))

    def _find_new(self, windows: Windows) -> None:
        pairs = windows.pairs
        of_group: dict[int, frozenset[int]] = {}
        for pair in np.flatnonzero(pairs.policy == TO_FIND_POLICY).tolist():
            number = int(pairs.group[pair])
            if number not in of_group:
                of_group[number] = self._groups.matching(pairs.groups[number])
            topic = pairs.topics[int(pairs.topic[pair])]
            pairs.policy[pair] = _first(of_group[number], self._matching_topic(topic))

    def _matching_topic(self, topic: str) -> frozenset[int]:
        found = self._of_topic.get(topic)
        if found is None:
            if len(self._of_topic) >= MOST_REMEMBERED:
                self._of_topic.clear()
            found = self._of_topic[topic] = self._topics.matching(topic)
        return found


NO_POLICIES = PolicyBook((), "")


def _first(groups: frozenset[int], topics: frozenset[int]) -> int:
    return min(groups & topics, default=NO_POLICY)
