"""Commits told from one poll of the brokers to the next: an offset that changed was committed.

When it was committed the brokers do not tell, so it counts from the poll that saw it. What a first
poll finds may be old or new. It is held back until it changes, or for two polls more: else every
group with lag would pass for one that stopped, until its second commit is seen.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from warren.sources.group_offsets import BrokerAnswer, Offsets
from warren.sources.outside_changes import OutsideChanges, OutsideCommit, OutsideKey, Owners

HELD_POLLS = 2


class PolledOffsets:
    """What the polls have seen so far. `restored` is what windows hold from an earlier run."""

    def __init__(self, restored: Mapping[str, Offsets], last_order: int) -> None:
        self._restored = dict(restored)
        self._order = last_order
        self._offsets: dict[str, Offsets] = {}
        self._owners: dict[str, Owners] = {}
        self._held: dict[OutsideKey, OutsideCommit] = {}
        self._now_ms = 0
        self._polls = 0

    @property
    def is_settled(self) -> bool:
        """Whether what the first poll found has been handed on."""
        return self._polls > HELD_POLLS or (self._polls > 0 and not self._held)

    @property
    def groups(self) -> set[str]:
        """Those that have a commit, or had when the program ended and did not answer since."""
        return {group for group, offsets in self._offsets.items() if offsets} | {*self._restored}

    @property
    def known(self) -> dict[str, Offsets]:
        """What is committed, as far as it is known, in this run or from an earlier one."""
        return self._restored | self._offsets

    def begin(self, now_ms: int) -> None:
        """A poll begins. Orders go up though the clock may go back."""
        self._now_ms = now_ms
        self._order = max(self._order + 1, now_ms)

    def take(self, answers: Iterable[BrokerAnswer]) -> OutsideChanges:
        """What the answers say that is new. A group without an answer stays as it was."""
        reported = OutsideChanges([], {}, Counter())
        for answer in answers:
            if not answer.problem:
                self._see_offsets(answer, reported)
                self._see_owners(answer, reported)
        return reported

    def end(self, asked: AbstractSet[str] | None) -> OutsideChanges:
        """A poll ends: groups that nobody asks about are gone. None: the list was not complete."""
        reported = OutsideChanges([], {}, Counter())
        for group in [] if asked is None else self._offsets.keys() - asked:
            nothing = BrokerAnswer(group, {}, {})
            self._see_offsets(nothing, reported)
            self._see_owners(nothing, reported)
            del self._offsets[group]
        if asked is not None:
            self._restored = {
                group: self._restored[group] for group in self._restored.keys() & asked
            }
            self._polls += 1
        if self._polls > HELD_POLLS:
            reported.commits.extend(self._held.values())
            self._held.clear()
        return reported

    def _see_offsets(self, answer: BrokerAnswer, reported: OutsideChanges) -> None:
        group, offsets = answer.group, answer.offsets
        before = self._offsets.get(group)
        if before is None:
            before = self._restored.pop(group, {})
        for place, offset in offsets.items():
            commit = OutsideCommit(OutsideKey(group, *place), offset, self._now_ms, self._order)
            if place not in before and not self._polls:
                self._held[commit.key] = commit
            elif before.get(place) != offset:
                self._commit(commit, reported)
        for place in before.keys() - offsets.keys():
            key = OutsideKey(group, *place)
            self._held.pop(key, None)
            reported.commits.append(OutsideCommit(key, None, 0, 0))
        self._offsets[group] = offsets

    def _commit(self, commit: OutsideCommit, reported: OutsideChanges) -> None:
        if first := self._held.pop(commit.key, None):
            reported.commits.append(first)
        reported.commits.append(commit)

    def _see_owners(self, answer: BrokerAnswer, reported: OutsideChanges) -> None:
        if self._owners.get(answer.group, {}) == answer.owners:
            return
        reported.owners[answer.group] = answer.owners
        if answer.owners:
            self._owners[answer.group] = answer.owners
        else:
            del self._owners[answer.group]
